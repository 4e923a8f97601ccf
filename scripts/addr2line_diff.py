#!/usr/bin/env python3
"""Compares the program as addr2line with binutils' and LLVM's, address by address.

    scripts/addr2line_diff.py PROGRAM [--count N] [--show N] FILE...

Asks about N random addresses of the sections with code (10,000), and a tenth of that each of
sections with data, of the borders of sections and of functions, and outside of all; with several
sets of options. Answers must be equal byte for byte, but for the classes that
testdata/accepted-differences.md lists ("addr2line"), which are counted. Exit status 1: there are
others.
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

OPTIONS = {
    "addr2line": ["-afi", "-a", "-af", "-aCfi", "-apfi", "-aps", "-afs", "-apCfis", "-arfi", "-aRi"],
    "llvm-addr2line-19": ["-afi", "-a", "-af", "-aCfi", "-apfi", "-aps", "-afs", "-apCfis"],
}


def sections(path):
    """[name, start, size, has code] of those that are loaded."""
    out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    row = re.compile(r"\] (\S+) +\S+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +(\w*A\w*) ")
    return [(m[1], int(m[2], 16), int(m[3], 16), "X" in m[4]) for m in row.finditer(out)
            if int(m[3], 16) and "T" not in m[4]]


def borders(path):
    """Where functions begin and end, by the symbol table."""
    out = subprocess.run(["nm", "-SD", path], capture_output=True, text=True).stdout
    out += subprocess.run(["nm", "-S", path], capture_output=True, text=True).stdout
    ret = set()
    for m in re.finditer(r"^([0-9a-f]+) ([0-9a-f]+) [TtWwi] ", out, re.M):
        start, size = int(m[1], 16), int(m[2], 16)
        ret |= {start, start + size - 1, start + size, start + size + 1}
    return sorted(ret)


def choose(path, count):
    parts = sections(path)
    code, data = ([p for p in parts if p[3] == x] for x in (True, False))
    pick = lambda of, n: [s + random.randrange(z) for _, s, z, _ in
                          random.choices(of, [p[2] for p in of], k=n)] if of else []
    edges = [a for _, s, z, _ in parts for a in (s - 1, s, s + z - 1, s + z)]
    ends = borders(path)
    outside = [random.randrange(1 << b) for b in range(1, 65)] + [0, (1 << 64) - 1]
    return (pick(code, count) + pick(data, count // 10) + [a for a in edges if a >= 0] + outside +
            random.sample(ends, min(len(ends), count // 10)))


def ask(tool, args, addresses, env):
    text = "".join(f"{a:#x}\n" for a in addresses)
    out = subprocess.run([tool] + args, input=text, capture_output=True, text=True, env=env,
                         errors="replace").stdout
    return re.split(r"^(?=0x[0-9a-f]+(?:: |$))", out, flags=re.M)[1:]


def folded(path):
    """Without a folder that stands there twice, as binutils has relative ones."""
    return re.sub(r"(?:^|(?<=[\s]))((?:[^\s:]+?/)+)\1", r"\1", path, flags=re.M)


def first_place(text):
    """FILE:LINE of the innermost frame of an answer to -afi or -ai."""
    return next((line.split(" (")[0] for line in text.split("\n")[1:] if ":" in line and "::" not in line), "")


class Classes:
    """Why binutils' answers to -afi differ: see testdata/accepted-differences.md."""

    def __init__(self, path, addresses, env):
        self.path, self.env, self.known = path, env, {}
        self.data = [(start, size) for _, start, size, code in sections(path) if not code]
        llvm = shutil.which("llvm-addr2line-19")
        self.lines = dict(zip(addresses, ask(llvm, ["-ai", "-e", path], addresses, env))) if llvm else {}

    def of(self, address, want, got):
        want, got = folded(want), folded(got)
        theirs, ours = first_place(want), first_place(got)
        if want == got:
            return "folder twice"
        if want.replace(theirs, ours, 1) == got and theirs.split(":")[-1] == ours.split(":")[-1] and \
                folded(first_place("x\n" + self.lines.get(address, "").split("\n", 1)[-1])) == ours:
            return "file 0 for file 1"
        if want.replace(theirs, ours, 1) == got and not theirs.rsplit(":")[-1].strip("?0") and \
                any(s <= address < s + z for s, z in self.data):
            return "no declaration"
        alone = ask(shutil.which("addr2line"), ["-afi", "-e", self.path], [address], self.env)
        return "otherwise if asked alone" if alone and folded(alone[0]) == got else "other"


def compare(program, tool, path, addresses, show, env):
    bad = 0
    classes = Classes(path, addresses, env)
    for options in OPTIONS[tool]:
        with tempfile.TemporaryDirectory() as folder:
            ours = os.path.join(folder, tool)
            os.symlink(program, ours)
            want, got = (ask(t, [options, "-e", path], addresses, env)
                         for t in (shutil.which(tool), ours))
        counts, samples = collections.Counter(), collections.defaultdict(list)
        if len(want) != len(got):
            counts["another number of answers"] = bad = 1
        for a, w, g in zip(addresses, want, got):
            if w == g:
                continue
            if options == "-afi" and tool == "addr2line":
                classes.known[a] = classes.of(a, w, g)
            why = classes.known.get(a, "other")
            counts[why] += 1
            samples[why].append((a, w, g))
        bad += counts["other"]
        print(f"{tool} {options} {path}: {len(want)} compared, "
              f"{', '.join(f'{n} {w}' for w, n in sorted(counts.items())) or 'all equal'}", flush=True)
        for a, w, g in samples["other"][:show]:
            print(f"  {a:#x}: wanted {w!r}\n{'':>{len(hex(a)) + 4}}got    {g!r}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--tool", choices=sorted(OPTIONS))
    o = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SYMCACHE", "DEBUGINFOD", "LLVM_"))}
        env["SYMCACHE_STORE"] = folder + "/none.store"
        for path in o.files:
            random.seed(1)
            addresses = choose(path, o.count)
            for tool in [o.tool] if o.tool else sorted(OPTIONS):
                if shutil.which(tool):
                    bad += compare(os.path.realpath(o.program), tool, path, addresses, o.show, env)
                else:
                    print(f"skipped: there is no {tool}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
