"""Small cores, minidumps and logs that ask for much: see bombs.py, which runs them."""
import base64
import gzip
import struct

X86_64, PT_LOAD, PT_NOTE = 62, 1, 4
NT_PRSTATUS, NT_FILE = 1, 0x46494c45


def elf_header(kind, headers, at=64, sections_at=0):
    """`headers` of 65,535 and more stand in section 0."""
    return b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", kind, X86_64, 1, 0, at, sections_at, 0, 64, 56, min(headers, 0xffff), 64,
        bool(sections_at), 0)


def program_header(kind, flags, offset, address, size, memory=None):
    return struct.pack("<IIQQQQQQ", kind, flags, offset, address, 0, size,
                       size if memory is None else memory, 1)


def note(kind, content, size=None):
    return struct.pack("<III", 5, len(content) if size is None else size, kind) + \
        b"CORE\0\0\0\0" + content + bytes(-len(content) % 4)


def thread(tid, pc=0, sp=0, fp=0):
    """The note with the registers of a thread of x86-64."""
    content = bytearray(336)
    struct.pack_into("<I", content, 32, tid)
    for number, value in (4, fp), (16, pc), (19, sp):
        struct.pack_into("<Q", content, 112 + 8 * number, value)
    return note(NT_PRSTATUS, bytes(content))


def mapped_files(size):
    """A note of 8 bytes that says that it has `size`."""
    notes = thread(1) + note(NT_FILE, bytes(8), size)
    return elf_header(4, 1) + program_header(PT_NOTE, 0, 120, 0, 1 << 40) + notes


def shared_stack(threads, frames=100000):
    """Threads whose frames, by frame pointers, are in the same memory; each has another pc."""
    stack, code = 0x700000000000, 0x400000
    records = b"".join(struct.pack("<QQ", stack + 16 * (i + 1), code + 0x100) for i in range(frames))
    notes = b"".join(thread(100 + i, code + 0x100 + i, stack, stack) for i in range(threads)) + \
        note(NT_FILE, struct.pack("<QQQQQ", 1, 4096, code, code + 0x100000, 0) + b"/x\0")
    at = 64 + 56 * 3
    return elf_header(4, 3) + program_header(PT_NOTE, 0, at, 0, len(notes)) + \
        program_header(PT_LOAD, 6, at + len(notes), stack, len(records)) + \
        program_header(PT_LOAD, 5, 0, code, 4, 0x100000) + notes + records


def uleb(n):
    out = b""
    while n > 0x7f:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def eh_frame(size, program, rules):
    """.eh_frame of one function of `size` bytes at 0x2000."""
    common = struct.pack("<IB", 0, 1) + b"zR\0\x01\x78\x10\x01\0\x0c\x07\x08\x90\x01" + rules
    common += bytes(-len(common) % 4)
    entry = struct.pack("<IQQ", len(common) + 8, 0x2000, size) + b"\0" + program
    entry += bytes(-len(entry) % 4)
    return struct.pack("<I", len(common)) + common + struct.pack("<I", len(entry)) + entry + bytes(4)


def expressions():
    """Rules of 15 registers whose expressions have 1,000 operations each."""
    return b"".join(b"\x16" + bytes([r]) + uleb(1001) + b"\x96" * 1000 + bytes([0x30 + r])
                    for r in range(16) if r != 7)


def image(frames, size):
    """A shared object with code at 0x2000, and unwind information."""
    names = b"\0.text\0.eh_frame\0.shstrtab\0"
    code = 0x2000 + size
    at = code + len(frames) + len(names)

    def section(name, kind, flags, address, offset, length):
        return struct.pack("<IIQQQQIIQQ", names.index(name) if name else 0, kind, flags, address,
                           offset, length, 0, 0, 1, 0)
    head = bytearray(elf_header(3, 1, 64, at))
    struct.pack_into("<HHH", head, 58, 64, 4, 3)
    body = bytes(head) + program_header(PT_LOAD, 5, 0, 0, at + 256)
    return body.ljust(0x2000, b"\0") + b"\x90" * size + frames + names + \
        section(b"", 0, 0, 0, 0, 0) + section(b".text\0", 1, 6, 0x2000, 0x2000, size) + \
        section(b".eh_frame\0", 1, 2, code, code, len(frames)) + \
        section(b".shstrtab\0", 3, 0, 0, code + len(frames), len(names))


def unwind_expressions(threads, kilobytes):
    """The vDSO, which is in the core, unwinds each word of the stack by 15,000 operations."""
    vdso, stack = 0x7fff00000000, 0x7ffe00000000
    bytes_of = image(eh_frame(0x1000, b"", expressions()), 0x1000)
    bytes_of += bytes(-len(bytes_of) % 4096)
    words = struct.pack("<Q", vdso + 0x2800) * (kilobytes * 128)
    notes = b"".join(thread(100 + i, vdso + 0x2100 + i, stack) for i in range(threads)) + \
        note(6, struct.pack("<QQQQ", 33, vdso, 0, 0))
    at = 64 + 56 * 3
    behind = at + len(notes)
    return elf_header(4, 3) + program_header(PT_NOTE, 0, at, 0, len(notes)) + \
        program_header(PT_LOAD, 5, behind, vdso, len(bytes_of)) + \
        program_header(PT_LOAD, 6, behind + len(bytes_of), stack, len(words)) + \
        notes + bytes_of + words


