#!/usr/bin/env python3
"""How much of each room the tests run, by gcov, one test at a time; and which test runs which line.

  scripts/coverage.py [--out DIR] [--table] [--by-test] [--only PATTERN…]

In DIR (build/coverage) it leaves a copy of the checkout, built with gcov; data/TEST, what each test
ran; and cover.json. It prints a line for each room and the largest blocks that no test runs.
--table renews the table of CONTRIBUTING.md. --by-test: cover.json has which test runs which line, for
scripts/mutants.py; that takes longer than the tests. --only: tests by name (unit:…, fuzz:…, golden:…, layouts
or faults), in addition to what ran before.

A child that ends by a signal writes no counts: libmarkup/emit, whose tests crash, is left out. What
is always inlined is compiled as a function, or each copy of a branch would count.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
FLAGS = "-g -O0 -U_FORTIFY_SOURCE --coverage -fprofile-update=atomic -Dalways_inline=unused"
BUILD = "build/release"
FOR_TESTS = ("_test.c", "_test.h", "_fuzz.c", "/dwarf_writer.h", "/line_writer.h")  # no room's own lines
MADE = ["deps.mk", "testprogs", "debian12", "layouts"]  # of build/, what takes long and does not depend on flags


def sync(tree):
    """Makes `tree` a copy of the checkout, with links to what lies next to it."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    os.makedirs(f"{tree}/build", exist_ok=True)
    for name in listed:
        if not os.path.isfile(f"{ROOT}/{name}"):
            continue
        to = f"{tree}/{name}"
        if not os.path.exists(to) or open(to, "rb").read() != open(f"{ROOT}/{name}", "rb").read():
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(f"{ROOT}/{name}", to)
    for folder, _, names in os.walk(tree):
        inside = os.path.relpath(folder, tree)
        for n in names if not inside.startswith("build") else []:
            if os.path.normpath(f"{inside}/{n}") not in listed:
                os.unlink(f"{folder}/{n}")
    for name in MADE:
        if os.path.exists(f"{ROOT}/build/{name}") and not os.path.exists(f"{tree}/build/{name}"):
            subprocess.run(["cp", "-a", f"{ROOT}/build/{name}", f"{tree}/build/{name}"], check=True)
    shared = os.path.realpath(f"{ROOT}/../shared")
    if os.path.isdir(shared) and not os.path.lexists(f"{tree}/../shared"):
        os.symlink(shared, f"{tree}/../shared")


def build(tree, flags, more=()):
    subprocess.run(["make", f"-j{os.cpu_count()}", f"CFLAGS={flags}", *more, "all", "testbins"],
                   cwd=tree, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["scripts/testprogs.sh", "build/testprogs"], cwd=tree, check=True)


def tests(tree, where=BUILD):
    """Every test of the tree: (name, command)."""
    found = [("faults", ["scripts/faults.py", where, "--every", "3"]),
             ("layouts", ["scripts/layouts.py", where + "/symcache"])]
    for kind, end in (("unit", "_test"), ("fuzz", "_fuzz")):
        for folder, _, names in os.walk(os.path.join(tree, where)):
            for n in names:
                corpus = "testdata/fuzz/" + n[:-len(end)]
                if not n.endswith(end) or kind == "fuzz" and not os.path.isdir(f"{tree}/{corpus}"):
                    continue
                path = os.path.relpath(os.path.join(folder, n), tree)
                name = os.path.relpath(path, where).replace("/", "+")
                found.append((f"{kind}:{name}", [path] + ([corpus] if kind == "fuzz" else [])))
    for g in os.listdir(f"{tree}/testdata/golden"):
        found.append((f"golden:{g}", ["scripts/golden.sh", where + "/symcache", g]))
    return sorted(found)


