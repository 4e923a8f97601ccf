/*
 * The formats of frames that one pattern describes: see frames.h and pattern.h. To add one: its
 * name in input.h, a row here, a line in frames_samples.h.
 *
 * The first row that fits at an anchor has it, so what is more particular stands first. Where a
 * line has an address of the process alone, resolve/trace.c finds the module's place.
 *
 * No rows are: kernel, as words anywhere before a symbol say whether an address is exact, and its
 * banner binds a release, a build ID or both; segfault, whose address counts from a mapping that
 * must cover it; mongodb, one line of which lists all modules; maps, which are tables.
 */
#include "libmarkup/input/frames.h"

#include "libmarkup/event.h"

#define EXACT MK_ROW_EXACT
#define RA    MK_ROW_RETURNS
#define RA_1  MK_ROW_RETURNS_1
#define LOW12 MK_ROW_LOW12
#define LEAD  MK_ROW_LEAD
#define FIRST MK_ROW_FIRST
#define BINDS MK_ROW_BINDS

#define BUILD_ID "%( (BuildId: %J)%|%)" /* if it is there */
#define JAVA     "+0x%H]%(%$%| %{%F+0x%.%}%$%| %{%.%}%$%)"
#define GLOG     "@ 0x%A%( %{(unknown)%}%.%$%| %S%$%|%$%)"


