#!/usr/bin/env python3
"""Draws README's picture: the log of `make demo`, before and after.

  scripts/picture.py [DEMO_DIR] > scripts/picture.svg

Reads crash.log and report.txt of DEMO_DIR (build/demo), which `make demo` leaves
there. Paths are cut to what says something; nothing else is changed.
"""
import os
import re
import sys
from html import escape

COLUMNS, LINE, CHAR, MARGIN = 100, 19, 7.83, 18
COLORS = {"element": "#e5c07b", "function": "#61afef", "place": "#98c379", "plain": "#abb2bf"}


def short(line, top):
    line = line.replace(top + "/", "").replace("/usr/include/c++/", "c++/")
    return re.sub(r" \(\S+\+0x[0-9a-f]+\)$", "", line)


def fit(line):
    return line if len(line) <= COLUMNS else line[:COLUMNS - 1] + "…"


def before(line):
    return [("element" if line.startswith("{{{") else "plain", fit(line))]


def after(line):
    m = re.match(r"(\s*#\S+\s+0x[0-9a-f]+ )(.*?)( \S+:\d+:\d+)?$", fit(line))
    if not m:
        return [("plain", fit(line))]
    return [("plain", m[1]), ("function", m[2]), ("place", m[3] or "")]


def panel(y, title, lines):
    height = LINE * (len(lines) + 1) + 24
    yield (f'<rect x="0" y="{y}" width="100%" height="{height}" rx="8" fill="#282c34"/>'
           f'<text x="{MARGIN}" y="{y + 24}" fill="#7f848e">{escape(title)}</text>')
    for i, spans in enumerate(lines):
        text = "".join(f'<tspan fill="{COLORS[kind]}">{escape(s)}</tspan>' for kind, s in spans)
        yield f'<text x="{MARGIN}" y="{y + 24 + LINE * (i + 1)}">{text}</text>'


def main():
    demo = sys.argv[1] if len(sys.argv) > 1 else "build/demo"
    top = os.getcwd()
    with open(os.path.join(demo, "crash.log")) as f:
        log = [short(l.rstrip("\n"), top) for l in f]
    with open(os.path.join(demo, "report.txt")) as f:
        report = [short(l.rstrip("\n"), top) for l in f]
    log = [l for l in log if l.startswith(("bill:", "{{{module:0", "{{{bt:0", "{{{bt:1", "{{{bt:2"))]
    report = [l for l in report if l.startswith("bill:") or re.match(r"\s*#[0-2](\.|\s)", l)]
    first, second = [before(l) for l in log], [after(l) for l in report]
    second_y = LINE * (len(first) + 1) + 24 + 12
    height = second_y + LINE * (len(second) + 1) + 24
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * CHAR + 2 * MARGIN:.0f} '
          f'{height}" font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="13" '
          'xml:space="preserve">')
    for part in panel(0, "crash.log", first):
        print(part)
    for part in panel(second_y, "$ symcache filter crash.log", second):
        print(part)
    print("</svg>")


main()
