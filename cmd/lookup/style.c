/*
 * The styles LLVM and GNU, byte for byte llvm-symbolizer's, which differ in columns, in the
 * start address and in the empty line behind each answer; binutils'; and JSON,
 * llvm-symbolizer's keys in its order, which is alphabetical: an array of all answers, or an
 * object a line.
 */
#include <string.h>

#include "cmd/lookup/answer.h"

#define LITERAL(t, s) text_put(t, s, sizeof(s) - 1)

static inline void put_padded(struct text *t, struct symcache_str s, bool padded)
{
	if (!s.ptr)
		text_put(t, "??", 2);
	else if (padded)
		text_put_padded(t, s.ptr, s.len);
	else
		text_put(t, s.ptr, s.len);
}

static inline void put_or(struct text *t, struct symcache_str s, const char *unknown)
{
	if (s.ptr)
		text_put(t, s.ptr, s.len);
	else
		text_str(t, unknown);
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

static void json_str(struct json_gen *j, const char *key, struct symcache_str s)
{
	json_gen_string(j, key, s.ptr, s.len);
}

/* Members of a map that has some: compact, they are put together here, as most of the time of
 * JSON is theirs. */
#define NUMBER(j, compact, key, number) do { \
	if (!(compact)) { json_gen_number(j, key, number); break; } \
	LITERAL(compact, ",\"" key "\":"); \
	text_number(compact, number); \
} while (0)
#define STRING(j, compact, key, text, len) do { \
	if (!(compact)) { json_gen_string(j, key, text, len); break; } \
	LITERAL(compact, ",\"" key "\":"); \
	json_gen_put_string(j, text, len); \
} while (0)

static void json_frame(struct json_gen *j, const struct symcache_shown_frame *f,
		       const struct symcache_start *start, uint32_t discriminator,
		       struct symcache_str source)
{
	struct text *compact = json_gen_compact(j);
	char address[FMT_MAX];

	json_gen_open_map(j, NULL);
	json_gen_number(j, "Column", f->column);
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
	json_gen_close_map(j);
}

/* Opens the map; code of an address has its frames behind the module, others before it. */
static void json_begin(struct worker *w, const struct request *r)
{
	json_gen_open_map(w->json, NULL);
	if (*r->line && !r->wrong && !is_symbol(r))
		json_gen_hex(w->json, "Address", r->query.offset);
	w->in_array = w->module_named = false;
}

static const char *places_key(const struct request *r)
{
	return r->query.kind == QUERY_FRAME ? "Frame" : is_symbol(r) ? "Loc" : "Symbol";
}

static void json_module(struct worker *w, const struct request *r)
{
	json_gen_text(w->json, "ModuleName", *r->line ? style_module(w, r) : "");
	w->module_named = true;
}

void style_places(struct worker *w, const struct request *r)
{
	const char *key = places_key(r);

	if (w->in_array)
		return;
	if (*key == 'S')
		json_module(w, r);
	json_gen_open_array(w->json, key);
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
	json_gen_empty_array(w->json, key);
}

static void json_data(struct json_gen *j, const struct symcache_shown_data *data)
{
	json_gen_open_map(j, "Data");
	json_str(j, "Name", data->name);
	json_gen_hex(j, "Size", data->size);
	json_gen_hex(j, "Start", data->vaddr);
	json_gen_close_map(j);
}

static void json_end(struct worker *w, const struct request *r)
{
	if (w->in_array)
		json_gen_close_array(w->json);
	if (!w->module_named)
		json_module(w, r);
	if (is_symbol(r))
		json_str(w->json, "SymName", r->query.symbol);
	json_gen_close_map(w->json);
	if (!w->options->list)
		json_gen_end(w->json);
}

void style_fault(struct worker *w, const char *why)
{
	json_gen_open_map(w->json, "Error");
	json_gen_text(w->json, "Message", why);
	json_gen_close_map(w->json);
}

/* ---- plain ----------------------------------------------------------------------------- */

static void put_line(struct text *t, uint32_t number)
{
	text_char(t, ':');
	text_number(t, number);
}

