#!/usr/bin/env python3
"""One call fails, for each call of a small run of each command.

  scripts/faults.py BUILD_DIR [--every N] [--kinds KIND,…] [NAME…]

Each command runs as often as it makes calls: the first allocation fails, then the second, and so
on; the same of read(), pread(), writes to files, syncs, rename(), mmap() and ftruncate()
(scripts/fail_at.c). Each time it must

- end by itself, in time, with status 0 and what it gives without a fault, or with another status;
- then say what failed: the reason that the call gave is on standard error, and nothing is said to
  be damaged or missing that is not;
- with status 0 lack nothing but what only saves time (.packed, of trees);
- leave no file behind that it does not leave otherwise, but for a store or an output that was begun,
  and lose nothing: the store verifies and has all entries that it had.

--every N: only each N-th call, another one for each command. NAME: these commands. The last line is
"faults: N passed, N failed, N skipped", a command being one.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# What fails, with which errno, and how that is told.
KINDS = {
    "alloc": (12, "memory|temporarily unavailable|cannot allocate"),
    "mmap": (12, "memory|cannot allocate"),
    "read": (5, "input/output error"),
    "pread": (5, "input/output error"),
    "writes": (28, "no space left|no room|disk is full"),
    "syncs": (5, "input/output error"),
    "rename": (5, "input/output error"),
    "ftruncate": (27, "file too large"),
}
WRONG = r"damaged|cut off|malformed|not a store|not an archive|\bbad\b"

# NAME: its arguments, in a folder of its own.
COMMANDS = {
    "index": "index -q -j1 --store new.store more",
    "index-more": "index -q -j1 --store a.store more",
    "index-locals": "index -q -j1 --locals --store new.store more",
    "index-archive": "index -q -j1 --store new.store more.tar",
    "index-again": "index -q -j1 --again --store a.store more/a.so",
    "build": "build -o a.symcache more/a.so",
    "check": "check --store a.store more/a.so",
    "lookup": "lookup --store a.store --build-id aa f",
    "lookup-file": "lookup --file more/a.so f",
    "lookup-json": "lookup --store a.store --json --build-id aa f",
    "lookup-where": "lookup --store a.store --build-id aa --where a.c:1",
    "lookup-packed": "lookup --store cold.store --build-id dd f7",
    "lookup-explain": "lookup --store a.store --explain --build-id aa f",
    "lookup-frame": "lookup --store a.store --build-id aa FRAME 0x1000",
    "addr2line": "addr2line -fie more/a.so 0x1000",
    "symbolizer": "symbolizer --obj=more/a.so 0x1000",
    "pack": "pack -o x made",
    "unpack": "unpack -o x packed",
    "filter": "filter -q --store a.store log",
    "filter-json": "filter -q --store a.store --format json log",
    "filter-html": "filter -q --store a.store --format html log",
    "filter-group": "filter -q --store a.store --group log",
    "filter-demux": "filter -q --store a.store --demux log",
    "filter-gzip": "filter -q --store a.store other.gz",
    "filter-output-dir": "filter -q --store a.store --output-dir out log other.gz",
    "plan": "plan -q --store a.store -o p log other.gz",
    "plan-cut": "plan -q --store a.store --task-size 1M -o p log large",
    "filter-plan": "filter -q --store a.store --plan planned --task 0 -o out",
    "merge": "merge -q planned done",
    "merge-status": "merge --status planned done",
    "core": "core --store a.store --debug-file-directory . core",
    "core-json": "core --store a.store --debug-file-directory . --format json --registers core",
    "core-html": "core --store a.store --debug-file-directory . --format html core",
    "proc": "proc --store a.store PID",
    "proc-json": "proc --store a.store --format json --registers PID",
    "trace": "trace --store a.store trace",
    "trace-json": "trace --store a.store --format json trace",
    "trace-summary": "trace --store a.store --summary trace",
    "profile": "profile --store a.store prof",
    "profile-html": "profile --store a.store --format html pprof",
    "profile-pprof": "profile --store a.store pprof",
    "profile-otlp": "profile --store a.store otlp",
    "profile-perf": "profile --store a.store perf",
    "profile-folded": "profile --store a.store --format folded pprof",
    "profile-jeprof": "profile --store a.store --format jeprof prof",
    "profile-output-dir": "profile --store a.store --output-dir out prof pprof",
    "list": "list --store a.store",
    "show": "show --store a.store aa",
    "stats": "stats --store a.store",
    "verify": "verify -j1 --store a.store",
    "verify-repair": "verify -j1 --repair --store a.store",
    "remove": "remove -q --store a.store bb",
    "prune": "prune -q --store a.store --to-size 100K",
    "compact": "compact -q --store a.store",
    "compact-pack": "compact -q --pack 0 --store large.store",
    "compact-unpack": "compact -q --unpack --store cold.store",
    "index-packed": "index -q -j1 --packed --store new.store large.so",
    "export-store": "export -q --store a.store -o x.store",
    "export-log": "export -q --store a.store --for-log log -o x.store",
    "export-tree": "export -q --store a.store -o x",
    "export-onto-tree": "export -q --store next.store --shape tree -o bundle",
    "export-archive": "export -q --store a.store -o x.tar.zst",
    "export-names": "export -q --store a.store --names-only -o x",
    "export-delta": "export -q --store next.store --delta-from a.store -o x",
    "import-delta": "import -q --store a.store delta",
    "import-store": "import -q --store b.store bundle.store",
    "import-tree": "import -q --store b.store bundle",
    "import-archive": "import -q --store b.store bundle.tar.zst",
    "verify-bundle": "verify bundle",
    "build-maps": "build --symbol-map names.txt --line-map lines.json --line-map lines.json --line-map lines.json --map-path /a=/b -o a.symcache more/a.so",
}
# What "proc" looks at, without a libc: it lets anyone look, says that it runs, and waits for the end of its input.
WAITS = r"""#include <sys/prctl.h>
#include <sys/syscall.h>
static long call(long n, long a, long b, long c)
{
#ifdef __x86_64__
	__asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return n;
#else
	register long number __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(number), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}
