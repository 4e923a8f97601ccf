#!/usr/bin/env python3
"""Writes the threads of a core file in another form, for tests of what reads that.

  scripts/from_core.py FORM CORE OUT [--stack BYTES] [--elf FILE]

FORM is trace (a GDB trace file with a frame for each thread: all registers, the stack),
breakpad or crashpad (a minidump as these write it), full (one with all of the memory), or
log (symbolizer markup with a stack element for each thread, all of Linux's mappings).
BYTES of the stack are taken from the stack pointer on (default: all). --elf: the program,
where the core has neither its build ID nor its name. x86-64, i386, AArch64.
trace prints the --module options that `symcache trace` needs, and the threads' numbers.
"""
import argparse
import base64
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
        self.memory, self.mappings = [], []  # (address, offset, size); (address, size, flags)
        self.threads, self.modules, self.vdso = [], [], None
        self.signal, self.code, self.address, self.auxv, files = 0, 0, 0, {}, []
        phoff, n = struct.unpack_from("<32xQ16xH" if self.word == 8 else "<28xI12xH", d)
        for i in range(n):
            if self.word == 8:
                kind, flags, off, at, _, size, whole = struct.unpack_from("<IIQQQQQ", d, phoff + 56 * i)
            else:
                kind, off, at, _, size, whole, flags = struct.unpack_from("<IIIIIII", d, phoff + 32 * i)
            if kind == 1 and whole:
                self.mappings.append((at, whole, flags))
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
            self.signal, self.code, self.address = struct.unpack_from("<i4xi4xQ" if self.word == 8 else "<i4xiI", b)
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
        for at, _, size in self.memory:
            if at == self.auxv.get(33):
                self.vdso = (at, at + size, "linux-gate.so", *first_page(self.read(at, size), self.word))
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


# Minidumps: processor; size of a context; offsets of registers.
AMD64_ORDER = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
I386_ORDER = "edi esi ebx edx ecx eax ebp eip cs eflags esp ss".split()
CONTEXTS = {
    AMD64: (9, 1232, 48, 0x10003f, {n: 120 + 8 * i for i, n in enumerate(AMD64_ORDER)}),
    I386: (0, 716, 0, 0x1003f, {n: 156 + 4 * i for i, n in enumerate(I386_ORDER)}),
    ARM64: (12, 912, 0, 0x400003, {n: 8 + 8 * i for i, n in enumerate(GDB_REGISTERS[ARM64])}),
}


