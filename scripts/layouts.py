#!/usr/bin/env python3
"""Every layout of debug information that we read, made and compared with another tool.

  layouts.py PROGRAM [-s SAMPLES] [-j JOBS] [NAME...]

The table is testdata/layouts/*.recipe, one row a line (a line that ends in \\ goes on):

  name | how it is made | what it must contain | what it is compared with

How it is made: shell commands, run in testdata/layouts, which make the file $OUT and, if
they like, others next to it ($OUT.dwp). A row is skipped where one of its commands, a
linker of -fuse-ld or a part of gcc named by need=PROGRAM is absent. What was made before
by the same row from the same sources is left alone.

What it must contain, so that a recipe that no longer makes its layout fails: words
KIND~REGEX, or !KIND~REGEX for what must not be there; KIND@SUFFIX is about $OUTSUFFIX.
Kinds are the dumps below (DUMPS), and what PROGRAM says: `build` (its messages), `show`,
`functions`, `ranges` and `data` (the cache's tables).

What it is compared with: a tool (llvm, eu, or an addr2line of binutils, which knows no
columns; see compare_frames.py), then options, words of
  peer=SUFFIX    the other tool reads $OUTSUFFIX, of the same code, because it cannot
                 read the layout
  n=NUMBER       of addresses, at least 4 bytes apart (1000), of all code sections
  section=NAME   of this one only
  dir=SUFFIX     $OUTSUFFIX as --debug-file-directory
  demangle       names as both demangle them
  symbols        there are no lines, only names; else there must be lines and inlined calls
  flat           lines, but no inlined calls
  functions      functions only; else what llvm says of variables is compared, too
  libdw=no       libdw cannot read it; else --reader=libdw must make the same cache
  accept=CLASS:N up to N addresses of that class of difference, which stands in
                 testdata/accepted-differences.md
Prints "ok", "FAILED" or "skipped: why" for each row; the last line is
"layouts: N passed, N failed, N skipped".
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import random
import re
import shlex
import shutil
import subprocess
import sys

import compare_frames

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECIPES = os.path.join(ROOT, "testdata/layouts")
MADE = os.path.join(ROOT, "build/layouts")
DUMPS = {
    "header": ["readelf", "-hW"],
    "sections": ["readelf", "-SW"],
    "segments": ["readelf", "-lW"],
    "symbols": ["readelf", "-sW"],
    "dynsym": ["readelf", "-W", "--dyn-syms"],
    "relocs": ["readelf", "-rW"],
    "notes": ["readelf", "-nW"],
    "links": ["readelf", "-wk"],
    "info": ["llvm-dwarfdump-19", "--debug-info"],
    "types": ["llvm-dwarfdump-19", "--debug-types"],
    "line": ["llvm-dwarfdump-19", "--debug-line"],
    "lists": ["llvm-dwarfdump-19", "--debug-ranges", "--debug-rnglists"],
    "chdr": ["readelf", "-tW"],
    "cuindex": ["llvm-dwarfdump-19", "--debug-cu-index"],
    "abbrev": ["llvm-dwarfdump-19", "--debug-abbrev"],
}
TOOLS = {"eu": "eu-addr2line", "llvm": "llvm-symbolizer-19"}
BUILTIN = {"cd", "set", "for", "do", "done", "if", "then", "fi", "{", "}", "test", "[", "!"}

Row = collections.namedtuple("Row", "name make contains compare")


class Wrong(Exception):
    """The row fails, for this reason."""


def run(command, **kw):
    """Output and messages of a command, and its exit status."""
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace", **kw)
    return p.stdout, p.returncode


def read_rows():
    rows = []
    for path in sorted(glob.glob(RECIPES + "/*.recipe")):
        with open(path) as f:
            text = re.sub(r"\\\n\s*", "", f.read())
        for line in text.split("\n"):
            if line.strip() and not line.startswith("#"):
                cells = [c.strip() for c in re.split(r"\s\|\s", line)]
                if len(cells) != 4:
                    sys.exit("%s: a row has 4 cells: %s" % (path, line))
                rows.append(Row(*cells))
    return rows


def options_of(row):
    words = row.compare.split()
    options = {"tool": words[0], "accept": {}}
    for w in words[1:]:
        key, _, value = w.partition("=")
        if key == "accept":
            kind, _, number = value.partition(":")
            options["accept"][kind] = int(number)
        else:
            options[key] = value
    return options


def is_there(tool):
    """In $PATH, or a part of gcc (cc1obj)."""
    return shutil.which(tool) or run(["gcc", "-print-prog-name=" + tool])[0].startswith("/")


def lacks(row, options):
    """The first tool that is needed and absent, or None."""
    commands = [c.split() for c in re.split(r"&&|;|\bdo\b|\bthen\b", row.make)]
    words = [next((w for w in c if "=" not in w), "cd") for c in commands if c]
    words += ["ld." + ld for ld in re.findall(r"-fuse-ld=(\w+)", row.make)]
    words += re.findall(r"\bneed=(\S+)", row.compare)
    words.append(TOOLS.get(options["tool"], options["tool"]))
    return next((w for w in words if w not in BUILTIN and not is_there(w)), None)


def make(row, out):
    digest = hashlib.sha256(row.make.encode() + SOURCES).hexdigest()
    stamp = out + ".made"
    if os.path.exists(stamp) and os.path.exists(out):
        with open(stamp) as f:
            if f.read() == digest:
                return
    shutil.rmtree(os.path.dirname(out), ignore_errors=True)
    os.makedirs(os.path.dirname(out))
    env = dict(os.environ, OUT=out, MAP="-ffile-prefix-map=%s=/src" % RECIPES, LC_ALL="C",
               GOCACHE=MADE + "/go-cache", GOFLAGS="-mod=mod")
    text, status = run(["sh", "-ec", row.make], cwd=RECIPES, env=env, stdin=subprocess.DEVNULL)
    if status or not os.path.exists(out):
        raise Wrong("cannot be made:\n" + text)
    with open(stamp, "w") as f:
        f.write(digest)


def check_contents(row, out, said):
    dumps = {}
    for word in shlex.split(row.contains):
        m = re.fullmatch(r"(!?)(\w+)(?:@([^~]+))?~(.*)", word)
        if not m or m.group(2) not in DUMPS and m.group(2) not in said:
            raise Wrong("what is " + word)
        key = (m.group(2), m.group(3) or "")
        if key[0] in DUMPS and key not in dumps:
            dumps[key] = run(DUMPS[key[0]] + [out + key[1]])[0]
        text = dumps[key] if key in dumps else said[key[0]]()
        if bool(re.search(m.group(4), text, re.M)) == bool(m.group(1)):
            raise Wrong("%s %s" % ("there is" if m.group(1) else "there is no", word.lstrip("!")))


def ask(program, out, options, addresses, data):
    """Frames by us and by the other tool; what both say of variables, as text."""
    path = out
    code = "".join("0x%x\n" % a for a in addresses)
    text = code + "".join("DATA 0x%x\n" % a for a in data)
    dirs = ["--debug-file-directory=" + out + options["dir"]] if "dir" in options else []
    demangle = "--demangle" if "demangle" in options else "--no-demangle"

    def split(answers):
        """An empty line ends each answer."""
        blocks = answers.split("\n\n")
        return (compare_frames.read_llvm("\n\n".join(blocks[:len(addresses)]) + "\n\n"),
                "\n\n".join(blocks[len(addresses):]))

    ask_us = [program, "lookup", demangle, "--file"]
    if "demangle" in options:  # lookup has scopes in front of names without a linkage name
        ask_us = ["llvm-symbolizer", demangle, "-e"]
    ours, our_data = split(compare_frames.output(
        ask_us + [path] + dirs, executable=program, input=text))
    if "peer" in options:
        path, dirs = out + options["peer"], []
    tool = TOOLS.get(options["tool"], options["tool"])
    if options["tool"] == "llvm":
        theirs, their_data = split(compare_frames.output(
            [tool, demangle, "-e", path] + dirs, input=text))
        return ours, theirs, our_data, their_data
    section = ["-j", options["section"]] if "section" in options else []
    theirs = compare_frames.read_eu(compare_frames.output(
        [tool, "-f", "-i", "-a", "-e", path] + section, input=text))
    return ours, theirs, our_data, ""


def check_variables(ours, theirs, addresses):
    """Names, starts and sizes. llvm-symbolizer rarely knows where they are declared."""
    ours, theirs = ([x[0] for x in compare_frames.read_data(t)] for t in (ours, theirs))
    bad = [(a, x, y) for a, x, y in zip(addresses, ours, theirs) if x[0] != y[0]]
    if len(ours) != len(addresses) or len(theirs) != len(addresses) or bad:
        raise Wrong("%d variables, %d answers of ours, %d of the other tool; %d differ: %s" %
                    (len(addresses), len(ours), len(theirs), len(bad), bad[:VERBOSE]))


def compare(row, program, out, options):
    """A short account of it. `program` may be slow to start (sanitizers): one call."""
    path = out + options.get("peer", "")
    kind, sections = compare_frames.headers(path)
    section = options.get("section")
    areas = [(s[1], s[2]) for s in sections if "X" in s[3] and (not section or s[0] == section)]
    number = int(options.get("n", 1000))
    step = max(4, sum(size for _, size in areas) // number // 4 * 4)
    addresses = [start + i for start, size in areas for i in range(0, size, step)]
    data = []
    if options["tool"] == "llvm" and kind != "REL" and "functions" not in options:
        data = compare_frames.data_addresses(path, sections, 100, random.Random(1))
    ours, theirs, our_data, their_data = ask(program, out, options, addresses, data)
    if not addresses or len(ours) != len(addresses) or len(theirs) != len(addresses):
        raise Wrong("%d addresses, %d answers of ours, %d of the other tool" %
                    (len(addresses), len(ours), len(theirs)))
    check_variables(our_data, their_data, data)
    named = sum(x[-1][0] != "??" for x in theirs)
    lines = sum(x[0][2] != "0" for x in theirs)
    deep = sum(len(x) > 1 for x in theirs)
    if not named or ("symbols" in options) == bool(lines) or \
            ("symbols" in options or "flat" in options) == bool(deep):
        raise Wrong("the other tool knows %d names, %d lines, %d inlined calls" %
                    (named, lines, deep))
    found = collections.defaultdict(list)
    by = options["tool"] if options["tool"] in TOOLS else "eu"
    for a, x, y in zip(addresses, ours, theirs):
        if options["tool"] not in TOOLS:
            x = [f[:3] + ("0",) for f in x]
        d = compare_frames.difference(x, y, by)
        if d:
            found[d].append("%s 0x%x\n    ours %s\n    them %s" % (d, a, x, y))
    bad = {d: v for d, v in found.items() if len(v) > options["accept"].get(d, 0)}
    if bad:
        raise Wrong("%d addresses; " % len(addresses) +
                    ", ".join("%d differ in %s" % (len(v), d) for d, v in bad.items()) + "\n  " +
                    "\n  ".join(s for v in bad.values() for s in v[:VERBOSE]))
    return "%4d addresses, %4d with lines, %4d inlined; %3d variables" % (
        len(addresses), lines, deep, len(data)) + \
        "".join("; accepted: %d %s" % (len(v), d) for d, v in found.items())


def build(program, out, options):
    """Makes the cache, with both readers. Returns what is known of it, by kind."""
    dirs = ["--debug-file-directory=" + out + options["dir"]] if "dir" in options else []
    command = [program, "build", out] + dirs
    text, status = run(command + ["-o", out + ".symcache"])
    if status:
        raise Wrong("build: exit status %d: %s" % (status, text))
    if options.get("libdw") != "no":
        slow, status = run(command + ["--reader=libdw", "-o", out + ".libdw"])
        if status:
            raise Wrong("build --reader=libdw: exit status %d: %s" % (status, slow))
        if run(["cmp", out + ".symcache", out + ".libdw"])[1]:
            raise Wrong("the two readers make different caches: %s.symcache .libdw" % out)
    show = [program, "show", "--cache", out + ".symcache"]
    said = {k: lambda k=k: run(show + ["--" + k])[0] for k in ("functions", "ranges", "data")}
    said["show"] = lambda: run(show)[0]
    said["build"] = lambda: text
    return said


def test(row, program, out):
    options = options_of(row)
    lacking = lacks(row, options)
    if lacking:
        return "skipped", "no " + lacking
    try:
        make(row, out)
        check_contents(row, out, build(program, out, options))
        return "ok", compare(row, program, out, options)
    except Wrong as e:
        return "FAILED", str(e)


def main():
    global SOURCES, VERBOSE
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program", metavar="PROGRAM")
    p.add_argument("names", metavar="NAME", nargs="*", help="regular expressions; all rows")
    p.add_argument("-s", "--samples", type=int, default=2, help="differences shown of a class (2)")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    o = p.parse_args()
    VERBOSE = o.samples
    SOURCES = b""
    for path in sorted(glob.glob(RECIPES + "/*")):
        if not path.endswith(".recipe"):
            with open(path, "rb") as f:
                SOURCES += f.read()
    os.makedirs(MADE, exist_ok=True)
    for name in ("DEBUGINFOD_URLS", "SYMCACHE_STORE"):
        os.environ.pop(name, None)
    program = os.path.abspath(o.program)
    rows = [r for r in read_rows()
            if not o.names or any(re.fullmatch(n, r.name) for n in o.names)]
    count = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        results = [(r, pool.submit(test, r, program, os.path.join(MADE, r.name, "prog"))) for r in rows]
        for row, result in results:
            kind, text = result.result()
            count[kind] += 1
            print("%s %s: %s" % (kind, row.name, text) if kind == "skipped" else
                  "%-6s %-24s %s" % (kind, row.name, text), flush=True)
    print("layouts: %d passed, %d failed, %d skipped" %
          (count["ok"], count["FAILED"], count["skipped"]))
    sys.exit(1 if count["FAILED"] or not rows else 0)


main()
