/*
 * memo.h: what an address looked like the last time, in bounded memory.
 *
 * Logs repeat their addresses, and rendering one costs two searches and a chain of
 * inlines, names and paths; so the finished text is kept. The texts lie in a ring: a new one
 * overwrites the oldest. An entry of the table is good as long as the ring has
 * not come round to its text again, as its running position shows, so nothing
 * is ever deleted.
 *
 * The addresses of a log may also never come again. What is asked for the
 * first time therefore leaves but a fingerprint; only at the second time is it
 * worth keeping.
 */
#ifndef MARKUP_MEMO_H
#define MARKUP_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMO_RING  (8u << 20)  /* bytes of text */
#define MEMO_SLOTS (1u << 13)  /* entries */
#define MEMO_SEEN  (1u << 13)  /* sets of four fingerprints */
#define MEMO_MAX   (32u << 10) /* a longer text is not kept */

struct mk_memo_key {
	uint64_t generation; /* of what the text depends on */
	uint64_t address;
	uint32_t kind;       /* whatever else it depends on */
};

struct mk_memo {
	struct mk_memo_entry *slots; /* NULL before the first text */
	uint64_t *seen;           /* the youngest of a set is in its low bits */
	char *ring;
	uint64_t written;         /* bytes ever written to the ring */
};

void mk_memo_deinit(struct mk_memo *m);

/* The text of `key`, 8-aligned and valid until the next mk_memo_put(), or NULL;
 * then *worth: whether to put it. */
const void *mk_memo_get(struct mk_memo *m, const struct mk_memo_key *key, bool *worth);

/* mk_memo_get() or mk_memo_fetch() will be asked for `key`: fetches what they look at. */
void mk_memo_expect(const struct mk_memo *m, const struct mk_memo_key *key);

/* Whether mk_memo_get() finds it; then its bytes are fetched from memory. */
bool mk_memo_fetch(struct mk_memo *m, const struct mk_memo_key *key, bool *worth);

/* Keeps a copy. If there is no memory nothing is remembered. */
void mk_memo_put(struct mk_memo *m, const struct mk_memo_key *key, const void *text, size_t len);

#endif
