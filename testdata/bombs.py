#!/usr/bin/env python3
"""Small files that ask for much, and what indexing them may cost.

  bombs.py PROGRAM DIRECTORY [NAME...]

Makes each bomb in DIRECTORY and runs `PROGRAM build` on it, or the command that reads it, if
it is one of bombs_crashes.py. Prints a line for each: "NAME: within bounds", or what it took.
The bounds are a constant, for what any program takes, and a multiple of the file's size; for
crashes, a constant up to 10 MB. A program with sanitizers gets more of both.
Exit status 1 if one is exceeded.
"""
import os
import resource
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from bombs_crashes import CRASHES, uleb

TEXT, TEXT_SIZE = 0x1000, 0x10000
NOBITS = 8
SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 2, 4, 0x800
MEMORY, MEMORY_PER_BYTE = 64 << 20, 300 # bytes
SECONDS, SECONDS_PER_BYTE = 2, 1e-6
CRASH_MEMORY, CRASH_SECONDS, CRASH_SIZE = 600 << 20, 5, 10 << 20


def zlib_section(data):
    return struct.pack("<IIQQ", 1, 0, len(data), 1) + zlib.compress(data, 9)


def zstd_zeros(size):
    """A zstd frame of zeros in RLE blocks, behind an ELF compression header."""
    frame = struct.pack("<IBQ", 0xfd2fb528, 0xe0, size)
    left = size
    while left:
        n = min(left, 48 << 10)
        left -= n
        frame += struct.pack("<I", n << 3 | 1 << 1 | (not left))[:3] + b"\0"
    return struct.pack("<IIQQ", 2, 0, size, 1) + frame


def elf(sections, type=3):
    """`sections`: (name, type, flags, address, content, further fields). Code is the first
    one. Content that is one of another section's is stored once."""
    sections = [(".text", NOBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, b"")] + sections
    names = b"\0"
    body, headers, where = b"", [bytes(64)], {}
    for name, kind, flags, address, content, *rest in sections + [(".shstrtab", 3, 0, 0, None)]:
        at = names.find(b"\0" + name.encode() + b"\0") + 1
        if not at:
            at = len(names)
            names += name.encode() + b"\0"
        content = names if content is None else content
        if id(content) not in where:
            where[id(content)] = 64 + len(body)
            body += content + bytes(-len(content) % 8)
        link, info, size = (list(rest) + [0, 0, 0])[:3]
        length = TEXT_SIZE if kind == NOBITS else len(content)
        headers.append(struct.pack("<IIQQQQIIQQ", at, kind, flags, address, where[id(content)],
                                   length, link, info, 1, size))
    return struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", type, 62, 1, 0, 0, 64 + len(body), 0,
                       64, 0, 0, 64, len(headers), len(headers) - 1) + body + b"".join(headers)


def section(name, content, compress=False):
    return (name, 1, SHF_COMPRESSED if compress else 0, 0,
            zlib_section(content) if compress else content)


def unit(entries, abbreviations=0):
    body = struct.pack("<HIB", 4, abbreviations, 8) + entries
    return struct.pack("<I", len(body)) + body


def abbreviation(code, tag, children, *attributes):
    return uleb(code) + uleb(tag) + bytes([children]) + \
        b"".join(uleb(x) for a in attributes for x in a) + b"\0\0"


UNIT, FUNCTION, VARIABLE, INT, NAMESPACE = 0x11, 0x2e, 0x34, 0x24, 0x39
NAME, STMT_LIST, LOW_PC, HIGH_PC, RANGES, LOCATION, LANGUAGE = 0x03, 0x10, 0x11, 0x12, 0x55, 0x02, 0x13
TYPE, ORIGIN = 0x49, 0x31
ADDR, DATA1, DATA2, DATA4, STRING, STRP, REF4, SEC_OFFSET, EXPRLOC, IMPLICIT = \
    0x01, 0x0b, 0x05, 0x06, 0x08, 0x0e, 0x13, 0x17, 0x18, 0x21


def zero_units():
    """Units of no length: 60 MB behind zstd."""
    size = 60 << 20
    return elf([(".debug_info", 1, SHF_COMPRESSED, 0, zstd_zeros(size)),
                section(".debug_abbrev", b"\0")])


def zlib_zero_units():
    return elf([section(".debug_info", bytes(60 << 20), True), section(".debug_abbrev", b"\0")])


def empty_units():
    """Whole units with nothing in them, each with its own header."""
    return elf([section(".debug_info", unit(b"\1") * 3000000, True),
                section(".debug_abbrev", abbreviation(1, UNIT, 0) + b"\0")])


