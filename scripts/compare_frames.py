#!/usr/bin/env python3
"""Compares `symcache lookup` with another symbolizer, address by address.

  compare_frames.py [OPTION...] PROGRAM FILE...

For each ELF file: random addresses of its code (of its variables with --data), what
PROGRAM lookup says of them, what the other tool says, and how many answers are
identical: depth, function, file, line and column of every frame. An answer that is not
is counted under the first of these in which it differs, or as "silent" if the other tool
knows no line and ours does. Prints one line a file and
then, for each class of difference, samples.

The other tool is llvm-symbolizer-19, or with --with=eu eu-addr2line, which names the
outermost function by the DWARF: there a name may lack what stands behind a dot in ours
(f.cold, f.isra.0). In relocatable objects eu-addr2line is asked, about .text. Where
variables are declared, llvm-symbolizer rarely knows; with --with=dump the answer is that
of llvm-dwarfdump-19 for the first entry with that address.

--with=gdb is for files whose entries stand in a supplementary file of dwz, which defeats
the others. gdb tells the inlined functions and where they are called (no columns; what
has no linkage name it names with its scopes); llvm-symbolizer the line of the address
itself and the symbol there, which are in the file.
"""
import argparse
import collections
import random
import re
import subprocess
import sys
import tempfile

CLASSES = ["silent", "depth", "file", "line", "column", "function"]


def output(command, **kw):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace", **kw).stdout


def headers(path):
    """ELF type and the sections that are loaded: name, address, size, flags. Those below
    the load base (per-CPU variables of a kernel) have no place in a SymCache."""
    base = re.search(r"^  LOAD +0x[0-9a-f]+ 0x([0-9a-f]+)", output(["readelf", "-lW", path]), re.M)
    base = int(base.group(1), 16) if base else 0
    kind = re.search(r"Type:\s+(\w+)", output(["readelf", "-hW", path])).group(1)
    sections = []
    for line in output(["readelf", "-SW", path]).splitlines():
        m = re.match(r"\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) "
                     r"[0-9a-f]+ +([A-Za-z]*) ", line)
        if m and "A" in m.group(4) and int(m.group(2), 16) >= base:
            sections.append((m.group(1), int(m.group(2), 16), int(m.group(3), 16), m.group(4)))
    return kind, sections


def code_addresses(sections, number, chosen, rng):
    """`number` of them; of all sections together, if they hold no more."""
    areas = [(s[1], s[2]) for s in sections if "X" in s[3] and s[2] and
             (chosen == "all" or s[0] == chosen)]
    total = sum(size for _, size in areas)
    if total <= number:
        return [start + i for start, size in areas for i in range(size)]
    result = []
    for _ in range(number):
        at = rng.randrange(total)
        for start, size in areas:
            if at < size:
                result.append(start + at)
                break
            at -= size
    return result


def data_addresses(path, sections, number, rng):
    symbols = re.findall(r"^\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) OBJECT +\S+ +\S+ +\d+ ",
                         output(["readelf", "-sW", path]), re.M)
    symbols = sorted({int(a, 16) for a, s in symbols if int(s, 0)})
    symbols = [a for a in symbols if any(start <= a < start + size
                                         for _, start, size, _ in sections)]
    return symbols if len(symbols) <= number else sorted(rng.sample(symbols, number))


def split_location(text):
    """file:line:column, of which the last or the last two may be missing."""
    text = re.sub(r" \(discriminator \d+\)$", "", text)
    m = re.match(r"(.*?)(?::(\d+))?(?::(\d+))?$", text)
    return m.group(1), m.group(2) or "0", m.group(3) or "0"


def read_llvm(text):
    """Answers of llvm-symbolizer and of ours: lists of (function, file, line, column)."""
    answers, block = [], []
    for line in text.split("\n")[:-1]:
        if line:
            block.append(line)
        else:
            answers.append([(block[i],) + split_location(block[i + 1])
                            for i in range(0, len(block) - 1, 2)])
            block = []
    return answers


