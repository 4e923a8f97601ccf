#!/usr/bin/env python3
"""Draws README's picture: the log of `make demo`, and the page that becomes of it.

  scripts/picture.py [DEMO_DIR] [PROGRAM] > scripts/picture.svg

Reads crash.log and the store of DEMO_DIR (build/demo), which `make demo` leaves there; PROGRAM
(build/release/symcache) makes the page. What it shows is what is in that page, in its colours: the
head, and the first rows of the backtrace. Paths are cut to what says something.
"""
import os
import re
import subprocess
import sys
from html import escape
from html.parser import HTMLParser

COLUMNS, LINE, CHAR, MARGIN = 100, 19, 7.83, 18
COLORS = {"element": "#e5c07b", "plain": "#abb2bf"}
# The page's tokens, in its light scheme.
PAGE = {"fg": "#1b2027", "dim": "#57606b", "acc": "#0a519f", "bad": "#b02418", "inl": "#6a45b8"}
NAME, PLACE, ROWS = 11, 55, 9  # columns of names and places, how many rows


def short(line, top):
    return line.replace(top + "/", "")


def fit(line, columns=COLUMNS):
    return line if len(line) <= columns else line[:columns - 1] + "…"


def before(line):
    return [("element" if line.startswith("{{{") else "plain", fit(line))]


class Page(HTMLParser):
    """The head, and the rows of backtraces, as lists of (class, text) of their elements."""

    def __init__(self):
        super().__init__()
        self.open, self.head, self.facts, self.rows = [], {}, [], []

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        kind = (of.get("class") or "").split()
        if "r" in kind:
            self.rows.append({"own": "o" in kind, "inlined": any("in" in k for _, k in self.open), "i": "", "b": "", "cite": ""})
        if tag not in ("meta", "input", "li", "br"):
            self.open.append((tag, kind))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, text):
        tags = [t for t, _ in self.open]
        kinds = [k for _, k in self.open]
        last = tags[-1] if tags else ""
        if ["head"] in kinds and "details" not in tags:
            if "h1" in tags:
                self.head["h1"] = self.head.get("h1", "") + text
            elif "cite" in tags:
                self.head["cite"] = self.head.get("cite", "") + text
            elif ["why"] in kinds:
                self.head.setdefault("why", []).append((last, text))
            elif last in ("dt", "dd") or "dd" in tags:
                self.facts.append((last, text))
        elif self.rows and "section" in tags and "summary" not in tags and last != "small":
            for field in ("i", "b", "cite"):
                if field in tags and not (field == "cite" and last == "span"):
                    self.rows[-1][field] += text


def texts(x, y, *spans, size=None):
    more = f' font-size="{size}"' if size else ""
    inside = "".join(f'<tspan fill="{PAGE[color]}"{" font-weight=" + chr(34) + "600" + chr(34) if bold else ""}>'
                     f'{escape(text)}</tspan>' for color, bold, text in spans)
    return f'<text x="{x}" y="{y}"{more}>{inside}</text>'


def page(y, p, width):
    """Draws it, and says how high it is: the last thing that it yields."""
    top, at = y, y + 60
    out = []
    out.append(texts(MARGIN, at, *[("bad" if tag == "b" else "fg", tag == "b", text) for tag, text in p.head["why"]]))
    out.append(texts(MARGIN, at + 26, ("fg", True, p.head["h1"]), size=18))
    out.append(texts(MARGIN, at + 26 + LINE, ("dim", False, p.head["cite"])))
    out.append(texts(MARGIN, at + 30 + 2 * LINE, *[("dim" if tag == "dt" else "bad" if tag == "span" else "fg", False,
               (" · " if tag == "dt" and i else "") + text + (" " if tag == "dt" else "")) for i, (tag, text) in enumerate(p.facts)], size=12))
    at += 30 + 3 * LINE
    out.append(f'<path d="M0 {at} h{width}" stroke="#d3dae1"/>')
    at += LINE + 6
    for row in p.rows[:ROWS]:
        x = MARGIN + (CHAR * NAME if row["inlined"] else CHAR * (NAME - 5))
        if row["inlined"]:
            out.append(f'<path d="M{x - 10:.0f} {at - 14} v{LINE}" stroke="{PAGE["inl"]}" stroke-width="2"/>')
        out.append(texts(MARGIN, at, ("dim", False, row["i"])))
        out.append(texts(f"{x:.0f}", at, ("acc" if row["own"] else "dim", row["own"],
                                         fit(row["b"], PLACE - (NAME if row["inlined"] else NAME - 5) - 1))))
        out.append(texts(f"{MARGIN + CHAR * PLACE:.0f}", at, ("fg" if row["own"] else "dim", False, row["cite"])))
        at += LINE
    yield (f'<rect x=".5" y="{top}.5" width="{width - 1}" height="{at - top}" rx="8" fill="#fff" stroke="#d3dae1"/>'
           f'<path d="M1 {top + 36} v-27 a8 8 0 0 1 8 -8 h{width - 18} a8 8 0 0 1 8 8 v27 z" fill="#f5f7f9"/>'
           f'<path d="M0 {top + 36}.5 h{width}" stroke="#d3dae1"/>'
           + texts(MARGIN, top + 24, ("acc", True, "crash.log")) +
           f'<rect x="{width / 2:.0f}" y="{top + 6}" width="{width / 3:.0f}" height="24" rx="6" fill="#fff" stroke="#57606b"/>'
           + texts(f"{width / 2 + 10:.0f}", top + 23, ("dim", False, "Search")))
    yield from out
    yield at - top


def panel(y, title, lines):
    height = LINE * (len(lines) + 1) + 24
    yield (f'<rect x="0" y="{y}" width="100%" height="{height}" rx="8" fill="#282c34"/>'
           f'<text x="{MARGIN}" y="{y + 24}" fill="#7f848e">{escape(title)}</text>')
    for i, spans in enumerate(lines):
        text = "".join(f'<tspan fill="{COLORS[kind]}">{escape(s)}</tspan>' for kind, s in spans)
        yield f'<text x="{MARGIN}" y="{y + 24 + LINE * (i + 1)}">{text}</text>'


def main():
    demo = sys.argv[1] if len(sys.argv) > 1 else "build/demo"
    program = sys.argv[2] if len(sys.argv) > 2 else "build/release/symcache"
    top, width = os.getcwd(), round(COLUMNS * CHAR + 2 * MARGIN)
    with open(os.path.join(demo, "crash.log")) as f:
        log = [short(l.rstrip("\n"), top) for l in f]
    log = [l for l in log if l.startswith(("bill: reading", "{{{module:0", "{{{bt:0", "{{{bt:1", "{{{bt:2"))]
    p = Page()
    p.feed(subprocess.run([program, "filter", "--store", os.path.join(demo, "store"), "--format", "html",
                           "--map-path", top + "=", os.path.join(demo, "crash.log")],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode().replace(top + "/", ""))
    first = list(panel(0, "crash.log", [before(l) for l in log]))
    y = LINE * (len(log) + 1) + 24 + 12
    *second, height = page(y, p, width)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + height + 1}" '
          'font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="13" xml:space="preserve">')
    for part in first + second:
        print(part)
    print("</svg>")


if __name__ == "__main__":
    main()
