/*
 * The styles LLVM and GNU, byte for byte llvm-symbolizer's, which differ in columns, in the
 * start address and in the empty line behind each answer; binutils'; and JSON,
 * llvm-symbolizer's keys in its order, which is alphabetical: an array of all answers, or an
 * object a line.
 */
#include <string.h>

#include "cmd/lookup/answer.h"

static inline void put_padded(struct mk_out *t, struct symcache_str s, bool padded)
{
	if (!s.ptr)
		mk_out_put(t, "??", 2);
	else if (padded)
		mk_out_put_padded(t, s.ptr, s.len);
	else
		mk_out_put(t, s.ptr, s.len);
}

static inline void put_or(struct mk_out *t, struct symcache_str s, const char *unknown)
{
	if (s.ptr)
		mk_out_put(t, s.ptr, s.len);
	else
		mk_put(t, unknown);
}

const char *style_module(const struct worker *w, const struct request *r)
{
	return w->options->shown ? w->options->shown : r->shown ? r->shown : r->name;
}

static bool is_symbol(const struct request *r)
{
	return r->query.symbol.ptr;
}

/* ---- JSON --------------------------------------------------------------------------- */

static void json_str(struct mk_gen *j, const char *key, struct symcache_str s)
{
	mk_gen_string(j, key, s.ptr, s.len);
}

/* Members of a map that has some: compact, they are put together here, as most of the time of
 * JSON is theirs. */
#define NUMBER(j, compact, key, number) do { \
	if (!(compact)) { mk_gen_number(j, key, number); break; } \
	mk_out_lit(compact, ",\"" key "\":"); \
	mk_out_dec(compact, number); \
} while (0)
#define STRING(j, compact, key, text, len) do { \
	if (!(compact)) { mk_gen_string(j, key, text, len); break; } \
	mk_out_lit(compact, ",\"" key "\":"); \
	mk_gen_put_string(j, text, len); \
} while (0)

static void json_frame(struct mk_gen *j, const struct symcache_shown_frame *f,
		       const struct symcache_start *start, uint32_t discriminator,
		       struct symcache_str source)
{
	struct mk_out *compact = mk_gen_compact(j);
	char address[FMT_MAX];

	mk_gen_open_map(j, NULL);
	mk_gen_number(j, "Column", f->column);
	NUMBER(j, compact, "Discriminator", discriminator);
	STRING(j, compact, "FileName", f->file.ptr, f->file.len);
	STRING(j, compact, "FunctionName", f->function.ptr, f->function.len);
	NUMBER(j, compact, "Line", f->line);
	if (source.len)
		STRING(j, compact, "Source", source.ptr, source.len);
	STRING(j, compact, "StartAddress", address,
	       start->known ? mk_fmt_hex(address, start->vaddr) : 0);
	STRING(j, compact, "StartFileName", start->file.ptr, start->file.len);
	NUMBER(j, compact, "StartLine", start->line);
	mk_gen_close_map(j);
}

/* Opens the map; code of an address has its frames behind the module, others before it. */
static void json_begin(struct worker *w, const struct request *r)
{
	mk_gen_open_map(w->json, NULL);
	if (*r->line && !r->wrong && !is_symbol(r))
		mk_gen_hex(w->json, "Address", r->query.offset);
	w->in_array = w->module_named = false;
}

static const char *places_key(const struct request *r)
{
	return r->query.kind == QUERY_FRAME ? "Frame" : is_symbol(r) ? "Loc" : "Symbol";
}

static void json_module(struct worker *w, const struct request *r)
{
	mk_gen_text(w->json, "ModuleName", *r->line ? style_module(w, r) : "");
	w->module_named = true;
}

void style_places(struct worker *w, const struct request *r)
{
	const char *key = places_key(r);

	if (w->in_array)
		return;
	if (*key == 'S')
		json_module(w, r);
	mk_gen_open_array(w->json, key);
	w->in_array = true;
}

