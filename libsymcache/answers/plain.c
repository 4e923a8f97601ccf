/*
 * Answers as text, byte for byte llvm-symbolizer's in its styles LLVM and GNU, which differ in
 * columns, in the start address and in the empty line behind each answer; and binutils'.
 */
#include "libsymcache/answers/parts.h"

static inline void put_padded(struct mk_out *o, struct sc_str s, bool padded)
{
	if (!s.ptr)
		mk_out_lit(o, "??");
	else if (padded)
		mk_out_put_padded(o, s.ptr, s.len);
	else
		mk_out_put(o, s.ptr, s.len);
}

static inline const struct symcache_answer_options *options_of(const struct mk_worker *w)
{
	return &w->answerer->options;
}

static inline bool is_binutils(const struct mk_worker *w)
{
	return options_of(w)->protocol == MARKUP_PROTOCOL_BINUTILS;
}

static void begin(struct mk_worker *w, const struct mk_request *r)
{
	const struct symcache_answer_options *o = options_of(w);
	char digits[FMT_MAX];

	if (!o->addresses || !*r->line || r->wrong || (r->query.symbol.ptr && !is_binutils(w)))
		return;
	if (is_binutils(w)) {
		mk_fmt_addr(digits, r->query.offset);
		mk_out_lit(&w->out, "0x");
		mk_out_put(&w->out, digits + 2 + (o->narrow ? 8 : 0), o->narrow ? 8 : 16);
	} else {
		mk_out_hex(&w->out, r->query.offset);
	}
	mk_out_put(&w->out, o->pretty ? ": " : "\n", o->pretty ? 2 : 1);
}

static void end(struct mk_worker *w, const struct mk_request *r)
{
	(void)r;
	if (options_of(w)->style == MARKUP_STYLE_LLVM)
		mk_out_char(&w->out, '\n');
}

static void next(struct mk_worker *w)
{
	end(w, NULL);
}

/* ---- frames ---------------------------------------------------------------------------- */

static void put_verbose(struct mk_worker *w, const struct sc_frame *f,
			const struct symcache_start *start, uint32_t discriminator)
{
	struct mk_out *o = &w->out;

	mk_put(o, "  Filename: ", mk_or(f->file, "??"));
	if (start->line)
		mk_put(o, "\n  Function start filename: ",
		       mk_or(start->file, "<invalid>"),
		       "\n  Function start line: ", start->line);
	if (start->known && options_of(w)->style == MARKUP_STYLE_LLVM)
		mk_put(o, "\n  Function start address: ", mk_hex(start->vaddr));
	mk_put(o, "\n  Line: ", f->line, "\n  Column: ", f->column);
	if (discriminator)
		mk_put(o, "\n  Discriminator: ", discriminator);
	mk_out_char(o, '\n');
}

/* `inlined_into`: the frame before it is inlined into this one. */
static void put_frame(struct mk_worker *w, const struct sc_frame *f, bool inlined_into,
		      uint32_t discriminator)
{
	const struct symcache_answer_options *options = options_of(w);
	const bool functions = options->functions != MARKUP_FUNCTIONS_NONE;
	struct mk_out *o = &w->out;

	if (options->pretty && inlined_into && (functions || is_binutils(w)))
		mk_out_lit(o, " (inlined by) ");
	if (functions) {
		if (options->color && f->function.ptr)
			mk_out_lit(o, MK_VALUE_ON);
		put_padded(o, f->function, f->padded);
		if (options->color && f->function.ptr)
			mk_out_lit(o, MK_VALUE_OFF);
		if (options->pretty)
			mk_out_lit(o, " at ");
		else
			mk_out_char(o, '\n');
	}
	if (options->verbose)
		return;
	put_padded(o, f->file, f->padded);
	mk_out_char(o, ':');
	if (is_binutils(w) && !f->line)
		mk_out_char(o, '?');
	else
		mk_out_dec(o, f->line);
	if (options->style == MARKUP_STYLE_LLVM) {
		mk_out_char(o, ':');
		mk_out_dec(o, f->column);
	} else if (discriminator) {
		mk_put(o, " (discriminator ", discriminator, ")");
	}
	mk_out_char(o, '\n');
}

