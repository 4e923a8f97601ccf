/*
 * Heap texts:
 *
 *   heap profile:    3:   120 [    5:   200] @ heap_v2/524288     gperftools
 *      1:    40 [    1:    40] @ 0x55e4a1db2352 0x7f71997b11fa
 *   MAPPED_LIBRARIES: …
 *
 *   heap_v2/524288                                                jemalloc
 *     t*: 3: 120 [0: 0]
 *   @ 0x55e4a1db2352 0x7f71997b11fa
 *     t*: 1: 40 [0: 0]
 *     t0: 1: 40 [0: 0]
 *   MAPPED_LIBRARIES: …
 *
 * objects: bytes [allocated objects: bytes]; all addresses are return addresses.
 */
#include "libmarkup/bytes/number.h"
#include "libsymcache/base/text.h"
#include "libsymcache/profile/kinds.h"
#include "libsymcache/profile/legacy.h"

enum {
	FACTORS = 256,
	ADDRESS = 16, /* bytes of text, about */
};

/* A text that is read line by line. */
struct text {
	const struct prof_input *in;
	const char *p, *end; /* of the line, without its newline */
	const char *next;    /* behind it */
	struct {
		double size, factor;
	} factors[FACTORS];  /* of scale(): the last ones */
};

static bool next_line(struct text *t)
{
	struct sc_str line;

	if (!prof_next_line(&t->next, (const char *)t->in->bytes + t->in->size, &line))
		return false;
	t->p = line.ptr;
	t->end = line.ptr + line.len;
	return true;
}

static void skip_blanks(struct text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t' || *t->p == '\r'))
		t->p++;
}

/* Takes this, and blanks before it. */
static bool take(struct text *t, const char *what)
{
	const size_t len = strlen(what);

	skip_blanks(t);
	if ((size_t)(t->end - t->p) < len || memcmp(t->p, what, len))
		return false;
	t->p += len;
	return true;
}

static bool take_number(struct text *t, int64_t *ret)
{
	const char *from;

	skip_blanks(t);
	from = t->p;
	*ret = 0;
	while (t->p < t->end && *t->p >= '0' && *t->p <= '9')
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, *t->p++ - '0', ret))
			return false;
	return t->p > from;
}

static bool take_address(struct text *t, uint64_t *ret)
{
	const char *p = t->p, *from, *end = t->end;
	uint64_t address = 0;

	if (end - p < 2 || p[0] != '0' || p[1] != 'x')
		return false;
	if ((const char *)t->in->bytes + t->in->size - p > 2 + 16) {
		const unsigned digits = mk_read_hex(p + 2, ret);

		t->p = p + 2 + digits;
		if (digits && sc_hex_digit(*t->p) < 0)
			return true;
	}
	for (from = p += 2; p < end && p - from <= 16; p++) {
		const int digit = sc_hex_digit(*p);

		if (digit < 0)
			break;
		address = address << 4 | (unsigned)digit;
	}
	t->p = p;
	*ret = address;
	return p > from && p - from <= 16;
}

struct counts {
	int64_t n, bytes, alloc_n, alloc_bytes;
};

/* "1: 40 [1: 40]"; the brackets may be missing, if they may. */
static bool take_counts(struct text *t, bool brackets, struct counts *ret)
{
	*ret = (struct counts){ 0 };
	if (!take_number(t, &ret->n) || !take(t, ":") || !take_number(t, &ret->bytes))
		return false;
	if (!take(t, "["))
		return !brackets;
	return take_number(t, &ret->alloc_n) && take(t, ":") &&
	       take_number(t, &ret->alloc_bytes) && take(t, "]");
}

