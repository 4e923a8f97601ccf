#!/usr/bin/env python3
"""Runs real clients of llvm-symbolizer and addr2line with the real tools and with PROGRAM.

    scripts/clients.py PROGRAM [NAME...]

Each test runs a client twice: with LLVM's or binutils' tool, and with a link to PROGRAM under
its name. What the client prints must be equal, but for process numbers and temporary folders. A client
that is not installed (scripts/deps.sh clients), or cannot work here, is skipped, and that is
said. The last line is "N passed, N failed, N skipped".
"""
import difflib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LLVM = "/usr/lib/llvm-19/bin"
PROGRAMS = {
    "leak.c": """#include <stdlib.h>
__attribute__((noinline)) void *lose(int n) { return malloc((size_t)n); }
volatile long sum;
int main(int argc, char **argv)
{
\t(void)argv;
\tfor (int i = 0; i < 100; i++)
\t\tsum += (long)lose(argc + i) & 1;
\treturn 0;
}
""",
    "heap.c": """#include <stdlib.h>
static inline __attribute__((always_inline)) int peek(volatile char *p, int i) { return p[i]; }
__attribute__((noinline)) int use(char *p, int n) { return peek(p, n); }
int main(int c, char **v) { char *p = malloc(10); free(p + c - 1); return use(p, c); }
""",
    "scope.cc": """#include <vector>
struct box { int *p; __attribute__((noinline)) int get() const { return *p; } };
int main(int c, char **v) {
  box b;
  { int x = c; b.p = &x; }
  std::vector<int> list(3, c);
  return b.get() + list[0];
}
""",
    "global.c": """int before[4], numbers[8] = { 1 }, behind[4];
__attribute__((noinline)) int at(int i) { return numbers[i]; }
int main(int c, char **v) { return at(7 + c); }
""",
    "race.cc": """#include <thread>
#include <unistd.h>
int shared;
__attribute__((noinline)) void add(int n) { usleep(n); shared += n; }
int main() { std::thread a(add, 1), b(add, 300000); a.join(); b.join(); return shared == 1; }
""",
    "unset.c": """#include <stdlib.h>
__attribute__((noinline)) int test(int *p) { if (p[3]) return 1; return 0; }
int main(int c, char **v) { return test((int *)malloc(64)); }
""",
    "overflow.c": """#include <limits.h>
__attribute__((noinline)) int add(int a, int b) { return a + b; }
int main(int c, char **v) { return add(INT_MAX, c) + (c << (30 + 2 * c)) == 1; }
""",
    "target.cc": """#include <cstdint>
#include <cstddef>
__attribute__((noinline)) void take(const uint8_t *data, size_t n) { if (n > 2 && data[0] == 'b') __builtin_trap(); }
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) { take(data, n); return 0; }
""",
    "boost.cc": """#include <boost/stacktrace.hpp>
#include <iostream>
__attribute__((noinline)) void inner(int n) { if (n) std::cout << boost::stacktrace::stacktrace(); }
__attribute__((noinline)) void outer(int n) { inner(n + 1); std::cout << std::flush; }
int main(int argc, char **) { outer(argc); }
""",
    "work.c": """#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
\tx ^= x << 13;
\tx ^= x >> 17;
\treturn x ^ x << 5;
}
__attribute__((noinline)) unsigned spin(unsigned n)
{
\tunsigned x = n | 1;
\tfor (unsigned i = 0; i < n; i++)
\t\tx = mix(x) + i;
\treturn x;
}
int main(void)
{
\tunsigned s = 0;
\tfor (unsigned i = 0; i < 400; i++)
\t\ts += spin(1000000 + i + (s & 7));
\treturn s == 1;
}
""",
}


class Skip(Exception):
    pass


class Failed(Exception):
    pass


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"there is no {tool}")


def run(command, env=None, text=None, limit=60, **more):
    try:
        r = subprocess.run(command, env={**ENV, **(env or {})}, input=text, timeout=limit,
                           capture_output=True, text=True, errors="replace", **more)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: no end after {limit} s") from None
    return r


