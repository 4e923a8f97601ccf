#!/usr/bin/env python3
"""Writes a long GDB trace file, for benchmarks and torture.

  scripts/make_trace.py OUT FRAMES LO HI [TRACEPOINT...]

x86-64, without a target description: each frame has an R block of 144 bytes whose
rip walks through [LO, HI) (hex), four bytes of memory and a variable. Every third
tracepoint number given is used in turn (default: 1). The frames repeat after 4096,
so the file is written at the speed of the disk.
"""
import struct
import sys

out, frames, lo, hi = sys.argv[1], int(sys.argv[2]), int(sys.argv[3], 16), int(sys.argv[4], 16)
numbers = [int(n) for n in sys.argv[5:]] or [1]
PERIOD = 4096

definitions = b"\x7fTRACE0\nR 90\nstatus 0;tfull:0;tframes:%x;tcreated:%x;tfree:0;tsize:%x\n" % (
    frames, frames, frames * 180)
definitions += b"tsv 1:0:0:68697473\n"
for n in numbers:
    definitions += b"tp T%x:%x:E:0:0\n" % (n, lo)
definitions += b"\n"


def frame(i):
    pc = lo + i * 7 % (hi - lo)
    registers = struct.pack("<16QQQ", *([i] * 16), pc, 0x202)
    blocks = b"R" + registers
    blocks += b"M" + struct.pack("<QH", 0x4040B0, 4) + struct.pack("<I", i)
    blocks += b"V" + struct.pack("<iq", 1, i)
    return struct.pack("<hI", numbers[i % len(numbers)], len(blocks)) + blocks


period = [frame(i) for i in range(min(PERIOD, frames))]
with open(out, "wb") as f:
    f.write(definitions)
    whole = b"".join(period)
    for _ in range(frames // PERIOD):
        f.write(whole)
    f.write(b"".join(period[: frames % PERIOD]))
    f.write(b"\0\0\0\0")