class Minidump:
    """Bytes behind a header and a directory, which are filled in at the end."""

    def __init__(self, core, form, size):
        self.core, self.form, self.size = core, form, size
        self.out, self.streams = bytearray(32 + 12 * 16), []

    def add(self, content):
        self.out += bytes(-len(self.out) % 8)
        self.out += content
        return len(self.out) - len(content)

    def stream(self, kind, content):
        self.streams.append((kind, len(content), self.add(content)))

    def text(self, text):
        units = text.encode("utf-16-le")
        return self.add(struct.pack("<I", len(units)) + units + b"\0\0")

    def context(self, registers):
        _, size, at, flags, offsets = CONTEXTS[self.core.machine]
        c = bytearray(size)
        struct.pack_into("<I", c, at, flags)
        for name, offset in offsets.items():
            struct.pack_into("<Q" if self.core.word == 8 else "<I", c, offset, registers[name])
        return size, self.add(c)

    def threads(self):
        records, names, memory = b"", b"", b""
        threads = sorted(self.core.threads)  # the order is not that of the core file
        for tid, r in threads:
            sp, stack = self.core.stack(r, min(self.size, 32768) if self.form == "breakpad" else self.size)
            place = struct.pack("<QII", sp, len(stack), self.add(stack) if self.form != "full" else 0)
            context = self.context(r)
            records += struct.pack("<IIIIQ", tid, 0, 0, 0, 0) + place + struct.pack("<II", *context)
            memory += place
            names += struct.pack("<IQ", tid, self.text("worker %d" % tid))
            if tid == self.core.threads[0][0]:
                died = context
        n = struct.pack("<I", len(threads))
        self.stream(3, n + records)
        if self.form != "full":
            self.stream(5, n + memory)
        if self.form != "breakpad":
            self.stream(24, n + names)
        return died

    def modules(self):
        records = b""
        modules = self.core.modules + [self.core.vdso] * bool(self.core.vdso)
        for start, end, path, id, _ in modules:
            old = self.form == "breakpad" and path.endswith(".so.6")
            cv = b"RSDS" + id[:16] + bytes(4) + b"x\0" if old else struct.pack("<I", 0x4270454c) + id
            cv_at = self.add(cv)
            records += struct.pack("<QIIII52xIIII16x", start, end - start, 0, 0, self.text(path), len(cv), cv_at, 0, 0)
        self.stream(4, struct.pack("<I", len(modules)) + records)

    def memory_64(self):
        at = len(self.out) + 16 + 16 * len(self.core.memory) + 8
        at += -at % 8
        ranges = b"".join(struct.pack("<QQ", a, size) for a, _, size in self.core.memory)
        self.stream(9, struct.pack("<QQ", len(self.core.memory), at) + ranges)
        self.out += bytes(at - len(self.out))
        for _, off, size in self.core.memory:
            self.out += self.core.data[off:off + size]

    def maps(self):
        """Of Breakpad the text of /proc/PID/maps, else the list of memory's kinds."""
        text, kinds = "", b""
        for start, size, flags in self.core.mappings:
            text += "%x-%x r-%sp 00000000 00:00 0 \n" % (start, start + size, "x" if flags & 1 else "-")
            kinds += struct.pack("<QQIIQIIII", start, start, 0x20, 0, size, 0x1000, 0x20 if flags & 1 else 4, 0, 0)
        if self.form == "breakpad":
            self.stream(0x47670009, text.encode())
            self.stream(0x47670004, b"Name:\tx\nPid:\t%d\n" % self.core.threads[0][0])
            self.stream(0x47670006, b"./program\0--option\0")
        else:
            self.stream(16, struct.pack("<IIQ", 16, 48, len(self.core.mappings)) + kinds)
            self.stream(15, struct.pack("<IIIIII", 24, 1, self.core.threads[0][0], 0, 0, 0))

    def write(self):
        died = self.threads()
        self.modules()
        # Crashpad has no maps where the process could not be asked for them; so some have none.
        if self.core.mappings:
            self.maps()
        self.stream(6, struct.pack("<II", self.core.threads[0][0], 0) + struct.pack(
            "<iiQQII", self.core.signal, self.core.code, 0, self.core.address, 0, 0).ljust(152, b"\0") +
            struct.pack("<II", *died))
        self.stream(7, struct.pack("<HHHBBIIIIIHH", CONTEXTS[self.core.machine][0], 0, 0, 2, 0, 6, 1, 0,
                                   0x8201, self.text(""), 0, 0).ljust(56, b"\0"))
        if self.form == "full":
            self.memory_64()
        struct.pack_into("<IIIIIIQ", self.out, 0, 0x504d444d, 0xa793, len(self.streams), 32, 0, 0, 0)
        for i, s in enumerate(self.streams):
            struct.pack_into("<III", self.out, 32 + 12 * i, *s)
        return self.out


def write_minidump(core, out, size, form):
    out.write(Minidump(core, form, size).write())


def write_log(core, out, size):
    text = "{{{reset}}}\n"
    for i, (start, end, path, id, base) in enumerate(core.modules):
        text += "{{{module:%d:%s:elf:%s}}}\n" % (i, path, id.hex())
        for at, length, flags in sorted(core.mappings):
            if start <= at < end:
                mode = "".join(c for bit, c in ((4, "r"), (2, "w"), (1, "x")) if flags & bit)
                text += "{{{mmap:%#x:%#x:load:%d:%s:%#x}}}\n" % (at, length, i, mode or "r", at - start + base)
    names = {PC[core.machine]: "pc", SP[core.machine]: "sp"}
    for tid, r in core.threads:
        registers = "".join(":%s=0x%x" % (names.get(n, n), r[n]) for n in GDB_REGISTERS[core.machine])
        stack = base64.b64encode(core.stack(r, size)[1]).decode()
        text += "{{{stack:%d%s:%s}}}\n" % (tid, registers, stack)
    out.write(text.encode())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("form", choices=["trace", "breakpad", "crashpad", "full", "log"])
    p.add_argument("core")
    p.add_argument("out")
    p.add_argument("--stack", type=int, default=1 << 30)
    p.add_argument("--elf")
    a = p.parse_args()
    with open(a.out, "wb") as out:
        core = Core(a.core, a.elf)
        if a.form == "log":
            write_log(core, out, a.stack)
        elif a.form == "trace":
            write_trace(core, out, a.stack)
        else:
            write_minidump(core, out, a.stack, a.form)


if __name__ == "__main__":
    main()
