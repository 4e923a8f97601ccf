/*
 * demangle.h: symbol names as people read them, spelled as LLVM spells them.
 *
 * C++ goes to the demangler of libc++abi (HAVE_CXXABI), else of libiberty
 * (HAVE_LIBIBERTY); Rust and D to libiberty. What is not mangled, too long or
 * malformed comes back as it is: there are no errors.
 */
#ifndef CMD_DEMANGLE_H
#define CMD_DEMANGLE_H

#include "symcache/symcache.h"

/* Remembers names; not for several threads at once. */
struct demangler;

struct demangler *demangler_create(void);
void demangler_destroy(struct demangler *d); /* NULL is fine */

/*
 * `name` demangled, or `name` itself. `lang` (enum symcache_lang or
 * SYMCACHE_LANG_SYMTAB) tells Rust's legacy names, which look like C++, apart.
 * The result is valid until the next call or as long as `name` is.
 */
struct symcache_str demangle(struct demangler *d, struct symcache_str name, uint32_t lang);

/* As demangle(), but nothing is remembered: for callers that do so themselves. The
 * result is valid until the next call of either, or as long as `name` is. */
struct symcache_str demangle_once(struct demangler *d, struct symcache_str name, uint32_t lang);

/* How often the demanglers really ran, for tests. */
uint64_t demangler_runs(const struct demangler *d);

#endif
