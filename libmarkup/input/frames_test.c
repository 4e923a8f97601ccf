/*
 * The rows of frames.h: that each is made as pattern.h and frames.h say, that its lines are
 * read as they are meant, and that lines that look alike stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "libmarkup/input/frames.h"
#include "libmarkup/input/match.h"

#define ID "dfe7f702eebf5b10a7d32d50e980c699918066c2"

/*
 * A line and its events, with a blank behind each:
 *   MODULE+H       an offset in the module, '=' in place of '+': of the ELF file, '~': in it, '%':
 *                  as valgrind lays it
 *   MODULE@A       an address of the process alone; (SYM+OFF) behind it, if it says so
 *   -1, -1l, -1f   behind it: a return address, but for the lead or the first of a trace
 *   #N  its number    <ID>  its build ID    NAME is ID   the name stands for the build ID
 *   {…}            what the name of the function replaces
 *   ?              behind it: only if the store knows the module, or behind a line that carries
 *   carries …, header, signal, in trace
 */
static const struct {
	const char *line, *events;
} samples[] = {
	{ "  pc 0x000055b4961170b5 fp 0x7ffd02c5cd50 /opt/a/prog+0x10b5", "/opt/a/prog+10b5 -1 " },
	{ "    #02 pc 00001233  /data/app/lib/arm/libx.so", "/data/app/lib/arm/libx.so=1233 #2 " },
	{ "native: #02 pc 0000000000001233 /d/x.apk!libx.so (offset 0x4000) (f(int, int)+18) "
	  "(BuildId: " ID ")", "/d/x.apk!libx.so=1233 #2 <" ID "> " },
	{ "  #01  pc 0x00000000000011f9  /d/libx.so (??" "?)", "/d/libx.so=11f9 #1 " },
	{ "05-17 10:11:12.345 77 77 F DEBUG : pc 000011f9 /d/libx.so (f+1)", "/d/libx.so=11f9 " },
	{ "#01 pc 00000000000011f9 /opt/libx.so(f(int)+186)(" ID ")", "/opt/libx.so=11f9 #1 <" ID "> " },
	{ "#01 pc 00000000000011f9 libx.so(" ID ")", "libx.so=11f9 #1 <" ID "> " },
	{ "[rank3]: frame #2: <unknown function> + 0x10b5 (0x55b4961170b5 in ./a (b)/prog)",
	  "./a (b)/prog=10b5 -1 #2 {<unknown function>} " },
	{ "frame_#_4:_f(int, void (*)(void*)) + 0xba (0x7f30fbe512ea in /opt/libx.so)",
	  "/opt/libx.so@7f30fbe512ea(f(int, void (*)(void*))+ba) -1 #4 " },
	{ "frame #0: g + 0x1 (0x7f3000001234 in /l/x.so)\\nframe #1: h + 0x2 (0x7f3000005678 in /l/y.so)",
	  "/l/x.so@7f3000001234(g+1) -1 #0 /l/y.so@7f3000005678(h+2) -1 #1 " },
	{ "  * frame #0: 0x00007f30fbceaeec libc.so.6`f(int) + 15", "libc.so.6@7f30fbceaeec(f(int)+f) #0 " },
	{ "    frame #3: 0x00007f30fbceaeec prog`main", "prog@7f30fbceaeec -1 #3 " },
	{ "   2:     0x55b4961170b5 - <unknown>", "@55b4961170b5 -1 #2 {<unknown>} " },
	{ " 1: 0x401d39  [node]", "node@401d39 -1 #1 " },
	{ " 3: 0x401d39 v8::f(int) [/usr/bin/node]", "/usr/bin/node@401d39 -1 #3 " },
	{ "libx.so            00007F30FBCEAEEC  Unknown               Unknown  Unknown",
	  "libx.so@7f30fbceaeec -1 {Unknown} " },
	{ "Backtrace for this error:", "header " },
	{ "Error termination. Backtrace:", "header " },
	{ "#11  0x7f30fbceaeec in ??" "?", "@7f30fbceaeec #11 {??" "?} " },
	{ "#0  0x7f30fbceaeec", "@7f30fbceaeec #0 ? " },
	{ "#3  0x0055b4961170b5 in (Unknown)", "@55b4961170b5 -1 #3 {(Unknown)} " },
	{ "#5  0x007f30fbe512ea in _Z1fi", "@7f30fbe512ea -1 #5 {_Z1fi} " },
	{ "E AndroidRuntime: \tat libx.0x11f9(Native Method)", "libx.so+11f9 " },
	{ "=>0 0x0055b496117233 in prog (+0x1233) (0x007ffffe201000)", "prog+1233 #0 " },
	{ "  1 0x0055b496117233 f(int) in prog (+0x1233) (0x7f)", "prog+1233 -1 #1 " },
	{ "  1 0x0055b496117233 in prog (+0x1232) (0x7f)", "prog+1232 #1 " },
	{ "=========     Host Frame:/opt/libx.so (_Z1fi + 0xba) [0x12ea]", "/opt/libx.so+12ea -1 " },
	{ "=========     Host Frame:/opt/prog [0x10b5]", "/opt/prog+10b5 -1 " },
	{ "=========     Host Frame: f(int) in a.c:12 [0x12ea] in libx.so", "libx.so+12ea -1 " },
	{ "=========     Host Frame: [0x10b5] in prog", "prog+10b5 -1 " },
	{ "=========     Host Frame:f(int) [0x10b5]", "carries 10b5 " },
	{ "=========                in /opt/libx.so", "/opt/libx.so+0 -1 ? " },
	{ "  Binary file \"/opt/a b/libx.so\", at _Z1fi+0xba [0x7f30fbe512ea]",
	  "/opt/a b/libx.so@7f30fbe512ea(_Z1fi+ba) -1 " },
	{ "  Binary file \\\"/opt/prog\\\", at +0x10b5 [0x55b4961170b5]\\n", "/opt/prog+10b5 -1 " },
	{ "#11   Object \"/opt/prog\", at 0x55b496117100, in ", "/opt/prog@55b496117100 #11 " },
	{ "    [1] /opt/libx.so+0x8aeec [0x7f30fbceaeec]", "/opt/libx.so+8aeec -1 #1 " },
	{ "    [6] /opt/libx.so:a::f(int, int)+0xba [0x7f30fbe512ea]",
	  "/opt/libx.so@7f30fbe512ea(a::f(int, int)+ba) -1 #6 " },
	{ "[  7.72] (EE) 0: /opt/Xorg (0x7f30fbc60000+0x8aeec) [0x7f30fbceaeec]", "/opt/Xorg+8aeec -1 " },
	{ "/opt/prog(0x10b5) [0x55b4961170b5]", "/opt/prog+10b5 -1 " },
	{ "[node3:4242] [ 0] prog[0x401d39]", "prog@401d39 -1 " },
	{ " > /usr/lib/libc.so.6(write+0x10) [0xf8350]", "/usr/lib/libc.so.6~f8350 -1l " },
	{ " > /opt/libx.so() [0x11fa]", "/opt/libx.so~11fa -1l " },
	{ "./prog(+0x2d8b) [0x55663d54ad8b]", "./prog=2d8b -1 " },
	{ "at:/lib/x.so(f+0x85)[0x7f3e00001085]", "at:/lib/x.so@7f3e00001085(f+85) -1 " },
	{ "./prog() [0x401d39]", "./prog=401d39 -1 " }, { "./prog() [0x7f3e00001085]", "./prog@7f3e00001085 -1 " },
	{ "/opt/Xorg (+0x85) [0x7f3e00001085]", "/opt/Xorg=85 -1 " },
	{ "/opt/Xorg (f(int)+0x85) [0x7f3e00001085]", "/opt/Xorg@7f3e00001085(f(int)+85) -1 " },
	{ " 1: (O::exists(int) const+0x73) [0x55d0c3c77aa3]",
	  "@55d0c3c77aa3(O::exists(int) const+73) -1 " },
	{ " 2: (+0x73) [0x55d0c3c77aa3]", "@55d0c3c77aa3 -1 " },
	{ "/opt/prog[0x401d39]", "/opt/prog=401d39 -1 " }, { "[0x55d0c3c77aa3]", "@55d0c3c77aa3 -1 " },
	{ "/usr/sbin/x: alerter #2 [a 1](+0x12) [0x55d0c3c77012]", "1]=12 -1 " },
	{ "(-->/l/x.so(+0x1) [0x7f3e00001001]  -->/l/y.so(+0x2) [0x7f3e00002002] ) 0-: failed",
	  "/l/x.so=1 -1 /l/y.so=2 -1 " },
	{ "  #3  0x000055b4961170b5 n/a (prog + 0x10b5)", "prog+10b5 -1 #3 {n/a} " },
	{ "#012#100x00007f30fbe512ea f(int) (lib + 0x12ea)#012#110x00007f30fbe512eb n/a (l + 0x1)",
	  "lib+12ea -1 #10 {f(int)} l+1 -1 #11 {n/a} " },
	{ "[critical] [./source/server/backtrace.h:121] #0: [0x55b4961170b5]", "@55b4961170b5 -1 #0 " },
	{ "#1: Envoy::f(int) [0x55b4961170b5]", "@55b4961170b5 -1 #1 " },
	{ "Backtrace obj</opt/prog> thr<77> (use", "carries /opt/prog " },
	{ "thr<77> #0 0x401d39 (unknown)", "@401d39 -1 #0 ? " },
	{ "unknown function (ip: 0x7f30fbceaeec)", "@7f30fbceaeec " },
	{ "unknown function (ip: 0x7f30fbceaeec) at /opt/libx.so", "/opt/libx.so@7f30fbceaeec " },
	{ "[  0]LogCore: 0x000055b496117233 prog!UnknownFunction(0x1233)", "prog+1233 " },
	{ "??" "?:?:?: 0x7f30fbceaeec in ??" "? (libx.so)", "libx.so@7f30fbceaeec {??" "?} " },
	{ "\t0x7f30fbceaeec - /opt/libx.so : (null)", "/opt/libx.so@7f30fbceaeec -1 {(null)} " },
	{ "\t0x7f30fbceaeec - prog : _Z1fi", "prog@7f30fbceaeec -1 " },
	{ "5  libx.so 0x00007f30fbe512ea f(int, int) + 186", "libx.so@7f30fbe512ea(f(int, int)+ba) -1 #5 " },
	{ "10 prog        0x000055b4961170b5", "prog@55b4961170b5 -1 #10 " },
	{ "\"build_id\": \"" ID "\", \"build_id_offset\": 4277, \"file_name\": \"x\"", ID "=10b5 -1 <" ID "> " },
	{ "        ,   \"build_id\": \"" ID "\"", "carries <" ID "> " },
	{ "        ,   \"build_id_offset\": 4277", "=10b5 -1 ? " },
	{ ID " 0x10b5 - /opt/prog -", "/opt/prog=10b5 -1 <" ID "> {-} " },
	{ ID " 0x10b5 _Z1fi /opt/prog", "/opt/prog=10b5 -1 <" ID "> " },
	{ "    [" ID "]@0x7f3970939000+0xd3e52", ID "=d3e52 <" ID "> " },
	{ "4XENATIVESTACK    f+0xba (0x00007F30FBE512EA [libx.so+0x12ea])", "libx.so+12ea -1 " },
	{ " 2 [0x55b4961170b5] (/opt/prog +0x10b5)", "/opt/prog+10b5 -1 #2 " },
	{ " 4 [0x7f30fbe512ea] _Z1fi +0xba (/opt/libx.so +0x12ea)", "/opt/libx.so+12ea -1 #4 " },
	{ "#05: f(int, int)[/opt/libx.so +0x12ea]", "/opt/libx.so+12ea -1 #5 {f(int, int)} " },
	{ "\t0 [<00007f30fbe512ea>] _Z1fi+0xba [/opt/libx.so]", "/opt/libx.so@7f30fbe512ea(_Z1fi+ba) -1 #0 " },
	{ "\t3 [<000055b4961170b5>] [unknown] [/opt/prog]", "/opt/prog@55b4961170b5 -1 #3 {[unknown]} " },
	{ "        7f30fbc9bfb2 f(int, int)+18 (/opt/libx.so)", "/opt/libx.so@7f30fbc9bfb2(f(int, int)+12) -1 " },
	{ "        55b4961170b5 [unknown] (/opt/prog)", "/opt/prog@55b4961170b5 -1 {[unknown]} " },
	{ "BGP: ---- signal ----", "signal " },
	{ "BGP: ?          55b4961170b5     7ffd02c5ce10 /opt/prog (mapped at 0x55b496116000)",
	  "/opt/prog+10b5 -1 {?} " },
	{ "BGP: gsignal+0x12  7f30fbc9bfb2     7ffd02c5cd90 /opt/libx.so (mapped at 0x7f30fbc60000)",
	  "/opt/libx.so+3bfb2 -1 " },
	{ "I005: SymBacktrace[2] 00007ffd02c5cd70 rip=000055b4961170b5 in function (null) in object "
	  "/opt/prog loaded at 000055b496116000", "/opt/prog+10b5 -1 {(null)} " },
	{ "| 0x7f30fbe511fa [d3 19 5f]: libx:+0x11fa", "libx.so+11fa -1 " },
	{ "| 0x7f30fbe511fa [d3 19 5f]: libx:_Z1fi+0xba/0x17b", "libx.so@7f30fbe511fa(_Z1fi+ba) -1 " },
	{ "addr2line -e prog.debug -p -C -f -i 0x10b5 0x11ea 0x7f7f7f7f7c87\"",
	  "prog+10b5 -1 #0 prog+11ea -1 #1 " },
	{ "addr2line -p -e libx.so-debug 0x11fa", "libx.so+11fa -1 #0 " },
	{ "Backtrace: 0x400d1234:0x3ffb1f80 0x400d5678:0x3ffb1fa0 |<-CORRUPTED",
	  "firmware=400d1234 #0 firmware=400d5678 #1 " },
	{ "Reactor stalled. Backtrace: 0x3c00042 /opt/libx.so+0x11f9 /opt/liby.so+0x12e9",
	  "/opt/libx.so+11f9 ? /opt/liby.so+12e9 ? " },
	{ "    #1 0x7f926d5051f9  (/opt/libx.so+0x11f9) (BuildId: dfe7)", "/opt/libx.so=11f9 #1 <dfe7> " },
	{ "    #4 0x55c5cffbb02a in f(int) (/opt/my (x86)/prog+0x2a)", "/opt/my (x86)/prog=2a #4 " },
	{ "    #4 0x55c5cffbb02a in  (/opt/prog+0x2a)", "/opt/prog=2a #4 " },
	{ "  #1 0x55d0c1456a86 (/opt/chrome+0x456a86)", "/opt/chrome=456a86 #1 " },
	{ "#1 0x55d0c1456a86 (/opt/chrome+0x456a86)", "/opt/chrome=456a86 -1 #1 " },
	{ "#1 0x55d0c1456a87 (/opt/chrome+0x456a86)", "/opt/chrome=456a86 #1 " },
	{ " #5 0x00007f30fbe512ea f(int) (/opt/libx.so+0x12ea)", "/opt/libx.so=12ea -1 #5 " },
	{ "    #5  0x00007f30fbe512ea f+0xba (/opt/libx.so+0x12ea)", "/opt/libx.so=12ea -1 #5 " },
	{ "    #0 <null> <null> (libx.so+0x11f9) (BuildId: " ID ")", "libx.so=11f9 #0 <" ID "> " },
	{ "    #3 main <null> (prog+0x0000000010b5)", "prog=10b5 #3 " },
	{ "#1  0x00007f067030c1fa f(int) (libx.so + 0x11fa)", "libx.so+11fa -1 #1 {f(int)} " },
	{ "#100x00007f30fbe512ea f(int) (libx.so + 0x12ea)", "libx.so+12ea -1 #10 {f(int)} " },
	{ "Module libx.so with build-id " ID, "libx.so is " ID " " },
	{ "Module /opt/libx.so, build-id=" ID, "/opt/libx.so is " ID " " },
	{ "Found module libx.so with build-id: " ID, "libx.so is " ID " " },
	{ " 3# 0x00007F88C21B21FA in /opt/libx.so", "@7f88c21b21fa -1 #3 {0x00007F88C21B21FA} " },
	{ "  3#      at :0 [0x7f88c21b21fa]", "@7f88c21b21fa -1 #3 " },
	{ "  3# f(int) at a.cc:12 [0x7f88c21b21fa]", "@7f88c21b21fa -1 #3 " },
	{ "  3# f(int) in /opt/libx.so [0x7f88c21b21fa]", "@7f88c21b21fa -1 #3 " },
	{ "  3# f(int) [0x7f88c21b21fa]", "@7f88c21b21fa -1 #3 " },
	{ "#4  <signal handler called>", "signal " },
	{ "#3  0x00007f3970b2a1fa in ?" "? () from /opt/libx.so", "@7f3970b2a1fa -1 #3 {?" "?} " },
	{ "#0  0x0000000000000000 in ?" "? ()", "@0 #0 {?" "?} " },
	{ "#3  0x00007f3970b2a1fa in f () from /opt/libx.so", "@7f3970b2a1fa -1 #3 {f} " },
	{ "#3  0x00007f3970b2a1fa in f (x=1, y=...) at a.c:12", "@7f3970b2a1fa -1 #3 " },
	{ "#5  0x00007f3970b2a2ea - 1 main", "@7f3970b2a2ea -1 #5 " },
	{ "Native frames:", "header " },
	{ "C  [libx.so+0x12ea]  f(int)+0xba", "libx.so+12ea -1f {f(int)+0xba} " },
	{ "V  [libjvm.so+0x8a1b2c]  JavaThread::run()+0x1e2", "libjvm.so+8a1b2c -1f {JavaThread::run()+0x1e2} " },
	{ "# C  [libx.so+0x1139]", "libx.so+1139 " }, { "# V  [libjvm.so+0x1139]", "libjvm.so+1139 " },
	{ "\t    12ea f(int)+0xba (/opt/libx.so)", "/opt/libx.so~12ea -1l " },
	{ "\t    12d1 [unknown] (/opt/prog)", "/opt/prog~12d1 -1l " },
	{ "\t    12d1 operator new(unsigned long) (/opt/prog)", "/opt/prog~12d1 -1l " },
	{ "\t    7ffd5c9f1000 [unknown] ([vdso])", "in trace " },
	{ "p 1 2.3: PERF_RECORD_MMAP2 1/1: [0x5000(0x1000) @ 0x1000 <" ID ">]: r-xp /opt/a b",
	  "/opt/a b is " ID " " },
	{ "==7==    at 0x1091E9: ??" "? (in /opt/prog)", "/opt/prog%1091e9 " },
	{ "==7==    by 0x48531F9: f(int) (in /opt/a b/libx.so)", "/opt/a b/libx.so%48531f9 " },
	{ "Module|libx.so||libx.so|02F7E7DFBFEE105BA7D32D50E980C6990|0x7f3a|0x7f3b|0",
	  "libx.so is guid 02F7E7DFBFEE105BA7D32D50E980C699 " },
	{ "0|2|libx.so||||0x11fa", "libx.so+11fa -1 #2 " },
	{ " 2  libx.so + 0x12da", "libx.so+12da -1 #2 " },
	{ "(version 24.3, build id: FB66B3CEC5F264A2F863D96FA875EB4AE39BB0BF, git hash: 8b7d)",
	  "clickhouse is FB66B3CEC5F264A2F863D96FA875EB4AE39BB0BF " },
	{ "3. f(int, int) @ 0x000000000134a6a0 in /usr/bin/clickhouse-server",
	  "/usr/bin/clickhouse+134a6a0 -1l #3 " },
	{ "4. ? @ 0x000000000134a6a0 in /usr/bin/clickhouse", "/usr/bin/clickhouse+134a6a0 -1l #4 " },
	{ "PC: @     0x559468ce3421 on_crate()", "@559468ce3421 " },
	{ "    @     0x7fee82ce71fa  (unknown)", "@7fee82ce71fa -1 {(unknown)} " },
	{ "    @     0x559468ce3355   48  serve()", "@559468ce3355 -1 " },
	{ "   1: 40 [ 1: 40] @ 0x55e4a1db2352 0x7f71997b11fa", "@55e4a1db2352 -1 #0 @7f71997b11fa -1 #1 " },
	{ "at prog+0x10b5", "prog+10b5 -1 ? " },
	{ "at prog+0x10b5 of", "prog+10b5 -1 ? " },
	{ "at libx.so(+0x10b5)", "libx.so+10b5 -1 ? " },
	{ "(libx.so +0x10b5)", "libx.so+10b5 -1 ? " },
	{ "at prog[0x10b5]", "prog+10b5 -1 ? " },
	{ "at libfoo:0x10b5 and libfoo:0x10b6", "libfoo+10b6 -1 ? " },
	{ "the 0x10b5 in prog", "prog+10b5 -1 ? " },
};

