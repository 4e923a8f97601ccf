#!/usr/bin/env python3
"""Writes a log with symbolizer markup, the same for the same arguments.

    scripts/markup_log.py LINES [--distinct N] [--seed N] ELF... > LOG

Announces the ELF files, which may be binaries or debug files, as modules of one
process. Of the LINES that follow, half are plain text; the others are frames of
backtraces at random addresses of .text: mostly new ones or, with --distinct, of
N different ones. A backtrace has 20 frames.
"""
import argparse
import random
import re
import subprocess
import sys


def read_elf(path):
    """Build ID, segments (vaddr, size, mode) and .text (vaddr, size)."""
    out = subprocess.run(["readelf", "-nlSW", path], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", out)
    text = re.search(r"\] \.text +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", out)
    segments = [(int(v, 16), int(size, 16), mode.replace(" ", "").replace("E", "x").lower())
                for v, size, mode in re.findall(
                    r"LOAD +\S+ (0x\w+) \S+ \S+ (0x\w+) (\S[^0]*?) +0x", out)]
    if not build_id or not text or not segments:
        return None
    return build_id.group(1), segments, (int(text.group(1), 16), int(text.group(2), 16))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lines", type=int)
    p.add_argument("--distinct", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("elf", nargs="+")
    args = p.parse_args()
    rng = random.Random(args.seed)
    out = sys.stdout
    base = 0x7f0000000000
    texts = []
    out.write("{{{reset}}}\n")
    for number, path in enumerate(args.elf):
        elf = read_elf(path)
        if not elf:
            continue
        build_id, segments, text = elf
        first = segments[0][0] & ~0xfff
        end = max(v + size for v, size, _ in segments) - first
        out.write("{{{module:%d:%s:elf:%s}}}\n" % (number, path.rsplit("/", 1)[-1], build_id))
        for vaddr, size, mode in segments:
            out.write("{{{mmap:0x%x:0x%x:load:%d:%s:0x%x}}}\n" %
                      (base - first + vaddr, size, number, mode, vaddr))
        texts.append((base - first + text[0], text[1]))
        base += (end + 0x1fffff) & ~0xfffff

    def address():
        start, size = rng.choice(texts)
        return start + rng.randrange(size)

    known = [address() for _ in range(args.distinct)]
    frame = 0
    for i in range(args.lines):
        if i % 2:
            a = rng.choice(known) if known else address()
            out.write("[%05d.%03d] 1234.5678> {{{bt:%d:0x%x:ra}}}\n" %
                      (i // 1000, i % 1000, frame, a))
            frame = (frame + 1) % 20
        else:
            out.write("[%05d.%03d] 1234.5678> request %d served in %d us, state {ok}\n" %
                      (i // 1000, i % 1000, i * 7919 % 1000003, i * 31 % 997))


main()
