#!/usr/bin/env python3
"""Compares the program under others' names with the tools that have these names.

    scripts/dropin_diff.py PROGRAM

Runs llvm-symbolizer-19, llvm-addr2line-19 and binutils' addr2line on a small program and on
bad input, and PROGRAM under the same names: standard output, standard error and status must
be equal. What differs on purpose is not asked: versions and help.
Tools that are not there are left out, which is said. Exit status 1: something differs.
"""
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = """int g = 3;
static inline __attribute__((always_inline)) int in(int x) { return x * g; }
int foo(int a) { return in(a) + 1; }
int main(int c, char **v) { return foo(c) + in(3); }
"""
CXX = """namespace shop { int g = 3; struct item { int n; int total() const { return n * g; } };
__attribute__((noinline)) int sum(int a) { return item{a}.total() + 1; } }
asm(".text\\n.type _ZN4core3fmt3pad17h0123456789abcdefE,@function\\n"
    "_ZN4core3fmt3pad17h0123456789abcdefE: nop\\n.size _ZN4core3fmt3pad17h0123456789abcdefE,1");
int main(int c, char **v) { return shop::sum(c); }
"""
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("SYMCACHE", "DEBUGINFOD", "LLVM_"))}
counts = {"compared": 0, "different": 0}


def run(folder, tool, args, text):
    try:
        r = subprocess.run([os.path.join(folder, tool)] + args, input=text.encode(),
                           capture_output=True, timeout=20, env=ENV)
    except subprocess.TimeoutExpired:
        return "no end"
    return (r.returncode,) + tuple(s.replace(folder.encode() + b"/", b"") for s in (r.stdout, r.stderr))


def compare(tool, args, text=""):
    real = shutil.which(tool)
    if not real:
        return
    counts["compared"] += 1
    want, got = run(os.path.dirname(real), tool, args, text), run(os.getcwd() + "/bin", tool, args, text)
    if want != got:
        counts["different"] += 1
        print(f"{tool} {' '.join(args)} < {text!r}\n  wanted {want}\n  got    {got}")


def address(name, of="t"):
    out = subprocess.run(["nm", of], capture_output=True, text=True, check=True).stdout
    return next(line.split()[0].lstrip("0") for line in out.splitlines() if line.split()[-1] == name)


def symbolizer(f, m, g):
    tool = "llvm-symbolizer-19"
    bad = ["", "nosuch 0x1", "t xyz", "CODE", "CODE t", f'"t 0x{f}', f"DATA t 0x{g}", "DATA t 1",
           "BUILDID:abcd 1", "/ 0x1", "t.c 0x1", "t foo", "t foo+2", "t _start", "t nosuchsym",
           "DATA nosuch 1", "DATA x", "FRAME t 0x1", "FILE:", "BUILDID:xyz 1", "FILE:FILE:t 1", f"FRAME t 0x{f}", f"FRAME t 0x{m}",
           "t 12z", "t 0b101", "t 0o17", "t 017", "CODE t\t0x" + f, "FRAME nosuch 1"]
    good = [f"t 0x{f} junk", f"FILE:t 0x{f}", f"t:x86_64 0x{f}", f"   t   0x{f}  "]
    for style in ([], ["--output-style=GNU"], ["-p", "-a"], ["--no-inlines"], ["--functions=short"],
                  ["-f=none"], ["-s"], ["--relativenames"], ["--output-style=JSON"], ["--verbose"]):
        for line in bad + good:
            compare(tool, style, line + "\n")
        compare(tool, style, "\n".join(bad + good) + "\n")
        compare(tool, style + ["-e", "t"], f"\nzz\nmain\nDATA 0x{g}\n0x1\n" + f"0x{f}\n")
        compare(tool, style + ["-e", "t", "foo", "0x1"])
    for args in ("-nosuch", "--nosuch", "-x", "--inlnes", "-e", "--obj", f"-demangle=false -e t 0x{f}",
                 f"-apCie t 0x{f}", f"-apCie=t 0x{f}", f"-apCiet 0x{f}", f"-fe t 0x{f}",
                 f"--functions=foo -e t 0x{f}", f"--output-style=XX -e t 0x{f}", "--obj=nosuch 1",
                 "--obj=/ 1", "--obj=t.c 1", "--build-id=zz 1", "--build-id=abcd 1",
                 "--build-id=abcd 1 2", "--build-id=abc --obj=t 1", "--output-style=JSON --obj=nosuch 1 2",
                 "--output-style=JSON -p --obj=/ 1", "--output-style=JSON --build-id=abcd 1 2",
                 f"-s --relativenames -e t 0x{f}", f"--relativenames -s -e t 0x{f}",
                 f"--functions=short -e ts 0x{f}", f"--functions=short --demangle -e t 0x{f}",
                 "--adjust-vma=x 1", f"--adjust-vma=0x10 -e t 0x{f}", "--inlining=maybe", "--inlines=x",
                 f"--inlining=true -e t 0x{f}", f"--inlining=false -e t 0x{f}",
                 f"--relative-address -e t 0x{f}", f"--exe=t 0x{f}", f"--exe t 0x{f}",
                 f"--default-arch=x86_64 --cache-size=10 --color --color=never --untag-addresses "
                 f"--no-untag-addresses --fallback-debug-path=x --dwp=y --no-debuginfod -e t 0x{f}",
                 f"-e t -i -C -s -p -a -f 0x{f}", f"-e t --print-source-context-lines=3 0x{f}",
                 f"-e t --output-style=JSON --print-source-context-lines=3 0x{f} 0x{m} 0x1",
                 f"-e t --output-style=GNU --print-source-context-lines=2 0x{f}",
                 f"-e t -p --print-source-context-lines=10 0x{m}", "--verbos", "-", f"@words 0x{f}"):
        compare(tool, args.split())


