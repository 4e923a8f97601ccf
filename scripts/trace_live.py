#!/usr/bin/env python3
"""Records a trace with gdb and gdbserver and asks GDB and symcache about it.

  scripts/trace_live.py SYMCACHE PROGRAM SOURCE

PROGRAM is testdata/programs/traced.c compiled, SOURCE that file. gdbserver listens
on the loopback interface. For every frame the tracepoint, program counter, function,
inlined functions, files and lines, memory, variables and registers must be GDB's
(tfind, bt, x, print), and so must be what tstatus says. Prints how many of each
agreed, or the differences. Exit status 77: nothing can be traced on this machine.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

symcache, program, source = (os.path.abspath(p) for p in sys.argv[1:4])
with open(source) as f:
    LINES = {m.group(1).strip(): n for n, line in enumerate(f, 1)
             if (m := re.search(r"mark: ([a-z ]+)", line))}
REGISTERS = ["rax", "rsp", "rbp", "rip", "r15", "eflags", "cs"]
GDB = ["gdb", "-nx", "-q", "-batch"]
bad = []


def run(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=50, text=True)
    return done.stdout


def gdb(directory, lines):
    """Runs GDB commands; failing ones do not end it. Returns their outputs."""
    script = os.path.join(directory, "commands.py")
    with open(script, "w") as f:
        f.write("import gdb\nfor c in %r:\n"
                "    try: out = gdb.execute(c, to_string=True)\n"
                "    except gdb.error as e: out = 'ERROR: ' + str(e)\n"
                "    print('\\x01' + out, flush=True)\n" % (lines,))
    said = run(GDB + ["-ex", "set pagination off", "-ex", "set width 0",
                      "-ex", "set filename-display absolute", "-x", script])
    return said.split("\x01")[1:]


def record(directory):
    """Returns the trace file and the load bias."""
    server = subprocess.Popen(["gdbserver", "--once", "127.0.0.1:0", program],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    try:
        said = []
        for line in server.stderr:
            said.append(line)
            if m := re.search(r"Listening on port (\d+)", line):
                break
        else:
            print("gdbserver: " + "".join(said).strip())
            sys.exit(77)
        port = m.group(1)
        trace = os.path.join(directory, "out.tf")
        with open(os.path.join(directory, "record.gdb"), "w") as f:
            f.write(f"""set confirm off
file {program}
target remote 127.0.0.1:{port}
break main
continue
tvariable $hits = 5
trace {LINES['in the inlined function']}
actions
collect $regs, count, text, *(unsigned char *)$rsp@4096
teval $hits = $hits + 1
collect $hits
end
trace {LINES['at the entry']}
condition $tpnum n > 1
actions
collect both
end
trace {LINES['stepping']}
actions
collect $regs
while-stepping 4
collect $regs, both
end
end
break done
set trace-user nobody
set trace-notes a: recording
tstart
continue
tstop enough
tsave {trace}
python print('bias %x' % (int(gdb.parse_and_eval('(long)&main')) - int({main_vaddr()})))
kill
""")
        said = run(GDB + ["-x", os.path.join(directory, "record.gdb")])
        bias = re.search(r"^bias ([0-9a-f]+)$", said, re.M)
        if not bias or not os.path.exists(trace):
            sys.exit("recording failed:\n" + said)
        return trace, bias.group(1)
    finally:
        server.kill()
        server.wait()


def main_vaddr():
    for line in run(["nm", program]).splitlines():
        if line.endswith(" T main"):
            return int(line.split()[0], 16)
    sys.exit("no main in " + program)


def check(what, ours, theirs):
    if ours != theirs:
        bad.append(f"{what}: symcache {ours!r}, gdb {theirs!r}")


def gdb_numbers(said):
    """From the tracepoint numbers of the file to GDB's."""
    return {int(m.group(2)): int(m.group(1)) for m in re.finditer(
        r"Created tracepoint (\d+) for target's tracepoint (\d+)", said)}


def questions(frame):
    yield f"tfind {frame['number']}"
    if "pc" in frame:
        yield "print/x $pc"
        yield "bt"
    for b in frame["blocks"]:
        if "memory" in b:
            yield f"x/{b['size']}xb {b['memory']}"
        elif "variable" in b:
            yield f"print ${b['variable']}"
        elif "registers" in b:
            yield from (f"print/x ${r}" for r in REGISTERS)


