/*
 * Which demangler for which name, and a memory of the answers.
 *
 * Which names are mangled is decided as LLVM's symbolizer does: one leading
 * dot is kept in front; "_Z" and "___Z" are C++, "_R" Rust, "_D" D; all else
 * is left alone. Two things are better: Rust's legacy names, C++ to LLVM, lose
 * their hash and get their punctuation back, and C++ names that libc++abi
 * cannot read are given to libiberty.
 *
 * The demanglers are other people's code with no bound on what they make of a
 * hostile name: 300 characters can stand for gigabytes of text, as each
 * substitution may double it. So their libraries are linked with malloc()
 * renamed to ours (Makefile: build/demangle), which serves them from one block
 * that is reused for each name; who wants more than that is thrown out by
 * longjmp, and its name stays mangled. So is a demangler that would
 * end the process: abort(), and what prints before it, are renamed, too. Recursion is bounded by the length of
 * the names that are tried (at 16,000 characters the worst ones found take a
 * good part of the usual 8 MB stack).
 *
 * The memory holds CACHE_BYTES and one name more at most; then it starts anew.
 */
#include "libsymcache/symbolize/demangle.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>
#endif

#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"

enum {
	NAME_MAX_LEN = 16000,
	ARENA_BYTES = 8 << 20,
	CACHE_BYTES = 32 << 20,
};

/* ---- the demanglers' memory ---------------------------------------------- */

struct arena {
	char *block; /* ARENA_BYTES; touched as far as a name ever needed */
	size_t used;
	size_t last; /* where the last allocation begins: it can grow in place */
	jmp_buf full;
};

/* The arena of the current name; NULL outside of a demangler. */
static _Thread_local struct arena *arena;

/* Each allocation has its size in front, for realloc. */
enum { HEAD = 16 };

void *demangle_malloc(size_t size);
void *demangle_calloc(size_t n, size_t size);
void *demangle_realloc(void *p, size_t size);
void demangle_free(void *p);
/* libiberty's own would end the process where there is no memory. */
void *demangle_xmalloc(size_t size) __attribute__((alias("demangle_malloc")));
void *demangle_xrealloc(void *p, size_t size) __attribute__((alias("demangle_realloc")));

void *demangle_malloc(size_t size)
{
	char *p;

	if (!arena)
		return malloc(size);
	if (size > ARENA_BYTES || arena->used + HEAD + size > ARENA_BYTES)
		longjmp(arena->full, 1);
	p = arena->block + arena->used + HEAD;
	memcpy(p - HEAD, &size, sizeof(size));
	arena->last = arena->used;
	arena->used += HEAD + (size + HEAD - 1) / HEAD * HEAD;
	return p;
}

void *demangle_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return memset(demangle_malloc(bytes), 0, bytes);
}

void *demangle_realloc(void *p, size_t size)
{
	size_t old;
	void *grown;

	if (!arena)
		return realloc(p, size);
	if (!p)
		return demangle_malloc(size);
	memcpy(&old, (char *)p - HEAD, sizeof(old));
	if ((char *)p - HEAD == arena->block + arena->last) {
		arena->used = arena->last;
		return demangle_malloc(size);
	}
	grown = demangle_malloc(size);
	return memcpy(grown, p, old < size ? old : size);
}

void demangle_free(void *p)
{
	if (!arena)
		free(p);
}

/* Where the demanglers would end the process: libc++abi's abort_message() is also the end of
 * its std::terminate(). */
_Noreturn void demangle_abort(void);
_Noreturn void demangle_abort_message(const char *format, ...);

void demangle_abort(void)
{
	if (arena)
		longjmp(arena->full, 1);
	__builtin_trap(); /* nothing else in these libraries is called */
}

void demangle_abort_message(const char *format, ...)
{
	(void)format;
	demangle_abort();
}

/* ---- which demangler ------------------------------------------------------ */

#ifdef HAVE_CXXABI
/* __cxa_demangle() of libc++abi */
char *demangle_cxx(const char *mangled, char *buf, size_t *size, int *status);
#endif

/* libiberty reads some names that GCC makes and libc++abi does not know, such as
 * std::swap's; LLVM's tools leave those mangled. */