static void put_also(struct mk_worker *w, struct sc_str name, bool first)
{
	(void)first;
	mk_put(&w->out, "  also: ", name, "\n");
}

static void frame(struct mk_worker *w, const struct mk_request *r,
		  const struct symcache_answer *a, size_t i)
{
	const struct sc_frame *f = &a->frames[i];
	const bool verbose = options_of(w)->verbose,
		   bare = options_of(w)->style == MARKUP_STYLE_LLVM && !verbose;
	/* binutils gives the callers that of the innermost frame. */
	const uint32_t discriminator = bare ? 0 : symcache_symbolize_discriminator(
		w->symbolizer, a, is_binutils(w) ? 0 : i);
	struct symcache_start start;
	struct sc_str source;

	if (verbose)
		start = symcache_symbolize_start(w->symbolizer, a, i);
	put_frame(w, f, i, discriminator);
	if (verbose)
		put_verbose(w, f, &start, discriminator);
	source = mk_source_around(w, r, f);
	mk_out_put(&w->out, source.ptr, source.len);
	if (mk_wants_also(w, a, i))
		mk_also_of(w, a, put_also);
}

static void nothing(struct mk_worker *w, const struct mk_request *r, bool unknown)
{
	static const struct sc_frame no_frame;
	static const struct symcache_start no_start;
	const struct symcache_answer_options *o = options_of(w);

	(void)unknown;
	if (r->query.kind == QUERY_FRAME) {
		mk_out_lit(&w->out, "??\n");
	} else if (is_binutils(w)) {
		if (o->functions != MARKUP_FUNCTIONS_NONE)
			mk_out_put(&w->out, o->pretty ? "?? " : "??\n", 3);
		mk_out_lit(&w->out, "??:0\n");
	} else {
		put_frame(w, &no_frame, false, 0);
		if (o->verbose)
			put_verbose(w, &no_frame, &no_start, 0);
	}
}

/* ---- variables ------------------------------------------------------------------------- */

static void data(struct mk_worker *w, const struct symcache_shown_data *d)
{
	mk_put(&w->out, mk_or(d->name, "??"), "\n", d->vaddr, " ", d->size, "\n");
	if (d->file.ptr)
		mk_put(&w->out, d->file, ":", d->line, "\n");
	else
		mk_out_lit(&w->out, "??:?\n");
}

/* No byte of it reaches a terminal that may not. */
static struct mk_as shown(struct sc_str s)
{
	s.ptr = s.len ? s.ptr : NULL;
	return mk_as(mk_out_shown, mk_or(s, "??"));
}

static void put_known(struct mk_out *o, bool known, uint64_t number)
{
	if (known)
		mk_out_dec(o, number);
	else
		mk_out_lit(o, "??");
}

static void local(struct mk_worker *w, const struct mk_request *r, const struct symcache_local *l)
{
	struct mk_out *o = &w->out;

	(void)r;
	mk_put(o, shown(l->function), "\n", shown(l->name), "\n",
	       shown(mk_shown_path(w, &l->file)), ":", l->line, "\n");
	if (l->has_offset && l->offset < 0)
		mk_out_char(o, '-');
	put_known(o, l->has_offset, l->offset < 0 ? -(uint64_t)l->offset : (uint64_t)l->offset);
	mk_out_char(o, ' ');
	put_known(o, l->has_size, l->size);
	mk_out_char(o, ' ');
	put_known(o, l->has_tag, l->tag);
	mk_out_char(o, '\n');
}

const struct mk_answer_form mk_plain_form = {
	.begin = begin,
	.frame = frame,
	.next = next,
	.nothing = nothing,
	.data = data,
	.local = local,
	.explained = mk_plain_explained,
	.end = end,
};