/* No row reads these. */
static const char *const others[] = {
	"    @ 00007f30fbe512ea (unknown)",                /* folly */
	"#0 0x7f30fbceaeec in ??",                         /* BIND */
	"??:0(f)[0xABS]", "??:0(f)[0x7f30fbe512ea]",
	" 3 0x00000000000fd30b f()  ??" "?:0",             /* UCX */
	"Jan  9 23:59:58 host7 sshd[4242]: closed",
	"    [unknown] [/opt/prog]", "x.so!??" "? + 0x7c",
	"flags 0x10 set at 0x7f30fbe512ea, was 0x20",
	"(EE) 12: ? (?+0x29) [0x29]", "#9    Object \"\", at 0xffffffffffffffff, in",
	"SUMMARY: AddressSanitizer: SEGV (/opt/prog+0x10b5) (BuildId: " ID ")",
	"RAX: 0000000000000010 RBX: 0x7f30fbe512ea", "  0x1232", "call trace [0x1234] ok",
	"\tffffffff81a03f34 do_syscall_64+0x44 ([kernel.kallsyms])",
	"rip=0000000000000000", "[  0]LogCore: === Critical error: ===",
};

static const struct mk_input *const inputs[] = { &mk_frames_input, &mk_any_input };

static void put(char *to, size_t size, const char *format, ...)
{
	const size_t len = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + len, size - len, format, args);
	va_end(args);
}

