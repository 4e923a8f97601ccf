/* Names and lines → addresses: see <symcache-find.h>. */
#include <string.h>
#include <symcache-find.h>

#include "libsymcache/api/api.h"
#include "libsymcache/symbolize/reverse.h"

struct each {
	struct symcache_resolver *r;
	symcache_definition_fn *definition;
	symcache_line_range_fn *range;
	void *ctx;
	const char *name, *linkage; /* copies, of the last definition */
	int result;
};

/* What `fn` of the caller returned ends the search; errors do so, too. */
enum { STOPPED = 1 };

static uint32_t file_flag(struct sc_str file)
{
	return file.ptr ? 0 : SYMCACHE_FRAME_NO_FILE;
}

static int on_name(void *ctx, const struct symcache_found_name *f)
{
	struct each *each = ctx;
	struct symcache_definition d = {
		.vaddr = f->vaddr, .size = f->size, .line = f->line,
		.flags = (f->data ? SYMCACHE_DEFINITION_DATA : 0) |
			 (f->of_table ? SYMCACHE_FRAME_SYMBOL : 0) | file_flag(f->file),
	};

	if (!f->again) {
		if (!api_reserve_texts(each->r, f->name.len + f->linkage.len + 2))
			return SC_ENOMEM;
		each->name = api_copy_text(each->r, f->name);
		each->linkage = api_copy_text(each->r, f->linkage);
	}
	d.name = each->name;
	d.linkage_name = each->linkage;
	d.file = f->file.ptr ? f->file.ptr : api_unknown;
	each->result = each->definition(each->ctx, &d);
	return each->result ? STOPPED : 0;
}

static int on_line(void *ctx, const struct symcache_found_line *f)
{
	struct each *each = ctx;
	const struct sc_frame *frame = f->frame;
	const struct symcache_line_range p = {
		.vaddr = f->vaddr, .end = f->end, .depth = f->depth,
		.function = frame->function.ptr ? frame->function.ptr : api_unknown,
		.file = frame->file.ptr ? frame->file.ptr : api_unknown,
		.line = frame->line, .column = frame->column,
		.flags = (f->inlined ? SYMCACHE_FRAME_INLINED : 0) | file_flag(frame->file) |
			 (frame->function.ptr ? 0 : SYMCACHE_FRAME_NO_FUNCTION),
	};

	each->result = each->range(each->ctx, &p);
	return each->result ? STOPPED : 0;
}

/* `n`: what the search returned, of `what`. */
static int result(const struct each *each, ssize_t n, const struct symcache_cache *c,
		  const char *what, struct symcache_error *err)
{
	if (each->result)
		return each->result;
	if (n == SC_ENOMEM)
		return api_error(err, SC_ENOMEM, "out of memory");
	if (n < 0 || symcache_damaged(&c->cache))
		return api_error(err, SC_EFORMAT, "the cache is damaged");
	return n ? 0 : api_error(err, SC_ENOTFOUND, "%s: there is no such %s", what,
				 each->range ? "file, or no code of this line" : "name");
}

static int each_name(struct each *each, struct symcache_cache *c, const char *name, bool glob,
		     struct symcache_error *err)
{
	if (!name || !each->definition)
		return api_error(err, SC_EINVAL, "there is no name or no function");
	api_forget_others(each->r, c);
	return result(each, symcache_find_names(each->r->symbolizer, &c->module, sc_str_of(name),
						glob, on_name, each), c, name, err);
}

int symcache_each_definition(struct symcache_resolver *r, struct symcache_cache *c,
			     const char *name, symcache_definition_fn *fn, void *ctx,
			     struct symcache_error *err)
{
	return each_name(&(struct each){ .r = r, .definition = fn, .ctx = ctx }, c, name, false, err);
}

int symcache_each_match(struct symcache_resolver *r, struct symcache_cache *c, const char *pattern,
			symcache_definition_fn *fn, void *ctx, struct symcache_error *err)
{
	return each_name(&(struct each){ .r = r, .definition = fn, .ctx = ctx }, c, pattern, true, err);
}

int symcache_each_line_range(struct symcache_resolver *r, struct symcache_cache *c,
			     const char *line, symcache_line_range_fn *fn, void *ctx,
			     struct symcache_error *err)
{
	struct each each = { .r = r, .range = fn, .ctx = ctx };
	struct sc_str file;
	uint32_t number;

	if (!line || !fn || !symcache_parse_line(line, &file, &number))
		return api_error(err, SC_EINVAL, "%s: not FILE:LINE, or no function", line ? line : "");
	api_forget_others(r, c);
	return result(&each, symcache_find_line(r->symbolizer, &c->module, file, number, on_line,
						&each), c, line, err);
}
