#!/usr/bin/env python3
"""Compares names, files and lines on a file as it runs with llvm-symbolizer's.

    scripts/compare_stripped.py PROGRAM FILE [ADDRESSES]

Asks `PROGRAM symbolizer` and llvm-symbolizer for random addresses of .text of FILE, which is
stripped as a rule: the outermost frame has the name that FILE's own symbol table gives.
Exit status 1: less than 99.9 % of the answers are equal.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    program, path = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    llvm = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
    if not llvm:
        print("skipped: there is no llvm-symbolizer")
        return 0
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    text = re.search(r"\] \.text +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections)
    start, size = int(text.group(1), 16), int(text.group(2), 16)
    random.seed(1)
    asked = [start + random.randrange(size) for _ in range(count)]
    lines = "".join("%#x\n" % a for a in asked)
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, SYMCACHE_STORE=folder + "/none.store")
        want, got = (subprocess.run(tool + ["-e", path], input=lines, capture_output=True, text=True,
                                    env=env).stdout.split("\n\n")
                     for tool in ([llvm], [program, "symbolizer"]))
    different = [(a, w, g) for a, w, g in zip(asked, want, got) if w != g]
    same = 1 - len(different) / count if len(want) == len(got) else 0
    print(f"{path}: {100 * same:.2f} % of {count} equal")
    for a, w, g in different[:5]:
        print(f"  {a:#x}: llvm {w!r}, ours {g!r}")
    return same < 0.999


if __name__ == "__main__":
    sys.exit(main())
