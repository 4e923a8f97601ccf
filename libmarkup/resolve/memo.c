/* The memo of rendered addresses: see memo.h. */
#include "libmarkup/resolve/memo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WAYS 4 /* slots an entry may be in; the oldest is replaced */
#define FETCH_BYTES 1024u

struct mk_memo_entry {
	uint64_t generation;
	uint64_t address;
	uint64_t at; /* value of `written` where the text begins; 0: free */
	uint32_t kind, len;
};

static uint64_t hash_key(const struct mk_memo_key *key)
{
	return (key->generation << 40 ^ key->address << 1 ^ (uint64_t)key->kind << 56) *
	       0x9e3779b97f4a7c15u;
}

static size_t first_slot(uint64_t hash)
{
	return (size_t)(hash >> 40) % (MEMO_SLOTS / WAYS) * WAYS;
}

static bool is_for(const struct mk_memo_entry *e, const struct mk_memo_key *key)
{
	return e->at && e->address == key->address && e->generation == key->generation &&
	       e->kind == key->kind;
}

/* Pages come zeroed, and only when they are touched. */
static void *map_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void mk_memo_deinit(struct mk_memo *m)
{
	if (m->slots)
		munmap(m->slots, MEMO_SLOTS * sizeof(*m->slots));
	if (m->seen)
		munmap(m->seen, MEMO_SEEN * sizeof(*m->seen));
	if (m->ring)
		munmap(m->ring, MEMO_RING);
	*m = (struct mk_memo){ 0 };
}

static bool prepare(struct mk_memo *m)
{
	m->slots = map_pages(MEMO_SLOTS * sizeof(*m->slots));
	m->seen = map_pages(MEMO_SEEN * sizeof(*m->seen));
	m->ring = map_pages(MEMO_RING);
	if (!m->slots || !m->seen || !m->ring) {
		mk_memo_deinit(m);
		return false;
	}
	m->written = MEMO_RING; /* so that 0 means free */
	return true;
}

/* Tells keys apart whose fingerprints are in the same place. */
static uint16_t print_of(uint64_t hash)
{
	return (uint16_t)(hash >> 16) | 1;
}

static uint64_t *set_of(const struct mk_memo *m, uint64_t hash)
{
	return &m->seen[(hash >> 32) % MEMO_SEEN];
}

/* Is one of the four fingerprints in a set this one? */
static bool is_in(uint64_t set, uint16_t print)
{
	const uint64_t ones = 0x0001000100010001u, zero_if_same = set ^ print * ones;
	return (zero_if_same - ones) & ~zero_if_same & ones << 15;
}

static const struct mk_memo_entry *find(const struct mk_memo *m, const struct mk_memo_key *key,
				     uint64_t hash)
{
	const struct mk_memo_entry *e = &m->slots[first_slot(hash)];

	for (int i = 0; i < WAYS; i++, e++)
		if (is_for(e, key) && m->written - e->at <= MEMO_RING)
			return e;
	return NULL;
}

/* As mk_memo_get(), the entry. */
static const struct mk_memo_entry *get(struct mk_memo *m, const struct mk_memo_key *key,
				    bool *worth)
{
	const uint64_t hash = hash_key(key);
	const uint16_t print = print_of(hash);
	const struct mk_memo_entry *e;
	uint64_t *set;

	*worth = false;
	if (!m->ring && !prepare(m))
		return NULL;
	set = set_of(m, hash);
	if (!is_in(*set, print)) {
		*set = *set << 16 | print;
		return NULL;
	}
	e = find(m, key, hash);
	*worth = !e;
	return e;
}

void mk_memo_expect(const struct mk_memo *m, const struct mk_memo_key *key)
{
	if (m->ring)
		__builtin_prefetch(set_of(m, hash_key(key)), 1);
}

const void *mk_memo_get(struct mk_memo *m, const struct mk_memo_key *key, bool *worth)
{
	const struct mk_memo_entry *e = get(m, key, worth);
	return e ? m->ring + e->at % MEMO_RING : NULL;
}

bool mk_memo_fetch(struct mk_memo *m, const struct mk_memo_key *key, bool *worth)
{
	const struct mk_memo_entry *e = get(m, key, worth);

	for (uint32_t at = 0; e && at < e->len && at < FETCH_BYTES; at += 64)
		__builtin_prefetch(m->ring + e->at % MEMO_RING + at);
	return e;
}

void mk_memo_put(struct mk_memo *m, const struct mk_memo_key *key, const void *text, size_t len)
{
	struct mk_memo_entry *slot, *oldest;
	size_t room = (len + 7) / 8 * 8;

	if (len > MEMO_MAX || (!m->ring && !prepare(m)))
		return;
	/* A text does not wrap around the end. */
	if (MEMO_RING - m->written % MEMO_RING < room)
		m->written += MEMO_RING - m->written % MEMO_RING;

	slot = oldest = &m->slots[first_slot(hash_key(key))];
	for (int i = 0; i < WAYS; i++, slot++) {
		if (is_for(slot, key)) {
			oldest = slot;
			break;
		}
		if (slot->at < oldest->at)
			oldest = slot;
	}
	*oldest = (struct mk_memo_entry){
		.generation = key->generation,
		.address = key->address,
		.at = m->written,
		.kind = key->kind,
		.len = (uint32_t)len,
	};
	memcpy(m->ring + m->written % MEMO_RING, text, len);
	m->written += room;
}