static void json_nothing(struct worker *w, const struct request *r, bool unknown)
{
	static const struct symcache_shown_frame no_frame;
	static const struct symcache_start no_start;
	const char *key = places_key(r);

	if (*key == 'S' && unknown) {
		style_places(w, r);
		json_frame(w->json, &no_frame, &no_start, 0, (struct symcache_str){ NULL, 0 });
		return;
	}
	if (*key == 'S')
		json_module(w, r);
	mk_gen_empty_array(w->json, key);
}

static void json_data(struct mk_gen *j, const struct symcache_shown_data *data)
{
	mk_gen_open_map(j, "Data");
	json_str(j, "Name", data->name);
	mk_gen_hex(j, "Size", data->size);
	mk_gen_hex(j, "Start", data->vaddr);
	mk_gen_close_map(j);
}

static void json_end(struct worker *w, const struct request *r)
{
	if (w->in_array)
		mk_gen_close_array(w->json);
	if (!w->module_named)
		json_module(w, r);
	if (is_symbol(r))
		json_str(w->json, "SymName", r->query.symbol);
	mk_gen_close_map(w->json);
	if (!w->options->list)
		mk_gen_end(w->json);
}

void style_fault(struct worker *w, const char *why)
{
	mk_gen_open_map(w->json, "Error");
	mk_gen_text(w->json, "Message", why);
	mk_gen_close_map(w->json);
}

/* ---- plain ----------------------------------------------------------------------------- */

static void put_line(struct mk_out *t, uint32_t number)
{
	mk_out_char(t, ':');
	mk_out_dec(t, number);
}

static void put_verbose(struct worker *w, const struct symcache_shown_frame *f,
			const struct symcache_start *start, uint32_t discriminator)
{
	struct mk_out *t = &w->out;

	mk_out_lit(t, "  Filename: ");
	put_or(t, f->file, "??");
	if (start->line) {
		mk_out_lit(t, "\n  Function start filename: ");
		put_or(t, start->file, "<invalid>");
		mk_out_lit(t, "\n  Function start line: ");
		mk_out_dec(t, start->line);
	}
	if (start->known && w->options->style == STYLE_LLVM) {
		mk_out_lit(t, "\n  Function start address: ");
		mk_out_hex(t, start->vaddr);
	}
	mk_out_lit(t, "\n  Line: ");
	mk_out_dec(t, f->line);
	mk_out_lit(t, "\n  Column: ");
	mk_out_dec(t, f->column);
	if (discriminator) {
		mk_out_lit(t, "\n  Discriminator: ");
		mk_out_dec(t, discriminator);
	}
	mk_out_char(t, '\n');
}

/* `inlined_into`: the frame before it is inlined into this one. */
static void put_frame(struct worker *w, const struct symcache_shown_frame *f, bool inlined_into,
		      uint32_t discriminator)
{
	const struct answer_options *o = w->options;
	struct mk_out *t = &w->out;

	if (o->pretty && inlined_into && (o->functions || o->style == STYLE_BINUTILS))
		mk_out_lit(t, " (inlined by) ");
	if (o->functions) {
		put_padded(t, f->function, f->padded);
		if (o->pretty)
			mk_out_lit(t, " at ");
		else
			mk_out_char(t, '\n');
	}
	if (o->verbose)
		return;
	put_padded(t, f->file, f->padded);
	if (o->style == STYLE_BINUTILS && !f->line)
		mk_out_lit(t, ":?");
	else
		put_line(t, f->line);
	if (o->style == STYLE_LLVM)
		put_line(t, f->column);
	if (o->style != STYLE_LLVM && discriminator) {
		mk_out_lit(t, " (discriminator ");
		mk_out_dec(t, discriminator);
		mk_out_char(t, ')');
	}
	mk_out_char(t, '\n');
}