def addr2line(f, m):
    for args in (f"-e t {f}", f"-fe t {f}", f"-afi -e t 0x{f}", f"-afie t 0x0 {f}", "-e nosuch 1",
                 "-e t.c 1", "-e / 1", f"-Cfpia -e t {f} 0", "-e t ,", f"-e t -a {f}", "-e t foo",
                 "-fe t 0b1010 0o17 0x17", f"-pe t {f}", "-fpe t 0"):
        compare("llvm-addr2line-19", args.split())
    compare("llvm-addr2line-19", ["-f", "-i"], f"t {f}\nnosuch 1\n")
    for args in (f"-e t {f}", f"-fe t {f}", f"-afi -e t 0x{f}", f"-afie t 0x0 {f} ffffffffffffffff",
                 "-e nosuch 1", "-e t.c 1", "-e / 1", f"-Cfpia -e t {f} 0", f"-Cfpa -e t {f} 0",
                 "-e t ,", "-f -e t foo+4", "-f -e t main", "-f -e t main+2", "-f -e t foo-4",
                 "-j .text -f -e t 0", "-j .nosuch -e t 0", "-b foo -e t 1", f"--bas -e t 0x{f}",
                 "--demangle=foo -e t 1", "--d -e t 1", f"-b elf64-x86-64 -e t {f}", "-e t zzz",
                 "-e t", f"-r -R -s -e t {f}", "-fi", f"-e ts -f {f}", f"-e ts -fpia {f} 0",
                 f"{f} -e t", f"-e t -- -{f}", "-e t 0 -f", f"@words {f}",
                 f"-e t -aC {f} 123456789abcdef0123456789"):
        compare("addr2line", args.split())
    text = f"\n,\n-1\n  0x{f} x\n{f}\nmain\nmain+0x4\n{m}\n0\nffffffffffffffff\n\t{m}\n"
    for options in ([], ["-a"], ["-f"], ["-a", "-f", "-i"], ["-p", "-f", "-a"], ["-Cfpia"], ["-i", "-p"]):
        compare("addr2line", options + ["-e", "t"], text)


def markup():
    """--filter-markup with the options that change names and paths, and Rust's older names."""
    tool = "llvm-symbolizer-19"
    notes = subprocess.run(["readelf", "-n", "u"], capture_output=True, text=True, check=True).stdout
    build_id = notes.split("Build ID: ")[1].split()[0]
    os.makedirs("d/.build-id/" + build_id[:2])
    shutil.copy("u", f"d/.build-id/{build_id[:2]}/{build_id[2:]}.debug")
    text = "{{{module:0:u:elf:%s}}}\n{{{mmap:0x10000000:0x8000:load:0:rwx:0}}}\n" % build_id
    for name in ("_ZN4shop3sumEi", "main", "_init", "_start", "_ZN4core3fmt3pad17h0123456789abcdefE"):
        at = int(address(name, "u"), 16)
        for a in (at, at + 4):
            text += "{{{bt:1:0x1000%04x:pc}}} {{{pc:0x1000%04x}}} {{{bt:1:0x1000%04x:ra}}}\n" % (a, a, a)
    text += "{{{data:0x1000%s}}}\n" % address("_ZN4shop1gE", "u")
    text += "{{{symbol:_ZN4shop3sumEi}}} {{{symbol:_ZN4core3fmt3pad17h0123456789abcdefE}}}\n"
    for args in ("", "--basenames", "--relativenames", "--no-demangle", "--functions=none",
                 "--functions=short", "--functions=short --no-demangle", "--no-inlines", "-p -a",
                 "-s --functions=none", "--output-style=JSON", "--relativenames --no-demangle"):
        compare(tool, ["--filter-markup", "--debug-file-directory=" + os.getcwd() + "/d"] + args.split(), text)
    rust = "0x" + address("_ZN4core3fmt3pad17h0123456789abcdefE", "u")
    compare(tool, ["-e", "u", rust])
    compare("llvm-addr2line-19", ["-fCe", "u", rust])


def main():
    program = os.path.realpath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ENV["SYMCACHE_STORE"] = folder + "/none.store"
        os.mkdir("bin")
        for tool in ("llvm-symbolizer-19", "llvm-addr2line-19", "addr2line"):
            os.symlink(program, "bin/" + tool)
            if not shutil.which(tool):
                print(f"skipped: there is no {tool}")
        with open("t.c", "w") as out:
            out.write(SOURCE)
        with open("words", "w") as out:
            out.write("-f -e 't'\n")
        subprocess.run(["gcc", "-g", "-O1", "-o", "t", "t.c"], check=True)
        subprocess.run(["strip", "-g", "-o", "ts", "t"], check=True)
        with open("u.cc", "w") as out:
            out.write(CXX)
        subprocess.run(["g++", "-g", "-O1", "-Wl,--build-id", "-o", "u", "u.cc"], check=True)
        markup()
        symbolizer(address("foo"), address("main"), address("g"))
        addr2line(address("foo"), address("main"))
        os.chdir("/")
    print(f"{counts['compared']} compared, {counts['different']} different")
    return counts["different"] != 0


if __name__ == "__main__":
    sys.exit(main())
