#!/usr/bin/env python3
"""Writes the threads of a core file in another form, for tests of what reads that.

  scripts/from_core.py FORM CORE OUT [--stack BYTES] [--elf FILE]

FORM is trace (a GDB trace file with a frame for each thread: all registers, the stack).
BYTES of the stack are taken from the stack pointer on (default: all). --elf: the program,
where the core has neither its build ID nor its name. x86-64, i386, AArch64.
trace prints the --module options that `symcache trace` needs, and the threads' numbers.
"""
import argparse
import struct
import sys

AMD64, I386, ARM64 = 62, 3, 183
# How core files have registers: offset, names; "" are of no interest.
CORE_REGISTERS = {
    AMD64: (112, "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig rip cs eflags rsp ss "
                 "fs_base gs_base ds es fs gs".split()),
    I386: (72, "ebx ecx edx esi edi ebp eax ds es fs gs orig eip cs eflags esp ss".split()),
    ARM64: (112, ["x%d" % i for i in range(31)] + ["sp", "pc", "pstate"]),
}
# How GDB has them where there is no target description.
GDB_REGISTERS = {
    AMD64: "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split(),
    I386: "eax ecx edx ebx esp ebp esi edi eip".split(),
    ARM64: ["x%d" % i for i in range(31)] + ["sp", "pc"],
}
PC, SP = {AMD64: "rip", I386: "eip", ARM64: "pc"}, {AMD64: "rsp", I386: "esp", ARM64: "sp"}


def notes(data, at, end):
    while at + 12 <= end:
        name, size, kind = struct.unpack_from("<III", data, at)
        at += 12
        yield kind, data[at:at + name], data[at + (name + 3 & ~3):][:size]
        at += (name + 3 & ~3) + (size + 3 & ~3)


def first_page(elf, word):
    """The build ID of an ELF file, and the address of its first byte."""
    phoff, size, n = struct.unpack_from("<32xQ14xHH" if word == 8 else "<28xI10xHH", elf)
    found, base = b"", None
    for i in range(n):
        p = phoff + i * size
        kind = struct.unpack_from("<I", elf, p)[0]
        at, vaddr, length = struct.unpack_from("<8xQQ8xQ" if word == 8 else "<4xII4xI", elf, p)
        if kind == 1 and base is None:
            base = vaddr & ~0xfff
        for kind, name, content in notes(elf, at, min(at + length, len(elf))) if kind == 4 else ():
            if kind == 3 and name == b"GNU\0":
                found = content
    return found, base or 0


class Core:
    def __init__(self, path, elf=None):
        d = self.data = open(path, "rb").read()
        self.word = 8 if d[4] == 2 else 4
        self.machine = struct.unpack_from("<H", d, 18)[0]
        self.memory, self.threads, self.modules = [], [], []  # (address, offset, size); …
        self.signal, self.address, self.auxv, files = 0, 0, {}, []
        phoff, n = struct.unpack_from("<32xQ16xH" if self.word == 8 else "<28xI12xH", d)
        for i in range(n):
            if self.word == 8:
                kind, _, off, at, _, size = struct.unpack_from("<IIQQQQ", d, phoff + 56 * i)
            else:
                kind, off, at, _, size = struct.unpack_from("<IIIII", d, phoff + 32 * i)
            if kind == 1 and size:
                self.memory.append((at, off, size))
            if kind == 4:
                for note in notes(d, off, off + size):
                    self.note(note, files)
        self.find_modules(files, elf)

    def note(self, note, files):
        kind, name, b = note
        w = "Q" if self.word == 8 else "I"
        if name[:4] != b"CORE":
            return
        if kind == 1:
            offset, names = CORE_REGISTERS[self.machine]
            values = struct.unpack_from("<%d%s" % (len(names), w), b, offset)
            tid = struct.unpack_from("<I", b, 32 if self.word == 8 else 24)[0]
            self.threads.append((tid, dict(zip(names, values))))
        elif kind == 0x53494749 and not self.signal:
            self.signal, self.address = struct.unpack_from("<i12x" + w if self.word == 8 else "<i8xI", b)
        elif kind == 6:
            self.auxv = dict(zip(*[iter(struct.unpack("<%d%s" % (len(b) // self.word, w), b))] * 2))
        elif kind == 0x46494c45:
            count, page = struct.unpack_from("<2" + w, b)
            paths = b[(2 + 3 * count) * self.word:].split(b"\0")
            for i in range(count):
                start, end, off = struct.unpack_from("<3" + w, b, (2 + 3 * i) * self.word)
                files.append((start, end, off * page, paths[i].decode()))

    def find_modules(self, files, elf):
        for start, _, off, path in files:
            first = self.read(start, 4096) if off == 0 else b""
            if first[:4] == b"\x7fELF":
                end = max(e for s, e, _, p in files if p == path)
                self.modules.append((start, end, path, *first_page(first, self.word)))
        if elf and not self.modules:
            with open(elf, "rb") as f:
                first = f.read()
            start = self.auxv[3] & ~0xfff
            self.modules.append((start, start + len(first), elf, *first_page(first, self.word)))

    def read(self, address, size):
        """What the core has from `address` on, `size` bytes at most, or b""."""
        for at, off, have in self.memory:
            if at <= address < at + have:
                return self.data[off + address - at:off + min(address - at + size, have)]
        return b""

    def stack(self, registers, size):
        return registers[SP[self.machine]], self.read(registers[SP[self.machine]], size)


def write_trace(core, out, size):
    names = GDB_REGISTERS[core.machine]
    text = b"\x7fTRACE0\nR %x\nstatus 0;tstop::0;tframes:%x\n" % (len(names) * core.word, len(core.threads))
    text += b"tp T1:%x:E:0:0\n\n" % core.threads[0][1][PC[core.machine]]
    out.write(text)
    for _, r in core.threads:
        blocks = b"R" + struct.pack("<%d%s" % (len(names), "Q" if core.word == 8 else "I"), *(r[n] for n in names))
        sp, stack = core.stack(r, size)
        for i in range(0, len(stack), 60000):
            part = stack[i:i + 60000]
            blocks += b"M" + struct.pack("<QH", sp + i, len(part)) + part
        out.write(struct.pack("<hI", 1, len(blocks)) + blocks)
    out.write(b"\0\0")
    print(*("--module %s@%x" % (id.hex(), start - base) for start, _, _, id, base in core.modules if id))
    print(*(tid for tid, _ in core.threads))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("form", choices=["trace"])
    p.add_argument("core")
    p.add_argument("out")
    p.add_argument("--stack", type=int, default=1 << 30)
    p.add_argument("--elf")
    a = p.parse_args()
    with open(a.out, "wb") as out:
        {"trace": write_trace}[a.form](Core(a.core, a.elf), out, a.stack)


main()