def run(tree, out, patterns):
    """Runs the tests whose names match; {test: seconds}."""
    seconds = {}
    strip = str(len(os.path.join(tree, BUILD).strip("/").split("/")))
    os.makedirs(out + "/log", exist_ok=True)

    def one(test):
        name, command = test
        shutil.rmtree(f"{out}/data/{name}", ignore_errors=True)
        for folder, _, _ in os.walk(f"{tree}/{BUILD}"):  # some tests run it as another user
            os.makedirs(made := f"{out}/data/{name}/{os.path.relpath(folder, f'{tree}/{BUILD}')}")
            os.chmod(made, 0o777)
        env = dict(os.environ, GCOV_PREFIX=f"{out}/data/{name}", GCOV_PREFIX_STRIP=strip)
        start = time.time()
        with open(f"{out}/log/{name}", "w") as log:
            rc = subprocess.run(["timeout", "1800"] + command, cwd=tree, env=env, stdout=log,
                                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT).returncode
        return name, rc, round(time.time() - start, 3)

    chosen = [t for t in tests(tree) if not patterns or any(fnmatch.fnmatch(t[0], p) for p in patterns)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, rc, took in pool.map(one, chosen):
            seconds[name] = took
            if rc:
                print(f"{name} fails with gcov (exit status {rc}): see {out}/log/{name}")
    return seconds


def counts(job):
    """What one test ran: {file: {line: count}}, {file: {line: [branch counts]}}."""
    tree, data = job
    lines, branches = collections.defaultdict(dict), collections.defaultdict(dict)
    gcda = []
    for folder, _, names in os.walk(data):
        for n in names:
            if n.endswith(".gcda"):
                note = os.path.join(folder, n[:-5] + ".gcno")
                if not os.path.lexists(note):
                    os.symlink(os.path.join(tree, BUILD, os.path.relpath(note, data)), note)
                gcda.append(os.path.join(folder, n))
    for i in range(0, len(gcda), 50):
        text = subprocess.run(["gcov", "-b", "--json-format", "--stdout"] + gcda[i:i + 50], cwd=tree,
                              capture_output=True, text=True).stdout
        for f in (f for doc in text.splitlines() for f in json.loads(doc)["files"]):
            name = os.path.normpath(f["file"])
            if name.startswith(("/", "..")) or "/testing" in name or name.endswith(FOR_TESTS):
                continue
            for l in f["lines"]:
                at = l["line_number"]
                lines[name][at] = max(lines[name].get(at, 0), l["count"])
                if l["branches"]:
                    b, old = [x["count"] for x in l["branches"]], branches[name].get(at)
                    branches[name][at] = [max(p) for p in zip(old, b)] if old and len(old) == len(b) else b
    return os.path.basename(data), lines, branches


def merged(out, kind):
    """A folder with the counts of all tests of a kind added up."""
    top = f"{out}/merged/{kind}"
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    found = [f"{out}/data/{t}" for t in sorted(os.listdir(out + "/data")) if t.split(":")[0] == kind]
    found = [d for d in found if any(n.endswith(".gcda") for _, _, names in os.walk(d) for n in names)]

    def add(job):
        number, pair = job
        to = f"{top}/{number}"
        subprocess.run(["gcov-tool", "merge", "-o", to, *pair], check=True, capture_output=True)
        for one in pair:
            if one.startswith(top):
                shutil.rmtree(one)
        return to

    number = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while len(found) > 1:
            pairs = list(zip(found[::2], found[1::2]))
            found = list(pool.map(add, enumerate(pairs, number))) + found[2 * len(pairs):]
            number += len(pairs)
    return found[0] if found else None


def collect(tree, out, by_test, seconds):
    total, tests_of, branch = {}, {}, {}
    names = sorted(os.listdir(out + "/data"))
    kinds = sorted({t.split(":")[0] for t in names})
    jobs = [(tree, d) for d in map(lambda k: merged(out, k), kinds) if d]
    kept = [(tree, f"{out}/data/{t}") for t in names if by_test]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for (_, lines, branches), (_, d) in zip(pool.map(counts, jobs), jobs):
            kind = os.path.relpath(d, out).split("/")[1].split(":")[0]
            for f, ls in lines.items():
                for l, n in ls.items():
                    t = total.setdefault(f, {}).setdefault(l, {})
                    t[kind] = t.get(kind, 0) + n
            for f, ls in branches.items():
                for l, b in ls.items():
                    old = branch.setdefault(f, {}).get(l)
                    branch[f][l] = [x + y for x, y in zip(old, b)] if old and len(old) == len(b) else b
        for test, lines, _ in pool.map(counts, kept):
            for f, ls in lines.items():
                tests_of.setdefault(f, {})[test] = sorted(l for l, n in ls.items() if n)
    if os.path.exists(out + "/cover.json"):  # of the tests that did not run now
        seconds = {**json.load(open(out + "/cover.json")).get("seconds", {}), **seconds}
    with open(out + "/cover.json", "w") as f:
        json.dump({"total": total, "by_test": tests_of, "branch": branch, "seconds": seconds}, f)


def room(path):
    parts = path.split("/")
    deep = parts[:2] == ["libsymcache", "write"] and len(parts) > 3
    return "/".join(parts[:3] if deep else parts[:2] if len(parts) > 2 else parts[:1])


def rooms(cover):
    """{room: [lines, run by unit tests, run, branches, taken]}, and blocks that nothing runs."""
    rows, blocks = collections.defaultdict(lambda: [0] * 5), []
    for f, lines in cover["total"].items():
        if not f.startswith(("cmd/", "libsymcache/", "libmarkup/")) or f.startswith("libmarkup/emit/"):
            continue
        r, gap = rows[room(f)], []
        for l in sorted(map(int, lines)) + [0]:
            n = lines.get(str(l), {"end": 1})
            r[0] += l > 0
            r[1] += l > 0 and n.get("unit", 0) > 0
            r[2] += l > 0 and any(n.values())
            if not any(n.values()):
                gap.append(l)
            elif gap:
                blocks.append((len(gap), f, gap[0], gap[-1]))
                gap = []
        for b in cover["branch"].get(f, {}).values():
            r[3] += len(b)
            r[4] += sum(x > 0 for x in b)
    rows["all"] = [sum(c) for c in zip(*rows.values())]
    return rows, sorted(blocks, reverse=True)


def table(rows):
    yield "| room | lines | run by unit tests | run | branches taken |"
    yield "|---|---:|---:|---:|---:|"
    for name in sorted(rows):
        n, u, a, bn, bt = rows[name]
        yield f"| {name} | {n} | {100 * u / n:.0f} % | {100 * a / n:.1f} % | {100 * bt / max(bn, 1):.1f} % |"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", default=f"{ROOT}/build/coverage")
    p.add_argument("--table", action="store_true")
    p.add_argument("--by-test", action="store_true")
    p.add_argument("--only", nargs="+", default=[])
    a = p.parse_args()
    out = os.path.abspath(a.out)
    tree = out + "/tree"
    sync(tree)
    build(tree, FLAGS, ["DEPS=no"])
    if not a.only:
        shutil.rmtree(out + "/data", ignore_errors=True)
    collect(tree, out, a.by_test, run(tree, out, a.only))
    rows, blocks = rooms(json.load(open(out + "/cover.json")))
    print("\n".join(table(rows)))
    print("\nlargest blocks that no test runs: lines of code, where")
    for n, f, first, last in blocks[:40]:
        print(f"{n:5} {f}:{first}-{last}")
    if a.table:
        note = f"{ROOT}/CONTRIBUTING.md"
        text = open(note).read()
        with open(note, "w") as f:
            f.write(re.sub(r"(?s)(\| room \| lines \|).*?\n(?!\|)", lambda m: "\n".join(table(rows)) + "\n", text))


if __name__ == "__main__":
    main()