def line_rows():
    """A line program of 10⁸ rows."""
    header = b"\1\1\xfb\x0e\x0d\0\1\1\1\1\0\0\0\1" + b"\0" + b"a.c\0\0\0\0\0"
    program = b"\0\x09\2" + struct.pack("<Q", TEXT) + b"\x12\x13" * 50000000 + b"\0\1\1"
    table = struct.pack("<HI", 2, len(header)) + header + program
    table = struct.pack("<I", len(table)) + table
    return elf([section(".debug_info", unit(b"\1\0\0\0\0")),
                section(".debug_abbrev", abbreviation(1, UNIT, 0, (STMT_LIST, SEC_OFFSET)) + b"\0"),
                section(".debug_line", table, True)])


def names(strings, functions):
    """Functions whose names are the ends of one string."""
    entries = b"\1" + b"".join(b"\2" + struct.pack("<IQB", i % strings, TEXT + i % TEXT_SIZE, 1)
                              for i in range(functions)) + b"\0"
    return elf([section(".debug_info", unit(entries)),
                section(".debug_abbrev", abbreviation(1, UNIT, 1) + abbreviation(
                    2, FUNCTION, 0, (NAME, STRP), (LOW_PC, ADDR), (HIGH_PC, DATA1)) + b"\0"),
                section(".debug_str", b"a" * strings + b"\0")])


def symbol_names(strings, symbols, last=b"\0"):
    """The same of the symbol table."""
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + i % strings, 0x12, 0, 1,
                                             TEXT + i % TEXT_SIZE, 1) for i in range(symbols))
    return elf([(".symtab", 2, 0, 0, table, 3, 1, 24),
                (".strtab", 3, 0, 0, b"\0" + b"a" * strings + last)])


def shared_ranges():
    """10⁵ functions with one list of ranges."""
    ranges = b"".join(struct.pack("<QQ", TEXT + 2 * i, TEXT + 2 * i + 1) for i in range(30000))
    return elf([section(".debug_info", unit(b"\1" + bytes(8) + b"\2\0\0\0\0" * 100000 + b"\0"), True),
                section(".debug_abbrev", abbreviation(1, UNIT, 1, (LOW_PC, ADDR)) +
                        abbreviation(2, FUNCTION, 0, (RANGES, SEC_OFFSET)) + b"\0"),
                section(".debug_ranges", ranges + bytes(16), True)])


def one_byte_functions():
    """Functions of one byte: the abbreviation says where their list of ranges is."""
    return elf([section(".debug_info", unit(b"\1" + bytes(8) + b"\2" * 20000000 + b"\0"), True),
                section(".debug_abbrev", abbreviation(1, UNIT, 1, (LOW_PC, ADDR)) +
                        uleb(2) + uleb(FUNCTION) + b"\0" + uleb(RANGES) + uleb(IMPLICIT) + b"\0" +
                        b"\0\0" + b"\0"),
                section(".debug_ranges", struct.pack("<QQQQ", TEXT, TEXT + 1, 0, 0))])


def long_abbreviation():
    """Entries of one byte with very many attributes of no bytes."""
    attributes = b"".join(uleb(NAME) + uleb(IMPLICIT) + b"\0" for _ in range(1000))
    return elf([section(".debug_info", unit(b"\1" + b"\2" * 20000000 + b"\0"), True),
                section(".debug_abbrev", abbreviation(1, UNIT, 1) + uleb(2) + uleb(FUNCTION) + b"\0" +
                        attributes + uleb(RANGES) + uleb(SEC_OFFSET) + b"\0\0\0")])


def abbreviations():
    """One table with very many of them."""
    table = b"".join(abbreviation(i, FUNCTION, 0, (NAME, STRP), (0x2000 + i % 100, DATA1))
                     for i in range(1, 1000000))
    return elf([section(".debug_info", unit(b"\1")), section(".debug_abbrev", table + b"\0", True)])


def long_names_behind_references():
    """Entries that lead, each by a way of its own, to one with a long name."""
    head = b"\1" + b"\2" + b"a" * 1000000 + b"\0"
    n = 50000
    third = struct.pack("<I", 11 + 1)
    entries = head + b"".join(b"\3" + third for _ in range(n)) + b"".join(
        b"\4" + struct.pack("<IQB", 11 + len(head) + 5 * i, TEXT + i, 1) for i in range(n))
    return elf([section(".debug_info", unit(entries + b"\0"), True),
                section(".debug_abbrev", abbreviation(1, UNIT, 1) +
                        abbreviation(2, FUNCTION, 0, (0x2001, STRING)) +
                        abbreviation(3, FUNCTION, 0, (ORIGIN, REF4)) +
                        abbreviation(4, FUNCTION, 0, (ORIGIN, REF4), (LOW_PC, ADDR), (HIGH_PC, DATA1)) +
                        b"\0")])