def compare_stack(frame, bt, counts):
    """The callers up to main, where GDB ends; a line of its text without an address is that of
    an inlined function, or of frame 0."""
    theirs = [(int(m[1], 16), m[2], int(m[3])) for m in
              re.finditer(r"^#\d+ +0x(\w+) in (\S+) \(.*\) at .*:(\d+)$", bt, re.M)]
    ours = [(int(f["pc"], 16), f["functions"][-1]["function"], f["functions"][-1]["line"])
            for f in frame["stack"] if f["functions"]]
    check(f"frame {frame['number']} stack", ours[:len(theirs)], theirs)
    counts["callers"] += len(theirs)


def compare(frame, said, number_in_gdb, counts):
    n = frame["number"]
    m = re.search(r"Found trace frame (\d+), tracepoint (\d+)", next(said))
    check(f"frame {n}", (n, number_in_gdb[frame["tracepoint"]]), m and (int(m[1]), int(m[2])))
    counts["frames"] += 1
    if "pc" in frame:
        check(f"frame {n} pc", frame["pc"], next(said).split(" = ")[-1].strip())
        # As far as the functions are those of this address: a caller's has "in".
        bt = next(said)
        if any(b.get("size") == 4096 for b in frame["blocks"]):
            compare_stack(frame, bt, counts)
        stack = re.findall(r"^#(\d+) +(0x\w+ in )?(\S+) \(.*\) at (.*):(\d+)$", bt, re.M)
        stack = [s for s in stack if s[0] == "0" or not s[1]]
        check(f"frame {n} functions",
              [(f["function"], f["file"], f["line"]) for f in frame["functions"]],
              [(s[2], s[3], int(s[4])) for s in stack])
        counts["places"] += 1
        counts["inlined"] += len(frame["functions"]) - 1
    values = {}
    for b in frame["blocks"]:
        if "memory" in b:
            theirs = re.findall(r"\t0x(\w\w)", next(said))
            check(f"frame {n} memory {b['memory']}", b["bytes"], "".join(theirs))
            counts["blocks of memory"] += 1
        elif "variable" in b:
            # GDB's value is that of the last block; so will ours be.
            values[b["variable"]] = (b["value"], int(next(said).split(" = ")[-1]))
        elif "registers" in b:
            for r in REGISTERS:
                check(f"frame {n} ${r}", int(b["registers"][r], 16),
                      int(next(said).split(" = ")[-1], 16))
            counts["registers"] += len(REGISTERS)
    for name, (ours, theirs) in values.items():
        check(f"frame {n} ${name}", ours, theirs)
        counts["variables"] += 1


def selected(ask, trace, *option):
    return [int(n) for n in re.findall(r"^Frame (\d+):", run([*ask, *option, trace]), re.M)]


with tempfile.TemporaryDirectory() as directory:
    os.environ["HOME"] = directory
    trace, bias = record(directory)
    ask = [symcache, "trace", "--module", f"{program}@{bias}"]
    lines = run(ask + ["--format", "json", "--registers", "--hexdump", "--backtrace", trace]).splitlines()
    frames = [f for f in map(json.loads, lines) if f["type"] == "frame"]
    open_it = [f"file {program}", f"symbol-file {program} -o 0x{bias}", f"target tfile {trace}",
               "tstatus"]
    said = gdb(directory, open_it + [q for f in frames for q in questions(f)])
    number_in_gdb = gdb_numbers(said[2])
    counts = dict.fromkeys(["frames", "places", "inlined", "callers", "blocks of memory", "variables",
                            "registers"], 0)
    rest = iter(said[4:])
    for f in frames:
        compare(f, rest, number_in_gdb, counts)

    ours = run(ask + [trace]).splitlines()[1:]
    status = [s for s in said[3].splitlines() if s.startswith("Trace ") or s.startswith("Coll")]
    check("tstatus", ours[:len(status)], status)

    # Which frames each option finds. GDB 13's own answers are no measure: `tfind
    # tracepoint` maps the number to the target's twice and finds those of another
    # tracepoint, `tfind pc` loses its place in the file after a frame or two.
    for number in number_in_gdb:
        check(f"--tracepoint {number}", selected(ask, trace, "--tracepoint", str(number)),
              [f["number"] for f in frames if f["tracepoint"] == number])
    inlined = [f for f in frames if len(f.get("functions", [])) > 1]
    check("--pc", selected(ask, trace, "--pc", inlined[0]["pc"]), [f["number"] for f in inlined])
    line = f"traced.c:{LINES['in the inlined function']}"
    check("--line " + line, selected(ask, trace, "--line", line), [f["number"] for f in inlined])

if not frames or not counts["inlined"] or not counts["callers"] or len(number_in_gdb) != 3:
    bad.append("the recording does not have what it should")
print("\n".join(bad) or "GDB agrees: " + ", ".join(f"{n} {k}" for k, n in counts.items()))
sys.exit(bool(bad))