def build(compiler, flags, source):
    out = source.split(".")[0] + "".join(re.findall(r"sanitize=(\w)", flags)) + ("2" if "lprofiler" in flags else "")
    r = run([compiler, "-g", "-o", out, source, *flags.split()])
    if r.returncode:
        raise Skip(f"{compiler} {flags}: {r.stderr.strip().splitlines()[-1]}")
    return "./" + out


def same(want, got, must=None):
    """Both must be equal, and hold what shows that they were symbolized."""
    if must and not re.search(must, want):
        raise Skip(f"the real tool gives nothing here: {want.strip()[:200]!r}")
    if want != got:
        lines = list(difflib.unified_diff(want.splitlines(), got.splitlines(), "real", "ours", "", "", 1))
        raise Failed("\n".join(lines[:30]))


# ---- sanitizers ----------------------------------------------------------------------------

def report(program, symbolizer, options=""):
    """What the sanitizer's runtime of clang prints, its process number replaced."""
    sets = {f"{s}_OPTIONS": f"external_symbolizer_path={symbolizer}:allow_addr2line=1:exitcode=0:color=never:print_stacktrace=1:{options}"
            for s in ("ASAN", "MSAN", "TSAN", "UBSAN", "LSAN")}
    r = run(["setarch", "-R", program], sets, limit=20)
    if "failed to set personality" in r.stderr:
        raise Skip("setarch -R is not allowed here")
    return re.sub(r"(==|pid=|tid=|\(pid )\d+", r"\1N", r.stderr + r.stdout)


def sanitizer(flags, source, must):
    need("clang-19", "setarch", LLVM + "/llvm-symbolizer")
    program = build("clang++-19" if source.endswith("cc") else "clang-19", "-O1 " + flags, source)
    same(report(program, REAL + "/llvm-symbolizer"), report(program, OURS + "/llvm-symbolizer"), must)


def by_addr2line(flags, source, must):
    """One process of addr2line for each module; the answer ends at that of an address that is
    in no section. Compared are the frames of the program itself: binutils doubles folders, and
    loses clang's inlined frames."""
    need("clang-19", "setarch", "addr2line")
    program = build("clang++-19" if source.endswith("cc") else "clang-19", "-O1 -fno-inline -gdwarf-4 " + flags, source)
    own = [[line for line in report(program, d + "/addr2line").splitlines() if source + ":" in line]
           for d in (REAL, OURS)]
    same("\n".join(own[0]), "\n".join(own[1]), must)


# name: flags of clang, source, what the report must have
SANITIZERS = {
    "asan_heap": ("-fsanitize=address", "heap.c", r"in peek .*heap\.c:2"),
    "asan_scope": ("-fsanitize=address -fsanitize-address-use-after-scope", "scope.cc", r"in box::get"),
    "asan_global": ("-fsanitize=address", "global.c",
                    r"in at .*global\.c:2(.|\n)*global variable 'numbers'"),
    "tsan": ("-fsanitize=thread", "race.cc", r"add\(int\)"),
    "msan": ("-fsanitize=memory", "unset.c", r"in test .*unset\.c"),
    "ubsan": ("-fsanitize=undefined", "overflow.c", r"#0 .* in \w+ .*overflow\.c:2"),
    "lsan": ("-fsanitize=leak", "leak.c", r"in (lose|main) .*leak\.c:\d"),
}
# Of these only the frames are compared.
BY_ADDR2LINE = {
    "asan_addr2line": ("-fsanitize=address", "global.c", r"in at .*global\.c:2"),
    **{name + "_addr2line": SANITIZERS[name] for name in ("tsan", "msan", "ubsan", "lsan")},
}


def fuzzer():
    """libFuzzer prints the stack of what it found."""
    need("clang++-19", "setarch")
    program = build("clang++-19", "-O1 -fsanitize=fuzzer", "target.cc")
    with open("found", "w") as out:
        out.write("bad")
    outputs = []
    for d in (REAL, OURS):
        r = run(["setarch", "-R", program, "found"], {"ASAN_SYMBOLIZER_PATH": d + "/llvm-symbolizer"})
        outputs.append("\n".join(line for line in r.stderr.splitlines() if re.match(" *#[0-9]+ ", line)))
    same(outputs[0], outputs[1], r"in take.*target\.cc:3")