static void write_event(const struct mk_event *e, char *to, size_t size)
{
	if (e->aside == MK_BEGINS_TRACE || e->aside == MK_INTERRUPTS) {
		put(to, size, "%s ", e->aside == MK_BEGINS_TRACE ? "header" : "signal");
		return;
	}
	if (e->kind == MK_MODULE) {
		put(to, size, "%.*s is %s%.*s ", (int)e->name.len, e->name.ptr, e->guid ? "guid " : "",
		    (int)e->detail.len, e->detail.ptr);
		return;
	}
	if (e->aside == MK_IN_TRACE)
		put(to, size, "in trace ");
	if (e->kind != MK_FRAME && e->aside != MK_CARRIES)
		return;
	if (e->aside == MK_CARRIES) {
		put(to, size, "carries ");
		if (e->build_id.len)
			put(to, size, "<%.*s> ", (int)e->build_id.len, e->build_id.ptr);
		else if (e->name.len)
			put(to, size, "%.*s ", (int)e->name.len, e->name.ptr);
		else
			put(to, size, "%llx ", (unsigned long long)e->lookup);
		return;
	}
	put(to, size, "%.*s%s", (int)e->name.len, e->name.ptr, e->shared_object ? ".so" : "");
	put(to, size, "%c%llx", e->absolute ? '@' : e->origin == MARKUP_FROM_ZERO ? '=' :
	    e->origin == MARKUP_FROM_FILE ? '~' : e->origin == MARKUP_FROM_VALGRIND ? '%' : '+',
	    (unsigned long long)(e->absolute ? e->address : e->lookup));
	if (e->absolute && e->symbol.len)
		put(to, size, "(%.*s+%llx)", (int)e->symbol.len, e->symbol.ptr,
		    (unsigned long long)e->symbol_offset);
	put(to, size, e->returns == MK_RETURN_BUT_LEAD ? " -1l " : e->returns == MK_RETURN_BUT_FIRST
			      ? " -1f " : e->returns ? " -1 " : " ");
	if (!e->reach)
		put(to, size, "#%llu ", (unsigned long long)e->number);
	if (e->build_id.len)
		put(to, size, "<%.*s> ", (int)e->build_id.len, e->build_id.ptr);
	if (e->hole.len)
		put(to, size, "{%.*s} ", (int)e->hole.len, e->hole.ptr);
	if (e->known_only || e->carried || e->behind_header)
		put(to, size, "? ");
}

