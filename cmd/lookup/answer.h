/*
 * answer.h: what lookup found for one query, and the styles that print it.
 *
 * Texts are offsets into one buffer of the answer, 0 meaning unknown: they
 * outlive the symbolizer's, and the next answer reuses the room.
 */
#ifndef CMD_ANSWER_H
#define CMD_ANSWER_H

#include "cmd/lookup/query.h"
#include "symcache/symbolize.h"

enum output_style { STYLE_LLVM, STYLE_GNU, STYLE_JSON };

struct answer_options {
	bool inlines;          /* false: one frame, see answer_query() */
	bool name_of_location; /* of that one frame: the inlined function's name */
	uint64_t adjust_vma;   /* subtracted from addresses */
	uint64_t base;         /* added to them */
};

typedef uint32_t text_offset;

struct answer_frame {
	text_offset function, file, start_file;
	uint32_t line, column, start_line; /* 0: unknown */
	bool has_start_address;
	uint64_t start_address;            /* vaddr of the function */
};

struct answer {
	/* The question. */
	const char *module;        /* as it was named; "" if it was not */
	bool has_address;
	uint64_t address;
	struct symcache_str symbol; /* ptr NULL: an address */
	enum query_kind kind;
	const char *error;         /* the module cannot be had: why; or NULL */

	/* Code: frames, innermost first. Of a symbol: one frame for each
	 * function of that name. */
	struct answer_frame *frames;
	size_t num_frames, cap_frames;

	/* Data. */
	text_offset name, file;
	uint64_t start, size;
	uint32_t line;

	char *text;
	size_t text_len, text_cap;
};

static inline const char *answer_text(const struct answer *a, text_offset offset)
{
	return offset ? a->text + offset : NULL;
}

/* Makes `a`, all zero at first, an answer without findings. */
void answer_begin(struct answer *a, const char *module);
void answer_forget(struct answer *a); /* the findings, not the question */
void answer_deinit(struct answer *a);

/* The address of the ELF file that a query without a symbol means. */
static inline uint64_t answer_address(const struct query *q, const struct answer_options *options)
{
	return q->offset - options->adjust_vma + options->base;
}

/*
 * Asks the module; true if anything was found. Without options->inlines a location has one
 * frame: file, line and column of the innermost one, under the name of the function that
 * has the code, or that of the innermost function if name_of_location.
 */
bool answer_query(struct answer *a, struct symcache_symbolizer *s, struct symcache_module *m,
		  const struct query *q, const struct answer_options *options);

/* ---- styles: print answers to standard output ----------------------------- */

struct style_options {
	enum output_style style;
	bool functions, addresses, pretty, verbose;
};

/* LLVM and GNU. */
void style_plain_print(const struct style_options *options, const struct answer *a);

/* JSON; `list`: all answers are one array. end() finishes it; NULL is fine. */
struct json;
struct json *style_json_begin(bool pretty, bool list);
void style_json_print(struct json *json, const struct answer *a);
struct explained; /* explain.h: in place of an answer */
void style_json_explain(struct json *json, const struct explained *e);
void style_json_end(struct json *json);

#endif
