/* explain.h: lookup --explain: why an address has the answer it has, in words. */
#ifndef CMD_EXPLAIN_H
#define CMD_EXPLAIN_H

#include "libmarkup/bytes/json.h"
#include "symcache/explain.h"
#include "symcache/symbolize.h"

/* What is explained. All is borrowed. */
struct explained {
	const struct symcache *cache;
	uint64_t vaddr;
	const char *module;             /* as answers call it */
	struct symcache_symbolizer *symbolizer; /* for names */
	struct symcache_why why;
};

/* The name as it is shown, on the heap; "??" if there is none. */
char *explain_name(const struct explained *e, struct symcache_str name, uint32_t lang);

/* PATH on the heap; "??" if it is not known. */
char *explain_path(const struct symcache_file *file);

/* Prints to standard output; JSON: one object, in an array or by itself. */
void explain_text(const struct explained *e);
void explain_json(const struct explained *e, struct mk_gen *j);

#endif