def filter_markup():
    """A log in markup: of the runtime, with the modules that it was made by."""
    need("clang-19", "setarch")
    program = build("clang-19", "-O1 -fsanitize=address -Wl,--build-id", "heap.c")
    log = report(program, "", "symbolize=0:enable_symbolizer_markup=1")
    if "{{{bt:" not in log:
        raise Skip("the runtime of clang prints no markup here")
    build_id = re.search(r"Build ID: (\w+)", run(["readelf", "-n", program]).stdout)[1]
    folder = os.getcwd() + f"/debug/.build-id/{build_id[:2]}"
    os.makedirs(folder, exist_ok=True)
    shutil.copy(program, f"{folder}/{build_id[2:]}.debug")
    options = ["--filter-markup", "--debug-file-directory=" + os.getcwd() + "/debug"]
    want, got = (run([d + "/llvm-symbolizer", *options], text=log).stdout for d in (REAL, OURS))
    same(want, got, r"heap\.c:3")


def asan_symbolize():
    need("clang-19", "setarch", "asan_symbolize-19")
    program = build("clang-19", "-O1 -fsanitize=address", "heap.c")
    log = report(program, REAL + "/llvm-symbolizer", "symbolize=0")
    want, got = (run(["asan_symbolize-19"], {"LLVM_SYMBOLIZER_PATH": d + "/llvm-symbolizer"}, log).stdout
                 for d in (REAL, OURS))
    same(want, got, r"in peek .*heap\.c:2")


# ---- profilers -------------------------------------------------------------------------------

def perf(command, must):
    need("perf", "addr2line", "gcc")
    program = build("gcc", "-O2", "work.c")
    r = run(["perf", "record", "-e", "cpu-clock", "-c", "1000000", "-g", "-o", "perf.data", program])
    if r.returncode or os.path.getsize("perf.data") < 10000:
        raise Skip("perf records nothing here")
    want, got = (run(["perf", *command, "-i", "perf.data"], {"PATH": d + ":" + ENV["PATH"]}).stdout
                 for d in (REAL, OURS))
    tips = re.compile(r"^#.*\n", re.M)
    same(tips.sub("", want), tips.sub("", got), must)


def perf_script():
    perf(["script", "-F", "ip,sym,srcline"], r"spin\n +work\.c:\d+")


def perf_report():
    perf(["report", "--stdio", "--no-children", "-g", "srcline"], r"spin work\.c:\d+")


def perf_annotate():
    perf(["annotate", "--stdio", "-l", "spin"], r"work\.c:\d+")


def profile():
    """A profile of work.c by gperftools."""
    program = build("gcc", "-O2 -Wl,--no-as-needed -lprofiler", "work.c")
    r = run([program], {"CPUPROFILE": os.getcwd() + "/cpu.prof"})
    if r.returncode or not os.path.exists("cpu.prof"):
        raise Skip("libprofiler makes no profile here")
    return program


