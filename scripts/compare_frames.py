#!/usr/bin/env python3
"""Compares `symcache lookup` with another symbolizer, address by address.

  compare_frames.py [OPTION...] PROGRAM FILE...

For each ELF file: random addresses of its code (of its variables with --data), what
PROGRAM lookup says of them, what the other tool says, and how many answers are
identical: depth, function, file, line and column of every frame. One that is not is
"explained" if it belongs to a class of testdata/accepted-differences.md, which is looked
up in the DWARF or the symbols by a third tool (EXPLAIN below), else "open". Prints a line
for each file and kind of address, with the number of each class, or of what differs first in
the open ones (depth, file, line, column, function; "silent": the other tool knows no line;
"alias": two names of one address; "only ours" and "only theirs": the other has no answer),
and samples of these. Where neither has an answer counts neither as asked nor as identical;
it is shown behind the line, as is how often both know the line alone, or the name alone.

Kinds of addresses: random; edges: first and last bytes of functions; gaps: the byte behind
each function, and the middle between two; plt; returns: return addresses − 1, as unwinders
ask for, which needs code: FILE.code, or that of --code, if FILE has none.

The other tool is llvm-symbolizer-19. It does not distinguish the sections of relocatable objects
apart; these are linked by ld, each section to addresses of its own, and it is asked about
the result. What is compared is .text.

--with=eu: eu-addr2line, which names the outermost function by the DWARF: there a name may
lack what stands behind a dot in ours (f.cold, f.isra.0).

--with=dump is for --data: where variables are declared llvm-symbolizer rarely knows; the
answer is that of llvm-dwarfdump-19 for the first entry with that address.

--with=gdb is for files whose entries stand in a supplementary file of dwz, which defeats
the others. gdb gives the inlined functions and where they are called (no columns; what
has no linkage name it names with its scopes); llvm-symbolizer the line of the address
itself and the symbol there, which are in the file.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

CLASSES = ["only ours", "only theirs", "silent", "depth", "file", "line", "column", "alias",
           "function"]
KINDS = ["random", "edges", "gaps", "plt", "returns"]
MAX_OF_KIND = 20000 # but for random ones
CALLS = r"^\s*([0-9a-f]+):\s+(call[lq]?|blx?|blr|bctrl|brasl|basr|bas|jalr?c?|balc?)\b"


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


class Symbol:
    def __init__(self, start, size, kind, name):
        self.start, self.end, self.size, self.kind, self.name = start, start + size, size, kind, name


def symbols_of(path):
    """Those of functions and labels, by address; without a Thumb bit."""
    arm = "ARM" in re.search(r"Machine:\s+(.*)", output(["readelf", "-hW", path])).group(1)
    result = []
    for a, size, kind, name in re.findall(
            r"^\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) (FUNC|IFUNC|NOTYPE|OBJECT) +\S+ +\S+ +(?:\[.*\] +)?\d+ (\S+)",
            output(["readelf", "-sW", path]), re.M):
        a = int(a, 16) & ~(arm and kind == "FUNC")
        result.append(Symbol(a, int(size, 0), kind, name.split("@")[0]))
    return sorted(result, key=lambda s: (s.start, s.size))


def return_addresses(path, areas):
    """Of calls in the code, if there is any; two megabytes of each area."""
    found, behind = [], 0
    header = output(["readelf", "-hW", path])
    mips = "MIPS" in header
    objdump = "objdump" if re.search("X86-64|80386", header) else "llvm-objdump-19"
    for start, size in areas:
        text = output([objdump, "-d", "--no-show-raw-insn", "--start-address=0x%x" % start,
                       "--stop-address=0x%x" % (start + min(size, 2 << 20)), path])
        for line in text.splitlines():
            m = re.match(r"\s*([0-9a-f]+):\s", line)
            if m and behind:
                behind -= 1
                if not behind:
                    found.append(int(m.group(1), 16))
            if m and re.match(CALLS, line):
                behind = 2 if mips else 1 # there is a delay slot
    return found


def addresses_of(kind, sections, symbols, code, rng):
    """All of a kind; `sections` are those of code that are asked about."""
    areas = [(s[1], s[2]) for s in sections]
    functions = [s for s in symbols if s.kind == "FUNC" and s.size]
    if kind == "edges":
        result = [a for s in functions for a in (s.start, s.end - 1)]
    elif kind == "gaps":
        ends = {s.end for s in functions}
        result = list(ends)
        for s, t in zip(functions, functions[1:]):
            if s.end < t.start:
                result.append((s.end + t.start) // 2)
    elif kind == "plt":
        result = [a for s in sections if ".plt" in s[0] for a in range(s[1], s[1] + s[2])]
    else:
        result = [a - 1 for a in return_addresses(code, areas)]
    result = sorted({a for a in result if any(start <= a < start + size for start, size in areas)})
    return result if len(result) <= MAX_OF_KIND else sorted(rng.sample(result, MAX_OF_KIND))


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


def supplementary(path, debug_dir):
    """The file of .gnu_debugaltlink, in a tree that may have been moved; or None."""
    m = re.search(r"/\.dwz/(\S+)", output(["readelf", "-p", ".gnu_debugaltlink", path]))
    return "%s/.dwz/%s" % (debug_dir or "/usr/lib/debug", m.group(1)) if m else None


ALT = 1 << 62 # added to offsets in a supplementary file


def dumped_declarations(path, alt, entries=None, here=0):
    """Address → (file, line) of the variables in the DWARF. `entries`: to be filled with
    the entries of a supplementary file, whose offsets are `here` more."""
    variables, entry = {}, None
    if entries is None:
        entries = {}
        if alt:
            dumped_declarations(alt, None, entries, ALT)
    dump = subprocess.Popen(["llvm-dwarfdump-19", "--debug-info", path], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors="replace")
    for line in dump.stdout:
        if line.startswith("0x"):
            m = re.match(r"0x([0-9a-f]+):\s+DW_TAG_(variable|member)\b", line)
            entry = Entry() if m else None
            if m:
                entries[here + int(m.group(1), 16)] = entry
        elif entry and "DW_AT_" in line:
            name, _, value = line.strip().partition("\t(")
            value = value[:-1]
            if name == "DW_AT_decl_file":
                entry.file = sys.intern(value.strip('"')) # millions of entries
            elif name == "DW_AT_decl_line":
                entry.line = sys.intern(value)
            elif name in ("DW_AT_specification", "DW_AT_abstract_origin"):
                m = re.match(r"(<alt )?0x([0-9a-f]+)", value)
                entry.origin = (ALT if m.group(1) else here) + int(m.group(2), 16)
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


def link(path, work):
    """Relocatable object → an executable with the same sections, and where .text is."""
    with open(work + "/script", "w") as f:
        f.write("SECTIONS { . = 0x1000000; }")
    result = work + "/linked"
    output(["ld", "-T", work + "/script", "--unresolved-symbols=ignore-all", "-z",
            "noexecstack", "-o", result, path])
    return result, next(s[1] for s in headers(result)[1] if s[0] == ".text")


# ---- classes of differences that are explained by the DWARF ----------------------------

def dumped(path, *options):
    return output(["llvm-dwarfdump-19", *options, path]).splitlines()


def scopes_at(path, pc):
    """The entries of the function around pc whose ranges hold it: (depth, tag), in the
    order of the DWARF, outermost first."""
    entry, scopes, low, now = None, [], 0, None
    for line in dumped(path, "--lookup=0x%x" % pc):
        m = re.match(r"(0x[0-9a-f]+):\s+DW_TAG_(subprogram|inlined_subroutine)", line)
        entry = m.group(1) if m else entry
    for line in dumped(path, "--debug-info=" + entry, "-p") if entry else []:
        m = re.match(r"(0x[0-9a-f]+):\s+DW_TAG_subprogram", line)
        entry = m.group(1) if m else entry
    for line in dumped(path, "--debug-info=" + entry, "-c") if entry else []:
        m = re.match(r"0x[0-9a-f]+:( +)(DW_TAG_\w+|NULL)", line)
        if m:
            now = (len(m.group(1)) // 2, m.group(2))
        m = re.match(r"\s+DW_AT_low_pc\s+\((0x[0-9a-f]+)\)", line)
        low = int(m.group(1), 16) if m else low
        m = re.match(r"\s+DW_AT_high_pc\s+\((0x[0-9a-f]+)\)", line)
        holds = m and low <= pc < int(m.group(1), 16)
        m = re.match(r"\s+\[(0x[0-9a-f]+), (0x[0-9a-f]+)\)\)?$", line)
        if holds or m and int(m.group(1), 16) <= pc < int(m.group(2), 16):
            scopes.append(now)
    return scopes


def siblings(path, symbols, pc, ours, peer):
    """Entries that are not inside one another hold the address; ours is the last one."""
    chain, crossing = [], False
    for depth, tag in scopes_at(path, pc):
        while chain and chain[-1][0] >= depth:
            chain.pop()
            crossing = True
        chain.append((depth, tag))
    frames = [tag for _, tag in chain if tag != "DW_TAG_lexical_block"]
    return crossing and len(frames) == len(ours)


def spelling(path, symbols, pc, ours, peer):
    """gdb respells names of templates: T const& for const T&."""
    def bare(name):
        return re.sub(r"\bconst\b|\s", "", name)
    return all(
        same_file(x[1], y[1], "gdb") and x[2] == y[2] and
        (same_name(x[0], y[0], "gdb") or bare(y[0]).endswith(bare(x[0])))
        for x, y in zip(ours, peer)) and len(ours) == len(peer)


def thumb_ifunc(path, symbols, pc, ours, peer):
    """At the even address of an IFUNC in Thumb code, whose symbol is odd: the other tool takes
    it to begin one byte later, and names an alias."""
    return ours[:-1] == peer[:-1] and any(s.kind == "IFUNC" and s.start == pc + 1 and
                                          s.name == ours[-1][0] for s in symbols)


def other_unit(path, symbols, pc, ours, peer):
    """Two units have the address: the one that the other tool takes has lines for it but no
    entry, as of a thunk; ours is another's, which has one."""
    dump = dumped(path, "--lookup=0x%x" % pc)
    return any("DW_TAG_compile_unit" in line for line in dump) and \
        not any("DW_TAG_subprogram" in line for line in dump)