static void put_verbose(struct worker *w, const struct symcache_shown_frame *f,
			const struct symcache_start *start, uint32_t discriminator)
{
	struct text *t = &w->out;

	LITERAL(t, "  Filename: ");
	put_or(t, f->file, "??");
	if (start->line) {
		LITERAL(t, "\n  Function start filename: ");
		put_or(t, start->file, "<invalid>");
		LITERAL(t, "\n  Function start line: ");
		text_number(t, start->line);
	}
	if (start->known && w->options->style == STYLE_LLVM) {
		LITERAL(t, "\n  Function start address: ");
		text_hex(t, start->vaddr);
	}
	LITERAL(t, "\n  Line: ");
	text_number(t, f->line);
	LITERAL(t, "\n  Column: ");
	text_number(t, f->column);
	if (discriminator) {
		LITERAL(t, "\n  Discriminator: ");
		text_number(t, discriminator);
	}
	text_char(t, '\n');
}

/* `inlined_into`: the frame before it is inlined into this one. */
static void put_frame(struct worker *w, const struct symcache_shown_frame *f, bool inlined_into,
		      uint32_t discriminator)
{
	const struct answer_options *o = w->options;
	struct text *t = &w->out;

	if (o->pretty && inlined_into && (o->functions || o->style == STYLE_BINUTILS))
		LITERAL(t, " (inlined by) ");
	if (o->functions) {
		put_padded(t, f->function, f->padded);
		if (o->pretty)
			LITERAL(t, " at ");
		else
			text_char(t, '\n');
	}
	if (o->verbose)
		return;
	put_padded(t, f->file, f->padded);
	if (o->style == STYLE_BINUTILS && !f->line)
		LITERAL(t, ":?");
	else
		put_line(t, f->line);
	if (o->style == STYLE_LLVM)
		put_line(t, f->column);
	if (o->style != STYLE_LLVM && discriminator) {
		LITERAL(t, " (discriminator ");
		text_number(t, discriminator);
		text_char(t, ')');
	}
	text_char(t, '\n');
}

static void put_address(struct worker *w, uint64_t address)
{
	const struct answer_options *o = w->options;
	char digits[FMT_MAX];

	if (o->style == STYLE_BINUTILS) {
		mk_fmt_addr(digits, address);
		LITERAL(&w->out, "0x");
		text_put(&w->out, digits + 2 + (o->narrow ? 8 : 0), o->narrow ? 8 : 16);
	} else {
		text_hex(&w->out, address);
	}
	text_put(&w->out, o->pretty ? ": " : "\n", o->pretty ? 2 : 1);
}

static void put_nothing(struct worker *w)
{
	static const struct symcache_shown_frame unknown;
	static const struct symcache_start no_start;
	const struct answer_options *o = w->options;

	if (o->style == STYLE_BINUTILS) {
		if (o->functions)
			text_put(&w->out, o->pretty ? "?? " : "??\n", 3);
		LITERAL(&w->out, "??:0\n");
		return;
	}
	put_frame(w, &unknown, false, 0);
	if (o->verbose)
		put_verbose(w, &unknown, &no_start, 0);
}

static void put_data(struct text *t, const struct symcache_shown_data *data)
{
	put_or(t, data->name, "??");
	text_char(t, '\n');
	text_number(t, data->vaddr);
	text_char(t, ' ');
	text_number(t, data->size);
	text_char(t, '\n');
	put_or(t, data->file, "??");
	if (data->file.ptr)
		put_line(t, data->line);
	else
		LITERAL(t, ":?");
	text_char(t, '\n');
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
		text_put(&w->out, source.ptr, source.len);
}

void style_next_location(struct worker *w)
{
	if (w->options->style == STYLE_LLVM)
		text_char(&w->out, '\n');
}

void style_nothing(struct worker *w, const struct request *r, bool unknown)
{
	if (w->json)
		json_nothing(w, r, unknown);
	else if (r->query.kind == QUERY_FRAME)
		LITERAL(&w->out, "??\n");
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
		text_char(&w->out, '\n');
}