/* The events of a text, as the rows of `formats` (NULL: all) read it. */
static void read_text(const char *text, const struct mk_formats *formats, char *to, size_t size)
{
	struct mk_line l = { .p = text, .len = strlen(text), .part = MK_LINE_WHOLE,
			     .newline = "\n", .formats = formats };

	*to = 0;
	for (size_t i = 0; i < 2 && !l.num_events; i++)
		mk_read_line(inputs[i], &l);
	for (size_t i = 0; i < l.num_events; i++)
		write_event(&l.events[i], to, size);
	free(l.events);
}

static void test_samples(void **state)
{
	char got[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		read_text(samples[i].line, NULL, got, sizeof(got));
		if (strcmp(got, samples[i].events))
			fail_msg("%s\n  is %s\n  not %s", samples[i].line, got, samples[i].events);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		read_text(others[i], NULL, got, sizeof(got));
		if (*got && !strstr(got, "? "))
			fail_msg("%s\n  is %s", others[i], got);
	}
}

/* What collectors write before and behind a text changes nothing. */
static void test_surroundings(void **state)
{
	static const char *const around[][2] = {
		{ "May 17 10:11:12 host7 app[4242]: ", "" },
		{ "2024-05-17T10:11:12.345678Z stderr F ", "" },
		{ "{\"log\":\"", "\\n\",\"stream\":\"stderr\"}" },
		{ "[pod/web-0/app] ", "\r" },
		{ "E0517 10:11:12.345678  777 file.cc:42] ", " " },
		{ "2024-05-17 10:11:12,345 ERROR [main] c.C - ", "" },
		{ "\033[1m\033[31m", "\033[0m" },
		{ "[Backtrace 1: ", "" },
	};
	char line[1024], want[1024], got[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		for (size_t k = 0; k < sizeof(around) / sizeof(*around); k++) {
			if (strchr(samples[i].line, '"'))
				continue; /* not as it would be in JSON */
			snprintf(line, sizeof(line), "%s%s%s", around[k][0], samples[i].line,
				 around[k][1]);
			read_text(line, NULL, got, sizeof(got));
			snprintf(want, sizeof(want), "%s", samples[i].events);
			if (strcmp(got, want))
				fail_msg("%s\n  is %s\n  not %s", line, got, want);
		}
	}
}