EXPLAIN = {"gdb": [siblings, spelling], "llvm": [thumb_ifunc, other_unit]}
MAX_EXPLAINED = 2000 # of one kind: with gdb, each takes a second


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


def answer(frames):
    """What is known: frames, a name alone, a line alone, or nothing."""
    if frames[-1][0] == "??":
        return "line alone" if frames[0][2] != "0" else "nothing"
    return "frames" if any(f[2] != "0" for f in frames) else "name alone"


def classify(ours, peer, by, aliases):
    """`aliases`: name → the addresses that have it."""
    d = difference(ours, peer, by)
    if d and "nothing" in (answer(ours), answer(peer)):
        return "only ours" if answer(peer) == "nothing" else "only theirs"
    if d == "function" and [x for x, y in zip(ours, peer) if x[0] != y[0]] == [ours[-1]] and \
            aliases[ours[-1][0]] & aliases[peer[-1][0]]:
        return "alias"
    return d


def compare(o, path, work):
    kind, sections = headers(path)
    rng = random.Random(o.seed)
    by, asked_of, text = o.peer, path, 0
    if kind == "REL" and by != "eu":
        asked_of, text = link(path, work)
    llvm = [o.llvm, "--no-demangle", "-e", asked_of]
    if o.data:
        groups = {"data": data_addresses(path, sections, o.number, rng)}
    else:
        section = ".text" if kind == "REL" else o.section
        groups = {"random": code_addresses(sections, o.number, section, rng)}
    symbols = symbols_of(asked_of) if by == "llvm" else []
    if not o.data and o.kinds != "random":
        code = o.code or (path + ".code" if os.path.exists(path + ".code") else asked_of)
        asked = [s for s in headers(asked_of)[1] if "X" in s[3] and section in ("all", s[0])]
        for k in o.kinds.split(","):
            if k != "random":
                groups[k] = [a - text for a in addresses_of(k, asked, symbols, code, rng)]
    addresses = [a for g in groups.values() for a in g]
    form = "DATA 0x%x\n" if o.data else "0x%x\n"
    ask = "".join(form % a for a in addresses)
    ask_peer = "".join(form % (a + text) for a in addresses)
    ours = output([o.program, "lookup", "--no-demangle", "--file", path], input=ask)
    if by == "eu":
        peer = read_eu(output(["eu-addr2line", "-f", "-i", "-a", "-e", path] +
                              (["-j", ".text"] if kind == "REL" else []), input=ask_peer))
    elif by == "gdb":
        peer = ask_gdb(path, addresses, o.debug_dir)
        for y, z in zip(peer, read_llvm(output(llvm, input=ask_peer))):
            y[0] = (y[0][0],) + z[0][1:]
            y[-1] = (z[-1][0],) + y[-1][1:]
    else:
        peer = output(llvm, input=ask_peer)
        peer = read_data(peer) if o.data else read_llvm(peer)
    if o.data and by == "dump":
        declared = dumped_declarations(path, supplementary(path, o.debug_dir))
        peer = [[(y[0][0],) + declared.get(a, y[0][1:3]) + ("0",)]
                for a, y in zip(addresses, peer)]
    ours = read_data(ours) if o.data else read_llvm(ours)
    if len(ours) != len(addresses) or len(peer) != len(addresses):
        print("%s: %d addresses, but %d answers of ours and %d of the other tool" %
              (path, len(addresses), len(ours), len(peer)))
        return False
    aliases = collections.defaultdict(set)
    for symbol in symbols:
        aliases[symbol.name].add(symbol.start)
    good, at = bool(addresses), 0
    for name, group in groups.items():
        part = slice(at, at + len(group))
        at += len(group)
        good &= judge(o, (o.title or path) + ("" if len(groups) == 1 else " " + name),
                      [(a, x, y) for a, x, y in zip(group, ours[part], peer[part])],
                      lambda a, x, y: classify(x, y, by, aliases),
                      lambda a, x, y: not o.data and next(
                          (c.__name__ for c in EXPLAIN.get(by, [])
                           if c(asked_of, symbols, a + text, x, y)), None))
    return good