def read_data(text):
    """Answers to DATA: one frame each, (name, start and size, file, line)."""
    answers = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if len(lines) >= 2:
            where = split_location((lines + ["??:?"])[2].replace(":?", ":0"))
            answers.append([(lines[0] + " " + lines[1], where[0], where[1], "0")])
    return answers


def read_eu(text):
    answers = []
    lines = text.split("\n")[:-1]
    i = 0
    while i < len(lines):
        if re.fullmatch(r"0x[0-9a-f]{16}|0x[0-9a-f]{8}", lines[i]):
            answers.append([])
            i += 1
        else:
            name = lines[i].split(" inlined at ")[0]
            answers[-1].append((name,) + split_location(lines[i + 1]))
            i += 2
    return answers


GDB = """
import gdb
def symtab(s):
    return s.filename if s else "??"
with open("%(answers)s", "w") as out:
    for line in open("%(addresses)s"):
        pc = int(line, 16)
        sal = gdb.find_pc_line(pc)
        where = (symtab(sal.symtab), sal.line)
        print("0x%%016x" %% pc, file=out)
        block = gdb.block_for_pc(pc)
        any = False
        while block and not block.is_global and not block.is_static:
            f = block.function
            if f:
                print("%%s\\n%%s:%%d" %% ((f.linkage_name,) + where), file=out)
                where = (symtab(f.symtab), f.line)
                any = True
            block = block.superblock
        if not any:
            print("??\\n%%s:%%d" %% where, file=out)
"""


def ask_gdb(path, addresses, debug_dir):
    with tempfile.TemporaryDirectory() as work:
        names = {n: work + "/" + n for n in ("script.py", "addresses", "answers")}
        with open(names["script.py"], "w") as f:
            f.write(GDB % names)
        with open(names["addresses"], "w") as f:
            f.writelines("0x%x\n" % a for a in addresses)
        output(["gdb", "-nx", "-q", "-batch"] +
               (["-iex", "set debug-file-directory " + debug_dir] if debug_dir else []) +
               ["-ex", "source " + names["script.py"], path])
        with open(names["answers"]) as f:
            return read_eu(f.read())


class Entry:
    __slots__ = "file", "line", "origin", "address"

    def __init__(self):
        self.file = self.line = self.origin = self.address = None


def dumped_declarations(path):
    """Address → (file, line) of the variables in the DWARF."""
    entries, variables, entry = {}, {}, None
    dump = subprocess.Popen(["llvm-dwarfdump-19", "--debug-info", path], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors="replace")
    for line in dump.stdout:
        if line.startswith("0x"):
            m = re.match(r"0x([0-9a-f]+):\s+DW_TAG_(variable|member)\b", line)
            entry = Entry() if m else None
            if m:
                entries[int(m.group(1), 16)] = entry
        elif entry and "DW_AT_" in line:
            name, _, value = line.strip().partition("\t(")
            value = value[:-1]
            if name == "DW_AT_decl_file":
                entry.file = value.strip('"')
            elif name == "DW_AT_decl_line":
                entry.line = value
            elif name in ("DW_AT_specification", "DW_AT_abstract_origin"):
                entry.origin = int(value.split()[0], 16)
            elif name == "DW_AT_location" and re.fullmatch("DW_OP_addr 0x[0-9a-f]+", value):
                variables.setdefault(int(value.split()[1], 16), entry)

    def fact(e, name):
        for _ in range(8):
            if e and getattr(e, name) is not None:
                return getattr(e, name)
            e = entries.get(e.origin) if e else None
        return None
    return {a: (fact(e, "file"), fact(e, "line") or "0") for a, e in variables.items()
            if fact(e, "file")}


def same_name(ours, peer, by):
    if by == "eu":
        return ours == peer or ours.split(".")[0].split("@")[0] == peer
    return ours == peer or by == "gdb" and peer.endswith("::" + ours)


def same_file(ours, peer, by):
    """gdb gives the names of call sites as they stand in the line table."""
    return ours == peer or by == "gdb" and ours.endswith("/" + re.sub(r"^(\.\.?/)+", "", peer))


