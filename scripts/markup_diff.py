#!/usr/bin/env python3
"""Runs random and mutated markup through `symcache filter --dialect llvm` and
through llvm-symbolizer-19 --filter-markup and compares both streams byte for
byte.

    scripts/markup_diff.py PROGRAM DEBUG_FILE [LINES] [SEED]

DEBUG_FILE is DIR/.build-id/xx/rest.debug, whose code and data the addresses are
of. Logs of 2,000 lines each are made until LINES (default 10,000) are reached. The
first difference is shown, its log is kept in the temporary folder that is named,
and the exit status is 1; 77 if LLVM's tools are not there.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

LINES_A_LOG = 2000
LLVM = "llvm-symbolizer-19"


class Program:
    """What the addresses are of."""

    def __init__(self, path):
        def ask(*command):
            return subprocess.run(command + (path,), stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
        self.folder = path
        for _ in range(3):
            self.folder = os.path.dirname(self.folder)
        headers = ask("llvm-readelf-19", "-lnW")
        self.build_id = re.search(r"Build ID: ([0-9a-f]+)", headers)
        if self.build_id:
            self.build_id = self.build_id.group(1)
        else:  # as its place says
            self.build_id = os.path.basename(os.path.dirname(path)) + os.path.basename(path)[:-6]
        self.segments = []  # (p_vaddr, p_memsz, its symbols)
        symbols = sorted({int(line.split()[0], 16) for line in ask("llvm-nm-19").splitlines()
                          if line[:1] != " "})
        for vaddr, size in re.findall(r"LOAD +\S+ 0x(\w+) \S+ \S+ 0x(\w+)", headers):
            vaddr, size = int(vaddr, 16), int(size, 16)
            self.segments.append((vaddr, size, [s for s in symbols if vaddr <= s < vaddr + size] or [vaddr]))
        end = max(vaddr + size for vaddr, size, _ in self.segments)
        self.step = 0x1000000
        while self.step < end - self.segments[0][0]:
            self.step *= 2


class Log:
    """One random log: keeps track of modules and maps, so that most of its
    markup makes sense."""

    def __init__(self, rng, program):
        self.rng = rng
        self.program = program
        self.modules = {}  # id: is it the real program?
        self.maps = []     # (start, size, segment)

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def module(self):
        number = self.rng.randrange(12)
        real = self.chance(70)
        self.modules.setdefault(number, real)
        build_id = self.program.build_id if real else self.pick("ab", "ABC", "0", "12345678" * 5, "xyz", "")
        if real and self.chance(10):
            build_id = build_id.upper()
        name = self.pick("a.out", "libx.so", "", "a b", "<VMO#1>", "n{m", "\u00e9")
        return "{{{module:%s:%s:%s:%s}}}" % (
            self.pick("%d", "0x%x", "0%o", "0b{0:b}", "0o%o").replace("0b{0:b}", "%d") % number,
            name, self.pick("elf", "elf", "elf", "elf", "elf", "elf", "pe"), build_id)

    def mmap(self):
        number = self.rng.choice(list(self.modules)) if self.modules and self.chance(95) else 99
        segment = self.pick(*self.program.segments)
        vaddr = segment[0]
        base = self.rng.randrange(40) * self.program.step // 256
        size = self.pick(segment[1], segment[1], 0x1000, 0x1000, 0x3000, 0, 1)
        if self.chance(1):
            size = self.pick(1 << 63, (1 << 64) - 1)
        start = base + (vaddr & 0xffff) + 0x1000 * self.rng.randrange(2)
        self.maps.append((start, max(1, min(size, segment[1])), segment))
        return "{{{mmap:%s:%s:%s:%s:%s:%s}}}" % (
            self.address(start), self.pick("0x%x", "%d", "0%o") % size,
            self.pick("load", "load", "load", "load", "load", "load", "save"),
            self.pick("%d", "0x%x") % number,
            self.pick("r", "rx", "rw", "RWX", "x", "wx", "rX", "xr", ""), self.address(vaddr))

    def process(self):
        """A module and its maps, as a program would announce them."""
        number = self.rng.randrange(100, 110)
        if number in self.modules:
            return ""
        self.modules[number] = True
        text = "{{{module:%d:prog:elf:%s}}}\n" % (number, self.program.build_id)
        for segment in self.program.segments:
            vaddr, size, symbols = segment
            start = number * self.program.step + vaddr - (self.program.segments[0][0] & ~0xfff)
            self.maps += [(start, size, segment)] * (5 if len(symbols) > 10 else 2)
            text += "{{{mmap:0x%x:0x%x:load:%d:rx:0x%x}}}\n" % (start, size, number, vaddr)
        return text

    def address(self, value):
        if value == 0 and self.chance(50):
            return self.pick("0", "000")
        text = self.pick("0x%x", "0x%x", "0x%016x", "0x%X") % value
        if self.chance(3):
            text = self.pick("0X%x" % value, "%d" % value, "", "0x", "0x%x0000000000000" % (value | 1),
                             "0x%xg" % value)
        return text

    def code_address(self):
        if self.maps and self.chance(90):
            start, size, (vaddr, _, symbols) = self.rng.choice(self.maps)
            if self.chance(60):
                return (start + self.rng.choice(symbols) + self.rng.randrange(self.pick(3, 3, 100)) -
                        vaddr & (1 << 64) - 1)
            return start + self.rng.randrange(size + 2)
        return self.pick(0, 1, 0x1000, (1 << 64) - 1, self.rng.randrange(1 << 64))

    def frame(self):
        tail = self.pick("", "", "", ":ra", ":pc", ":pc", ":xx", ":ra:msg", ":pc:sp 0x1", ":")
        number = self.pick("%d", "%d", "%d", "%d", "%d", "%d", "0x%x", "-%d") % self.pick(
            0, 1, 7, 42, 123456, 1 << 40)
        return "{{{bt:%s:%s%s}}}" % (number, self.address(self.code_address()), tail)

    def presentation(self):
        kind = self.rng.randrange(12)
        address = self.address(self.code_address())
        if kind < 5:
            return self.frame()
        if kind < 7:
            return "{{{pc:%s%s}}}" % (address, self.pick("", "", ":ra", ":pc", ":zz", ":ra:more"))
        if kind < 9:
            return "{{{data:%s%s}}}" % (address, self.pick("", "", "", ":more"))
        if kind < 10:
            return "{{{symbol%s}}}" % self.pick(
                ":_ZN2ns3getEi", ":main", ":", "", ":_Zx", ":_ZN1aIN1bIiEEE:x", ":__ZN2ns3getEi",
                ":_ZNSt6vectorIS_IiSaIiEESaIS1_EE9push_backERKS1_", ":_RNvC1a1b", ":_ZN1a.part.0Ev")
        return self.pick("{{{hexdict:A: 0x1 B: 0}}}", "{{{dumpfile:a:b}}}", "{{{foo}}}", "{{{foo:1:2}}}",
                         "{{{Foo}}}", "{{{a1:x}}}", "{{{}}}", "{{{:x}}}", "{{{ bt:0:0x1}}}", "{{{bt", "{{{",
                         "}}}", "{{{hexdict:A: 0x1")

    def text(self):
        return self.pick("", "", " ", "text", "[1] 2> ", "{", "}}", "{{ {", "\t", "\u00e4", "a\0b",
                         "\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[34m", "\x1b[37m", "\x1b[38m", "\x1b[4m",
                         "\x1b[", "\x1b", "\x1b[01m")

    def line(self):
        kind = self.rng.randrange(1000) / 10
        if kind < 0.5:
            self.modules, self.maps = {}, []
            line = self.text() + "{{{reset%s}}}" % self.pick("", "", "", ":begin", ":", ":a:b") + self.text()
        elif kind < 2:
            return self.process()
        elif kind < 12:
            line = self.text() + self.module() + self.text()
        elif kind < 35:
            line = self.text() + self.mmap() + self.text()
        elif kind < 45:
            line = self.text() + self.text()
        else:
            line = self.text()
            for _ in range(self.pick(1, 1, 1, 2, 3)):
                line += self.presentation() + self.text()
            if self.chance(3):
                line += self.pick(self.module, self.mmap)() + self.text()
        if self.chance(4):
            line = self.mutate(line)
        return line + self.pick("\n", "\n", "\n", "\n", "\r\n")

    def mutate(self, line):
        chars = list(line)
        for _ in range(self.rng.randrange(1, 4)):
            at = self.rng.randrange(len(chars) + 1)
            what = self.rng.randrange(4)
            if what == 0:
                chars.insert(at, self.pick("{", "}", ":", "x", "0", "{{{", "}}}", "\x1b[1m", "\n"))
            elif chars:
                at %= len(chars)
                if what == 1:
                    del chars[at]
                elif what == 2:
                    chars[at] = self.pick("{", "}", ":", "q", "9", "\r")
                else:
                    other = self.rng.randrange(len(chars))
                    chars[at:at] = chars[other:other + 5]
        return "".join(chars)

    def make(self, lines):
        text = self.process() + "".join(self.line() for _ in range(lines))
        if self.chance(30):
            text = text[:-1]
        return text.encode()


def run(command, log, env):
    with open(log, "rb") as f:
        done = subprocess.run(command, stdin=f, capture_output=True, env=env, timeout=300)
    return done.returncode, done.stdout, done.stderr


def show(what, ours, theirs):
    ours, theirs = ours.split(b"\n"), theirs.split(b"\n")
    for i, (a, b) in enumerate(zip(ours + [b"(end)"], theirs + [b"(end)"])):
        if a != b:
            print("%s differs in line %d:\n  ours %r\n  llvm %r" % (what, i + 1, a, b))
            return
    print("%s differs in length" % what)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, debug_file = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    lines = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    if not shutil.which(LLVM):
        print("skipped: %s is not installed" % LLVM)
        sys.exit(77)
    real = Program(debug_file)
    folder = tempfile.mkdtemp(prefix="markup_diff.")
    env = dict(os.environ, XDG_CACHE_HOME=folder)
    for name in "DEBUGINFOD_URLS", "SYMCACHE_STORE":
        env.pop(name, None)
    debug = ["--debug-file-directory", real.folder]
    for i in range(0, lines, LINES_A_LOG):
        rng = random.Random("%d/%d" % (seed, i))
        log = os.path.join(folder, "log")
        with open(log, "wb") as f:
            f.write(Log(rng, real).make(LINES_A_LOG))
        color = rng.choice([[], ["--color=always"], ["--color=never"]])
        ours = run([program, "filter", "--dialect", "llvm"] + debug + color, log, env)
        theirs = run([LLVM, "--filter-markup"] + [debug[0] + "=" + debug[1]] + color, log, env)
        if ours != theirs:
            print("seed %d, lines from %d, %s: %s" % (seed, i, color, log))
            if ours[0] != theirs[0]:
                print("exit status %d, llvm %d" % (ours[0], theirs[0]))
            for what, a, b in (("stdout", ours[1], theirs[1]), ("stderr", ours[2], theirs[2])):
                if a != b:
                    show(what, a, b)
            sys.exit(1)
    shutil.rmtree(folder)
    print("%d lines: no difference" % lines)


if __name__ == "__main__":
    main()
