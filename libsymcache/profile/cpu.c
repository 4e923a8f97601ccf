/*
 * CPU profiles of gperftools: words of 4 or 8 bytes, in the order of the machine. A header (0, 3,
 * 0, the period in microseconds, 0), records (count, n, n addresses), a trailer (0, 1, 0), and the
 * table of maps as text. The first address of a stack is exact, the others are return addresses.
 */
#include <endian.h>

#include "libsymcache/profile/legacy.h"

enum { HEADER = 5, TRAILER = 3 }; /* words */

struct words {
	const struct prof_input *in;
	size_t size; /* of one: 4, 8 */
	bool big;
};

static uint64_t word(const struct words *w, size_t i)
{
	uint64_t eight;
	uint32_t four;

	if (w->size == 8) {
		memcpy(&eight, w->in->bytes + i * 8, 8);
		return w->big ? be64toh(eight) : le64toh(eight);
	}
	memcpy(&four, w->in->bytes + i * 4, 4);
	return w->big ? be32toh(four) : le32toh(four);
}

/* Which words these are. False: it is no such profile. */
static bool find_words(const struct prof_input *in, struct words *ret)
{
	for (unsigned i = 0; i < 4; i++) {
		*ret = (struct words){ in, i & 2 ? 4 : 8, i & 1 };
		if (in->size >= HEADER * ret->size && !word(ret, 0) && word(ret, 1) == 3 &&
		    word(ret, 2) <= 1 && word(ret, 3) && !word(ret, 4))
			return true;
	}
	return false;
}

bool legacy_is_cpu(const uint8_t *bytes, size_t size)
{
	const struct prof_input in = { bytes, size };
	struct words w;

	return find_words(&in, &w);
}

static int bad(const struct words *w, size_t i, const char *why, struct sc_error *err)
{
	return prof_bad(w->in, w->in->bytes + i * w->size, why, err);
}

/* The record of n addresses from word `at` on. SC_ENOMEM. */
static int add_record(struct legacy_profile *l, const struct words *w, size_t at, size_t n,
		      struct sc_error *err)
{
	const uint64_t count = word(w, at - 2);
	struct legacy_sample *s = vec_push(&l->samples);

	if (!s || !vec_reserve(&l->addresses, n))
		return sc_no_memory(err);
	*s = (struct legacy_sample){ .values = { (int64_t)count, (int64_t)(count * l->period) },
				     .first = l->addresses.len };
	for (size_t i = 0; i < n; i++) {
		const uint64_t address = word(w, at + i);

		/* The second may be the first once more. */
		if (i != 1 || address != word(w, at))
			l->addresses.data[l->addresses.len++] = address;
	}
	s->num = l->addresses.len - s->first;
	return 0;
}

int legacy_read_cpu(struct legacy_profile *l, const struct prof_input *in, struct sc_error *err)
{
	struct words w;
	size_t at = HEADER, words;
	int rc = 0;

	find_words(in, &w);
	words = in->size / w.size;
	legacy_clear(l);
	l->cpu = true;
	l->period = word(&w, 3) * 1000;
	if (word(&w, 2))
		return sc_error_set(err, SC_EUNSUPPORTED, "is a CPU profile of Java, which has names of "
				    "its own");
	while (!rc) {
		uint64_t count, n;

		if (words - at < TRAILER)
			return bad(&w, at, "it ends before its trailer", err);
		count = word(&w, at);
		n = word(&w, at + 1);
		if (!count && n == 1 && !word(&w, at + 2))
			return legacy_read_maps(l, in, in->bytes + (at + TRAILER) * w.size, err);
		if (!n || n > words - at - 2)
			return bad(&w, at, "a record has more addresses than there are, or none", err);
		rc = add_record(l, &w, at + 2, (size_t)n, err);
		at += 2 + (size_t)n;
	}
	return rc;
}