def difference(ours, peer, by):
    if len(peer) == 1 and peer[0][2] == "0" and ours[0][2] != "0" and \
            ours[-1][0] == peer[0][0]:
        return "silent"
    if len(ours) != len(peer):
        return "depth"
    if not all(same_file(x[1], y[1], by) for x, y in zip(ours, peer)):
        return "file"
    if [f[2] for f in ours] != [f[2] for f in peer]:
        return "line"
    if [f[3] for f in ours[:1 if by == "gdb" else None]] != \
            [f[3] for f in peer[:1 if by == "gdb" else None]]:
        return "column"
    return None if all(same_name(x[0], y[0], by) for x, y in zip(ours, peer)) else "function"


def compare(o, path):
    kind, sections = headers(path)
    rng = random.Random(o.seed)
    by = "eu" if kind == "REL" else o.peer
    llvm = [o.llvm, "--no-demangle", "-e", path]
    if o.data:
        addresses = data_addresses(path, sections, o.number, rng)
    else:
        addresses = code_addresses(sections, o.number, ".text" if kind == "REL" else o.section,
                                   rng)
    ask = "".join("%s0x%x\n" % ("DATA " if o.data else "", a) for a in addresses)
    ours = output([o.program, "lookup", "--no-demangle", "--file", path], input=ask)
    if by == "eu":
        peer = read_eu(output(["eu-addr2line", "-f", "-i", "-a", "-e", path] +
                              (["-j", ".text"] if kind == "REL" else []), input=ask))
    elif by == "gdb":
        peer = ask_gdb(path, addresses, o.debug_dir)
        for y, z in zip(peer, read_llvm(output(llvm, input=ask))):
            y[0] = (y[0][0],) + z[0][1:]
            y[-1] = (z[-1][0],) + y[-1][1:]
    else:
        peer = output(llvm, input=ask)
        peer = read_data(peer) if o.data else read_llvm(peer)
    if o.data and by == "dump":
        declared = dumped_declarations(path)
        peer = [[(y[0][0],) + declared.get(a, y[0][1:3]) + ("0",)]
                for a, y in zip(addresses, peer)]
    ours = read_data(ours) if o.data else read_llvm(ours)
    if len(ours) != len(addresses) or len(peer) != len(addresses):
        print("%s: %d addresses, but %d answers of ours and %d of the other tool" %
              (path, len(addresses), len(ours), len(peer)))
        return False
    found = collections.defaultdict(list)
    for a, x, y in zip(addresses, ours, peer):
        d = difference(x, y, by)
        if d:
            found[d].append((a, x, y))
    bad = sum(len(v) for v in found.values())
    share = 100.0 * (len(addresses) - bad) / max(len(addresses), 1)
    print("%-44s %-4s %7d %8.3f%%" % (path[-44:], by, len(addresses), share) +
          "".join(" %6d" % len(found[c]) for c in CLASSES), flush=True)
    for c in CLASSES:
        for a, x, y in found[c][:o.samples]:
            print("  %s 0x%x\n    ours %s\n    them %s" % (c, a, x, y))
    return bool(addresses) and share >= o.least


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program", metavar="PROGRAM")
    p.add_argument("files", metavar="FILE", nargs="+")
    p.add_argument("-n", "--number", type=int, default=20000, help="addresses (20000)")
    p.add_argument("-s", "--samples", type=int, default=2, help="shown of each class (2)")
    p.add_argument("--with", dest="peer", choices=["llvm", "eu", "gdb", "dump"], default="llvm")
    p.add_argument("--llvm", default="llvm-symbolizer-19")
    p.add_argument("--section", default=".text", help="of the addresses (.text); or all")
    p.add_argument("--data", action="store_true", help="variables instead of code")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--least", type=float, default=0, help="per cent, or the exit status is 1")
    p.add_argument("--no-header", action="store_true")
    p.add_argument("--debug-dir", help="where gdb looks for supplementary files")
    o = p.parse_args()
    if not o.no_header:
        print("%-44s %-4s %7s %9s" % ("file", "with", "asked", "identical") +
              "".join(" %6s" % c[:6] for c in CLASSES))
    good = [compare(o, f) for f in o.files]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