/* Letters and groups are as pattern.h says. */
static void check_pattern(const struct mk_frame_row *row, const char *pattern, const char *letters)
{
	int depth = 0;

	for (const char *p = pattern; *p; p++) {
		if (*p != '%')
			continue;
		p++;
		depth += (*p == '(') - (*p == ')');
		if (!*p || !strchr(letters, *p) || depth < 0)
			fail_msg("%s: '%s' at '%s'", row->name, pattern, p);
		if ((*p == 'S' || *p == 'P') && p[1] == '%' && p[2] != '}' && p[2] != ')' &&
		    p[2] != '|' && p[2] != '$' && letters[0] == '(')
			fail_msg("%s: '%s': nothing ends what is at '%s'", row->name, pattern, p);
	}
	assert_int_equal(depth, 0);
}

static bool has_word(const struct mk_input *in, const char *line)
{
	for (const char *const *w = in->words; *w; w++)
		if (strstr(line, *w))
			return true;
	return false;
}

/* Each row has a sample that it alone reads, in a line with a word of its input, and its name
 * can be chosen. */
static void test_rows(void **state)
{
	(void)state;
	assert_in_range(mk_num_frame_rows, 1, MK_FRAME_ROWS_MAX);
	for (size_t i = 0; i < mk_num_frame_rows; i++) {
		const struct mk_frame_row *row = &mk_frame_rows[i];
		const bool any = !strcmp(row->name, mk_any_input.name);
		struct mk_formats only = { .rows = { 0 } };
		size_t found = 0;
		char got[1024];

		only.rows[i / 64] = 1ull << i % 64;
		check_pattern(row, row->left, "NAHLTODBUXxdwIJSPQ_1{}");
		check_pattern(row, row->right, "(|)NAHLTODBUXxdwIJGSFPW_1.${}");
		if (!markup_inputs_valid(row->name))
			fail_msg("%s is not in the list of formats", row->name);
		for (size_t k = 0; k < sizeof(samples) / sizeof(*samples); k++) {
			read_text(samples[k].line, &only, got, sizeof(got));
			if (*got && !has_word(inputs[any], samples[k].line))
				fail_msg("%s: no word in %s", row->name, samples[k].line);
			found += *got != 0;
		}
		if (!found && row->kind != MK_ROW_STAYS)
			fail_msg("row %zu, %s, reads no sample: %s", i, row->name, row->right);
	}
}