def one_section_often():
    """Thousands of sections of one name that are the same bytes."""
    info = b"\0" * 1000000
    return elf([section(".debug_abbrev", b"\0")] + [section(".debug_info", info)] * 5000)


def relocations():
    """Thousands of tables of relocations that are the same bytes."""
    table = struct.pack("<QQq", 0, 1 << 32 | 1, 0) * 40000
    return elf([section(".debug_info", unit(b"\1")), section(".debug_abbrev", b"\0")] +
               [(".rela.debug_info", 4, 0, 0, table, 0, 2, 24)] * 5000, type=1)


def one_long_name():
    """Many symbols with one of two names, which are long."""
    n, long = 100000, 1000000
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + i % 2 * (long + 1), 0x12, 0, 1,
                                             TEXT + i % TEXT_SIZE, 1) for i in range(n))
    return elf([(".symtab", 2, 0, 0, table, 3, 1, 24),
                (".strtab", 3, 0, 0, b"\0" + b"a" * long + b"\0" + b"b" * long + b"\0")])


def qualified_names():
    """Functions in namespaces that share one long name."""
    n = 100000
    entries = b"\1\4" + b"".join(
        b"\2" + struct.pack("<I", 0) + b"\3g\0" + struct.pack("<QB", TEXT + i % TEXT_SIZE, 1) + b"\0"
        for i in range(n)) + b"\0"
    return elf([section(".debug_info", unit(entries)),
                section(".debug_abbrev", abbreviation(1, UNIT, 1, (LANGUAGE, DATA1)) +
                        abbreviation(2, NAMESPACE, 1, (NAME, STRP)) +
                        abbreviation(3, FUNCTION, 0, (NAME, STRING), (LOW_PC, ADDR), (HIGH_PC, DATA1)) +
                        b"\0"),
                section(".debug_str", b"a" * 4000 + b"\0")])


BOMBS = {
    "zero_units": zero_units,
    "zlib_zero_units": zlib_zero_units,
    "empty_units": empty_units,
    "line_rows": line_rows,
    "names_340K": lambda: names(20000, 24000),
    "names_25M": lambda: names(12000000, 1000000),
    "symbol_names": lambda: symbol_names(20000, 24000),
    "symbol_names_25M": lambda: symbol_names(1000000, 1000000),
    "one_long_name": one_long_name,
    "names_without_end": lambda: symbol_names(1000000, 100000, b"a"),
    "shared_ranges": shared_ranges,
    "one_byte_functions": one_byte_functions,
    "long_abbreviation": long_abbreviation,
    "abbreviations": abbreviations,
    "long_names_behind_references": long_names_behind_references,
    "one_section_often": one_section_often,
    "relocations": relocations,
    "qualified_names": qualified_names,
}


def run(command):
    """Seconds of the processor, and the peak in bytes."""
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
        null = os.open(os.devnull, os.O_RDWR)
        for fd in 0, 1, 2:
            os.dup2(null, fd)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10, status


def main():
    program, where, *chosen = sys.argv[1:]
    with open(program, "rb") as f:
        program_bytes = f.read()
        slow = 8 if b"__asan_init" in program_bytes or b"__tsan_init" in program_bytes else 1
    bad = 0
    for name in chosen or list(BOMBS) + list(CRASHES):
        path = os.path.join(where, name)
        make, command = CRASHES.get(name) or (BOMBS[name], ["build", "-o", path + ".symcache"])
        with open(path, "wb") as f:
            size = f.write(make())
        seconds, memory, status = run([os.path.realpath(program)] + command + [path])
        if name in CRASHES:
            times = slow * max(1, size / CRASH_SIZE)
            good = memory <= times * CRASH_MEMORY and seconds <= times * CRASH_SECONDS
        else:
            good = memory <= slow * (MEMORY + MEMORY_PER_BYTE * size) and \
                seconds <= slow * (SECONDS + SECONDS_PER_BYTE * size)
        good &= os.WIFEXITED(status)
        if good and not os.environ.get("BOMBS_VERBOSE"):
            print("%s: within bounds" % name)
        else:
            print("%s: %d bytes, %.1f s, %d MB, status %d%s" % (
                name, size, seconds, memory >> 20, status, "" if good else ": too much"), flush=True)
        bad += not good
    sys.exit(1 if bad else 0)


main()
