#!/usr/bin/env python3
"""Makes core files and compares symcache's stacks with GDB's.

  scripts/core_live.py SYMCACHE [SOURCE...]

Each SOURCE (default: of testdata/programs, cores.c and threads.c) is compiled in several ways and run; it
crashes. The program is indexed, GDB asked with it, and symcache when it has been deleted.
For all threads the return addresses must be equal, and in the program the functions, those
inlined included, and the lines. Prints a line for each core file, or the differences. Exit
status 77: no core files are written on this machine.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

symcache = os.path.abspath(sys.argv[1])
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../testdata/programs")
sources = sys.argv[2:] or [os.path.join(here, n) for n in ("cores.c", "threads.c")]
WAYS = ["-O0", "-O2 -fomit-frame-pointer", "-O3 -fno-omit-frame-pointer", "-O2 -static"]
ASK = """
import gdb, json
for t in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
    t.switch()
    f, rows = gdb.newest_frame(), []
    while f:
        s = f.find_sal()
        if f.type() != gdb.TAILCALL_FRAME:
            rows.append((f.pc(), f.name(), s.symtab.filename.rsplit("/", 1)[-1] if s.symtab else None,
                         s.line, f.type() == gdb.INLINE_FRAME))
        f = f.older()
    print("\\x01" + json.dumps((t.ptid[1], rows)))
"""


def run(command, **more):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=100,
                          text=True, **more).stdout


def make_core(program):
    """Runs the program, which crashes; its core file, or None."""
    folder = os.path.dirname(program)
    subprocess.run(["bash", "-c", "ulimit -c unlimited; exec ./%s 20" % os.path.basename(program)], cwd=folder,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    cores = [n for n in os.listdir(folder) if re.fullmatch(r"core(\..*)?", n)]
    return os.path.join(folder, cores[0]) if cores else None


def of_gdb(program, core):
    with open(core + ".py", "w") as f:
        f.write(ASK)
    said = run(["gdb", "-nx", "-q", "-batch", "-ex", "set backtrace past-main on", "-ex",
                "set debuginfod enabled off", program, core, "-x", core + ".py"], stderr=subprocess.DEVNULL)
    return dict(json.loads(line[1:]) for line in said.splitlines() if line.startswith("\x01"))


def of_symcache(store, core):
    said = run([symcache, "core", "--store", store, "--format", "json", core], stderr=subprocess.DEVNULL)
    threads = {}
    for line in said.splitlines():
        t = json.loads(line)
        threads[t["thread"]] = t
    return threads


def differences(tid, theirs, ours, module):
    """Rows of libraries count by their addresses, inlined ones of theirs not at all: GDB may
    have no debug files of them."""
    mine = {}
    for f in ours["frames"]:
        mine.setdefault(f["frame"], []).append(f)
    mine = [mine[n] for n in sorted(mine)]
    group, frames = [], []
    for row in theirs:
        group.append(row)
        if not row[4]:
            frames.append(group)
            group = []
    # Of a thread that has only just begun GDB shows a caller at 0: the return address that the
    # row of clone3() calls undefined.
    if len(frames) == len(mine) + 1 and not frames[-1][-1][0]:
        frames.pop()
    for i, rows in enumerate(frames):
        if i == len(mine):
            return "thread %d: frame %d, %#x, is missing" % (tid, i, rows[-1][0])
        if int(mine[i][0]["pc"], 16) != rows[-1][0]:
            return "thread %d: frame %d is %s, GDB has %#x" % (tid, i, mine[i][0]["pc"], rows[-1][0])
        if mine[i][0].get("module") != module or not rows[-1][2]:
            continue
        have = [(f.get("function"), f.get("file", "").rsplit("/", 1)[-1], f.get("line")) for f in mine[i]]
        want = [(r[1], r[2], r[3]) for r in rows]
        if have != want:
            return "thread %d: frame %d is %s, GDB has %s" % (tid, i, have, want)
    return None if len(frames) == len(mine) else "thread %d: %d frames, GDB has %d" % (tid, len(mine), len(frames))


def compare(source, way, folder, store):
    program = os.path.join(folder, "program")
    subprocess.run(["gcc", "-g", "-Wl,--build-id", "-pthread", *way.split(), "-o", program, source], check=True)
    core = make_core(program)
    if not core:
        print("no core file is written here")
        sys.exit(77)
    libc = next((line.split()[2] for line in run(["ldd", program], stderr=subprocess.DEVNULL).splitlines()
                 if "libc.so" in line), None)
    subprocess.run([symcache, "index", "--quiet", "--store", store, program] + [libc] * bool(libc), check=True)
    theirs = of_gdb(program, core)
    os.unlink(program)
    ours = of_symcache(store, core)
    bad = [] if set(theirs) == set(ours) and theirs else ["threads %s, GDB has %s" % (sorted(ours), sorted(theirs))]
    bad += filter(None, (differences(t, theirs[t], ours[t], "program") for t in theirs if t in ours))
    print("%s, %s: %d threads, %d rows" % (os.path.basename(source), way, len(theirs), sum(map(len, theirs.values()))))
    for text in bad[:5]:
        print("  " + text)
    return bool(bad)


def main():
    bad = False
    with tempfile.TemporaryDirectory() as top:
        for source in sources:
            for way in WAYS:
                with tempfile.TemporaryDirectory(dir=top) as folder:
                    bad |= compare(source, way, folder, os.path.join(top, "store"))
    sys.exit(bad)


main()
