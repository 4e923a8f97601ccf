/*
 * demangle.h: mangled names as people read them, and the parts of those.
 */
#ifndef SYMCACHE_DEMANGLE_H
#define SYMCACHE_DEMANGLE_H

#include "libsymcache/read/read.h"

/* Remembers names, 32 MiB of them at most; for one thread. */
struct symcache_demangler;

/* NULL: out of memory. */
struct symcache_demangler *symcache_demangler_create(void);
void symcache_demangler_destroy(struct symcache_demangler *d); /* NULL is fine */

/*
 * `name` demangled as LLVM spells it, or `name` itself: if it is not mangled, malformed,
 * longer than 16,000 bytes, or would become longer than 8 MiB; there are no errors. `lang`
 * (enum symcache_lang or SYMCACHE_LANG_SYMTAB) tells Rust's legacy names, which look like
 * C++, apart. The result is valid until the next call, or as long as `name` is.
 */
#define SYMCACHE_DEMANGLE_BINUTILS 0xfffffffeu /* `lang`: as binutils spells it */
struct sc_str symcache_demangle(struct symcache_demangler *d, struct sc_str name,
				uint32_t lang);

/* As symcache_demangle(), but nothing is remembered: for callers that do so themselves. The
 * result is valid until the next call of either, or as long as `name` is. */
struct sc_str symcache_demangle_once(struct symcache_demangler *d, struct sc_str name,
				     uint32_t lang);

/* The bare name of a function, without scope, arguments and return type: a part of
 * `demangled`. */
struct sc_str symcache_short_name(struct sc_str demangled);

/* The same with its scope: "shop::Item::total" of "int shop::Item::total(int) const". */
struct sc_str symcache_name_without_parameters(struct sc_str demangled);

#endif
