#!/usr/bin/env python3
"""Checks that files do not use each other in circles, and that nothing grows too long.

    scripts/check_circles.py BUILD_DIR

Circles: from the object files of a build, by the symbols that each defines and uses (nm).
A file that needs another, which needs the first again, can be read and tested with it
only. There is no circle between rooms (folders) at all; inside a room only those that
INSIDE names, each with its reason.

Lengths: a file has 450 lines at most, a function 80 between its braces, but for those that
LONG names: tables and switches. It has six parameters at most, but for those that WIDE names
and those of tests: what travels together is a struct with a name.

Prints each breach as FILE: why; exit status 1 if there is one.
"""
import os
import re
import subprocess
import sys

# Circles inside a room: the files, without .c, and why they belong together.
INSIDE = {
}

# Functions above 80 lines: FILE:NAME and why it is not split.
LONG = {
}

# Functions with more than six parameters: FILE:NAME and why.
WIDE = {
    "libsymcache/trace/tdesc.c:on_entity",  # expat calls it
    "scripts/fail_at.c:__libc_start_main",  # libc has it
}

FILE_LINES, FUNCTION_LINES, PARAMETERS = 450, 80, 6


def sources():
    """Sources of the house, with tests and fuzz targets."""
    return sorted(os.path.join(folder, name) for top in ("cmd", "format", "libmarkup",
                  "libsymcache", "scripts") for folder, _, names in os.walk(top)
                  for name in names if name.endswith((".c", ".h")))


def uses(build, files):
    """file -> the files whose symbols it uses."""
    objects = {os.path.join(build, f[:-2] + ".o"): f for f in files
               if f.endswith(".c") and f.split("/")[0] in ("cmd", "libsymcache", "libmarkup")
               and not re.search(r"_(test|fuzz)\.c$", f)}
    missing = [o for o in objects if not os.path.exists(o)]
    if missing:
        sys.exit(f"check_circles.py: there is no {missing[0]}: run make")
    out = subprocess.run(["nm", "-A", "-P", "--extern-only", *objects], capture_output=True,
                         text=True, check=True).stdout
    defined, wanted = {}, []
    for line in out.splitlines():
        name, symbol, kind = line.split()[:3]
        file = objects[name.rstrip(":")]
        if kind in "Uwv":
            wanted.append((file, symbol))
        else:
            defined[symbol] = file
    graph = {f: set() for f in objects.values()}
    for file, symbol in wanted:
        if defined.get(symbol, file) != file:
            graph[file].add(defined[symbol])
    return graph


def circles(graph):
    """The strongly connected components of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(f):
        index[f] = low[f] = len(index)
        stack.append(f)
        for g in sorted(graph[f]):
            if g not in index:
                visit(g)
            if g in stack:
                low[f] = min(low[f], low[g])
        if low[f] == index[f]:
            one = stack[stack.index(f):]
            del stack[stack.index(f):]
            if len(one) > 1:
                found.append(sorted(one))

    sys.setrecursionlimit(10000)
    for f in sorted(graph):
        if f not in index:
            visit(f)
    return found


def long_functions(file, lines):
    """(name, lines between the braces) of each function above the limit. A body begins
    with a brace alone in column 0 and ends with one."""
    begin = None
    for i, line in enumerate(lines):
        if line == "{":
            begin = i
        elif line == "}" and begin is not None:
            if i - begin - 1 > FUNCTION_LINES:
                head = begin
                while head and re.match(r"[\s)]", lines[head - 1]) and lines[head - 1].strip():
                    head -= 1
                name = re.search(r"(\w+)\(", lines[head - 1])
                yield name.group(1) if name else f"line {begin + 1}", i - begin - 1
            begin = None


def wide_functions(text):
    """(name, parameters) of each function above the limit, defined or declared: what begins in
    the first column and is followed by a brace or a semicolon."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    for m in re.finditer(r"^(?:[a-zA-Z_][\w\s*]*?[\s*])?(\w+)\(", text, re.M):
        end, depth, n = m.end(), 1, 1
        while end < len(text) and depth:
            depth += (text[end] in "([{") - (text[end] in ")]}")
            n += text[end] == "," and depth == 1
            end += 1
        if n > PARAMETERS and re.match(r"\s*(__attribute__\s*\(\(.*?\)\)\s*)*[{;]", text[end:]):
            yield m.group(1), n


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = sources()
    breaches = []
    graph = uses(sys.argv[1], files)
    named = {tuple(sorted(k)) for k in INSIDE}
    for one in circles(graph):
        rooms = {os.path.dirname(f) for f in one}
        if len(rooms) > 1 or tuple(f[:-2] for f in one) not in named:
            where = "between rooms" if len(rooms) > 1 else "inside a room"
            breaches.append(f"{one[0]}: a circle {where}:" + "".join(
                f"\n\t{f} uses {', '.join(sorted(graph[f] & set(one)))}" for f in one))
    for f in files:
        with open(f, encoding="utf-8") as source:
            text = source.read()
        lines = text.splitlines()
        for name, n in wide_functions(text):
            if f"{f}:{name}" not in WIDE and not re.search(r"_test\.[ch]$", f):
                breaches.append(f"{f}: {name}() has {n} parameters, more than {PARAMETERS}")
        if len(lines) > FILE_LINES:
            breaches.append(f"{f}: {len(lines)} lines, more than {FILE_LINES}")
        for name, n in long_functions(f, lines):
            if f"{f}:{name}" not in LONG:
                breaches.append(f"{f}: {name}() has {n} lines, more than {FUNCTION_LINES}")
    if breaches:
        print("\n".join(breaches))
    return bool(breaches)


sys.exit(main())