__attribute__((noinline)) static long waits(char *to) { return call(SYS_read, 0, (long)to, 1); }
void _start(void)
{
	char byte = '\n';
	call(SYS_prctl, PR_SET_PTRACER, -1, 0);
	call(SYS_write, 1, (long)&byte, 1);
	while (waits(&byte) > 0)
		;
	call(SYS_exit, 0, 0, 0);
}
"""
VARIES = {"stats": r"(?m)^(map|format) .*$"}  # what is said of this run alone
# libarchive itself crashes, or ends the process; an explanation says what it cannot read; of a process that
# runs, what /proc and its memory do not give is left out, as it may end at any time; a file that cannot be looked
# at is not the debug file.
SPARED = {("export-archive", "alloc"), ("import-archive", "alloc"), ("index-archive", "alloc"),
          ("lookup-explain", "pread"), ("lookup-frame", "pread"), ("proc", "read"), ("proc", "pread"), ("proc-json", "read"),
          ("proc-json", "pread")}
STORES = ("a.store", "b.store", "new.store", "x.store", "cold.store", "large.store", "next.store")


def sh(command, cwd, program, **env):
    return subprocess.run(["sh", "-c", command], cwd=cwd, capture_output=True, text=True, check=True,
                          env=dict(os.environ, S=program, LC_ALL="C", SOURCE_DATE_EPOCH="1700000000", **env))


def prepare(folder, program):
    """What the commands work on: a store of two entries, logs, bundles, a program that waits."""
    with open(f"{folder}/waits.c", "w") as f:
        f.write(WAITS)
    sh("""printf 'static int twice(int x) { return 2 * x; }\\nint f(int x) { return twice(x); }\\n' > a.c