def rows_with_expressions(rows):
    """Each byte of the program makes a row, and all rows have the same expressions."""
    return image(eh_frame(0x200000, b"\x41" * rows, expressions()), 0x200000)


def headers_and_notes(zeros):
    """An ELF header whose 400 PT_NOTE all span the same notes of 12 bytes."""
    start, piece = 0x200000000, 12 * 1000
    notes = thread(1)
    at = 64 + 56 * (2 + zeros)
    inner = elf_header(3, 400) + program_header(PT_NOTE, 5, start - 0x100000000, 0, zeros * piece) * 400
    end = at + len(notes) + len(inner)
    return elf_header(4, 2 + zeros) + program_header(PT_NOTE, 0, at, 0, len(notes)) + \
        program_header(PT_LOAD, 5, at + len(notes), 0x100000000, len(inner)) + \
        b"".join(program_header(PT_LOAD, 5, end, start + i * piece, piece) for i in range(zeros)) + \
        notes + inner + bytes(piece)


def zstd(data, zeros):
    """A zstd frame: `data` as it is, and zeros behind it."""
    frame = struct.pack("<IBBQ", 0xfd2fb528, 0xc0, 0x58, len(data) + zeros) + \
        struct.pack("<I", len(data) << 3)[:3] + data
    while zeros:
        n = min(zeros, 48 << 10)
        zeros -= n
        frame += struct.pack("<I", n << 3 | 1 << 1 | (not zeros))[:3] + b"\0"
    return frame


def notes_of_zeros(gigabytes):
    """PT_NOTE spans them, in a compressed file."""
    size = gigabytes << 30
    return zstd(elf_header(4, 1) + program_header(PT_NOTE, 0, 120, 0, size) + thread(1), size)


def pieces(n):
    """Small segments with code, each of which is kept of a compressed file."""
    notes = thread(1)
    at = 128 + 56 * (n + 1)
    code = (at + len(notes) + 15) & ~15
    count = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, n + 1, 0, 0)
    whole = elf_header(4, 0xffff, 128, 64) + count + program_header(PT_NOTE, 0, at, 0, len(notes)) + \
        b"".join(program_header(PT_LOAD, 5, code + 16 * i, 0x100000000 + i * 0x1000, 8)
                 for i in range(n)) + notes
    return gzip.compress(whole.ljust(code, b"\0") + bytes(16 * n))


def minidump(threads):
    """Threads whose contexts overlap; each has another pc."""
    system, list_at = 56, 112
    contexts = list_at + 4 + 48 * threads
    head = struct.pack("<IIIIIIQ", 0x504d444d, 0xa793, 2, 32, 0, 0, 0) + \
        struct.pack("<III", 7, 56, system) + struct.pack("<III", 3, 4 + 48 * threads, list_at)
    facts = struct.pack("<H", 9).ljust(20, b"\0") + struct.pack("<I", 0x8201)
    return head + facts.ljust(56, b"\0") + struct.pack("<I", threads) + \
        b"".join(struct.pack("<IIIIQQIIII", i, 0, 0, 0, 0, 0, 0, 0, 1232, contexts + 4 * i)
                 for i in range(threads)) + \
        b"".join(struct.pack("<I", 0x1000 + (i * 2654435761 & 0xfffff)) for i in range(threads + 400))


def stack_behind_prefix(prefix, frames):
    """A log of one line: a text, and a stack of frames in front of each of which it stands."""
    sp, pc = 0x7ffc00000000, 0x401000
    stack = b"".join(struct.pack("<QQ", sp + 16 * (i + 1), pc + 1 + i % 256) for i in range(frames))
    return b"{{{module:0:/x:elf:00112233}}}\n{{{mmap:0x400000:0x100000:load:0:rx:0x0}}}\n" + \
        b"a" * prefix + b"{{{stack:1:pc=0x%x:sp=0x%x:fp=0x%x:" % (pc, sp, sp) + \
        base64.b64encode(stack) + b"}}}\n"


# What is made, and the command that reads it.
CRASHES = {
    "core_note_of_4G": (lambda: mapped_files(0xffffffff), ["core"]),
    "core_note_of_4G_less_16": (lambda: mapped_files(0xfffffff0), ["core"]),
    "core_shared_stack": (lambda: shared_stack(500), ["core"]),
    "core_shared_stack_5000": (lambda: shared_stack(5000), ["core", "--registers"]),
    "core_shared_stack_json": (lambda: shared_stack(500), ["core", "--format", "json"]),
    "core_expressions": (lambda: unwind_expressions(20, 800), ["core"]),
    "core_headers_and_notes": (lambda: headers_and_notes(1000), ["core"]),
    "core_zst_notes_of_zeros": (lambda: notes_of_zeros(4), ["core"]),
    "core_gz_pieces": (lambda: pieces(200000), ["core"]),
    "minidump_threads": (lambda: minidump(160000), ["core"]),
    "log_stack_behind_prefix": (lambda: stack_behind_prefix(200000, 5000), ["filter"]),
    "rows_with_expressions": (lambda: rows_with_expressions(1000000), ["build", "-o", "rows.symcache"]),
}
