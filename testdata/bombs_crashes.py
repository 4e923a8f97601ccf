"""Small cores, minidumps and logs that ask for much: see bombs.py, which runs them."""
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


# What is made, and the command that reads it.
CRASHES = {
    "core_note_of_4G": (lambda: mapped_files(0xffffffff), ["core"]),
    "core_note_of_4G_less_16": (lambda: mapped_files(0xfffffff0), ["core"]),
}
