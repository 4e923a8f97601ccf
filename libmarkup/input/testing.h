/*
 * testing.h: for the tests: what each format finds in a line: every field of every event, and of rows of
 * tables.
 */
#ifndef MARKUP_INPUT_TESTING_H
#define MARKUP_INPUT_TESTING_H

#include <inttypes.h>
#include <stdio.h>

#include "libmarkup/input/input.h"

static inline void put(FILE *to, const char *what, struct sc_str s)
{
	if (s.len > 300)
		fprintf(to, " %s '%.20s…%.20s' of %zu bytes", what, s.ptr, s.ptr + s.len - 20, s.len);
	else if (s.len)
		fprintf(to, " %s '%.*s'", what, (int)s.len, s.ptr);
}

static inline void put_number(FILE *to, const char *what, uint64_t n)
{
	if (n)
		fprintf(to, " %s %" PRIx64, what, n);
}

static inline void put_flags(FILE *to, const char *what, const bool *flags, size_t n)
{
	fprintf(to, " %s ", what);
	for (size_t i = 0; i < n; i++)
		fputc('0' + flags[i], to);
}

static inline void put_problems(FILE *to, const struct mk_line *l, const struct mk_event *e)
{
	for (unsigned i = 0; i < e->num_problems && i < 2; i++) {
		const struct mk_problem *p = &e->problems[i];

		fprintf(to, " problem %d %d at %td %s", p->severity, p->kind, p->at ? p->at - l->p : -1, p->what ? p->what : "");
		put(to, "found", p->found);
		put_number(to, "numbers", p->kind == MK_SAID || p->kind == MK_EXPECTED ? 0 : p->numbers[0] << 8 | p->numbers[1]);
	}
}

/* Of a frame, or what carries one. */
static inline void put_frame(FILE *to, const struct mk_event *e)
{
	put_number(to, "lookup", e->lookup);
	put_number(to, "form", e->form);
	put_number(to, "reach", e->reach);
	put(to, "hole", e->hole);
	put(to, "function", e->function);
	put(to, "id", e->build_id);
	put(to, "symbol", e->symbol);
	put_number(to, "size", e->symbol_size);
	put_number(to, "behind", e->symbol_offset);
	put(to, "else", e->other_name);
	put_number(to, "returns", e->returns);
	put_number(to, "origin", e->origin);
	put_flags(to, "is", (const bool[]){ e->in_module, e->absolute, e->unplaced, e->shared_object, e->carried,
					    e->behind_header, e->known_only }, 7);
}

static inline void put_event(FILE *to, const struct mk_line *l, const struct mk_event *e)
{
	fprintf(to, " [%d at %td+%zu", e->kind, e->text.ptr - l->p, e->text.len);
	put_number(to, "aside", e->aside);
	put_flags(to, "", (const bool[]){ e->bad, e->quiet, e->kernel }, 3);
	put(to, "tag", e->tag);
	put_problems(to, l, e);
	if (!e->bad) {
		put_number(to, "number", e->number);
		put_number(to, "address", e->address);
		put(to, "name", e->name);
		put(to, "detail", e->detail);
		if (e->kind == MK_MODULE || e->kind == MK_MAP) {
			put_flags(to, "is", (const bool[]){ e->binds, e->guid, e->late }, 3);
			put_number(to, "size", e->size);
			put_number(to, "vaddr", e->vaddr);
			fprintf(to, " %s", e->mode);
		} else if (e->kind == MK_FRAME || e->kind == MK_PC || e->aside == MK_CARRIES) {
			put_frame(to, e);
		}
	}
	fputc(']', to);
}

static inline void put_rows(FILE *to, const struct mk_input *in, const struct mk_line *l, const char *end)
{
	const char *p = l->p;
	struct mk_row row = { 0 };

	for (int i = 0; i < 20 && in->read_row && in->read_row(&p, end, &row); i++) {
		fprintf(to, " (row at %td, %" PRIx64 "-%" PRIx64, row.at - l->p, row.start, row.end);
		put(to, "name", row.name);
		put(to, "id", row.build_id);
		put_number(to, "offset", row.offset);
		put_flags(to, "is", (const bool[]){ row.whole, row.code, row.path, row.from_code, row.listed }, 5);
		fprintf(to, " up to %td)", p - l->p);
		row = (struct mk_row){ .at = p };
	}
}

/* What all formats find, each on a line of its own; `end`: of the line, without its newline. */
static inline void put_line(FILE *to, struct mk_line *l, const char *end)
{
	for (const struct mk_input *const *in = mk_inputs; *in; in++) {
		l->num_events = 0;
		mk_read_line(*in, l);
		if (l->num_events)
			fprintf(to, "%s:", (*in)->name ? (*in)->name : "frames");
		for (size_t i = 0; i < l->num_events; i++)
			put_event(to, l, &l->events[i]);
		put_rows(to, *in, l, end);
		if (l->num_events)
			fputc('\n', to);
	}
}

#endif
