/*
 * Answers as JSON, llvm-symbolizer's keys in its order, which is alphabetical: an array of all
 * answers, or an object a line.
 */
#include "libsymcache/answers/parts.h"

static void put_str(struct mk_gen *g, const char *key, struct sc_str s)
{
	mk_gen_string(g, key, s.ptr, s.len);
}

/* All members of a map: compact, they are put together here, as most of the time of JSON is
 * theirs. `comma`: "," but for the first. */
#define NUMBER(g, compact, comma, key, number) do { \
	if (!(compact)) { mk_gen_number(g, key, number); break; } \
	mk_out_lit(compact, comma "\"" key "\":"); \
	mk_out_dec(compact, number); \
} while (0)
#define STRING(g, compact, key, text, len) do { \
	if (!(compact)) { mk_gen_string(g, key, text, len); break; } \
	mk_out_lit(compact, ",\"" key "\":"); \
	mk_json_string(compact, (struct sc_str){ text, len }); \
} while (0)

static void put_frame(struct mk_gen *g, const struct sc_frame *f,
		      const struct symcache_start *start, uint32_t discriminator,
		      struct sc_str source)
{
	struct mk_out *compact = mk_gen_compact(g);
	char address[FMT_MAX];

	mk_gen_open_map(g, NULL);
	NUMBER(g, compact, "", "Column", f->column);
	NUMBER(g, compact, ",", "Discriminator", discriminator);
	STRING(g, compact, "FileName", f->file.ptr, f->file.len);
	STRING(g, compact, "FunctionName", sc_bare_name(f).ptr, sc_bare_name(f).len);
	NUMBER(g, compact, ",", "Line", f->line);
	if (f->scopes)
		STRING(g, compact, "QualifiedName", f->function.ptr, f->function.len);
	if (source.len)
		STRING(g, compact, "Source", source.ptr, source.len);
	STRING(g, compact, "StartAddress", address,
	       start->known ? mk_fmt_hex(address, start->vaddr) : 0);
	STRING(g, compact, "StartFileName", start->file.ptr, start->file.len);
	NUMBER(g, compact, ",", "StartLine", start->line);
}

static void put_also(struct mk_worker *w, struct sc_str name, bool first)
{
	struct mk_out *compact = mk_gen_compact(&w->json);

	if (first && compact)
		mk_out_char(compact, ','); /* the generator knows nothing of put_frame()'s members */
	if (first)
		mk_gen_open_array(&w->json, "Also");
	mk_gen_string(&w->json, NULL, name.ptr, name.len);
	w->also = true;
}

/* Code of an address has its frames behind the module, others before it. */
static bool is_code(const struct mk_request *r)
{
	return r->query.kind != QUERY_FRAME && !r->query.symbol.ptr;
}

static void put_module(struct mk_worker *w, const struct mk_request *r)
{
	mk_gen_text(&w->json, "ModuleName", *r->line ? mk_shown_module(w, r) : "");
	w->module_named = true;
}

static void begin(struct mk_worker *w, const struct mk_request *r)
{
	mk_gen_open_map(&w->json, NULL);
	if (*r->line && !r->wrong && !r->query.symbol.ptr)
		mk_gen_hex(&w->json, "Address", r->query.offset);
	w->in_array = w->module_named = false;
}

static const char *places_key(struct mk_worker *w, const struct mk_request *r)
{
	if (is_code(r))
		put_module(w, r);
	return r->query.kind == QUERY_FRAME ? "Frame" : r->query.symbol.ptr ? "Loc" : "Symbol";
}

/* Opens the array of places. */
static void open_places(struct mk_worker *w, const struct mk_request *r)
{
	if (w->in_array)
		return;
	mk_gen_open_array(&w->json, places_key(w, r));
	w->in_array = true;
}

static void frame(struct mk_worker *w, const struct mk_request *r,
		  const struct symcache_answer *a, size_t i)
{
	const struct sc_frame *f = &a->frames[i];
	const uint32_t discriminator = symcache_symbolize_discriminator(w->symbolizer, a, i);
	const struct symcache_start start = symcache_symbolize_start(w->symbolizer, a, i);

	open_places(w, r);
	put_frame(&w->json, f, &start, discriminator, mk_source_around(w, r, f));
	w->also = false;
	if (mk_wants_also(w, a, i))
		mk_also_of(w, a, put_also);
	if (w->also)
		mk_gen_close_array(&w->json);
	mk_gen_close_map(&w->json);
}

static void nothing(struct mk_worker *w, const struct mk_request *r, bool unknown)
{
	static const struct sc_frame no_frame;
	static const struct symcache_start no_start;

	if (is_code(r) && unknown) {
		open_places(w, r);
		put_frame(&w->json, &no_frame, &no_start, 0, (struct sc_str){ NULL, 0 });
		mk_gen_close_map(&w->json);
	} else {
		mk_gen_empty_array(&w->json, places_key(w, r));
	}
}

static void data(struct mk_worker *w, const struct symcache_shown_data *d)
{
	mk_gen_open_map(&w->json, "Data");
	put_str(&w->json, "Name", d->name);
	mk_gen_hex(&w->json, "Size", d->size);
	mk_gen_hex(&w->json, "Start", d->vaddr);
	mk_gen_close_map(&w->json);
}

/* A number that may be unknown. */
static void put_hex(struct mk_gen *g, const char *key, bool known, uint64_t number)
{
	if (known)
		mk_gen_hex(g, key, number);
	else
		mk_gen_text(g, key, "");
}

static void local(struct mk_worker *w, const struct mk_request *r, const struct symcache_local *l)
{
	const struct sc_str path = mk_shown_path(w, &l->file);
	struct mk_gen *g = &w->json;

	open_places(w, r);
	mk_gen_open_map(g, NULL);
	mk_gen_string(g, "DeclFile", path.ptr, path.len);
	mk_gen_number(g, "DeclLine", l->line);
	if (l->has_offset)
		mk_gen_signed(g, "FrameOffset", l->offset);
	put_str(g, "FunctionName", l->function);
	put_str(g, "Name", l->name);
	put_hex(g, "Size", l->has_size, l->size);
	put_hex(g, "TagOffset", l->has_tag, l->tag);
	mk_gen_close_map(g);
}

static void fault(struct mk_worker *w, const char *why)
{
	mk_gen_open_map(&w->json, "Error");
	mk_gen_text(&w->json, "Message", why);
	mk_gen_close_map(&w->json);
}

static void end(struct mk_worker *w, const struct mk_request *r)
{
	if (w->in_array)
		mk_gen_close_array(&w->json);
	if (!w->module_named)
		put_module(w, r);
	if (r->query.symbol.ptr)
		mk_gen_string(&w->json, "SymName", r->query.symbol.ptr, r->query.symbol.len);
	mk_gen_close_map(&w->json);
	if (!w->list)
		mk_gen_end(&w->json);
}

const struct mk_answer_form mk_json_form = {
	.begin = begin,
	.frame = frame,
	.nothing = nothing,
	.data = data,
	.local = local,
	.fault = fault,
	.explained = mk_json_explained,
	.end = end,
};