mkdir more
gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xaa -o more/a.so a.c
gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xbb -o more/b.so a.c
gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xcc -o more/c.so a.c
$S index -q --store a.store more/a.so more/b.so
$S index -q --store b.store more/b.so
for i in $(seq 300); do echo "int f$i(int x) { return x + $i; }"; done > large.c
gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xdd -o large.so large.c
$S index -q --store large.store large.so
$S index -q --packed --store cold.store large.so
mkdir next; gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id=0xee -o next/a.so a.c
$S index -q --store next.store next/a.so
$S export -q --store next.store --delta-from a.store -o delta
gcc -g -O1 -static -nostdlib -fno-stack-protector -Wl,--build-id=0xff -o waits waits.c
for i in bundle bundle.store bundle.tar.zst; do $S export -q --store a.store -o $i; done
at=$(nm more/a.so | awk '/ T f/ {print "0x" $1}')
printf '{{{reset}}}\\n{{{module:0:a.so:elf:aa}}}\\n{{{mmap:0x10000:0x10000:load:0:rx:0x0}}}\\n' > log
printf 'text\\nat {{{pc:%#x}}}\\n#0 %#x in f (a.so+%#x) (BuildId: aa)\\n' $((at + 0x10000)) $((at + 0x10000)) $((at)) >> log
gzip -cn log > other.gz
printf -- '--- symbol\\nbinary=a.so\\n--- heap\\n' > prof
printf 'f real\\ntwice other\\n' > names.txt
printf '{"a.c":{"A.cs":{"1":5},"B.cs":{"2":6}}}' > lines.json
tar cf more.tar more
$S build -o made more/a.so
$S pack -o packed made
{ cat log; yes 'a line of text' | head -n 80000; cat log; } > large
$S plan -q --store a.store --task-size 1M -o planned log large other.gz
for i in $(cat planned/tasks); do $S filter -q --store a.store --plan planned --task $i -o done; done
rm -f a.c large.c waits.c *-used""", folder, program)
    for name, file in (("core", "core/shared"), ("trace", "tfile/stack"), ("prof", "legacy/gperftools"),
                       ("pprof", "pprof/whole"), ("otlp", "otlp/whole"), ("perf", "perf/stack-file")):
        with open(f"{ROOT}/testdata/fuzz/{file}", "rb") as f, open(f"{folder}/{name}", "wb") as to:
            # This machine may have the core's libc; a seed of traces begins with a byte of options.
            to.write(f.read()[name == "trace":].replace(b"/libc.so.6", b"/libq.so.6"))


def tree(folder):
    """Names of files, and bytes of those that hold neither a store nor times; last use and locks are not of interest."""
    found = {}
    for d, _, names in os.walk(folder):
        for n in names:
            path = os.path.relpath(os.path.join(d, n), folder)
            if not re.search(r"store-(used|lock)$", n):
                with open(os.path.join(d, n), "rb") as f:
                    found[path] = None if re.search(r"\.store$|finished.jsonl$|done/\d+\.json$|^stdout$", path) else f.read()
    return found


class Command:
    def __init__(self, top, name, program, preload):
        self.name, self.program, self.preload = name, program, preload
        self.folder, self.clean = f"{top}/{name}", f"{top}/clean"
        self.faults, self.runs = [], collections.Counter()
        self.fresh()
        self.waits = subprocess.Popen([self.clean + "/waits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.waits.stdout.read(1)
        self.status, self.out, self.err = self.run()
        self.tree, self.before = tree(self.folder), tree(self.clean)
        self.ids = {s: self.list(s) for s in STORES}
        self.writes = self.tree != dict(self.before, stdout=self.tree["stdout"]) or "store" in name or \
            name.split("-")[0] in ("index", "remove", "prune", "compact", "import", "verify")
        self.fresh()

    def fresh(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.clean, self.folder)

    def list(self, store):
        path = f"{self.clean}/{store}"
        return set(self.ask(path, "list").split("\n")) if os.path.exists(path) else set()

    def ask(self, path, *what):
        done = subprocess.run([self.program, *what, "--store", path], capture_output=True, text=True)
        return re.sub(r"(?m) .*$", "", done.stdout) if what == ("list",) else done.returncode

    def run(self, **env):
        """The status, standard output, which is a file, and standard error."""
        with open(f"{self.folder}/stdout", "w+b") as out:
            try:
                command = COMMANDS[self.name].replace("PID", str(self.waits.pid)).split()
                p = subprocess.run([self.program] + command, cwd=self.folder, stdout=out,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=60,
                                   env=dict(os.environ, LC_ALL="C", SOURCE_DATE_EPOCH="1700000000",
                                            SYMCACHE_STORE="a.store", **env))
            except subprocess.TimeoutExpired:
                return None, "", ""
            out.seek(0)
            text = re.sub(VARIES.get(self.name, "$^"), "", out.read().decode(errors="replace"))
            return p.returncode, text, p.stderr.decode(errors="replace")

    def fault(self, kind, n, what):
        self.faults.append(f"{self.name}: {kind} {n}: {what}")

    def one(self, kind, n):
        """False: there is no such call."""
        errno, told = KINDS[kind]
        seen = f"{self.folder}.seen"
        if os.path.exists(seen):
            os.unlink(seen)
        status, out, err = self.run(FAIL=kind, FAIL_AT=str(n), FAIL_SEEN=seen, FAIL_ERRNO=str(errno),
                                    LD_PRELOAD=self.preload)
        if not os.path.exists(seen):
            return False
        self.runs[kind] += 1
        last = err.strip().split("\n")[-1][:200]
        now = tree(self.folder)
        said = err + out
        same = (status, out) == (self.status, self.out) and now == self.tree and \
            (err == self.err or re.search(told, err, re.I))
        if status is None or status < 0:
            self.fault(kind, n, "does not end" if status is None else f"signal {-status}: {last}")
        elif not same and status == 0:
            lost = [p for p in self.tree if now.get(p, 0) != self.tree[p] and not p.endswith("/.packed")]
            if lost or status != self.status or out != self.out:
                self.fault(kind, n, f"status 0, but {lost or 'what it says'} is not as without a fault: {last}")
        elif not same and not re.search(told, said, re.I):
            self.fault(kind, n, f"status {status}, and the reason is not told: {last}")
        elif not same and re.search(WRONG, said, re.I) and not re.search(WRONG, self.out + self.err, re.I):
            self.fault(kind, n, f"status {status}, and says what is not so: {last}")
        elif not same:
            more = [p for p in now if p not in self.tree and p not in self.before and not p.startswith("p/")]
            if more:
                self.fault(kind, n, f"status {status}, and leaves {more}")
        if not same:
            for s in STORES:
                self.check_store(kind, n, s)
        if not same or self.writes:
            self.fresh()
        return True

    def check_store(self, kind, n, store):
        path = f"{self.folder}/{store}"
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            if os.path.exists(f"{self.clean}/{store}"):
                self.fault(kind, n, f"{store} is gone")
            return
        lost = self.ids[store] - set(self.ask(path, "list").split("\n"))
        if lost and self.name not in ("remove", "prune"):
            self.fault(kind, n, f"{store} has lost {lost}")
        if self.ask(path, "verify", "-q") and store != "new.store":
            self.fault(kind, n, f"{store} is damaged")

    def every(self, kinds, step, first):
        for kind in [k for k in kinds if (self.name, k) not in SPARED]:
            n = 1 + (first % step if kind == "alloc" else 0)
            while self.one(kind, n):
                n += step if kind == "alloc" else 1
            self.fresh()
        self.waits.communicate()
        if not self.runs:
            self.fault("all", 0, f"no call was made: status {self.status}")
        return self


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("names", nargs="*", help="commands")
    a = p.parse_args()
    program = os.path.realpath(a.build)
    program = program if os.path.isfile(program) else program + "/symcache"
    if b"__asan_init" in open(program, "rb").read():
        print("a sanitizer has its own malloc(), which scripts/fail_at.c would replace")
        print(f"faults: 0 passed, 0 failed, {len(COMMANDS)} skipped")
        return
    with tempfile.TemporaryDirectory() as top:
        preload = top + "/fail_at.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", preload,
                        f"{ROOT}/scripts/fail_at.c", "-ldl"], check=True)
        os.mkdir(top + "/clean")
        prepare(top + "/clean", program)
        names = a.names or list(COMMANDS)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = list(pool.map(lambda i: Command(top, names[i], program, preload).every(
                a.kinds.split(","), a.every, i), range(len(names))))
    for c in done:
        for fault in c.faults[:10]:
            print(fault)
        if len(c.faults) > 10:
            print(f"{c.name}: {len(c.faults) - 10} more")
        if not c.faults:
            print(f"ok {c.name}: {sum(c.runs.values())} runs: " +
                  ", ".join(f"{n} {k}" for k, n in c.runs.items()))
    failed = sum(bool(c.faults) for c in done)
    print(f"faults: {len(done) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
