/* What is the program's own: see own.h. */
#include "libmarkup/bytes/own.h"

#include <fnmatch.h>
#include <string.h>

static bool begins_with_any(struct sc_str s, const char *const *texts)
{
	while (*texts && !sc_str_begins(s, *texts))
		texts++;
	return *texts;
}

/* Where systems keep their modules; and those that logs name without a path. */
static const char *const system_modules[] = {
	"/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libexec/",
	"/system/", "/apex/", "/vendor/", "/System/", "C:\\Windows\\", "[vdso]", "[vsyscall]",
	"linux-vdso", "linux-gate", "ld-linux", "ld-musl", "libc.so", "libc-", "libm.so",
	"libpthread", "libdl.so", "libgcc_s", "libstdc++", "libc++", "libasan", "libtsan", "libubsan",
	"ntdll", "kernel32", "KERNELBASE", NULL,
};

/* Of files: absolute ones, and those of glibc and GCC as they are compiled. */
static const char *const system_files[] = {
	"/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/src/debug/glibc", "/rustc/",
	"/build/glibc", "/build/gcc", "sysdeps/", "csu/", "nptl/", "stdlib/", "libio/", "string/",
	"malloc/", "elf/", "io/", "posix/", "signal/", "socket/", "misc/", "time/", "setjmp/",
	"debug/", "locale/", "wcsmbs/", "gmon/", "dlfcn/", "resolv/", "nss/", NULL,
};

/* Functions that begin so, and those that are called so. */
static const char *const system_functions[] = {
	"__libc_", "__GI_", "__interceptor_", "__asan", "__hwasan", "__lsan", "__msan", "__tsan",
	"__ubsan", "__sanitizer", "__cxxabiv1::", "__cxa_", "__gnu_cxx::", "std::", "_Unwind_",
	"operator new", "operator delete", "core::", "alloc::", "rust_", "__rust", "__pthread_",
	"___pthread_", NULL,
};
static const char *const system_names[] = {
	"_start", "malloc", "free", "calloc", "realloc", "aligned_alloc", "posix_memalign", "abort",
	"raise", "memcpy", "memmove", "memset", "strlen", "start_thread", "clone", "clone3",
	"_dl_start_user", "thread_start", NULL,
};

static bool fits(const char *const *patterns, struct sc_str path)
{
	char text[4096];

	if (!path.len || path.len >= sizeof(text))
		return false;
	memcpy(text, path.ptr, path.len);
	text[path.len] = 0;
	for (; *patterns; patterns++)
		if (strpbrk(*patterns, "*?[") ? !fnmatch(*patterns, text, FNM_NOESCAPE)
					      : sc_str_begins(path, *patterns))
			return true;
	return false;
}

bool mk_own_module(const char *const *patterns, struct sc_str module)
{
	if (patterns && *patterns)
		return fits(patterns, module);
	return !begins_with_any(module, system_modules);
}

/* "../sysdeps/x.c", "./nptl/x.c" */
static struct sc_str without_dots(struct sc_str file)
{
	while (sc_str_begins(file, "../") || sc_str_begins(file, "./")) {
		const size_t n = sc_str_begins(file, "./") ? 2 : 3;

		file = (struct sc_str){ file.ptr + n, file.len - n };
	}
	return file;
}

bool mk_own_place(const char *const *patterns, struct sc_str function, struct sc_str file)
{
	if (patterns && *patterns)
		return fits(patterns, file);
	if (begins_with_any(without_dots(file), system_files))
		return false;
	for (const char *const *name = system_names; *name; name++)
		if (function.len == strlen(*name) && sc_str_begins(function, *name))
			return false;
	/* With a file it is known whose it is: std::hash<Money> of the program. */
	return file.len ? true : !begins_with_any(function, system_functions);
}
