/* gopclntab_parts.h: what the files of the reader of .gopclntab share. */
#ifndef DW_GOPCLNTAB_PARTS_H
#define DW_GOPCLNTAB_PARTS_H

#include "libsymcache/base/search.h"
#include "libsymcache/dwarf/gopclntab.h"

enum { GO_INLINE_INDEX = 2 }; /* in pcdata */

enum version { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1 };

/* A value from `start`, an offset in the function, on. */
struct value {
	uint32_t start;
	int32_t value;
};

struct values {
	VEC(struct value) list; /* ascending; the last one's ends at `end` */
	uint32_t end;
};

/* An inlined call: its number in the tree, and its scope. */
struct call {
	uint32_t number, scope;
	uint32_t parent; /* number; DW_NONE: the function itself */
};

/* Where the code of an inlined call is, of what is not inlined further. */
struct run {
	uint32_t number, start, end;
};

struct dw_go_reader {
	struct dw_go_sections s;
	uint32_t version;
	unsigned word;      /* bytes of an address */
	unsigned quantum;   /* bytes of the smallest instruction */
	uint64_t num, next; /* functions */
	struct dw_section names, units, files, pairs, functions;
	uint64_t facts;     /* so far */
	bool no_memory;     /* for a file */
	struct values file, line, inlined;
	VEC(struct call) calls;
	VEC(struct run) runs;
};

/* A function of the table, and its record. */
struct function {
	uint64_t start, end;
	uint64_t record;    /* offset in `functions` */
	const char *name;
	uint32_t pcfile, pcline, num_pcdata, unit, first_line;
	unsigned num_funcdata;
	uint64_t pcdata;    /* offset in `functions` of the offsets */
};

/* dw_go_has_inlines() */
static inline bool go_has_inlines(const struct dw_go_reader *r)
{
	return r->version != GO_1_16 && r->s.funcdata.size;
}

/* The value at an offset; -1: there is none. */
static inline int32_t value_at(const struct values *v, uint32_t at)
{
	const struct value *list = v->list.data;
	const size_t n = SC_SEARCH(i, v->list.len, list[i].start <= at);

	return n && at < v->end ? list[n - 1].value : -1;
}

/* Of a section that ends with a NUL. */
static inline const char *string_at(const struct dw_section *s, uint64_t offset)
{
	return offset < s->size ? (const char *)s->data + offset : NULL;
}

static inline bool go_add_range(struct dw_facts *facts, uint64_t start, uint64_t end)
{
	struct dw_range *range = vec_push(&facts->ranges);

	if (range)
		*range = (struct dw_range){ start, end };
	return range;
}

/* The number of a file in the facts; DW_NONE: it is unknown, or r->no_memory. `number`: in its
 * unit. */
uint32_t go_file(struct dw_go_reader *r, const struct function *f, int32_t number,
		 struct dw_facts *facts);

/* Offset of the tree of inlined calls in funcdata, or SIZE_MAX: there is none. */
size_t go_tree(const struct dw_go_reader *r, const struct function *f);

/* Adds the scopes of the calls in r->inlined behind that of the function, number `outer`. False: out
 * of memory. */
bool go_add_calls(struct dw_go_reader *r, const struct function *f, size_t tree, uint32_t outer,
		  struct dw_facts *facts);

#endif