def pprof():
    """The standalone one, built from Debian's sources; PPROF_TOOLS is where it finds its tools."""
    need("go", "gcc")
    source = "/usr/share/gocode/src/github.com/google/pprof"
    if not os.path.isdir(source):
        raise Skip("golang-github-google-pprof-dev is not installed")
    if not os.path.exists("pprof"):
        r = run(["go", "build", "-o", os.getcwd() + "/pprof", "github.com/google/pprof"],
                {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": os.getcwd() + "/go", "GOFLAGS": ""},
                limit=600)
        if r.returncode:
            raise Skip("pprof cannot be built: " + r.stderr.strip().splitlines()[-1])
    program = profile()
    for lines in (["-lines"], ["-functions"]):
        want, got = (run(["./pprof", "-text", *lines, "-tools", d, program, "cpu.prof"], {"PPROF_TOOLS": d}).stdout
                     for d in (REAL, OURS))
        same(want, got, r"mix.*(work\.c|inline)|spin")


def google_pprof():
    """The one in perl: addr2line in bulk, with separators that it knows by their name."""
    need("google-pprof", "addr2line", "nm", "c++filt", "objdump", "gcc")
    program = profile()
    outputs = []
    for d in (REAL, OURS):
        tools = d + "-tools/"
        os.makedirs(tools, exist_ok=True)
        for tool in ("nm", "c++filt", "objdump"):
            if not os.path.lexists(tools + tool):
                os.symlink(shutil.which(tool), tools + tool)
        if not os.path.lexists(tools + "addr2line"):
            os.symlink(d + "/addr2line", tools + "addr2line")
        outputs.append(run(["google-pprof", "--text", "--lines", program, "cpu.prof"], {"PPROF_TOOLS": tools}).stdout)
    same(outputs[0], outputs[1], r"(mix|spin).*work\.c")


# ---- others ------------------------------------------------------------------------------------

def crash_handler():
    """LLVM's tools print their own stack when they crash: a file of addresses in, a file out."""
    need(LLVM + "/opt")
    if not os.path.exists("fifo"):
        os.mkfifo("fifo")
    outputs = []
    for d in (REAL, OURS):
        with open("crash", "w+") as out:
            p = subprocess.Popen([LLVM + "/opt", "fifo"], stderr=out, stdout=subprocess.DEVNULL,
                                 env={**ENV, "LLVM_SYMBOLIZER_PATH": d + "/llvm-symbolizer"})
            writer = os.open("fifo", os.O_WRONLY)
            time.sleep(0.5)
            p.send_signal(signal.SIGSEGV)
            end = time.time() + 30
            while time.time() < end and not re.search(r"#\d+ .*_start", open("crash").read()):
                time.sleep(0.2)
            os.close(writer)
            p.kill() # it stays in the read
            p.wait()
            lines = open("crash").read().splitlines()
        stack = [re.sub(r"0x[0-9a-f]+", "0x", line) for line in lines if re.match(r" *#\d+ ", line)]
        if any("without symbol names" in line for line in lines):
            raise Failed("the handler dropped the stack") if d == OURS else Skip("the real tool does not answer")
        outputs.append("\n".join(stack))
    same(outputs[0], outputs[1], r"#3 ")


def boost_stacktrace():
    """Boost starts the addr2line whose place it was compiled with."""
    need("g++", "addr2line")
    outputs = []
    for d in (REAL, OURS):
        program = build("g++", "-O1 -no-pie -rdynamic -DBOOST_STACKTRACE_USE_ADDR2LINE "
                        f"-DBOOST_STACKTRACE_ADDR2LINE_LOCATION={d}/addr2line", "boost.cc")
        r = run(["setarch", "-R", program] if shutil.which("setarch") else [program])
        outputs.append("\n".join(line for line in r.stdout.splitlines() if "boost.cc" in line))
    same(outputs[0], outputs[1], r"inner.* at .*boost\.cc:3")


def ask(name, arguments, questions, end):
    """Asks line by line, as those do who wait for each answer; 1 s for each, but the first."""
    p = subprocess.Popen([OURS + "/" + name, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENV)
    os.set_blocking(p.stdout.fileno(), False)
    answers, limit = [], 20
    for question in questions:
        p.stdin.write(question.encode() + b"\n")
        p.stdin.flush()
        answer, until = b"", time.time() + limit
        while not end(answer):
            if time.time() > until or p.poll() is not None:
                p.kill()
                raise Failed(f"{name}: no answer to {question!r}, but {answer!r}")
            answer += p.stdout.read() or b""
            time.sleep(0.001)
        answers.append(answer.decode())
        limit = 1
    p.stdin.close()
    if p.wait(5):
        raise Failed(f"{name}: status {p.returncode}")
    return answers


def dialogues():
    """What clients wait for, question by question: sanitizers, pprof, perf, syzkaller, seastar,
    Android's stack."""
    need("gcc", "nm")
    program = build("gcc", "-O1", "global.c")
    symbols = run(["nm", program]).stdout
    at = int(re.search(r"(\w+) T at$", symbols, re.M)[1], 16)
    data = int(re.search(r"(\w+) D numbers$", symbols, re.M)[1], 16)
    blank = lambda a: a.endswith(b"\n\n")
    two = lambda a: a.count(b"\n") == 2
    three = lambda a: a.count(b"\n") == 3
    answers = ask("llvm-symbolizer", ["--demangle", "--inlines", "--default-arch=x86_64"],
                  [f'CODE "{program}" 0x{at:x}', "nonsense", "", f'DATA "{program}" 0x{data:x}',
                   'CODE "/no/such/file" 0x1', f'CODE "{program}" 0xffffffffffff', f'"{program}" 0x{at:x}'], blank)
    if not answers[0].startswith("at\n") or not answers[3].startswith("numbers\n") or answers[0] != answers[6]:
        raise Failed(f"sanitizers: {answers}")
    answers = ask("llvm-symbolizer", ["--output-style=JSON", "--functions", "--inlines", "--obj=" + program],
                  [f"0x{at:x}", f"FRAME 0x{at:x}", "zz"], lambda a: a.endswith(b"\n"))
    if '"FunctionName":"at"' not in answers[0] or '"Name":"i"' not in answers[1]:
        raise Failed(f"Android's stack: {answers}")
    answers = ask("addr2line", ["-e", program, "-i", "-f"], [",", f"{at:x}", "ffffffffffffffff"], two)
    if answers[0] != "??\n??:0\n" or not answers[1].startswith("at\n") or answers[2] != "??\n??:0\n":
        raise Failed(f"perf: {answers}")
    answers = ask("addr2line", ["-afi", "-e", program], [f"0x{at:x}", "0xffffffffffffffff"], three)
    if not answers[1].startswith("0xffffffffffffffff\n??\n"):
        raise Failed(f"syzkaller: {answers}")
    answers = ask("addr2line", ["-Cfpia", "-e", program], ["", f"0x{at:x}", "0x0"],
                  lambda a: a.endswith(b"\n"))
    if answers[2] not in ("0x0000000000000000: ?? ??:0\n", "0x0: ?? at ??:0\n"):
        raise Failed(f"seastar: {answers}")


TESTS = {
    **{name: functools.partial(sanitizer, *args) for name, args in SANITIZERS.items()},
    **{name: functools.partial(by_addr2line, *args) for name, args in BY_ADDR2LINE.items()},
    **{test.__name__: test for test in (fuzzer, filter_markup, asan_symbolize, perf_script, perf_report,
                                        perf_annotate, pprof, google_pprof, crash_handler,
                                        boost_stacktrace, dialogues)},
}


def links(folder, tools):
    os.mkdir(folder)
    for name, target in tools.items():
        if target:
            os.symlink(target, f"{folder}/{name}")
    return folder


def main():
    global ENV, REAL, OURS
    program = os.path.realpath(sys.argv[1])
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        ENV = {k: v for k, v in os.environ.items()
               if not k.startswith(("SYMCACHE", "DEBUGINFOD", "LLVM_", "ASAN_", "UBSAN_", "TSAN_", "MSAN_", "LSAN_"))}
        ENV.update(SYMCACHE_STORE=folder + "/none.store", LC_ALL="C", HOME=folder)
        REAL = links(folder + "/real", {"llvm-symbolizer": LLVM + "/llvm-symbolizer", "addr2line": shutil.which("addr2line")})
        OURS = links(folder + "/ours", {"llvm-symbolizer": program, "addr2line": program})
        os.mkdir(folder + "/work")
        os.chdir(folder + "/work")
        for name, source in PROGRAMS.items():
            with open(name, "w") as out:
                out.write(source)
        for name, test in TESTS.items():
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            try:
                test()
                counts["passed"] += 1
                print("ok", name)
            except Skip as why:
                counts["skipped"] += 1
                print(f"skipped {name}: {why}")
            except Failed as why:
                counts["failed"] += 1
                print(f"FAILED {name}\n{why}")
        os.chdir("/")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return counts["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
