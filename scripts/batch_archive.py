#!/usr/bin/env python3
"""Makes the archive that scripts/batch_test.sh filters on many machines.

    batch_archive.py DIR BUILDID MEGABYTES

DIR/main: a log of MEGABYTES with many resets, one of a fifth of that with its modules at the top
alone, small ones, compressed ones, one of them cut off, an empty one. DIR/demux: one of two
thirds, with 40 interleaved processes. BUILDID: a library whose code begins below 0x28000.
"""
import gzip
import lzma
import os
import random
import subprocess
import sys

BASE = 0x7F0000000000


def modules(build_id, prefix=""):
    return "".join(f"{prefix}{{{{{{module:{i}:lib{i}.so:elf:{bid}}}}}}}\n"
                   f"{prefix}{{{{{{mmap:{BASE + i * 0x10000000:#x}:0x200000:load:{i}:rx:0x0}}}}}}\n"
                   for i, bid in enumerate((build_id, "0bad0bad")))


def lines(rng, count, prefix=""):
    out = []
    for i in range(count):
        what = rng.random()
        p = prefix() if callable(prefix) else prefix
        if what < 0.02:
            out.append(f"{p}    {{{{{{bt:{i % 30}:{BASE + rng.randrange(0x28000, 0x150000):#x}}}}}}}\n")
        elif what < 0.0205:
            out.append(f"{p}{{{{{{pc:{BASE + 0x10000000 + i % 0x1000:#x}}}}}}} in {{{{{{symbol:_Z1fv}}}}}}\n")
        elif what < 0.0206:
            out.append(f"{p}{{{{{{bt:nonsense}}}}}} \033[31mred\033[0m\n")
        else:
            out.append(f"{p}2026-11-21T10:{i % 60:02}:00 host daemon[{i}]: a line of text, which most are\n")
    return "".join(out)


def write(path, size, chunks, rng, head=""):
    """Chunks in any order until there are `size` bytes."""
    with open(path, "w", encoding="ascii") as f:
        f.write(head)
        while f.tell() < size:
            f.write(rng.choice(chunks))


def main():
    top, build_id, size = sys.argv[1], sys.argv[2], int(sys.argv[3]) * 1000000
    rng = random.Random(18)
    known = modules(build_id)
    folder = os.path.join(top, "main")
    os.makedirs(os.path.join(folder, "small"))
    os.makedirs(os.path.join(top, "demux"))
    plain = [lines(rng, 3000) for _ in range(40)]
    resets = ["{{{reset}}}\n" + known + chunk for chunk in plain] + plain
    write(os.path.join(folder, "resets.log"), size, resets, rng, known)
    write(os.path.join(folder, "top.log"), size // 5, plain, rng, "{{{reset}}}\n" + known)
    for i in range(20):
        with open(os.path.join(folder, "small", f"{i}.log"), "w", encoding="ascii") as f:
            f.write(known + lines(rng, 200))
    text = (known + lines(rng, 40000)).encode()
    for name, packed in (("a.gz", gzip.compress(text, mtime=0)), ("b.xz", lzma.compress(text, preset=1)),
                         ("cut.gz", gzip.compress(text, mtime=0)[:len(text) // 20])):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(packed)
    with open(os.path.join(folder, "empty.log"), "wb"):
        pass
    subprocess.run(["zstd", "-q", "-o", os.path.join(folder, "c.zst")], input=text, check=True)

    def pid():
        return f"[{rng.randrange(1000)}.5][{rng.randrange(2000, 2040)}][7] "

    heads = "".join(modules(build_id, f"[1.5][{p}][7] ") for p in range(2000, 2040))
    processes = [lines(rng, 3000, pid) for _ in range(40)]
    again = [f"[9.5][{p}][7] {{{{{{reset}}}}}}\n" + modules(build_id, f"[9.5][{p}][7] ")
             for p in range(2000, 2040, 5)]
    write(os.path.join(top, "demux", "many.log"), size * 2 // 3, processes + again, rng, heads)


main()
