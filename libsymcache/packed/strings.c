/*
 * The strings: of each how much it shares with the one before (PREFIX), and the rest (TEXT); or
 * which one has the same core (BASE), and what is in front of that and behind it (AFFIX): most
 * other names of a function, and the parts that compilers make of it, differ in no more.
 */
#include <xxhash.h>

#include "libsymcache/packed/model.h"

enum {
	LENGTH_MAX = 5, PREFIX_MAX = 0xdf,
	CORE_MIN = 3,      /* a shorter one is not worth it */
	OWNERS_MAX = 1 << 20,
};

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

struct text {
	const uint8_t *at;
	uint32_t len;
};

/* The core of a name: what it has in common with its aliases, versions and parts. */
static struct text core_of(struct text s)
{
	uint32_t from = s.len >= 5 && !memcmp(s.at, "__GI_", 5) ? 5 : 0, to;

	while (from < s.len && s.at[from] == '_')
		from++;
	for (to = from; to < s.len && s.at[to] != '.' && s.at[to] != '@';)
		to++;
	return (struct text){ s.at + from, to - from };
}

static struct text core_at(const struct model *m, uint32_t offset)
{
	const uint8_t *p = m->strings + offset;
	struct text s;

	s.at = p + get_length(m->header->version, p, m->header->string_bytes - offset, &s.len);
	return core_of(s);
}

static uint32_t shared(struct text a, struct text b)
{
	uint32_t n = 0, most = a.len < b.len ? a.len : b.len;

	while (n < most && n < PREFIX_MAX && a.at[n] == b.at[n])
		n++;
	return n;
}

/* ---- packing ------------------------------------------------------------------------- */

/* By the hash of a core the last string that has it; at first the first string of all. */
struct owner {
	uint32_t offset, number;
};

struct owners {
	struct owner *list;
	uint32_t mask;
	uint32_t next; /* what the next string may be based on: the one behind the last base */
};

static void put_text(struct model *m, enum stream_id s, const uint8_t *from, const uint8_t *to)
{
	uint8_t nul = 0;

	code_bytes(&m->k, true, s, (uint8_t *)from, (size_t)(to - from));
	code_bytes(&m->k, true, s, &nul, 1);
}

/* String number m->num_strings, against the one before or one with the same core. */
static void put_string(struct model *m, uint32_t offset, struct text s, struct text before,
		       struct owners *owners)
{
	const struct text core = core_of(s);
	const uint32_t same = shared(before, s), i = m->num_strings++;
	struct owner *o = &owners->list[XXH3_64bits(core.at, core.len) & owners->mask];
	const struct owner base = *o;
	const struct text is = i ? core_at(m, base.offset) : (struct text){ 0 };

	*o = (struct owner){ offset, i };
	if (core.len < CORE_MIN || s.at + same >= core.at + core.len || core.len != is.len ||
	    memcmp(core.at, is.at, core.len)) {
		coder_put(&m->k, S_BASE, 0);
		coder_put(&m->k, S_PREFIX, same);
		put_text(m, S_TEXT, s.at + same, s.at + s.len);
		return;
	}
	coder_put(&m->k, S_BASE, 1 + (uint64_t)zigzag(base.number - owners->next));
	put_text(m, S_AFFIX, s.at, core.at);
	put_text(m, S_AFFIX, core.at + core.len, s.at + s.len);
	owners->next = base.number + 1;
}

static void pack(struct model *m)
{
	const uint32_t size = m->header->string_bytes;
	struct owners owners = { .mask = 255 };
	struct text before = { m->strings, 0 }, s;
	uint32_t head;

	while (owners.mask < OWNERS_MAX - 1 && owners.mask < size / 4)
		owners.mask = 2 * owners.mask + 1;
	owners.list = coder_take(&m->k, owners.mask + 1, sizeof(*owners.list));
	m->begins = coder_take(&m->k, size / 64 + 1, sizeof(*m->begins));
	m->ranks = coder_take(&m->k, size / 64 + 1, sizeof(*m->ranks));
	for (uint32_t at = 0; at < size && !m->k.bad; at += head + s.len) {
		const uint8_t *p = m->strings + at;

		head = get_length(m->header->version, p, size - at, &s.len);
		s.at = p + head;
		if (!head || memchr(s.at, 0, s.len)) {
			coder_fail(&m->k, S_TEXT, "another kind of string");
			return;
		}
		m->begins[at / 64] |= (uint64_t)1 << at % 64;
		put_string(m, at, s, before, &owners);
		before = s;
	}
	coder_drop(&m->k, owners.list);
	for (uint32_t i = 0, n = 0; i <= size / 64 && !m->k.bad; i++) {
		m->ranks[i] = n;
		n += (uint32_t)__builtin_popcountll(m->begins[i]);
	}
}

/* ---- unpacking ----------------------------------------------------------------------- */

static struct text get_text(struct model *m, enum stream_id s)
{
	struct stream *t = &m->k.streams[s];
	const uint8_t *nul = t->at < t->end ? memchr(t->at, 0, (size_t)(t->end - t->at)) : NULL;
	struct text ret = { t->at, 0 };

	if (!nul) {
		coder_fail(&m->k, s, "it ends within a string");
		return ret;
	}
	ret.len = (uint32_t)(nul - t->at);
	t->at += ret.len + 1;
	return ret;
}

/* The core of string `number`, if that is below `end`. */
static struct text get_core(struct model *m, uint32_t number, uint32_t end)
{
	if (number < end)
		return core_at(m, m->offsets[number]);
	coder_fail(&m->k, S_BASE, "no such string");
	return (struct text){ m->strings, 0 };
}

/* The parts of string `i`. */
static void get_string(struct model *m, uint32_t i, struct text before, uint32_t *next,
		       struct text parts[3])
{
	const uint64_t x = coder_get(&m->k, S_BASE);

	if (x) {
		const uint32_t base = *next + unzigzag((uint32_t)(x - 1));

		parts[0] = get_text(m, S_AFFIX);
		parts[1] = get_core(m, base, i);
		parts[2] = get_text(m, S_AFFIX);
		*next = base + 1;
	} else {
		const uint64_t same = coder_get(&m->k, S_PREFIX);

		if (same > before.len)
			coder_fail(&m->k, S_PREFIX, "longer than the string before");
		parts[0] = (struct text){ before.at, (uint32_t)same };
		parts[1] = get_text(m, S_TEXT);
		parts[2] = (struct text){ before.at, 0 };
	}
}

static void unpack(struct model *m)
{
	const uint32_t size = m->header->string_bytes;
	struct text before = { m->strings, 0 }, parts[3];
	uint32_t at = 0, next = 0;

	m->offsets = coder_take(&m->k, m->num_strings, sizeof(*m->offsets));
	for (uint32_t i = 0; i < m->num_strings && !m->k.bad; i++) {
		uint8_t head[LENGTH_MAX], *p = m->strings + at;
		uint32_t head_len;
		uint64_t len;

		get_string(m, i, before, &next, parts);
		if (m->k.bad)
			return;
		len = (uint64_t)parts[0].len + parts[1].len + parts[2].len;
		head_len = put_length(m->header->version, (uint32_t)len, head);
		if (head_len + len > size - at) {
			coder_fail(&m->k, S_TEXT, "too many strings");
			return;
		}
		memcpy(p, head, head_len);
		p += head_len;
		before = (struct text){ p, (uint32_t)len };
		for (int k = 0; k < 3; p += parts[k++].len)
			memcpy(p, parts[k].at, parts[k].len);
		m->offsets[i] = at;
		at += head_len + before.len;
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
