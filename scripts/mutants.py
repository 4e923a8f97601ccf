#!/usr/bin/env python3
"""Changes one place of the code at a time, and says which changes no test notices.

  scripts/mutants.py BUILD_DIR [--seed N] [--number N] [--cover FILE] ROOM…

A mutant is a line of a .c file of the room, chosen at random, first the operator, then the place:
bound (< to <=), equal (== to !=), plus (+ to -), and-or, constant (±1), negate (a condition),
drop-not, delete (a statement), return-0 (at once, or in place of a value), swap (neighbouring
arguments). It relies on the project's layout of code: a statement a line, spaces around operators.
Mutants that do not compile, or whose code is the same, do not count.

Nothing in the checkout changes: the mutant is compiled by itself, and the tests are linked with it in
front of the library; a test that includes the file is compiled with the mutant in its place. The unit tests and replays of the room run, until one fails. A test that also fails with
the unchanged file placed the same way says nothing: it is reported, and not used. With --cover
(build/coverage/cover.json, of `make coverage COVERAGE=--by-test`) only lines are changed that a test runs, and
what the room's own tests do not notice is tried with the others that run the line, but for those
that take long, quick ones first: all of them, or as many as take --seconds together.

BUILD_DIR is build/release or, to see what only sanitizers see, build/asan; its tests are built
(make testbins). scripts/mutants.judged lists survivors that are no gaps, with the reason. The same
seed chooses the same mutants. Exit status 1: more than 5 % survive unjudged.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# What these rooms give is seen in caches: the tests of libsymcache/write, which makes them, are
# theirs, too.
SEEN_IN_CACHES = ["libsymcache/dwarf", "libsymcache/write/flatten", "libsymcache/write/image",
                  "libsymcache/write/input"]
LONG = 20  # seconds with gcov: such tests are not tried with a mutant
ERRORS = ["-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-Werror=return-type",
          "-Werror=implicit-function-declaration", "-Werror=discarded-qualifiers"]


# ---- mutations ----------------------------------------------------------------------

def mask(text):
    """The same text with spaces for comments, strings, and lines of the preprocessor."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: '"' + " " * (len(m.group()) - 2) + '"', text)
    text = re.sub(r"'(?:\\.|[^'\\\n])+'", lambda m: "'" + " " * (len(m.group()) - 2) + "'", text)
    return re.sub(r"(?m)^#(?:[^\n]*\\\n)*[^\n]*", blank, text)


SWAPS = {" < ": (" <= ", "bound"), " <= ": (" < ", "bound"), " > ": (" >= ", "bound"), " >= ": (" > ", "bound"),
         " == ": (" != ", "equal"), " != ": (" == ", "equal"), " + ": (" - ", "plus"), " - ": (" + ", "plus"),
         " += ": (" -= ", "plus"), " -= ": (" += ", "plus"), " && ": (" || ", "and-or"), " || ": (" && ", "and-or")}