const struct mk_frame_row mk_frame_rows[] = {
	/* Android: logcat, tombstones, ANRs, Play Console; OpenHarmony; the Dart VM. */
	{ "dart", "pc ", "", "pc 0x%A fp 0x%x %P+0x%H%$", RA },
	{ "android", "pc ", "#%N%_", "pc %(0x%|%)%H %W%((%S+%d)%|%)(%I)", EXACT, MK_FORM_NDK,
	  MK_ROW_VADDR },
	{ "android", "pc ", "#%N%_",
	  "pc %(0x%|%)%H %W%( (offset 0x%x)%|%)%( (%S+%d)%| (??" "?)%|%)" BUILD_ID, EXACT,
	  MK_FORM_NDK, MK_ROW_VADDR | MK_ROW_PATH },
	{ "android", "pc ", "",
	  "pc %(0x%|%)%H %W%( (offset 0x%x)%|%)%( (%S+%d)%| (??" "?)%|%)" BUILD_ID "%$", EXACT,
	  MK_FORM_NDK, MK_ROW_VADDR | MK_ROW_PATH },

	/* PyTorch (c10), lldb. */
	{ "pytorch", "e #", "fram", "e #%N: %(%{<unknown function>%} + 0x%H%|%S + 0x%O%) (0x%A in "
	  "%(%P)%$%|%P)%)", RA, 0, MK_ROW_VADDR },
	{ "pytorch", "e_#_", "fram", "e_#_%N:%(_%| %)%(%{<unknown function>%} + 0x%H%|%S + 0x%O%) "
	  "(0x%A in %(%P)%$%|%P)%)", RA, 0, MK_ROW_VADDR },
	{ "lldb", "e #", "fram", "e #%N: 0x%A %P`%(%S + %D%|%S%$%)", RA_1 },

	/* Sanitizers; Chromium, LLVM itself and bcc, whose addresses are where calls return to. */
	{ "sanitizer", " 0x", "#%N", " 0x%A%1 (%P+0x%H)" BUILD_ID, EXACT, MK_FORM_SANITIZER,
	  MK_ROW_VADDR },
	{ "sanitizer", " 0x", "#%N", " 0x%A in%( %S%|%) (%P+0x%H)" BUILD_ID, EXACT, MK_FORM_SANITIZER,
	  MK_ROW_VADDR },
	{ "sanitizer", " 0x", "#%N", " 0x%M (%P+0x%H)" BUILD_ID, LOW12, MK_FORM_SANITIZER,
	  MK_ROW_VADDR },
	{ "sanitizer", " 0x", "#%N", " 0x%A (%P+0x%H)" BUILD_ID, EXACT, MK_FORM_SANITIZER,
	  MK_ROW_VADDR, .before = "  " },
	{ "sanitizer", " 0x", "#%N%_", " 0x%A%( in%|%)%( %S%|%) (%P+0x%H)" BUILD_ID, LOW12,
	  MK_FORM_SANITIZER, MK_ROW_VADDR },
	{ "sanitizer", "+0x", "#%N <null> <null> (%P", "+0x%H)" BUILD_ID, EXACT, MK_FORM_SANITIZER,
	  MK_ROW_VADDR },
	{ "sanitizer", "+0x", "#%N %S (%P", "+0x%H)" BUILD_ID, EXACT, MK_FORM_SANITIZER, MK_ROW_VADDR },

	/* systemd-coredump, also where a blank was lost; names that stand for build IDs. */
	{ "systemd", " 0x", "#%N%_", " 0x%A %{n/a%} (%P + 0x%H)", RA_1 },
	{ "systemd", " 0x", "#%N%_", " 0x%A %{%S%} (%P + 0x%H)", RA_1 },
	{ "systemd", " + 0x", "#%N0x%A %{n/a%} (%P", " + 0x%H)", RA_1 },
	{ "systemd", " + 0x", "#%N0x%A %{%S%} (%P", " + 0x%H)", RA_1 },
	{ "systemd", "Module ^", "", "%P with build-id %I", BINDS },
	{ "systemd", "Module ^", "", "%P, build-id=%I", BINDS },
	{ "systemd", "module ^", "", "%P with build-id: %I", BINDS },

	/* V8's own of Node; Rust without symbols. */
	{ "rust", " 0x", "%N:%_", " 0x%A - %{<unknown>%}%$", RA },
	{ "node", " 0x", "%N:", " 0x%A %(%S [%P]%|[%P]%)%$", RA },

	/* Envoy's old form, with the module on a line before. */
	{ "envoy", "obj<", "", "obj<%P>", MK_ROW_CARRIES },
	{ "envoy", " 0x", "thr<%d> #%N%_", " 0x%A%( (unknown)%|%)%$", RA, 0, MK_ROW_CARRIED },

	/* gdb, eu-stack. */
	{ "gdb", "<sign", "#%N%_", "<signal handler called>", MK_ROW_SIGNAL },
	{ "gdb", " 0x", "#%N%_", " 0x00%X in %{??%} ()%(%$%| from %.%$%)", RA_1, 0, MK_ROW_NULL },
	{ "gdb", " 0x", "#%N%_", " 0x00%X in %{%S%} ()%(%$%| from %.%$%)", RA_1, 0, MK_ROW_NULL },
	{ "gdb", " 0x", "#%N%_", " 0x00%X in %F (%.%$", RA_1, 0, MK_ROW_NULL },
	{ "gdb", " 0x", "#%N%_", " 0x00%X%(%$%| %.%$%)", RA_1, 0, MK_ROW_NULL },

	/* Intel Fortran; libgfortran; Unity's player. */
	{ "forrtl", " Unk", "%P %L %{%w%} %w%_", " Unknown%$", RA },
	{ "gfortran", "Back", "", "Backtrace for this error:%$", MK_ROW_HEADER },
	{ "gfortran", "Back", "", "Backtrace:%$", MK_ROW_HEADER },
	{ "unity", " 0x", "#%N%_", " 0x00%U in %{(Unknown)%}%$", RA },
	{ "unity", " 0x", "#%N%_", " 0x00%U in %{%w%}%$", RA },
	{ "gfortran", " 0x", "#%N%_", " 0x%A in %{???%}%$", EXACT },
	{ "gfortran", " 0x", "#%N%_", " 0x%A%$", EXACT, 0, MK_ROW_HEADED },
	{ "unity", "(Nat", "at %P.0x%H", "(Native Method)", EXACT, 0, MK_ROW_SO },

	/* Wine, of programs in ELF files. */
	{ "wine", " 0x", "=>%N%_", " 0x%A %(%S in %P%|in %P%) (+0x%H)%( (0x%x)%|%)", EXACT },
	{ "wine", " 0x", "%N%_", " 0x%A %(%S in %P%|in %P%) (+0x%H)%( (0x%x)%|%)", LOW12 },

	/* CUDA's tools, the module on the line, or on the next. */
	{ "cuda", "Host", "", "Host Frame:%_%P (%S + 0x%O) [0x%H]%$", RA, 0, MK_ROW_PATH },
	{ "cuda", "Host", "", "Host Frame:%_%P [0x%H]%$", RA, 0, MK_ROW_PATH },
	{ "cuda", "Host", "", "Host Frame:%_%(%S [0x%H]%|[0x%H]%) in %P%$", RA },
	{ "cuda", "Host", "", "Host Frame:%_%(%S [0x%H]%|[0x%H]%)%$", MK_ROW_CARRIES },
	{ "cuda", "==  ", "", "== in %P%$", RA, 0, MK_ROW_CARRIED },

	/* faulthandler of Python 3.14; backward-cpp; easylogging++. */
	{ "python", "\", a", "Binary file \"%P",
	  "\", at %(%S+0x%O%|+0x%H%|%S-0x%x%|-0x%x%) [0x%A]", RA },
	{ "backward", "\", a", "#%N Object \"%P", "\", at 0x%A%(, in %S%$%|, in%|%)", EXACT },
	{ "easylogging", "+0x", "[%N] %P", "+0x%H [0x%A]", RA },
	{ "easylogging", "+0x", "[%N] %P:%S", "+0x%O [0x%A]", RA },

	/* X.Org; Ruby and others on musl. */
	{ "xorg", "(0x", "%P%_", "(0x%B+0x%H)%_[0x%A]", RA },
	{ "musl", "(0x", "%P", "(0x%H)%_[0x%A]", RA },
	/* std::stacktrace, Boost. */
	{ "boost", "# 0x", "%N", "# %{0x%A%} in %.%$", RA, 0, MK_ROW_NULL },
	{ "boost", "[0x", "%N# at %w ", "[0x%A]%$", RA, 0, MK_ROW_NULL },
	{ "boost", "[0x", "%N# %S at %w ", "[0x%A]%$", RA, 0, MK_ROW_NULL },
	{ "boost", "[0x", "%N# %S in %w ", "[0x%A]%$", RA, 0, MK_ROW_NULL },
	{ "boost", "[0x", "%N# %S ", "[0x%A]%$", RA, 0, MK_ROW_NULL },
	/* strace -k; glibc's backtrace_symbols(), which many programs print; Ceph's, without the file;
	 * Open MPI's and Envoy's, which differ where there are no parentheses. */
	{ "glibc", "+0x", "%P(%S", "+0x%O)%_[0x%H]", LEAD, 0, MK_ROW_FILE, NULL, "strace", "> " },
	{ "glibc", "[0x", "%P()%_", "[0x%H]", LEAD, 0, MK_ROW_FILE, NULL, "strace", "> " },
	{ "glibc", "(+0x", "%Q", "(+0x%H)%_[0x%A]", RA, 0, MK_ROW_VADDR | MK_ROW_TITLED },
	{ "glibc", "+0x", "%Q(%S", "+0x%O)%_[0x%A]", RA, 0, MK_ROW_TITLED },
	{ "glibc", "[0x", "%Q()%_", "[0x%A]", RA, 0, MK_ROW_LOW | MK_ROW_TITLED },
	{ "glibc", "(+0x", "%P ", "(+0x%H)%_[0x%A]", RA, 0, MK_ROW_VADDR | MK_ROW_PATH },
	{ "glibc", "+0x", "%P (%S", "+0x%O)%_[0x%A]", RA, 0, MK_ROW_PATH },
	{ "glibc", "+0x", "(%S", "+0x%O)%_[0x%A]", RA },
	{ "glibc", "(+0x", "", "(+0x%O)%_[0x%A]", RA },
	{ "openmpi", "[0x", "[%_%d] %P", "[0x%A]%$", RA },
	{ "envoy", "[0x", "#%N:%_", "[0x%A]%$", RA },
	{ "envoy", "[0x", "#%N: %S ", "[0x%A]%$", RA },
	{ "glibc", "[0x", "%P", "[0x%A]%$", RA, 0, MK_ROW_LOW | MK_ROW_PATH },
	{ "glibc", "[0x", "", "[0x%A]%$", RA, 0, MK_ROW_LOW },

	/* Julia; Unreal; LLVM's dladdr form; Zig; Mono. */
	{ "julia", "(ip:", "unknown function ", "(ip: 0x%A)%( at %P%$%|%)", EXACT },
	{ "unreal", "!Unk", "0x%A %P", "!UnknownFunction(0x%H)", EXACT },
	{ "zig", " 0x", "???:?:?:", " 0x%A in %{???%} (%P)%$", EXACT },
	{ "mono", " - /", "0x%A", " - %P : %(%{(null)%}%|%S%)%$", RA },
	{ "mono", "t^0x", "", "0x%A - %P : %(%{(null)%}%|%S%)%$", RA }, /* of JSON */
	{ "mono", "\t0x", "", " 0x%A - %P : %(%{(null)%}%|%S%)%$", RA },
	{ "llvm", " 0x", "%N %P%_", " 0x%L%( %S + %D%|%)%$", RA },

	/* ABRT's core_backtrace, as JSON and before. */
	{ "abrt", "ld_i", "\"bui", "ld_id\"%_:%_\"%I\"%_,%_\"build_id_offset\"%_:%_%T", RA,
	  MK_FORM_MEMBER, MK_ROW_VADDR },
	{ "abrt", "ld_i", "\"bui", "ld_id\"%_:%_\"%I\"", MK_ROW_CARRIES },
	{ "abrt", "ld_i", "\"bui", "ld_id_offset\"%_:%_%T", RA, MK_FORM_MEMBER,
	  MK_ROW_VADDR | MK_ROW_CARRIED },
	{ "abrt", " 0x", "%I", " 0x%H %(%{-%}%|%w%) %W%( %w%|%)%$", RA, 0, MK_ROW_VADDR },
	{ "eustack", "+0x", "[%I]@0x%B", "+0x%H", EXACT, 0, MK_ROW_VADDR, NULL, "eu-stack" },

	/* OpenJ9; heaptrace; Mozilla; libbpf's and bpftrace's. */
	{ "openj9", "+0x", "(0x%A [%P", "+0x%H])", RA },
	{ "heaptrace", " +0x", "%N [0x%A] (%P", " +0x%H)", RA },
	{ "heaptrace", " +0x", "%N [0x%A] %S (%P", " +0x%H)", RA },
	{ "mozilla", " +0x", "#%N: %{%S%}[%P", " +0x%H]", RA },
	{ "bpf", " [<", "%N", " [<%L>] %(%S+0x%O%|%{[unknown]%}%)%( [%P]%|%)%$", RA },
	{ "bpf", " (/", "%A %S+%D", " (%P)%$", RA, 0, MK_ROW_HIGH },
	{ "bpf", " (/", "%A %{[unknown]%}", " (%P)%$", RA, 0, MK_ROW_HIGH },

	/* FRR; VMware; HAProxy; FoundationDB; ESP-IDF. */
	{ "frr", "al -", "---- sign", "al ----", MK_ROW_SIGNAL },
	{ "frr", "(map", "%{?%} %A %x %P ", "(mapped at 0x%B)", RA },
	{ "frr", "(map", "%A %x %P ", "(mapped at 0x%B)", RA },
	{ "vmware", "rip=", "",
	  "rip=%A in function %(%{(null)%}%|%S%) in object %P loaded at %B", RA },
	{ "haproxy", "| 0x", "", "| 0x%A [%S]: %P:%(%S+0x%O/0x%x%|%S+0x%O%|+0x%H%)%$", RA, 0,
	  MK_ROW_SO },
	{ "addr2line", "2lin", "addr", "2line%( -%w%|%)%( -%w%|%) -e %W", RA, MK_FORM_BELOW, 0,
	  "%( -%w%|%)%( -%w%|%)%( -%w%|%)%( -%w%|%) 0x%H" },
	{ "esp32", "ce: ", "Backtra", "ce:", EXACT, MK_FORM_BELOW,
	  MK_ROW_VADDR, "%_0x%H:0x%x", .module = "firmware" },

	/* The Java VM, whose own frames may stand between. */
	{ "java", "Nativ", "", "Native frames:", MK_ROW_HEADER },
	{ "java", "+0x", "C %1[%P", JAVA, EXACT, .before = "# ", .reach = 64 },
	{ "java", "+0x", "V %1[%P", JAVA, EXACT, .before = "# ", .reach = 64 },
	{ "java", "+0x", "C %1[%P", JAVA, FIRST, .reach = 64 },
	{ "java", "+0x", "V %1[%P", JAVA, FIRST, .reach = 64 },

	/* perf script: call chains, where frames of the kernel come before the program's first, and
	 * names of mappings. */
	{ "perf", " (/", " %H [unknown]", " (%P)%$", LEAD, 0, MK_ROW_FILE | MK_ROW_TABBED },
	{ "perf", " (/", " %H %S+0x%O", " (%P)%$", LEAD, 0, MK_ROW_FILE | MK_ROW_TABBED },
	{ "perf", " (/", " %H %S", " (%P)%$", LEAD, 0, MK_ROW_FILE | MK_ROW_TABBED },
	{ "perf", " ([", " %x %S", " ([kernel%.)%$", MK_ROW_STAYS, 0, MK_ROW_TABBED },
	{ "perf", " ([", " %x %S", " ([%.)%$", MK_ROW_IN_TRACE, 0, MK_ROW_TABBED },
	{ "perf", "PERF", "", "PERF_RECORD_MMAP2%.<%I>%.: %w %P%$", BINDS, 0, MK_ROW_PATH },

	/* valgrind; stacks of minidumps; ClickHouse. */
	{ "valgrind", "==^  ", "", " %(at%|by%) 0x%H: %(??" "?%|%S%) (in %P)%$", EXACT,
	  MK_FORM_VALGRIND, MK_ROW_PATH },
	{ "minidump", "Modul", "", "Module|%P|%.|%.|%G|", BINDS, 0, MK_ROW_GUID },
	{ "minidump", "||0x", "%d|%N|%P||", "||0x%H%$", RA_1 },
	{ "minidump", " + 0x", "%N %1%P", " + 0x%H%$", RA_1 },
	{ "clickhouse", "build id: ^", "", "%I", BINDS, .module = "clickhouse" },
	{ "clickhouse", "@ 0x", "%N. ? ", "@ 0x%H in %W", LEAD, 0, MK_ROW_PATH, .module = "clickhouse" },
	{ "clickhouse", "@ 0x", "%N. %S ", "@ 0x%H in %W", LEAD, 0, MK_ROW_PATH, .module = "clickhouse" },

	/* glog and Abseil; profiles of the heap by gperftools and jemalloc. */
	{ "glog", "@   ", "PC: ", GLOG, EXACT, 0, MK_ROW_NULL, .reach = 2 },
	{ "glog", "@   ", "", GLOG, RA, 0, MK_ROW_NULL, .reach = 2 },
	{ "heap", "@ 0x", "", "@", RA, MK_FORM_BELOW, MK_ROW_NULL, " 0x%A" },

	/* Seastar, and others that write a path and an offset. */
	{ "seastar", "+0x", "%P", "+0x%H%$", EXACT, 0, MK_ROW_PATH | MK_ROW_KNOWN },
	{ "seastar", "+0x", "%P", "+0x%H ", EXACT, 0, MK_ROW_PATH | MK_ROW_KNOWN },

	/* What no other format has: of modules that the store knows. */
	{ "any", "+0x", "%P", "+0x%H%$", RA, 0, MK_ROW_KNOWN },
	{ "any", "+0x", "%P", "+0x%H ", RA, 0, MK_ROW_KNOWN },
	{ "any", "(+0x", "%P", "(+0x%H)", RA, 0, MK_ROW_KNOWN },
	{ "any", " +0x", "(%P", " +0x%H)", RA, 0, MK_ROW_KNOWN },
	{ "any", "[0x", "%P", "[0x%H]", RA, 0, MK_ROW_KNOWN },
	{ "any", "o^:0x", "%P", ":0x%H%$", RA, 0, MK_ROW_KNOWN },
	{ "any", " 0x", "", " 0x%H in %W", RA, 0, MK_ROW_KNOWN },
};

#define NAME(name) #name,
const char *const markup_input_names[] = {
	"markup", FOR_EACH_READER(NAME) FOR_EACH_ROW_FORMAT(NAME) NULL
};

const size_t mk_num_frame_rows = sizeof(mk_frame_rows) / sizeof(*mk_frame_rows);
