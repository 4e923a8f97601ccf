#!/usr/bin/env python3
"""Compares what `symcache filter` makes of logs with what is expected of each line.

    scripts/check_backtraces.py PROGRAM FOLDER [NAME...]

FOLDER has NAME.txt, NAME.expect.txt and elf.tar.xz, as its README says. Every frame that is
expected must be there, inlined ones in their order, on its line or on lines put in behind
it; all other lines must be byte for byte what they were. Frames in files that are neither
in elf.tar.xz nor under /usr/lib/debug or in the corpus may be left. Prints what differs; the last line counts.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus")
DEBUG = [os.environ.get("DEBIAN12", "") + "/usr/lib/debug/.build-id/%s/%s.debug",
         CORPUS + "/ceph/usr/lib/debug/.build-id/%s/%s.debug"]
KERNEL = ["boot/vmlinux-*", "lib/modules/*/kernel/**/overlay.ko*",
          "lib/modules/*/kernel/**/nf_tables.ko*", "lib/modules/*/kernel/**/virtio_net.ko*"]


def read_expected(path):
    """Line number → (build ID, optional, [(functions, place)]) or None: anything."""
    lines, either = {}, {}
    for text in open(path, encoding="utf-8"):
        cells = text.rstrip("\n").split("\t")
        if not cells[0]:
            continue
        optional = cells[0].endswith("~")
        numbers = [int(n) for n in cells[0].rstrip("~").split("-")]
        if cells[1] == "?":
            want = None
        else:
            frames = [(cells[i].split("|"), cells[i + 1]) for i in range(3, len(cells) - 1, 2)]
            want = (cells[1], optional, frames)
        for n in range(numbers[0], numbers[-1] + 1):
            lines.setdefault(n, []).append(want)
        if len(numbers) > 1:
            either[numbers[0]] = numbers[-1]
    return lines, either


def squash(text):
    """A name with what compilers write in different ways left out."""
    text = re.sub(r"\s+", "", text)
    return text.replace(",std::allocator<char>", "").replace("std::__cxx11::", "std::")


def position(text, frame, start):
    """Where in `text` from `start` on the frame is, behind it; None: nowhere."""
    functions, place = frame
    best = None
    for name in functions:
        at = text.find(squash(name), start)
        if at >= 0 and (best is None or at < best[0]):
            best = (at, at + len(squash(name)))
    if best is None:
        return None
    if place == "??":
        return best[1]
    path, line, column = place.rsplit(":", 2)
    path = squash(os.path.normpath(path))
    while path.startswith("../"):
        path = path[3:]
    ends = [":%s:%s" % (line, column)] if column != "0" else [":%s" % line]
    for end in ends:
        at = text.find(squash(path) + end, best[1])
        if at < 0:
            # A folder of the build may be written another way.
            short = path.split("../")[-1]
            at = text.find(squash(short) + end, best[1])
        if at >= 0:
            return at
    return None


def has_frames(lines, frames):
    text, at = squash("\n".join(lines).replace("\\", "")), 0
    for frame in frames:
        at = position(text, frame, at)
        if at is None:
            return False
    return True


def compare(name, log, out, expected, known):
    """Messages of what differs."""
    lines = expected[0]
    log, out = log.split("\n"), out.split("\n")
    bad, at = [], 0
    later = {}  # line → an earlier one, if either may have the answer
    for first, last in expected[1].items():
        for n in range(first, last):
            later[n] = last
    for number, line in enumerate(log, 1):
        wants = lines.get(number)
        if not wants:
            if at >= len(out) or out[at] != line:
                bad.append("%s:%d: changed\n  was %s\n  is  %s" %
                           (name, number, line[:300], out[at][:300] if at < len(out) else "-"))
                return bad
            at += 1
            continue
        if at >= len(out):
            return bad + ["%s:%d: lost" % (name, number)]
        frames = [f for want in wants if want for f in want[2]]
        if number in later and out[at] == line:
            at += 1
            continue
        # All on this line, or one on each.
        for count in (1, len(frames), len(frames) + 1):
            if frames and count <= len(out) - at and has_frames(out[at:at + count], frames):
                break
        else:
            if out[at] == line:
                for want in wants:
                    if want and want[0] in known and not want[1]:
                        bad.append("%s:%d: unchanged: %s" % (name, number, line[:200]))
                        break
                at += 1
                continue
            # Without symbols here a frame may still get another number.
            if all(want is None or want[0] not in known for want in wants):
                at += 1
                continue
            bad.append("%s:%d: wrong\n  was  %s\n  is   %s\n  want %s" %
                       (name, number, line[:200], "\n       ".join(out[at:at + len(frames)])[:600],
                        "\n       ".join("|".join(f) + " " + p for f, p in frames)[:600]))
            return bad
        at += count
    if at < len(out):
        bad.append("%s: more lines than expected: %s" % (name, out[at][:200]))
    return bad


def index(program, store, folder, wanted, kernel):
    """Returns the build IDs that are known."""
    subprocess.run([program, "index", "-q", "--store", store, folder + "/elf.tar.xz"])
    files = [d % (b[:2], b[2:]) for b in sorted(wanted) for d in DEBUG]
    for pattern in KERNEL if kernel else []:
        files += glob.glob("%s/kernel/usr/lib/debug/%s" % (CORPUS, pattern), recursive=True)
    files = [f for f in files if os.path.exists(f)]
    if files:
        subprocess.run([program, "index", "-q", "--store", store] + files)
    listed = subprocess.run([program, "list", "--store", store], capture_output=True, text=True)
    return {line.split()[0] for line in listed.stdout.splitlines()}


def main():
    program, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    expected = {n: read_expected("%s/%s.expect.txt" % (folder, n)) for n in names}
    wanted = {w[0] for lines, _ in expected.values() for ws in lines.values() for w in ws if w}
    failed = 0
    with tempfile.TemporaryDirectory() as top:
        store = top + "/store"
        known = index(program, store, folder, wanted, any("kernel" in n for n in names))
        for name in names:
            path = "%s/%s.txt" % (folder, name)
            run = subprocess.run([program, "filter", "--store", store,
                                  "--module", "libc.so.6=93ac61ec5a8eb1396f9fbd350e3169a558528a40",
                                  "--module", "ceph-osd=fb66b3cec5f264a2f863d96fa875eb4ae39bb0bf",
                                  "--module", "python3.11=10b95e5dc3f172ed1bf7b05cfe25ffaa434d4bf5",
                                  path], capture_output=True)
            bad = compare(name, open(path, "rb").read().decode("utf-8", "surrogateescape"),
                          run.stdout.decode("utf-8", "surrogateescape"), expected[name], known)
            failed += bool(bad) or run.returncode != 0
            for message in bad:
                print(message)
    print("%d logs, %d wrong" % (len(names), failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