static int bad(const struct text *t, const char *why, struct sc_error *err)
{
	return prof_bad(t->in, (const uint8_t *)t->p, why, err);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* e to the power of -x, x not below 0, or 0 where 1 less it is 1: rounded once, so that it does
 * not depend on the machine's libm, which would be one more library to load. */
static double exp_of_minus(double x)
{
	const long double ln2 = 0.693147180559945309417232121458176568L;
	const unsigned halves = x < 40 ? (unsigned)(x / (double)ln2 + 0.5) : 0;
	const long double rest = (long double)x - halves * ln2;
	long double sum = 1, term = 1, before = 0;

	if (x >= 40)
		return 0;
	for (unsigned i = 1; i < 30 && sum != before; i++) { /* the terms shrink */
		before = sum;
		sum += term *= -rest / i;
	}
	for (unsigned i = 0; i < halves; i++)
		sum *= 0.5L;
	return (double)sum;
}

/* A sampled number as what it stands for, cut to an integer. */
static int64_t scaled(int64_t value, double factor)
{
	const double v = (double)value * factor;

	return v >= 9223372036854775807.0 ? INT64_MAX : (int64_t)v;
}

static void scale(struct text *t, int64_t *n, int64_t *bytes, int64_t rate)
{
	const double size = *n ? (double)*bytes / (double)*n : 0;
	__typeof__(&t->factors[0]) f = &t->factors[(uint64_t)size % FACTORS];

	if (rate <= 1)
		return;
	if (!*n || !*bytes) {
		*n = *bytes = 0;
		return;
	}
	if (f->size != size) {
		f->size = size;
		f->factor = 1 / (1 - exp_of_minus(size / (double)rate));
	}
	*n = scaled(*n, f->factor);
	*bytes = scaled(*bytes, f->factor);
}

/* Adds the addresses of a stack: those of s->first. */
static int take_stack(struct legacy_profile *l, struct text *t, struct legacy_sample *s,
		      struct sc_error *err)
{
	s->first = l->addresses.len;
	for (skip_blanks(t); t->p < t->end; skip_blanks(t)) {
		if (!vec_reserve(&l->addresses, 1))
			return sc_no_memory(err);
		if (!take_address(t, vec_end(&l->addresses)))
			return bad(t, "a stack has something that is not an address", err);
		l->addresses.len++;
	}
	s->num = l->addresses.len - s->first;
	return 0;
}

static void set_values(const struct legacy_profile *l, struct text *t, struct legacy_sample *s,
		       struct counts c, int64_t rate)
{
	s->size = c.n ? (uint64_t)(c.bytes / c.n) :
		  c.alloc_n ? (uint64_t)(c.alloc_bytes / c.alloc_n) : 0;
	scale(t, &c.n, &c.bytes, rate);
	scale(t, &c.alloc_n, &c.alloc_bytes, rate);
	if (l->alloc)
		memcpy(s->values, (int64_t[]){ c.alloc_n, c.alloc_bytes, c.n, c.bytes }, 4 * 8);
	else
		memcpy(s->values, (int64_t[]){ c.n, c.bytes, 0, 0 }, 4 * 8);
}

static bool counts_alloc(const struct counts *c)
{
	return (c->alloc_n || c->alloc_bytes) &&
	       (c->alloc_n != c->n || c->alloc_bytes != c->bytes);
}

static bool is_maps(struct text *t)
{
	return take(t, "MAPPED_LIBRARIES:") || take(t, "--- Memory map:");
}

/* ---- gperftools ------------------------------------------------------------------------------ */

/* The header behind "heap profile:". */
static int read_header(struct legacy_profile *l, struct text *t, int64_t *rate,
		       struct sc_error *err)
{
	struct counts c;
	int64_t of = 1;
	bool half, sampled;

	if (!take_counts(t, false, &c) || !take(t, "@"))
		return bad(t, "the first line is not the header of a heap profile", err);
	skip_blanks(t);
	sampled = half = false;
	if (take(t, "heapprofile"))
		;
	else if (take(t, "heap_v2"))
		sampled = true;
	else if (take(t, "heap"))
		sampled = half = true;
	else
		return sc_error_set(err, SC_EUNSUPPORTED, "is a heap profile of the kind '%.*s', which "
				    "is not read", (int)(t->end - t->p) & 31, t->p);
	if (take(t, "/") && !take_number(t, &of))
		return bad(t, "the sampling rate is not a number", err);
	of = half ? of / 2 : of;
	l->period = of > 0 ? (uint64_t)of : 1;
	*rate = sampled ? of : 1;
	l->alloc = counts_alloc(&c);
	return 0;
}

static int read_gperftools(struct legacy_profile *l, struct text *t, struct sc_error *err)
{
	int64_t rate = 1;
	int rc = take(t, "heap profile:") ? read_header(l, t, &rate, err) : SC_EFORMAT;

	while (!rc && next_line(t)) {
		struct legacy_sample *s;
		struct counts c;

		skip_blanks(t);
		if (t->p == t->end)
			continue;
		if (is_maps(t))
			return legacy_read_maps(l, t->in, (const uint8_t *)t->next, err);
		if (!take_counts(t, true, &c) || !take(t, "@"))
			return bad(t, "a line is neither a stack nor the table of maps", err);
		s = vec_push(&l->samples);
		rc = s ? take_stack(l, t, s, err) : sc_no_memory(err);
		if (!rc)
			set_values(l, t, s, c, rate);
	}
	return rc ? rc : bad(t, "it ends before its table of maps", err);
}

/* ---- jemalloc -------------------------------------------------------------------------------- */

/* The stack at the line, and its numbers, on the lines behind it up to t*. */
static int read_jemalloc_stack(struct legacy_profile *l, struct text *t, int64_t rate,
			       struct sc_error *err)
{
	struct legacy_sample s = { 0 }, *to;
	struct counts c;
	int rc = take_stack(l, t, &s, err);

	if (rc)
		return rc;
	if (!next_line(t) || !take(t, "t*:") || !take_counts(t, true, &c))
		return bad(t, "a stack without its numbers, t*", err);
	to = vec_push(&l->samples);
	if (!to)
		return sc_no_memory(err);
	set_values(l, t, &s, c, rate);
	*to = s;
	return 0;
}

static int read_jemalloc(struct legacy_profile *l, struct text *t, struct sc_error *err)
{
	struct counts c;
	int64_t rate;
	int rc = 0;

	l->jemalloc = true;
	if (!take(t, "heap_v2/") || !take_number(t, &rate))
		return bad(t, "the sampling rate is not a number", err);
	l->period = rate > 0 ? (uint64_t)rate : 1;
	while (!rc && next_line(t)) {
		skip_blanks(t);
		if (t->p == t->end)
			continue;
		if (is_maps(t))
			return legacy_read_maps(l, t->in, (const uint8_t *)t->next, err);
		if (take(t, "@")) {
			rc = read_jemalloc_stack(l, t, rate, err);
		} else if (take(t, "t*:")) { /* of all: in front of the stacks */
			if (!take_counts(t, true, &c))
				return bad(t, "t* is not followed by its numbers", err);
			l->alloc |= !l->samples.len && counts_alloc(&c);
		} else if (*t->p != 't') {
			return bad(t, "a line is neither a stack nor the table of maps", err);
		}
	}
	return rc ? rc : bad(t, "it ends before its table of maps", err);
}

int legacy_read_heap(struct legacy_profile *l, const struct prof_input *in, struct sc_error *err)
{
	struct text t = { .in = in, .next = (const char *)in->bytes };

	legacy_clear(l);
	if (!vec_reserve(&l->addresses, in->size / ADDRESS))
		return sc_no_memory(err);
	next_line(&t);
	return *t.p == 'h' && t.end - t.p > 4 && t.p[4] == '_' ? read_jemalloc(l, &t, err) :
								 read_gperftools(l, &t, err);
}
