#!/usr/bin/env python3
"""
perf_data.py HEAP BUILD_ID SAMPLES > perf.data

Writes a perf.data with call chains, as perf record -g would, out of the stacks that a heap text of
jemalloc has: SAMPLES of them, evenly taken. The program, which is mapped first in the text, is the only
file; addresses of others are left out, as those may be others on this machine. Its build ID is in the
header of perf.data.
"""
import re
import struct
import sys

MMAP2, COMM, SAMPLE, USER, PID = 10, 3, 9, 2, 100
IP, TID, TIME, CALLCHAIN, PERIOD = 1, 2, 4, 32, 256
CONTEXT_USER = 2**64 - 512


def padded(text):
    return text.encode() + bytes(8 - len(text.encode()) % 8)


def record(kind, body):
    return struct.pack("<IHH", kind, USER, 8 + len(body)) + body


def sample(i, chain):
    body = struct.pack("<QIIQQQ", chain[0], PID, PID, i + 1, 1, len(chain) + 1)
    return record(SAMPLE, body + struct.pack("<%dQ" % (len(chain) + 1), CONTEXT_USER, *chain))


def main():
    text, build_id, wanted = open(sys.argv[1]).read(), bytes.fromhex(sys.argv[2]), int(sys.argv[3])
    rows = re.findall(r"^([0-9a-f]+)-([0-9a-f]+) ..(.). ([0-9a-f]+) \S+ \S+ +(\S+)$", text, re.M)
    program = rows[0][4]
    code = [(int(a, 16), int(b, 16), int(off, 16)) for a, b, x, off, path in rows
            if path == program and x == "x"]
    chains = []
    for line in re.findall("^@ (.*)$", text, re.M):
        chain = [a for a in (int(word, 16) for word in line.split())
                 if any(start <= a < end for start, end, _ in code)]
        if chain:
            chains.append([chain[0] - 1] + chain[1:])  # the first one is exact
    step = max(1, len(chains) // wanted)
    data = record(COMM, struct.pack("<II", PID, PID) + padded(program.split("/")[-1]))
    for start, end, off in code:
        data += record(MMAP2, struct.pack("<IIQQQIIQQII", PID, PID, start, end - start, off, 0, 0, 0,
                                          0, 5, 2) + padded(program))
    data += b"".join(sample(i, c) for i, c in enumerate(chains[::step][:wanted]))
    attr = struct.pack("<IIQQQQQIIQ", 1, 64, 0, 1, IP | TID | TIME | CALLCHAIN | PERIOD, 0, 0, 0, 0, 0)
    ids = padded(program)
    ids = struct.pack("<IHHi20sB3x", 0, USER | 1 << 15, 36 + len(ids), -1, build_id.ljust(20, b"\0"),
                      len(build_id)) + ids
    at_data = 104 + len(attr) + 16
    at_ids = at_data + len(data) + 16
    sys.stdout.buffer.write(
        b"PERFILE2" + struct.pack("<QQQQQQQQ4Q", 104, len(attr) + 16, 104, len(attr) + 16, at_data,
                                  len(data), 0, 0, 1 << 2, 0, 0, 0) +
        attr + bytes(16) + data + struct.pack("<QQ", at_ids, len(ids)) + ids)


main()
