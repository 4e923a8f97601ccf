/* Caches one behind the other, each by a model of its own: see model.h; and one that others are
 * against. */
#include <stdlib.h>

#include "libsymcache/packed/container.h"

/* In the order in which the parts need each other: symbols and unwind information are predicted
 * from functions and data symbols. */
static void model_code(struct model *m, bool packing)
{
	static void (*const parts[])(struct model *, bool) = {
		layout_code, strings_code, scopes_code, details_code, locals_code, tables_code,
		symbols_code, unwind_code,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !m->k.bad; i++)
		parts[i](m, packing);
	if (!packing && !m->k.bad)
		layout_finish(m);
	for (int i = 0; i < CODER_BLOCKS; i++)
		coder_drop(&m->k, m->k.blocks[i].at);
}

/* Takes back what a cache put into the streams that the model does not know. */
static void undo(struct coder *k, const struct coder *before)
{
	for (int s = 0; s < NUM_STREAMS; s++)
		if (k->streams[s].base)
			k->streams[s].at = k->streams[s].base +
				(before->streams[s].at - before->streams[s].base);
	k->bad = false;
}

/* A cache, modelled or not, in the streams of m->k. */
static void code_cache(struct model *m, bool packing, bool modelled)
{
	const struct coder before = m->k;
	struct sc_error none = { 0 }, *err = m->k.err;

	modelled = code_num(&m->k, packing, S_HEAD, modelled);
	if (m->k.bad)
		return;
	if (modelled && packing)
		m->k.err = &none;
	if (modelled)
		model_code(m, packing);
	m->k.err = err;
	if (none.code == SC_ENOMEM)
		sc_no_memory(err);
	else if (packing && m->k.bad) {
		undo(&m->k, &before);
		modelled = code_num(&m->k, packing, S_HEAD, false);
	}
	if (!modelled)
		code_bytes(&m->k, packing, S_RAW, m->bytes, m->size);
}

void caches_code(struct coder *k, bool packing, const struct packed_bytes caches[], size_t n,
		 bool modelled)
{
	struct model *m = malloc(sizeof(*m));

	if (!m)
		sc_no_memory(k->err);
	k->bad |= !m;
	for (size_t i = 0; i < n && !k->bad; i++) {
		memset(m, 0, sizeof(*m));
		m->k = *k;
		m->bytes = (uint8_t *)caches[i].data;
		m->size = caches[i].size;
		code_cache(m, packing, modelled);
		*k = m->k;
	}
	free(m);
}

struct squeeze_prefix stream_of(const struct coder *k, size_t s)
{
	return (struct squeeze_prefix){
		k->streams[s].base, (size_t)(k->streams[s].at - k->streams[s].base) };
}

int base_init(struct base *b, struct packed_bytes cache, struct sc_error *err)
{
	b->cache = cache;
	b->k = (struct coder){ .err = err, .left = SIZE_MAX };
	caches_code(&b->k, true, &cache, 1, true);
	if (!b->k.bad)
		return 0;
	base_deinit(b);
	return err->code;
}

void base_deinit(struct base *b)
{
	coder_deinit(&b->k);
}
