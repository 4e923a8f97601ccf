/*
 * scan_passes.h: the passes of scan.c over blocks of 64 bytes, for one kind of
 * processor. Included once for each kind, with its blocks and
 *
 *   KIND(name)   what its functions are called
 *   TARGET       their attributes
 */

/* The block at p, of which `len` bytes exist; the others are 0. */
TARGET static inline struct KIND(block) KIND(load_some)(const char *p, size_t len)
{
	char bytes[64] = { 0 };

	if (len == 64)
		return KIND(load)(p);
	memcpy(bytes, p, len);
	return KIND(load)(bytes);
}

TARGET static size_t KIND(scan)(const char **from, const char *end, enum mk_scan_for what,
				uint64_t *newlines, struct mk_hit hits[], size_t max)
{
	const char *p = *from, *next = p; /* no hit begins before `next` */
	unsigned before = 0;
	size_t n = 0;

	for (size_t len; p < end; p += len) {
		const struct KIND(block) b = KIND(load_some)(p, len = block_len(p, end));
		uint64_t braces = 0, hit, line_ends;

		if (KIND(has)(&b, '{')) {
			const uint64_t m = KIND(mask_of)(&b, '{');
			braces = triples(m, before);
			before = carry(m);
		} else {
			before = 0;
		}
		hit = braces;
		if (what == MK_SCAN_ESC)
			hit |= KIND(mask_of)(&b, '\033');
		if (__builtin_expect(!hit, 1)) {
			*newlines += KIND(count_of)(&b, '\n');
			continue;
		}
		line_ends = KIND(mask_of)(&b, '\n');
		for (; hit; hit &= hit - 1) {
			const unsigned i = (unsigned)__builtin_ctzll(hit);
			const bool brace = braces >> i & 1; /* which began two before */
			const char *at = p + i - 2 * brace;

			if (at < next)
				continue;
			next = at + 1 + 2 * brace;
			hits[n].at = at;
			hits[n].line_no = *newlines + (uint64_t)
				__builtin_popcountll(line_ends & ((1ull << i) - 1));
			if (++n == max) {
				*newlines = hits[n - 1].line_no;
				*from = next;
				return n;
			}
		}
		*newlines += (uint64_t)__builtin_popcountll(line_ends);
	}
	*from = end;
	return n;
}

TARGET static uint64_t KIND(count_newlines)(const char *p, const char *end)
{
	uint64_t lines = 0;

	for (size_t len; p < end; p += len) {
		const struct KIND(block) b = KIND(load_some)(p, len = block_len(p, end));
		lines += KIND(count_of)(&b, '\n');
	}
	return lines;
}

#undef KIND
#undef TARGET