def judge(o, title, asked, classified, explain):
    """Counts and prints what came of the addresses of a kind."""
    found, explained = collections.defaultdict(list), collections.Counter()
    agreed = collections.Counter()
    for a, x, y in asked:
        d = classified(a, x, y)
        why = d and sum(explained.values()) < MAX_EXPLAINED and explain(a, x, y)
        if why:
            explained[why] += 1
        elif d:
            found[d].append((a, x, y))
        else:
            agreed[answer(x)] += 1
    bad = sum(len(v) for v in found.values())
    number = len(asked) - agreed["nothing"]
    share = 100.0 * (number - bad - sum(explained.values())) / max(number, 1)
    print("%-25s %-4s %7d %8.3f%% %9d %6d  %s" % (
        title[-25:], o.peer, number, share, sum(explained.values()), bad,
        ", ".join(["%s %d" % p for p in sorted(explained.items())] +
                  ["%s %d" % (c, len(found[c])) for c in CLASSES if found[c]] +
                  ["(%s %d)" % (c, agreed[c]) for c in ("nothing", "line alone", "name alone")
                   if agreed[c] and not o.data])), flush=True)
    for c in CLASSES:
        for a, x, y in found[c][:o.samples]:
            print("  %s 0x%x\n    ours %s\n    them %s" % (c, a, x, y))
    return share >= o.least


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
    p.add_argument("--kinds", default="random", help="of addresses: %s (random)" % ",".join(KINDS))
    p.add_argument("--code", help="file with the code of a debug file, for returns")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--least", type=float, default=0, help="per cent, or the exit status is 1")
    p.add_argument("--no-header", action="store_true")
    p.add_argument("--title", help="of the line, instead of the path")
    p.add_argument("--debug-dir", help="where gdb looks for supplementary files")
    o = p.parse_args()
    if not o.no_header:
        print("%-25s %-4s %7s %9s %9s %6s" % ("file", "with", "asked", "identical",
                                              "explained", "open"))
    good = []
    for f in o.files:
        with tempfile.TemporaryDirectory() as work:
            good.append(compare(o, f, work))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
