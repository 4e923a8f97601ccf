/* The strings: of each how much it shares with the one before (PREFIX), and the rest (TEXT). */
#include "libsymcache/packed/model.h"

enum { LENGTH_MAX = 5, PREFIX_MAX = 0xdf };

/* The length prefix of a string, as writers make it. */
static uint32_t put_length(uint32_t version, uint32_t len, uint8_t ret[LENGTH_MAX])
{
	uint32_t n = 0;

	if (version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS) {
		memcpy(ret, &len, sizeof(len));
		return sizeof(len);
	}
	for (; len >= 0x80; len >>= 7)
		ret[n++] = (uint8_t)(len | 0x80);
	ret[n++] = (uint8_t)len;
	return n;
}

/* How long the prefix in p[0, room) is, and what it says; 0: it is another. */
static uint32_t get_length(uint32_t version, const uint8_t *p, uint32_t room, uint32_t *len)
{
	uint8_t made[LENGTH_MAX];
	uint64_t v = 0;
	uint32_t n = 0;

	if (version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS) {
		for (; n < 4 && n < room; n++)
			v |= (uint64_t)p[n] << (8 * n);
	} else {
		do
			v |= (uint64_t)(p[n] & 0x7f) << (7 * n);
		while (p[n++] & 0x80 && n < LENGTH_MAX && n < room);
	}
	*len = (uint32_t)v;
	return n <= room && v <= room - n && put_length(version, *len, made) == n &&
	       !memcmp(made, p, n) ? n : 0;
}

static uint32_t shared(const uint8_t *a, uint32_t a_len, const uint8_t *b, uint32_t b_len)
{
	uint32_t n = 0, most = a_len < b_len ? a_len : b_len;

	while (n < most && n < PREFIX_MAX && a[n] == b[n])
		n++;
	return n;
}

static void pack(struct model *m)
{
	const uint32_t size = m->header->string_bytes;
	uint32_t before_len = 0, len, head, same;
	uint8_t *before = m->strings, nul = 0;

	m->begins = coder_take(&m->k, size / 64 + 1, sizeof(*m->begins));
	m->ranks = coder_take(&m->k, size / 64 + 1, sizeof(*m->ranks));
	for (uint32_t at = 0; at < size && !m->k.bad; at += head + len) {
		uint8_t *p = m->strings + at;

		head = get_length(m->header->version, p, size - at, &len);
		if (!head || memchr(p + head, 0, len)) {
			coder_fail(&m->k, S_TEXT, "another kind of string");
			return;
		}
		p += head;
		m->begins[at / 64] |= (uint64_t)1 << at % 64;
		same = shared(before, before_len, p, len);
		coder_put(&m->k, S_PREFIX, same);
		code_bytes(&m->k, true, S_TEXT, p + same, len - same);
		code_bytes(&m->k, true, S_TEXT, &nul, 1);
		before = p;
		before_len = len;
		m->num_strings++;
	}
	for (uint32_t i = 0, n = 0; i <= size / 64 && !m->k.bad; i++) {
		m->ranks[i] = n;
		n += (uint32_t)__builtin_popcountll(m->begins[i]);
	}
}

static void unpack(struct model *m)
{
	const uint32_t size = m->header->string_bytes;
	const uint8_t *before = m->strings;
	struct stream *t = &m->k.streams[S_TEXT];
	uint32_t at = 0, before_len = 0;

	m->offsets = coder_take(&m->k, m->num_strings, sizeof(*m->offsets));
	for (uint32_t i = 0; i < m->num_strings && !m->k.bad; i++) {
		const uint64_t same = coder_get(&m->k, S_PREFIX);
		const uint8_t *nul = t->at < t->end ? memchr(t->at, 0, (size_t)(t->end - t->at)) : NULL;
		const uint64_t rest = nul ? (uint64_t)(nul - t->at) : 0, len = same + rest;
		uint8_t head[LENGTH_MAX], *p = m->strings + at;
		uint32_t head_len;

		if (!nul || same > before_len || len > size) {
			coder_fail(&m->k, S_TEXT, "no such string");
			return;
		}
		head_len = put_length(m->header->version, (uint32_t)len, head);
		if (head_len + len > size - at) {
			coder_fail(&m->k, S_TEXT, "too many strings");
			return;
		}
		memcpy(p, head, head_len);
		memcpy(p + head_len, before, same);
		memcpy(p + head_len + same, t->at, rest);
		t->at += rest + 1;
		m->offsets[i] = at;
		before = p + head_len;
		before_len = (uint32_t)len;
		at += head_len + before_len;
	}
	if (at != size)
		coder_fail(&m->k, S_TEXT, "too few strings");
}

void strings_code(struct model *m, bool packing)
{
	if (packing)
		pack(m);
	m->num_strings = (uint32_t)code_num(&m->k, packing, S_HEAD, m->num_strings);
	if (!packing && !m->k.bad)
		unpack(m);
}