static char *run_cxx(const char *name)
{
	char *text = NULL;

	(void)name;
#ifdef HAVE_CXXABI
	text = demangle_cxx(name, NULL, NULL, NULL);
#endif
#ifdef HAVE_LIBIBERTY
	if (!text && name[1] == 'Z' && strncmp(name, "_ZGT", 4)) /* transaction clones */
		text = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
#endif
	return text;
}

/* The last element of Rust's legacy names is a hash; where does the name end
 * behind it? NULL: it is none. */
static char *rust_legacy_end(char *name)
{
	char *hash = strstr(name, "17h");

	if (!hash || strspn(hash + 3, "0123456789abcdef") != 16 || hash[19] != 'E')
		return NULL;
	return hash[20] && hash[20] != '.' ? NULL : hash + 20;
}

#ifdef HAVE_LIBIBERTY
static const char digits[] = "0123456789abcdef";

/* The number in a linkage name whose digits but the first are tail[0, n) and '_'. NULL: none. */
static const char *find_number(const char *name, const char *tail, size_t n)
{
	for (const char *k = strchr(name, 'K'); k; k = strchr(k + 1, 'K')) {
		const char *from = k + 2;

		if (k[1] != 'n' && k[1] != 'o')
			continue;
		from += *from == 'n'; /* negative */
		if (strspn(from, digits) == n + 1 && !memcmp(from + 1, tail, n + 1))
			return from;
	}
	return NULL;
}

/* Of numbers of more than 64 bits, which are constants of Rust (Kn…_, Ko…_), libiberty writes all
 * digits but the first, and the "_" behind them. They get the first one again. */
static char *mend_numbers(char *text, const char *name)
{
	const char *behind = name; /* the one before: mostly both have the same order */

	for (char *at = text; at && (at = strstr(at, "0x")); at++) {
		const size_t n = strspn(at + 2, digits);
		const char *from;

		if (n < 16 || at[2 + n] != '_')
			continue;
		from = find_number(behind, at + 2, n);
		from = from ? from : find_number(name, at + 2, n);
		if (!from)
			continue;
		memcpy(at + 2, from, n + 1);
		behind = from;
	}
	return text;
}
#endif

/* `end` is the end of the string or the dot of a compiler's ".llvm.123". */
static char *run_rust(char *name, char *end)
{
#ifdef HAVE_LIBIBERTY
	bool suffix = *end;
	char *text, *whole;

	*end = 0;
	text = mend_numbers(rust_demangle(name, 0), name);
	if (!suffix)
		return text;
	*end = '.';
	if (!text)
		return NULL;
	whole = demangle_malloc(strlen(text) + strlen(end) + 4);
	sprintf(whole, "%s (%s)", text, end);
	return whole;
#else
	(void)name, (void)end;
	return NULL;
#endif
}

static char *run_d(const char *name)
{
#ifdef HAVE_LIBIBERTY
	return dlang_demangle(name, 0);
#else
	(void)name;
	return NULL;
#endif
}

#ifndef HAVE_LIBIBERTY
static char *run(char *name, uint32_t lang);
#endif

/* As binutils has it, which keeps "@VERSION" behind the name. */
static char *run_binutils(char *name)
{
#ifdef HAVE_LIBIBERTY
	char *version = strchr(name, '@'), *text, *whole;

	if (version)
		*version = 0;
	text = rust_demangle(name, DMGL_PARAMS | DMGL_ANSI);
	if (!text)
		text = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	if (!version || !text)
		return text;
	*version = '@';
	whole = demangle_malloc(strlen(text) + strlen(version) + 1);
	strcpy(stpcpy(whole, text), version);
	return whole;
#else
	return run(name, SYMCACHE_LANG_SYMTAB); /* the same but for blanks */
#endif
}

/* The text in the arena, or NULL. `name` has no leading dot any more. */
static char *run(char *name, uint32_t lang)
{
	char *end, *text;

	if (lang == SYMCACHE_DEMANGLE_BINUTILS)
		return run_binutils(name);
	if (!strncmp(name, "_ZN", 3) && lang != SYMCACHE_LANG_CPP &&
	    (end = rust_legacy_end(name)) && (text = run_rust(name, end)))
		return text;
	if (!strncmp(name, "_Z", 2) || !strncmp(name, "___Z", 4))
		return run_cxx(name);
	if (!strncmp(name, "_R", 2))
		return run_rust(name, strchrnul(name, '.'));
	return run_d(name);
}