/* The document names each format, and no other, in its table. */
static void test_document(void **state)
{
	FILE *file = fopen("format/backtraces.md", "re");
	char line[4096], name[64];
	size_t n = 0;

	(void)state;
	assert_non_null(file);
	for (const char *const *of = markup_input_names; *of; of++) {
		bool found = !strcmp(*of, "markup") || !strcmp(*of, "maps"); /* not in the table */

		rewind(file);
		while (!found && fgets(line, sizeof(line), file))
			found = sscanf(line, "| %*[^|]| `%63[a-z0-9]` |", name) == 1 && !strcmp(name, *of);
		if (!found)
			fail_msg("format/backtraces.md has no row of %s", *of);
	}
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "| %*[^|]| `%63[a-z0-9]` |", name) != 1)
			continue;
		n++;
		if (!markup_inputs_valid(name))
			fail_msg("format/backtraces.md has a row of %s, which --input does not", name);
	}
	assert_true(n >= mk_num_frame_rows / 3);
	fclose(file);
}

/* Lines of 4 MB that never become a frame, or always do, in time that is linear. */
static void test_long_lines(void **state)
{
	enum { LEN = 4 << 20, NS_PER_BYTE = 1000 }; /* of slow machines with sanitizers */
	static const char *const more[] = {
		"frame #1: ", "#1 0x", " 0x1", "[0x1", "+0x", "(+0x1", "#1: (", "a+0x1", "((((", " + 0x1",
		"pc 1 (", "\", at +", "Host Frame:", " 0x1 in ", "0x0000000000000001 ",
	};
	char *line = malloc(LEN + 1);

	(void)state;
	assert_non_null(line);
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples) + sizeof(more) / sizeof(*more); i++) {
		const size_t n = sizeof(samples) / sizeof(*samples);
		const char *piece = i < n ? samples[i].line : more[i - n];
		const size_t len = strlen(piece);
		struct mk_line l = { .p = line, .len = LEN, .part = MK_LINE_WHOLE, .newline = "\n" };
		struct timespec begin, end;
		double ns;

		for (size_t at = 0; at < LEN; at += len)
			memcpy(line + at, piece, len < LEN - at ? len : LEN - at);
		line[LEN] = 0;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		for (size_t k = 0; k < 2; k++)
			mk_read_line(inputs[k], &l);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
		if (getenv("VERBOSE"))
			printf("%6.1f ns a byte, %zu events: %s\n", ns / LEN, l.num_events, piece);
		free(l.events);
		if (ns / LEN > NS_PER_BYTE)
			fail_msg("%.0f ns a byte: %s", ns / LEN, piece);
	}
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_long_lines),
	};
	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}
