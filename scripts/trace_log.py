#!/usr/bin/env python3
"""Writes a log with backtraces, the same for the same arguments.

    scripts/trace_log.py asan|kernel LINES [--seed N] ELF... > LOG

Half of the LINES are text, the others frames, 20 in a row: of AddressSanitizer, at random
addresses of .text of the ELF files; or of a kernel, at random offsets in the functions of vmlinux
(the first ELF file) and modules (the others), with their build IDs.
"""
import argparse
import os
import random
import re
import subprocess
import sys

FRAMES = 20


def read(command, path):
    return subprocess.run([*command, path], capture_output=True, text=True).stdout


def build_id(path):
    return re.search(r"Build ID: ([0-9a-f]+)", read(["readelf", "-n"], path)).group(1)


def asan_frame(path):
    text = re.search(r"\] \.text +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)",
                     read(["readelf", "-SW"], path))
    start, size = int(text.group(1), 16), int(text.group(2), 16)
    name = "/usr/bin/ceph-osd" if "ceph" in path else "/usr/lib/" + os.path.basename(path)
    identity = build_id(path)

    def frame(rng, number):
        rel = start + rng.randrange(size)
        return "    #%d 0x%x  (%s+0x%x) (BuildId: %s)" % (
            number, 0x55d0c294c000 + rel, name, rel, identity)
    return frame


def kernel_frame(path, is_module):
    sizes = {}
    for line in read(["nm", "-S", "--defined-only"], path).splitlines():
        cells = line.split()
        if len(cells) == 4 and cells[2] in "tT" and int(cells[1], 16) > 16:
            sizes.setdefault(cells[3], []).append(int(cells[1], 16))
    only = sorted((n, s[0]) for n, s in sizes.items() if len(s) == 1)
    name = os.path.basename(path).split(".ko")[0].replace("-", "_")
    behind = " [%s %s]" % (name, build_id(path)) if is_module else ""

    def frame(rng, number):
        function, size = rng.choice(only)
        return "[%5d.%06d]  %s+0x%x/0x%x%s" % (number, rng.randrange(1000000), function,
                                               rng.randrange(1, size), size, behind)
    return frame


def main():
    p = argparse.ArgumentParser()
    p.add_argument("format", choices=["asan", "kernel"])
    p.add_argument("lines", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("elf", nargs="+")
    args = p.parse_args()
    rng = random.Random(args.seed)
    kernel = args.format == "kernel"
    frames = [kernel_frame(f, i > 0) if kernel else asan_frame(f) for i, f in enumerate(args.elf)]
    out = sys.stdout
    if kernel:
        out.write("[    0.000000] CPU: 1 PID: 42 Comm: a Not tainted 6.1.0 #1 %s\n" %
                  build_id(args.elf[0]))
    for i in range(args.lines):
        if i // FRAMES % 2:
            out.write(rng.choice(frames)(rng, i % FRAMES) + "\n")
        else:
            out.write("[%5d.000000] request %d took %d ms, nothing is wrong here\n" %
                      (i, i, rng.randrange(1000)))


if __name__ == "__main__":
    main()
