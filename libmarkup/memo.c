/* The memo of rendered addresses: see memo.h. */
#include "libmarkup/memo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WAYS 4 /* slots an entry may be in; the oldest gives way */

struct memo_entry {
	struct memo_key key;
	uint32_t len;
	uint64_t at; /* value of `written` where the text begins; 0: free */
};

static size_t first_slot(const struct memo_key *key)
{
	uint64_t h = ((uint64_t)(uintptr_t)key->module ^ key->vaddr << 1 ^
		      (uint64_t)key->kind << 56) * 0x9e3779b97f4a7c15u;
	return (size_t)(h >> 40) % (MEMO_SLOTS / WAYS) * WAYS;
}

static bool same_key(const struct memo_key *a, const struct memo_key *b)
{
	return a->vaddr == b->vaddr && a->module == b->module && a->kind == b->kind;
}

/* Pages come zeroed, and only when they are touched. */
static void *map_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void mk_memo_deinit(struct markup_memo *m)
{
	if (m->slots)
		munmap(m->slots, MEMO_SLOTS * sizeof(*m->slots));
	if (m->ring)
		munmap(m->ring, MEMO_RING);
	*m = (struct markup_memo){ 0 };
}

const void *mk_memo_get(const struct markup_memo *m, const struct memo_key *key)
{
	if (!m->ring)
		return NULL;
	const struct memo_entry *e = &m->slots[first_slot(key)];
	for (int i = 0; i < WAYS; i++, e++)
		if (e->at && same_key(&e->key, key))
			return m->written - e->at <= MEMO_RING ? m->ring + e->at % MEMO_RING
							       : NULL;
	return NULL;
}

void mk_memo_put(struct markup_memo *m, const struct memo_key *key, const void *text, size_t len)
{
	struct memo_entry *slot, *oldest;
	size_t room = (len + 7) / 8 * 8;

	if (len > MEMO_MAX)
		return;
	if (!m->ring) {
		m->slots = map_pages(MEMO_SLOTS * sizeof(*m->slots));
		m->ring = m->slots ? map_pages(MEMO_RING) : NULL;
		if (!m->ring) {
			mk_memo_deinit(m);
			return;
		}
		m->written = MEMO_RING; /* so that 0 means free */
	}
	/* A text does not wrap around the end. */
	if (MEMO_RING - m->written % MEMO_RING < room)
		m->written += MEMO_RING - m->written % MEMO_RING;

	slot = oldest = &m->slots[first_slot(key)];
	for (int i = 0; i < WAYS; i++, slot++) {
		if (slot->at && same_key(&slot->key, key)) {
			oldest = slot;
			break;
		}
		if (slot->at < oldest->at)
			oldest = slot;
	}
	*oldest = (struct memo_entry){ .key = *key, .len = (uint32_t)len, .at = m->written };
	memcpy(m->ring + m->written % MEMO_RING, text, len);
	m->written += room;
}
