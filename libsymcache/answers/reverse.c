/* Names and lines → addresses, in the forms of answers: see answers.h. */
#include "libsymcache/answers/parts.h"
#include "libsymcache/base/glob.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/reverse.h"

/* ---- names --------------------------------------------------------------------------------- */

static int put_json_name(struct mk_worker *w, const struct symcache_found_name *f)
{
	struct mk_gen *g = &w->json;

	mk_gen_open_map(g, NULL);
	mk_gen_hex(g, "Address", f->vaddr);
	mk_gen_string(g, "FileName", f->file.ptr, f->file.len);
	mk_gen_text(g, "Kind", f->data ? "data" : "code");
	mk_gen_number(g, "Line", f->line);
	mk_gen_string(g, "LinkageName", f->linkage.ptr, f->linkage.len);
	mk_gen_string(g, "Name", f->name.ptr, f->name.len);
	mk_gen_number(g, "Size", f->size);
	mk_gen_close_map(g);
	return w->out.error;
}

static int put_name(void *ctx, const struct symcache_found_name *f)
{
	struct mk_worker *w = ctx;

	if (w->answerer->options.style == MARKUP_STYLE_JSON)
		return put_json_name(w, f);
	mk_put(&w->out, mk_hex(f->vaddr), " ", f->size, " ", f->name);
	if (f->file.ptr)
		mk_put(&w->out, " at ", f->file, ":", f->line);
	mk_out_char(&w->out, '\n');
	return w->out.error;
}

/* A name that has '*' may be an operator's: it is a pattern if nothing is called so. */
static ssize_t answer_names(struct mk_worker *w, struct sc_str name)
{
	struct symcache_module *m = w->answerer->module;
	const ssize_t n = symcache_find_names(w->symbolizer, m, name, false, put_name, w);

	return n || !sc_is_glob(name) ? n :
		symcache_find_names(w->symbolizer, m, name, true, put_name, w);
}

/* ---- lines --------------------------------------------------------------------------------- */

struct range {
	uint64_t vaddr, end;
	uint32_t depth;
};

struct ranges {
	VEC(struct range) list;
};

static int keep_range(void *ctx, const struct symcache_found_line *f)
{
	struct ranges *ranges = ctx;
	struct range *r = vec_push(&ranges->list);

	if (r)
		*r = (struct range){ f->vaddr, f->end, f->depth };
	return r ? 0 : SC_ENOMEM;
}

/* The frames at the start of a range, from the one of the line on outwards. */
static void put_range(struct mk_worker *w, const struct range *range)
{
	const struct symcache_answer_options *o = &w->answerer->options;
	const struct mk_request r = { .line = "-", .module = w->answerer->module,
				      .query = { .offset = range->vaddr } };
	struct symcache_answer a;

	symcache_symbolize_as(w->symbolizer, r.module, range->vaddr, SYMCACHE_INLINES,
			      SYMCACHE_TABLE_OUTERMOST, &a);
	if (a.num_frames <= range->depth)
		return;
	a.frames += range->depth;
	a.num_frames = o->inlines ? a.num_frames - range->depth : 1;
	if (o->style == MARKUP_STYLE_JSON) {
		w->form->begin(w, &r);
		mk_gen_hex(&w->json, "EndAddress", range->end);
	} else {
		mk_put(&w->out, mk_hex(range->vaddr), "-", mk_hex(range->end),
		       o->pretty ? ": " : "\n");
	}
	for (size_t i = 0; i < a.num_frames; i++)
		w->form->frame(w, &r, &a, i);
	w->form->end(w, &r);
}

static ssize_t answer_line(struct mk_worker *w, struct sc_str file, uint32_t line)
{
	struct ranges ranges = { 0 };
	const ssize_t n = symcache_find_line(w->symbolizer, w->answerer->module, file, line,
					     keep_range, &ranges);

	for (size_t i = 0; i < ranges.list.len; i++)
		put_range(w, &ranges.list.data[i]);
	vec_deinit(&ranges.list);
	return n;
}

/* ---- both ---------------------------------------------------------------------------------- */

int symcache_answerer_find(struct symcache_answerer *d, enum symcache_answer_find what,
			   const char *text, struct sc_error *err)
{
	struct sc_str file;
	struct mk_worker w;
	uint32_t line;
	ssize_t n = SC_ENOMEM;

	if (what == SYMCACHE_FIND_LINE && !symcache_parse_line(text, &file, &line))
		return sc_error_set(err, SC_EINVAL, "%s: not FILE:LINE", text);
	if (mk_worker_init(&w, d, true)) {
		n = what == SYMCACHE_FIND_LINE ? answer_line(&w, file, line) :
						 answer_names(&w, sc_str_of(text));
		mk_worker_finish(&w);
		if (w.out.error || sc_memory_refusals() != d->refusals)
			n = SC_ENOMEM;
		if (n >= 0)
			d->options.out(d->options.ctx, w.out.buf, w.out.len);
	}
	mk_worker_deinit(&w);
	if (n == SC_ENOMEM)
		return sc_no_memory(err);
	if (n < 0)
		return sc_error_set(err, (int)n, "%s: the cache is damaged", d->shown);
	return n ? 0 : sc_error_set(err, SC_ENOTFOUND, what == SYMCACHE_FIND_LINE ?
				    "%s: no such file in %s, or no code of this line" :
				    "%s: no such name in %s", text, d->shown);
}