/* Cheap: most names of C programs end here. */
static bool looks_mangled(struct sc_str name)
{
	if (name.len && *name.ptr == '.')
		name = (struct sc_str){ name.ptr + 1, name.len - 1 };
	if (name.len < 3 || name.len > NAME_MAX_LEN || name.ptr[0] != '_')
		return false;
	if (memchr(name.ptr, 0, name.len))
		return false;
	return name.ptr[1] == 'Z' || name.ptr[1] == 'R' || name.ptr[1] == 'D' ||
	       (name.len > 4 && !memcmp(name.ptr, "___Z", 4));
}

/* ---- the memory ----------------------------------------------------------- */

struct known {
	uint32_t lang, name_len, text_len;
	char bytes[]; /* name, then text */
};

struct symcache_demangler {
	struct arena arena;
	VEC(struct known *) known;
	struct sc_intern set; /* of them, by name and language */
	size_t bytes;
};

static void forget_all(struct symcache_demangler *d)
{
	while (d->known.len)
		free(d->known.data[--d->known.len]);
	sc_intern_clear(&d->set);
	d->bytes = 0;
}

struct symcache_demangler *symcache_demangler_create(void)
{
	struct symcache_demangler *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->arena.block = malloc(ARENA_BYTES);
	if (d->arena.block)
		return d;
	free(d);
	return NULL;
}

void symcache_demangler_destroy(struct symcache_demangler *d)
{
	if (!d)
		return;
	forget_all(d);
	vec_deinit(&d->known);
	sc_intern_deinit(&d->set);
	free(d->arena.block);
	free(d);
}

/* The text in the arena; NULL if there is none, or no room for it. */
static char *run_bounded(struct symcache_demangler *d, char *name, uint32_t lang)
{
	d->arena.used = 0;
	return setjmp(d->arena.full) ? NULL : run(name, lang);
}

struct sc_str symcache_demangle_once(struct symcache_demangler *d, struct sc_str name,
				     uint32_t lang)
{
	char mangled[NAME_MAX_LEN + 1], *text;
	bool dot;

	if (!looks_mangled(name))
		return name;
	dot = *name.ptr == '.';
	memcpy(mangled, name.ptr, name.len);
	mangled[name.len] = 0;
	arena = &d->arena;
	text = run_bounded(d, mangled + dot, lang);
	arena = NULL;
	if (!text)
		return name;
	if (dot) /* over the allocation's head */
		*--text = '.';
	return sc_str_of(text);
}

struct wanted {
	const struct symcache_demangler *d;
	struct sc_str name;
	uint32_t lang;
};

static bool same_name(const void *ctx, uint32_t index)
{
	const struct wanted *w = ctx;
	const struct known *k = w->d->known.data[index];

	return k->lang == w->lang && k->name_len == w->name.len && !memcmp(k->bytes, w->name.ptr, w->name.len);
}

static struct sc_str text_of(const struct known *k)
{
	return (struct sc_str){ k->bytes + k->name_len, k->text_len };
}

struct sc_str symcache_demangle(struct symcache_demangler *d, struct sc_str name,
				uint32_t lang)
{
	const struct wanted wanted = { d, name, lang };
	struct sc_str text;
	struct known *k, **kept;
	uint32_t *slot;
	uint64_t hash;
	size_t size;

	if (!looks_mangled(name))
		return name;
	hash = XXH3_64bits_withSeed(name.ptr, name.len, lang);
	if (d->bytes > CACHE_BYTES)
		forget_all(d);
	slot = sc_intern_find(&d->set, hash, same_name, &wanted);
	if (slot && *slot != SC_INTERN_NEW)
		return text_of(d->known.data[*slot]);
	text = symcache_demangle_once(d, name, lang);
	size = sizeof(*k) + name.len + text.len;
	k = slot ? malloc(size) : NULL;
	kept = k ? vec_push(&d->known) : NULL;
	if (!kept) { /* out of memory */
		free(k);
		return text;
	}
	*k = (struct known){ lang, (uint32_t)name.len, (uint32_t)text.len };
	memcpy(mempcpy(k->bytes, name.ptr, name.len), text.ptr, text.len);
	d->bytes += size;
	*slot = (uint32_t)(d->known.len - 1);
	*kept = k;
	return text_of(k);
}