static void put_address(struct worker *w, uint64_t address)
{
	const struct answer_options *o = w->options;
	char digits[FMT_MAX];

	if (o->style == STYLE_BINUTILS) {
		mk_fmt_addr(digits, address);
		mk_out_lit(&w->out, "0x");
		mk_out_put(&w->out, digits + 2 + (o->narrow ? 8 : 0), o->narrow ? 8 : 16);
	} else {
		mk_out_hex(&w->out, address);
	}
	mk_out_put(&w->out, o->pretty ? ": " : "\n", o->pretty ? 2 : 1);
}

static void put_nothing(struct worker *w)
{
	static const struct symcache_shown_frame unknown;
	static const struct symcache_start no_start;
	const struct answer_options *o = w->options;

	if (o->style == STYLE_BINUTILS) {
		if (o->functions)
			mk_out_put(&w->out, o->pretty ? "?? " : "??\n", 3);
		mk_out_lit(&w->out, "??:0\n");
		return;
	}
	put_frame(w, &unknown, false, 0);
	if (o->verbose)
		put_verbose(w, &unknown, &no_start, 0);
}

static void put_data(struct mk_out *t, const struct symcache_shown_data *data)
{
	put_or(t, data->name, "??");
	mk_out_char(t, '\n');
	mk_out_dec(t, data->vaddr);
	mk_out_char(t, ' ');
	mk_out_dec(t, data->size);
	mk_out_char(t, '\n');
	put_or(t, data->file, "??");
	if (data->file.ptr)
		put_line(t, data->line);
	else
		mk_out_lit(t, ":?");
	mk_out_char(t, '\n');
}

/* ---- any ------------------------------------------------------------------------------- */

void style_begin(struct worker *w, const struct request *r)
{
	if (w->json)
		json_begin(w, r);
	else if (w->options->addresses && *r->line && !r->wrong &&
		 (!is_symbol(r) || w->options->style == STYLE_BINUTILS))
		put_address(w, r->query.offset);
}

static struct symcache_str source_of(struct worker *w, const struct request *r,
				     const struct symcache_shown_frame *f)
{
	return w->options->source_lines ?
		symcache_source_lines(&w->sources, r->module, f->file, f->line,
				      w->options->source_lines) : (struct symcache_str){ "", 0 };
}

void style_frame(struct worker *w, const struct request *r, const struct symcache_answer *a,
		 size_t frame)
{
	const struct symcache_shown_frame *f = &a->frames[frame];
	const bool plain = w->options->style == STYLE_LLVM && !w->options->verbose;
	/* binutils gives the callers that of the innermost frame. */
	const uint32_t discriminator = plain ? 0 : symcache_symbolize_discriminator(
		w->symbolizer, a, w->options->style == STYLE_BINUTILS ? 0 : frame);
	struct symcache_start start;
	struct symcache_str source;

	if (w->json || w->options->verbose)
		start = symcache_symbolize_start(w->symbolizer, a, frame);
	if (w->json) {
		style_places(w, r);
		json_frame(w->json, f, &start, discriminator, source_of(w, r, f));
		return;
	}
	put_frame(w, f, frame, discriminator);
	if (w->options->verbose)
		put_verbose(w, f, &start, discriminator);
	source = source_of(w, r, f);
	if (source.len)
		mk_out_put(&w->out, source.ptr, source.len);
}

void style_next_location(struct worker *w)
{
	if (w->options->style == STYLE_LLVM)
		mk_out_char(&w->out, '\n');
}

void style_nothing(struct worker *w, const struct request *r, bool unknown)
{
	if (w->json)
		json_nothing(w, r, unknown);
	else if (r->query.kind == QUERY_FRAME)
		mk_out_lit(&w->out, "??\n");
	else
		put_nothing(w);
}

void style_data(struct worker *w, const struct symcache_shown_data *data)
{
	static const struct symcache_shown_data none;

	if (w->json)
		json_data(w->json, data ? data : &none);
	else
		put_data(&w->out, data ? data : &none);
}

void style_end(struct worker *w, const struct request *r)
{
	if (w->json)
		json_end(w, r);
	else if (w->options->style == STYLE_LLVM)
		mk_out_char(&w->out, '\n');
}
