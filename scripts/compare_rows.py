#!/usr/bin/env python3
"""Compares the unwind information of caches with llvm-dwarfdump's rows.

    compare_rows.py SYMCACHE FILE...

Indexes each FILE into a store of its own and compares, at each address for which
llvm-dwarfdump prints a row (.eh_frame; .debug_frame where there is no .eh_frame), the
texts of both rows. Left out: rules that a register which calls preserve, or the return
address, is the same, and those of vector registers, which a cache does not have; a return
address in another register than usual, which llvm-dwarfdump tells in the common entry; and
rows at the end of their entry, which hold for no address. Prints a line for each file; exit
status 1 if a row differs.
"""
import bisect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PRESERVED = {
    62: {"rbx", "rbp", "r12", "r13", "r14", "r15"},
    3: {"ebx", "ebp", "esi", "edi"},
    183: {"x%d" % n for n in range(19, 30)},
}
VECTOR = re.compile(r"^([xyz]?mm\d+|st\d?|[vdbhsqz]\d+|reg(3[5-9]|[4-9]\d|1\d\d)|f[a-t]?\d+)=")


def run(*args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True).stdout


def plain_registers(text, machine):
    """Names in lower case, as a cache has them."""
    text = re.sub(r"\bDW_OP_", "", text)
    text = re.sub(r"\b(?!CFA\b)[A-Z][A-Z0-9]*\b", lambda m: m.group().lower(), text)
    if machine == 183:
        text = re.sub(r"\bw(sp|\d+)\b", lambda m: "sp" if m.group(1) == "sp" else "x" + m.group(1), text)
        text = text.replace("reg34=1", "signed")
    return text


def rules(text):
    """Splits "a=b, c=[x, y], d=e" where a rule begins."""
    return re.split(r", (?=\w+=|signed)", text) if text else []


def dumped_rows(path, machine):
    """(address, row) as llvm-dwarfdump prints them."""
    for section in ("--eh-frame", "--debug-frame"):
        found = False
        p = subprocess.Popen(["llvm-dwarfdump-19", section, path], stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.DEVNULL)
        end = 0
        for line in p.stdout:
            m = re.match(r".* FDE cie=.* pc=[0-9a-f]+\.\.\.([0-9a-f]+)$", line)
            if m:
                end = int(m.group(1), 16)
            m = re.match(r"  0x([0-9a-f]+): (CFA=.*)$", line)
            if not m:
                continue
            found = True
            if int(m.group(1), 16) >= end:
                continue
            text = plain_registers(m.group(2), machine)
            cfa, _, rest = text.partition(": ")
            if not rest and cfa.endswith(":"):
                cfa = cfa[:-1]
            kept = []
            for r in rules(rest):
                name, _, value = r.partition("=")
                if VECTOR.match(r) or (value == "same" and name in PRESERVED.get(machine, ()) | {"rip", "eip", "x30"}):
                    continue
                kept.append(r)
            yield int(m.group(1), 16), (cfa, tuple(kept))
        p.wait()
        if found:
            return


def cache_row(text):
    text = text.partition("; signal frame")[0].replace("signed with key B", "signed")
    cfa, _, rest = text.partition(": ")
    return cfa, tuple(rules(rest))


def compare(symcache, path, folder):
    store = os.path.join(folder, "store")
    run(symcache, "index", "--quiet", "--store", store, path)
    ids = [line.split()[0] for line in run(symcache, "list", "--store", store).splitlines()]
    facts = json.loads(run(symcache, "show", "--store", store, "--json", ids[0]))
    base, machine = int(facts["load_base"], 16), facts["machine"]
    starts, rows = [], []
    for line in run(symcache, "show", "--store", store, "--unwind", ids[0]).splitlines():
        start, _, text = line.partition(" ")
        starts.append(base + int(start, 16))
        rows.append(text)
    compared = differ = 0
    known = {}
    for address, want in dumped_rows(path, machine):
        at = bisect.bisect_right(starts, address) - 1
        text = rows[at] if at >= 0 else "-"
        if text not in known:
            known[text] = cache_row(text)
        compared += 1
        have = known[text]
        if machine == 183 and not any(r.startswith("x30=") for r in want[1]):
            have = have[0], tuple(r for r in have[1] if not r.startswith("x30=x"))
        if have[0] != want[0] or sorted(have[1]) != sorted(want[1]):
            differ += 1
            if differ <= 5:
                print("  0x%x: %s: %s; llvm-dwarfdump has %s: %s" % (
                    address, have[0], ", ".join(have[1]), want[0], ", ".join(want[1])))
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    print("%s: %d rows compared, %d differ" % (path, compared, differ))
    return differ or not compared


def main():
    folder = tempfile.mkdtemp()
    try:
        bad = [compare(sys.argv[1], path, folder) for path in sys.argv[2:]]
    finally:
        shutil.rmtree(folder)
    return any(bad)


if __name__ == "__main__":
    sys.exit(main())