def closing(line, at):
    depth = 0
    for i in range(at, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if not depth:
            return i
    return -1


def in_line(s, m):
    """(operator, text of the mutated line) within a line; m is masked"""
    for token, (other, kind) in SWAPS.items():
        for k in re.finditer(re.escape(token), m):
            yield kind, s[:k.start()] + other + s[k.end():]
    for k in re.finditer(r"(?<![\w.])([1-9]\d*|0|0x[0-9a-fA-F]+)(?=[uUlL]*(?![\w.]))", m):
        for step in (1, -1):
            n = int(k.group(), 0) + step
            yield "constant", s[:k.start()] + (str(n) if n >= 0 else f"({n})") + s[k.end():]
    for k in re.finditer(r"!(?=[\w(*])", m):
        yield "drop-not", s[:k.start()] + s[k.end():]
    k = re.search(r"\b(if|while) (?=\()", m)
    end = closing(m, k.end()) if k else -1
    if end > 0:
        yield "negate", s[:k.end()] + "(!" + s[k.end():end + 1] + ")" + s[end + 1:]
    for k in re.finditer(r"\w\(", m):
        end = closing(m, k.end() - 1)
        args = s[k.end():end].split(", ") if end > 0 else []
        if len(args) < 2 or any(re.search(r"[()\"{}]", a) for a in args):
            continue
        for j in range(len(args) - 1):
            two = args[:j] + [args[j + 1], args[j]] + args[j + 2:]
            yield "swap", s[:k.end()] + ", ".join(two) + s[end:]


def mutations(lines, masked):
    """(line number, operator, text of the mutated line) of a source"""
    void, before = False, ""
    for i, (s, m) in enumerate(zip(lines, masked)):
        at, old = i + 1, before
        if m.strip():
            before = m.rstrip()
        if re.match(r"[a-z].*\(", m) and not m.rstrip().endswith(";"):
            void = bool(re.match(r"(static |inline |__\w+\S* )*void \w", m))
        if not m.startswith("\t"):
            continue
        for kind, new in in_line(s, m):
            yield at, kind, new
        k = re.match(r"(\t+)return (.+);$", m)
        if k and k.group(2) not in ("0", "false", "NULL"):
            yield at, "return-0", k.group(1) + "return 0;"
        indent = re.match(r"\t+", m).group()
        starts = old.endswith((";", "{", "}", ")", ":", "else", "do"))
        if starts and re.match(r"\t+[^\s{}].*[;{]$", m) and not re.match(r"\t+(else|case|default|\})", m):
            if not re.match(r"\t+(return|break;|goto|[\w ]+:)", m):
                yield at, "return-0", indent + ("return;" if void else "return 0;") + " " + s.strip()
            if m.endswith(";") and not re.match(r"\t+(return|goto)\b", m):
                yield at, "delete", indent + ";"


def choose(files, seed, room, cover):
    """Mutants of a room without an end, until there are no more."""
    rng, by_kind, seen = random.Random(f"{seed} {room}"), collections.defaultdict(list), set()
    for path in files:
        text = open(f"{ROOT}/{path}").read()
        for at, kind, new in mutations(text.split("\n"), mask(text).split("\n")):
            if not cover or any(cover["total"].get(path, {}).get(str(at), {}).values()):
                by_kind[kind].append((path, at, kind, new))
    while by_kind:
        kind = rng.choice(sorted(by_kind))
        one = by_kind[kind].pop(rng.randrange(len(by_kind[kind])))
        if not by_kind[kind]:
            del by_kind[kind]
        if one[:2] not in seen:
            seen.add(one[:2])
            yield one


# ---- compiling, linking, running --------------------------------------------------------

def made_by(build, target, changed):
    """What make does for a target when a file has changed; the last command."""
    mode = os.path.basename(os.path.normpath(build))
    text = subprocess.run(["make", "-n", "V=1", f"MODE={mode}", "-W", changed, target], cwd=ROOT,
                          capture_output=True, text=True, check=True).stdout.replace("\\\n", " ")
    return shlex.split([l for l in text.splitlines() if f"-o {target} " in l + " "][-1])


class Tests:
    """The tests of one build, linked with a mutant."""

    def __init__(self, build, folder, cover, seconds):
        self.build, self.folder, self.commands = build, folder, {}
        self.cover, self.seconds = cover, seconds
        self.valid, self.checking = {}, threading.Lock()
        # With build IDs as long as those of ld, which tests look themselves up by, too.
        self.lld = []
        if subprocess.run(["which", "ld.lld"], capture_output=True).stdout:
            self.lld = ["-fuse-ld=lld", "-Wl,--build-id=sha1"]

    def own(self, room):
        found = sorted(n for n in os.listdir(f"{ROOT}/{room}") if n.endswith(("_test.c", "_fuzz.c")))
        tests = [f"{room}/{n[:-2]}" for n in found]
        return tests + (self.own("libsymcache/write") if room in SEEN_IN_CACHES else [])

    def that_run(self, path, line):
        """Tests that run the line, quick ones first, as many as take the given time together; not
        those that take long."""
        if not self.cover:
            return []
        took = self.cover["seconds"]
        names = [t for t, ls in self.cover["by_test"].get(path, {}).items() if line in ls and took[t] < LONG]
        names.sort(key=lambda t: took[t])
        names = [t for t, end in zip(names, itertools.accumulate(took[t] for t in names)) if end <= self.seconds]
        names = [t if t.startswith("golden:") else t.split(":")[-1].replace("+", "/") for t in names]
        return [t for t in names if t not in ("faults", "layouts")]

    def compile(self, path, text, obj):
        """False: it does not compile."""
        if path not in self.commands:
            self.commands[path] = made_by(self.build, f"{self.build}/{path[:-2]}.o", path)
        source = obj[:-2] + ".c"
        with open(source, "w") as f:
            f.write(text)
        command = [source if a == path else obj if a.endswith(path[:-2] + ".o") else a for a in self.commands[path] if a != "-g"]
        command[1:1] = ["-iquote", os.path.dirname(path)]  # what it includes from its own folder
        return not subprocess.run(command + ERRORS + ["-MF", obj + ".d"], cwd=ROOT, capture_output=True).returncode

    def including(self, target, path, obj):
        """The object of a test that includes the mutant. None: it does not include the file."""
        source, test = f"{target}.c", f"{obj[:-2]}.i/test.o"
        if not os.path.exists(f"{ROOT}/{source}") or f'#include "{path}"' not in open(f"{ROOT}/{source}").read():
            return None
        if source not in self.commands:
            self.commands[source] = made_by(self.build, f"{self.build}/{target}.o", source)
        os.makedirs(f"{obj[:-2]}.i/{os.path.dirname(path)}", exist_ok=True)
        shutil.copy(obj[:-2] + ".c", f"{obj[:-2]}.i/{path}")
        command = [test if a == f"{self.build}/{target}.o" else a for a in self.commands[source]]
        command[1:1] = [f"-I{obj[:-2]}.i"]
        subprocess.run(command + ["-MF", test + ".d"], cwd=ROOT, capture_output=True)
        return test

    def link(self, target, path, obj):
        """The program with the mutant in front of the library. None: it does not link."""
        if target not in self.commands:
            main = "cmd/main" if target == "symcache" else target
            self.commands[target] = made_by(self.build, f"{self.build}/{target}", f"{self.build}/{main}.o")
        exe = f"{obj[:-2]}.d/{os.path.basename(target)}"  # tests look themselves up by their name
        os.makedirs(os.path.dirname(exe), exist_ok=True)
        library = f"{self.build}/libsymcache.a"
        test = self.including(target, path, obj)
        instead = {f"{self.build}/{target}.o": test} if test else {f"{self.build}/{path[:-2]}.o": obj}
        command = [instead.get(a, a) for a in self.commands[target]]
        if not test and obj not in command:
            command.insert(command.index(library), obj)
        command[command.index("-o") + 1] = exe
        done = subprocess.run(command[:1] + self.lld + command[1:], cwd=ROOT, capture_output=True)
        return exe if not done.returncode else None

    def notices(self, test, path, obj):
        """Does the test fail with the mutant of a file, and not with the file unchanged?"""
        if not self.fails(test, path, obj):
            return False
        with self.checking:
            if (path, test) not in self.valid:
                plain = f"{self.folder}/plain.o"
                self.compile(path, open(f"{ROOT}/{path}").read(), plain)
                self.valid[path, test] = not self.fails(test, path, plain)
                if not self.valid[path, test]:
                    print(f"{test} fails with {path} unchanged: it is not used\n", flush=True)
        return self.valid[path, test]

    def fails(self, test, path, obj):
        golden = test.startswith("golden:")
        exe = self.link("symcache" if golden else test, path, obj)
        if not exe:
            return False
        corpus = "testdata/fuzz/" + os.path.basename(test)[:-5]
        command = ["scripts/golden.sh", exe, test[7:]] if golden else \
            [exe] + ([corpus] if test.endswith("_fuzz") else [])
        if test.endswith("_fuzz") and not os.path.isdir(f"{ROOT}/{corpus}"):
            return False
        p = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        try:
            failed = p.wait(timeout=30) != 0
        except subprocess.TimeoutExpired:  # it goes round for ever
            failed = True
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        os.unlink(exe)
        return failed


def one(tests, mutant, own, number):
    """(how it ended, the line before)"""
    path, line, _, new = mutant
    text = open(f"{ROOT}/{path}").read()
    lines = text.split("\n")
    old, lines[line - 1] = lines[line - 1], new
    obj = f"{tests.folder}/{number}.o"
    tests.compile(path, text, obj)
    plain = open(obj, "rb").read()
    if not tests.compile(path, "\n".join(lines), obj) or open(obj, "rb").read() == plain:
        return None, old
    known = tests.that_run(path, line)
    first = [t for t in known if t in own]  # of a room's tests all count: they may be newer than cover
    others = [t for t in known if t not in own]
    for which, names in (("own", first + [t for t in own if t not in first]), ("others", others)):
        if any(tests.notices(t, path, obj) for t in names):
            return which, old
    return "left", old


def judgements():
    """{(file, old, new): why}, of lines "FILE: `old` → `new`: why"."""
    judged = {}
    for line in open(f"{ROOT}/scripts/mutants.judged"):
        m = re.match(r"(\S+): `(.*)` → `(.*)`: (.*)", line)
        if m:
            judged[m.group(1), m.group(2), m.group(3)] = m.group(4)
    return judged


def run_room(a, tests, room, cover, judged):
    """The numbers of a room; survivors are printed."""
    files = sorted(f"{room}/{n}" for n in os.listdir(f"{ROOT}/{room}")
                   if n.endswith(".c") and not n.endswith(("_test.c", "_fuzz.c")))
    own, rows = tests.own(room), collections.Counter()
    mutants = choose(files, a.seed, room, cover)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while sum(rows.values()) < a.number:
            some = [m for _, m in zip(range(a.number - sum(rows.values())), mutants)]
            if not some:
                break
            done = pool.map(lambda m: one(tests, m[1], own, m[0]), enumerate(some))
            for (path, line, kind, new), (how, old) in zip(some, done):
                if how == "left" and (path, old.strip(), new.strip()) in judged:
                    how = "judged"
                if how == "left":
                    print(f"{path}:{line} [{kind}]\n  - {old.strip()}\n  + {new.strip()}\n", flush=True)
                rows[how] += how is not None
    return rows


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--number", type=int, default=20, help="of mutants of each room")
    p.add_argument("--cover")
    p.add_argument("--seconds", type=float, default=float("inf"), help="of other rooms' tests with a mutant")
    p.add_argument("rooms", nargs="+")
    a = p.parse_args()
    cover = json.load(open(a.cover)) if a.cover else None
    judged, table = judgements(), {}
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(os.path.relpath(os.path.realpath(a.build), ROOT), folder, cover, a.seconds)
        for room in a.rooms:
            table[room] = run_room(a, tests, room, cover, judged)
    table["all"] = sum(table.values(), collections.Counter())
    print(f"{'room':28} mutants  own others judged  left")
    for room, c in table.items():
        print(f"{room:28} {sum(c.values()):7} {c['own']:4} {c['others']:6} {c['judged']:6} {c['left']:5}")
    sys.exit(20 * table["all"]["left"] > sum(table["all"].values()))


if __name__ == "__main__":
    main()
