#!/usr/bin/env python3
"""Checks that documents say of this tree what is there.

    scripts/check_documents.py

In all of them links lead to files of the tree. In README.md, ARCHITECTURE.md and CONTRIBUTING.md
so do paths between backticks; what is made or fetched, or stands for others (build/, NAME,
x_test.c) does not count. README.md has 220 lines at most. What the table of rooms in
ARCHITECTURE.md says of those of libsymcache is what scripts/check_layers.sh allows.

Prints each breach as FILE: why; exit status 1 if there is one.
"""
import os
import re
import subprocess
import sys

README_LINES = 220
GUIDES = "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"
MARKUP = {"libmarkup/bytes/": "mk/bytes", "libmarkup/markup.h": "mk"}  # in check_layers.sh
MADE = re.compile(r"^build/|^corpus/|^\.\./|NAME|^x_|/x/$")


def tree():
    """The paths of the tree, files and folders."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True,
                         text=True, check=True).stdout.split()
    paths = {path for path in out if os.path.exists(path)}
    for path in list(paths):
        while path := os.path.dirname(path):
            paths.add(path)
    return paths


def links(path, text, paths):
    """Links that lead nowhere."""
    folder = os.path.dirname(path)
    for to in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in to and os.path.normpath(os.path.join(folder, to)) not in paths:
            yield f"{path}: there is no {to}"


def quoted(path, text, paths):
    """Paths between backticks that are neither in the tree nor the end of one that is."""
    ends = {each[at:] for each in paths
            for at in [0] + [m.end() for m in re.finditer("/", each)]}
    for name in re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", text):
        is_path = "/" in name or re.search(r"\.(c|h|sh|py|md|recipe|log)$", name)
        if is_path and not MADE.search(name) and name.rstrip("/") not in ends:
            yield f"{path}: there is no {name}"


def rooms(text):
    """Rows of the table of rooms that check_layers.sh knows otherwise."""
    with open("scripts/check_layers.sh", encoding="utf-8") as file:
        allowed = dict(re.findall(r'\bown\("([\w/]+)", "([^"]*)"', file.read()))
    rows = re.findall(r"^\| `libsymcache/(\w+)/` \|[^|]*\|([^|]*)\|$", text, re.M)
    if len(rows) < 20:
        yield "ARCHITECTURE.md: the table of rooms is not where it was"
    for room, said in rows:
        names = {MARKUP.get(name, name) for name in re.findall(r"[\w./-]+", said)} - {"libc"}
        held = {name for name in allowed.get(room, "").split()
                if not name.startswith(room + "/")}
        for name in sorted(names - held):
            yield f"ARCHITECTURE.md: {room} stands on {name}, which check_layers.sh forbids"
        for name in sorted(name for name in held - names if not name.endswith(".h")):
            yield f"ARCHITECTURE.md: {room} may include {name}, which the table does not say"


def main():
    paths = tree()
    bad = []
    for path in sorted(each for each in paths if each.endswith(".md")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        bad += links(path, text, paths)
        if path in GUIDES:
            bad += quoted(path, text, paths)
        if path == "ARCHITECTURE.md":
            bad += rooms(text)
        if path == "README.md" and text.count("\n") > README_LINES:
            bad.append(f"{path}: {text.count(chr(10))} lines, more than {README_LINES}")
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(__file__), ".."))
    sys.exit(main())
