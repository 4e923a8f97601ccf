/*
 * The container: which caches, and the streams, each compressed by itself. See format/packed.md.
 */
#include "libsymcache/packed/packed.h"

#include <endian.h>
#include <stdlib.h>

#include <xxhash.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/packed/model.h"
#include "libsymcache/packed/squeeze.h"

enum {
	CACHES_MAX = 1 << 16,
	GROWTH_MAX = 256,  /* caches are not larger than so many times the file and 256 bytes */
	HEADER = 12,       /* magic, version, kind, number of caches */
	CACHE = 16,        /* size and hash */
};

/* The kind of a file: caches one behind the other, as they are; or streams. */
enum kind { AS_IT_IS, STREAMS };

static const uint8_t magic[8] = "SYMPACK\1";

bool packed_begins(const void *data, size_t size)
{
	return size >= sizeof(magic) && !memcmp(data, magic, sizeof(magic) - 1);
}

static size_t rounded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* ---- caches and streams ----------------------------------------------------------------- */

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

static void code_caches(struct coder *k, bool packing, const struct packed_bytes caches[], size_t n,
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

/* ---- packing ---------------------------------------------------------------------------- */

static uint8_t *put_number(uint8_t *p, uint64_t v, size_t bytes)
{
	v = htole64(v);
	memcpy(p, &v, bytes);
	return p + bytes;
}

static uint8_t *put_header(uint8_t *p, const struct packed_bytes caches[], size_t n, enum kind kind)
{
	memcpy(p, magic, sizeof(magic));
	p = put_number(p + sizeof(magic), kind, 1);
	p = put_number(p, n, 3);
	for (size_t i = 0; i < n; i++) {
		p = put_number(p, caches[i].size, 8);
		p = put_number(p, XXH3_64bits(caches[i].data, caches[i].size), 8);
	}
	return p;
}

struct packing {
	const struct packed_bytes *caches;
	size_t n;
	int level;
	void *packed; /* what came */
	size_t size;
	struct sc_error *err;
};

static int put_file(struct packing *p, enum kind kind, const struct packed_bytes streams[], size_t num)
{
	size_t most = HEADER + CACHE * p->n;
	uint8_t *out, *at;

	for (size_t i = 0; i < num; i++)
		most += squeeze_most(streams[i].size);
	if (!(out = malloc(most)))
		return sc_no_memory(p->err);
	at = put_header(out, p->caches, p->n, kind);
	for (size_t i = 0; i < num; i++) {
		const size_t used = squeeze(streams[i].data, streams[i].size, p->level, at);

		if (!used) {
			free(out);
			return sc_no_memory(p->err);
		}
		at += used;
	}
	p->packed = out;
	p->size = (size_t)(at - out);
	return 0;
}

static int pack_streams(struct packing *p, bool modelled)
{
	struct coder k = { .err = p->err, .left = SIZE_MAX };
	struct packed_bytes streams[NUM_STREAMS];
	int rc;

	code_caches(&k, true, p->caches, p->n, modelled);
	for (int s = 0; s < NUM_STREAMS; s++)
		streams[s] = (struct packed_bytes){
			k.streams[s].base, (size_t)(k.streams[s].at - k.streams[s].base) };
	rc = k.bad ? p->err->code : put_file(p, STREAMS, streams, NUM_STREAMS);
	coder_deinit(&k);
	return rc;
}

/* Do they come back? It would also not be so of streams that take too much memory. */
static int compare(struct packing *p)
{
	struct packed_caches back = { 0 };
	int rc = packed_unpack(p->packed, p->size, &back, p->err);

	for (size_t i = 0; i < p->n && !rc; i++)
		if (back.caches[i].size != p->caches[i].size ||
		    memcmp(back.caches[i].data, p->caches[i].data, p->caches[i].size))
			rc = sc_error_set(p->err, SC_EFORMAT, "it does not come back");
	packed_caches_deinit(&back);
	return rc;
}

int packed_pack(const struct packed_bytes caches[], size_t n, int level, void **ret,
		size_t *ret_size, struct sc_error *err)
{
	struct sc_error why;
	struct packing p = { caches, n, level, .err = err ? err : &why };
	uint64_t total = 0;
	int rc = SC_EFORMAT;

	for (size_t i = 0; i < n; i++)
		total += caches[i].size;
	if (!n || n > CACHES_MAX || total > PACKED_SIZE_MAX)
		return sc_error_set(err, SC_EINVAL, "too large to be packed");
	if (level < 0 || level > PACKED_LEVEL_MAX)
		return sc_error_set(err, SC_EINVAL, "levels are 1 to %d", PACKED_LEVEL_MAX);
	/* Modelled; as it is; stored, as what is compressed too well is not believed. */
	for (int attempt = 0; attempt < 3 && rc == SC_EFORMAT; attempt++) {
		p.level = attempt < 2 ? level : 0;
		p.packed = NULL;
		rc = attempt && n == 1 ? put_file(&p, AS_IT_IS, caches, 1) : pack_streams(&p, !attempt);
		if (!rc && (rc = compare(&p)))
			free(p.packed);
	}
	*ret = rc ? NULL : p.packed;
	*ret_size = p.size;
	return rc;
}

/* ---- unpacking -------------------------------------------------------------------------- */

static uint64_t get_number(const uint8_t *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return le64toh(v);
}

static uint64_t total_of(const uint8_t *p, size_t num)
{
	uint64_t total = 0;

	for (size_t i = 0; i < num; i++) {
		const uint64_t one = get_number(p + HEADER + CACHE * i, 8);

		total += one <= PACKED_SIZE_MAX ? rounded(one) : PACKED_SIZE_MAX + 1;
	}
	return total;
}

uint64_t packed_total(const void *data, size_t size)
{
	const uint8_t *p = data;
	const size_t num = packed_begins(p, size) && size >= HEADER ? get_number(p + 9, 3) : 0;

	return num <= (size - (num ? HEADER : 0)) / CACHE ? total_of(p, num) : 0;
}

/* The sizes of the caches, and room for them. */
static int get_header(const uint8_t *p, size_t size, struct packed_caches *ret, struct sc_error *err)
{
	uint64_t total;
	uint8_t *at;

	if (!packed_begins(p, size))
		return sc_error_set(err, SC_EFORMAT, "not a packed SymCache");
	if (p[sizeof(magic) - 1] != magic[sizeof(magic) - 1] || size < HEADER || p[8] > STREAMS)
		return sc_error_set(err, SC_EUNSUPPORTED, "packed by a later version");
	ret->num = get_number(p + 9, 3);
	if (!ret->num || ret->num > CACHES_MAX || ret->num > (size - HEADER) / CACHE ||
	    (p[8] == AS_IT_IS && ret->num > 1))
		return sc_error_set(err, SC_EFORMAT, "header: the number of caches is %zu", ret->num);
	total = total_of(p, ret->num);
	if (total > PACKED_SIZE_MAX || total / GROWTH_MAX > size + GROWTH_MAX)
		return sc_error_set(err, SC_EFORMAT, "header: so large are no caches in a file of %zu bytes", size);
	ret->size = total;
	ret->caches = calloc(ret->num, sizeof(*ret->caches));
	ret->bytes = at = malloc(total + 8);
	if (!ret->caches || !ret->bytes)
		return sc_no_memory(err);
	sc_big_advise(ret->bytes, total);
	for (size_t i = 0; i < ret->num; i++) {
		ret->caches[i] = (struct packed_bytes){ at, get_number(p + HEADER + CACHE * i, 8) };
		at += rounded(ret->caches[i].size);
	}
	return 0;
}

/* Stream `s`, which begins at *at. */
static int get_stream(struct coder *k, enum stream_id s, const uint8_t *data, const uint8_t **at,
		      const uint8_t *end, struct sc_error *err)
{
	struct stream *t = &k->streams[s];
	const size_t offset = (size_t)(*at - data);
	const struct squeezed q = squeezed_next(at, end);
	struct sc_error why = { 0 };

	if (!q.data)
		sc_error_set(&why, SC_EFORMAT, "it is longer than the file");
	else if (q.len + STREAM_PAD > k->left)
		sc_error_set(&why, SC_EFORMAT, "it takes more than %d MiB", PACKED_MEMORY_MAX >> 20);
	else if (!(t->base = malloc(q.len + STREAM_PAD)))
		sc_no_memory(&why);
	else if (!unsqueeze(q, t->base, &why)) {
		memset(t->base + q.len, 0, STREAM_PAD);
		k->left -= q.len + STREAM_PAD;
		t->at = t->base;
		t->end = t->base + q.len;
		return 0;
	}
	sc_error_set(err, why.code, "stream %s, at %zu: %s", coder_name(s), offset, why.msg);
	return why.code;
}

static int unpack_streams(const uint8_t *data, const uint8_t *at, const uint8_t *end,
			  const struct packed_caches *ret, struct sc_error *err)
{
	struct sc_error why = { 0 };
	struct coder k = { .err = &why, .left = PACKED_MEMORY_MAX };
	int rc = 0;

	for (int s = 0; s < NUM_STREAMS && !rc; s++)
		rc = get_stream(&k, s, data, &at, end, err);
	if (!rc && at != end)
		rc = sc_error_set(err, SC_EFORMAT, "at %zu: bytes behind the last stream", (size_t)(at - data));
	if (!rc)
		code_caches(&k, false, ret->caches, ret->num, false);
	for (int s = 0; s < NUM_STREAMS && !rc && !k.bad; s++)
		if (k.streams[s].at != k.streams[s].end)
			coder_fail(&k, s, "it is too long");
	if (!rc && k.bad)
		rc = sc_error_set(err, why.code, "%s", why.msg);
	coder_deinit(&k);
	return rc;
}

static int unpack_bytes(const uint8_t *data, const uint8_t *at, const uint8_t *end,
			const struct packed_caches *ret, struct sc_error *err)
{
	const size_t offset = (size_t)(at - data);
	const struct squeezed q = squeezed_next(&at, end);
	int rc = 0;

	if (!q.data || q.len != ret->caches[0].size || at != end)
		rc = sc_error_set(err, SC_EFORMAT, "not %zu bytes", ret->caches[0].size);
	else
		rc = unsqueeze(q, ret->bytes, err);
	if (rc)
		sc_error_prefix(err, "at %zu: ", offset);
	return rc;
}

int packed_unpack(const void *data, size_t size, struct packed_caches *ret, struct sc_error *err)
{
	const uint8_t *p = data, *at, *end = p + size;
	int rc;

	*ret = (struct packed_caches){ 0 };
	if (!(rc = get_header(p, size, ret, err))) {
		at = p + HEADER + CACHE * ret->num;
		rc = p[8] == STREAMS ? unpack_streams(p, at, end, ret, err) :
				       unpack_bytes(p, at, end, ret, err);
	}
	for (size_t i = 0; i < ret->num && !rc; i++)
		if (XXH3_64bits(ret->caches[i].data, ret->caches[i].size) !=
		    get_number(p + HEADER + CACHE * i + 8, 8))
			rc = sc_error_set(err, SC_EFORMAT, "cache %zu is not what was packed: its hash differs", i);
	if (rc)
		packed_caches_deinit(ret);
	return rc;
}

void packed_caches_deinit(struct packed_caches *caches)
{
	free(caches->bytes);
	free(caches->caches);
	*caches = (struct packed_caches){ 0 };
}
