/*
 * JSON texts: see json_text.h. yajl uses what malloc() gave it without a look, so where it gives
 * nothing the parser is left by a jump, and what it had is freed.
 */
#include "libsymcache/base/json_text.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libsymcache/base/error.h"

struct block {
	struct block *next, *before;
	max_align_t bytes[];
};

struct memory {
	struct block all; /* a ring */
	jmp_buf out;
};

static void *link_in(struct memory *m, struct block *b)
{
	if (!b)
		longjmp(m->out, 1);
	b->next = m->all.next;
	b->before = &m->all;
	b->next->before = b->before->next = b;
	return b->bytes;
}

static struct block *unlinked(void *bytes)
{
	struct block *b = (struct block *)((char *)bytes - offsetof(struct block, bytes));

	b->next->before = b->before;
	b->before->next = b->next;
	return b;
}

static void *get(void *ctx, size_t size)
{
	return link_in(ctx, malloc(sizeof(struct block) + size));
}

static void give_back(void *ctx, void *bytes)
{
	(void)ctx;
	if (bytes)
		free(unlinked(bytes));
}

static void *resize(void *ctx, void *bytes, size_t size)
{
	struct block *old = bytes ? unlinked(bytes) : NULL;
	struct block *b = realloc(old, sizeof(*b) + size);

	if (!b)
		free(old);
	return link_in(ctx, b);
}

/* Calls `fn` with `ctx` and functions for yajl_alloc(), and returns what it returns; or SC_ENOMEM
 * as soon as one of these has nothing to give: `fn` is left by a jump. */
static int within(int (*fn)(void *ctx, yajl_alloc_funcs *funcs), void *ctx)
{
	struct memory m;

	m.all.next = m.all.before = &m.all;
	if (!setjmp(m.out))
		return fn(ctx, &(yajl_alloc_funcs){ get, resize, give_back, &m });
	while (m.all.next != &m.all)
		free(unlinked(m.all.next->bytes));
	return SC_ENOMEM;
}

struct parsing {
	const yajl_callbacks *callbacks;
	void *ctx;
	const char *text;
	size_t size, end;
};

static int parse(void *ctx, yajl_alloc_funcs *funcs)
{
	struct parsing *p = ctx;
	yajl_handle parser = yajl_alloc(p->callbacks, funcs, p->ctx);
	bool ok = yajl_parse(parser, (const unsigned char *)p->text, p->size) == yajl_status_ok;

	/* Of a text that is cut off that is where it ends: what is parsed then is a blank. */
	p->end = ok ? p->size : yajl_get_bytes_consumed(parser);
	ok = ok && yajl_complete_parse(parser) == yajl_status_ok;
	yajl_free(parser);
	return ok ? 0 : SC_EFORMAT;
}

int sc_json_parse(const yajl_callbacks *callbacks, void *ctx, const char *text, size_t size,
		  size_t *end)
{
	struct parsing p = { callbacks, ctx, text, size, 0 };
	const int rc = within(parse, &p);

	if (end)
		*end = p.end;
	return rc;
}
