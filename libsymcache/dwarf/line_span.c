/*
 * Which addresses a line program has rows for: see line_span.h.
 *
 * Most programs of a file are run for nothing but the answer "none of them", so that this is
 * most of the time of a first answer of a large file. A program is skimmed first, which says of
 * nearly all that they hold none; run() then looks closer. The step of each special opcode is in
 * a table, and nothing is kept but the lowest and the last address.
 *
 * Must hold what run_program() of line.c makes sequences of; more does not matter.
 */
#include "libsymcache/dwarf/line_span.h"

#include <dwarf.h>

#include "libsymcache/base/limits.h"
#include "libsymcache/dwarf/line_header.h"

struct program {
	uint8_t min_inst_length, opcode_base, line_range;
	const uint8_t *opcode_lengths;
	const struct dw_wanted *wanted;
	uint64_t most_rows;
};

struct state {
	uint64_t vaddr;
	uint64_t low, last; /* of the rows of the sequence under way; low > last: there are none */
	uint64_t rows;      /* of all sequences */
	bool any;           /* the sequence has rows */
};

static inline void add_row(struct state *st)
{
	st->low = st->vaddr < st->low ? st->vaddr : st->low;
	st->last = st->vaddr;
	st->any = true;
	st->rows++;
}

bool dw_wanted_in(const struct dw_wanted *w, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < w->n; i++)
		if (start <= w->vaddrs[i] && w->vaddrs[i] < end)
			return true;
	return false;
}

/* Closes the sequence at `end`; does it hold an address? */
static bool end_sequence(const struct program *p, struct state *st, uint64_t end)
{
	const bool holds = st->any && dw_wanted_in(p->wanted, st->low, end);

	*st = (struct state){ .low = UINT64_MAX, .rows = st->rows };
	return holds;
}

/* An opcode 0; true: its sequence holds an address. */
static bool extended_op(const struct program *p, struct dw_cursor *c, struct state *st)
{
	const uint64_t len = dw_uleb(c);
	struct dw_cursor op = *c;

	dw_skip(c, len);
	if (c->bad || !len)
		return false;
	op.end = c->p;
	switch (dw_u8(&op)) {
	case DW_LNE_end_sequence:
		return end_sequence(p, st, st->vaddr);
	case DW_LNE_set_address:
		if (len - 1 <= 8)
			st->vaddr = dw_uint(&op, (unsigned)len - 1);
		return false;
	default:
		return false;
	}
}

static inline void standard_op(const struct program *p, struct dw_cursor *c, uint8_t op,
			       struct state *st)
{
	switch (op) {
	case DW_LNS_copy:
		add_row(st);
		break;
	case DW_LNS_advance_pc:
		st->vaddr += p->min_inst_length * dw_uleb(c);
		break;
	case DW_LNS_advance_line: /* one number, which does not matter */
	case DW_LNS_set_file:
	case DW_LNS_set_column:
	case DW_LNS_set_isa:
		while (c->p < c->end && *c->p++ & 0x80)
			;
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_const_add_pc:
		st->vaddr += p->min_inst_length *
			     (uint64_t)((255u - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		st->vaddr += dw_u16(c);
		break;
	default: /* unknown: the header says how many numbers follow */
		for (unsigned i = p->opcode_lengths[op - 1]; i; i--)
			dw_uleb(c);
	}
}

static bool run(const struct program *p, struct dw_cursor c)
{
	struct state st = { .low = UINT64_MAX };
	uint32_t advance[256]; /* of each special opcode */

	for (unsigned op = p->opcode_base; op < 256; op++)
		advance[op] = (op - p->opcode_base) / p->line_range * p->min_inst_length;
	while (c.p < c.end) {
		const uint8_t op = *c.p++;

		if (op >= p->opcode_base) {
			st.vaddr += advance[op];
			add_row(&st);
		} else if (op) {
			standard_op(p, &c, op, &st);
		} else {
			struct dw_cursor at = c; /* so that both can stay in registers */
			struct state copy = st;

			if (extended_op(p, &at, &copy))
				return true;
			c = at;
			st = copy;
		}
	}
	return st.rows >= p->most_rows || end_sequence(p, &st, st.last);
}

/* ---- skimming ----------------------------------------------------------------- */

/*
 * The same with addresses that may be too high, never too low: advances are rounded up. False is
 * right, therefore. 32 bytes are looked at together, as two halves: of each byte as if an
 * operation began there, how long that is and how far it advances; then, by following two, four,
 * eight and sixteen of them at once, where the half is left and how far it is up to there.
 * Whatever is not common ends that, and is done by itself.
 */

#ifdef __x86_64__
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

enum {
	HALF = 16,
	LEFT = 0x80, /* the chain ends here: behind the half or, less than HALF, at what is not common */
	UNIT = 4,    /* addresses, of `advance` */
};

/* What chains that begin at each byte lead to. */
struct chains {
	uint8_t next[2 * HALF];    /* from the beginning of the half, with LEFT */
	uint8_t advance[2 * HALF]; /* 0: there are no rows in it */
};

AVX2 static inline __m256i is(__m256i bytes, uint8_t what)
{
	return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8((char)what));
}

/* Where bytes are `what` or the odd number above. */
AVX2 static inline __m256i is_pair(__m256i bytes, uint8_t what)
{
	return is(_mm256_and_si256(bytes, _mm256_set1_epi8((char)0xfe)), what);
}

AVX2 static inline __m256i load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Reads 2 * HALF + 2 bytes. */
AVX2 static inline void follow(const uint8_t *p, uint8_t opcode_base, struct chains *ret)
{
	const __m256i op = load(p), second = load(p + 1), third = load(p + 2);
	const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi8(1);
	const __m256i places = _mm256_broadcastsi128_si256(_mm_setr_epi8(
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
	/* Those with one number, of one or two bytes. */
	const __m256i number = _mm256_or_si256(
		_mm256_or_si256(is_pair(op, DW_LNS_set_file), is(op, DW_LNS_advance_line)),
		is(op, opcode_base > DW_LNS_set_isa ? DW_LNS_set_isa : DW_LNS_set_file));
	const __m256i longer = _mm256_and_si256(number, _mm256_cmpgt_epi8(zero, second));
	const __m256i extended = is(op, 0);
	const __m256i discriminator = _mm256_and_si256(_mm256_and_si256(extended, is_pair(second, 2)),
						       is(third, DW_LNE_set_discriminator));
	const __m256i rare = _mm256_or_si256(
		_mm256_or_si256(_mm256_and_si256(longer, _mm256_cmpgt_epi8(zero, third)),
				_mm256_andnot_si256(discriminator, extended)),
		_mm256_or_si256(is(op, DW_LNS_advance_pc), is(op, DW_LNS_fixed_advance_pc)));
	/* A special opcode advances by (its number from 0) / line_range, which is 8 or more. */
	const __m256i special = _mm256_subs_epu8(op, _mm256_set1_epi8((char)(opcode_base - 1)));
	__m256i length = _mm256_sub_epi8(_mm256_sub_epi8(one, number), longer), next, advance;

	length = _mm256_add_epi8(length, _mm256_and_si256(discriminator,
							  _mm256_add_epi8(second, one)));
	next = _mm256_add_epi8(places, _mm256_andnot_si256(rare, length));
	next = _mm256_or_si256(next, _mm256_and_si256(_mm256_set1_epi8((char)LEFT), _mm256_or_si256(
		rare, _mm256_cmpgt_epi8(next, _mm256_set1_epi8(HALF - 1)))));
	advance = _mm256_and_si256(_mm256_srli_epi16(special, 5), _mm256_set1_epi8(7));
	advance = _mm256_add_epi8(advance, _mm256_andnot_si256(is(special, 0), one));
	advance = _mm256_or_si256(advance, _mm256_and_si256(is(op, DW_LNS_const_add_pc),
							    _mm256_set1_epi8(8)));
	advance = _mm256_or_si256(advance, _mm256_and_si256(is(op, DW_LNS_copy), one));
	for (int i = 0; i < 4; i++) { /* what is behind the half has nothing more to add */
		advance = _mm256_add_epi8(advance, _mm256_shuffle_epi8(advance, next));
		next = _mm256_max_epu8(next, _mm256_shuffle_epi8(next, next));
	}
	_mm256_storeu_si256((__m256i *)(void *)ret->next, next);
	_mm256_storeu_si256((__m256i *)(void *)ret->advance, advance);
}

/* The sequence under way: rows between `base`, its last address that is known, and st->vaddr. */
static inline void note_rows(struct state *st, uint64_t base)
{
	st->low = base < st->low ? base : st->low;
	st->any = true;
}

/* One operation. True: its sequence may hold an address, or the address overflows. */
static bool step(const struct program *p, struct dw_cursor *c, struct state *st, uint64_t *base)
{
	const uint64_t before = st->vaddr;
	const uint8_t op = *c->p++;

	if (op >= p->opcode_base) {
		st->vaddr += (op - p->opcode_base) / p->line_range * p->min_inst_length;
		add_row(st);
	} else if (op) {
		standard_op(p, c, op, st);
	} else if (extended_op(p, c, st)) {
		return true;
	} else if (st->vaddr != before) {
		*base = st->vaddr;
	}
	if (st->any && op)
		note_rows(st, *base);
	return op && st->vaddr < before;
}

/* The first operation at or behind `at` that is not common; 2 * HALF or more: there is none. */
static inline unsigned next_rare(const struct chains *c, unsigned at, uint64_t *advance)
{
	bool rare = false;

	while (at < 2 * HALF && !rare) {
		const unsigned next = c->next[at] & ~LEFT;

		*advance += c->advance[at];
		rare = next < HALF;
		at = (at & HALF) + next;
	}
	return at;
}

/* False: no sequence of the program holds an address. */
AVX2 static bool skim(const struct program *p, struct dw_cursor c)
{
	struct state st = { .low = UINT64_MAX };
	uint64_t base = 0;
	struct chains chains;
	unsigned at = 0; /* of the next operation, from c.p */

	while (dw_left(&c) >= 2 * HALF + 8) {
		uint64_t advance = 0;

		follow(c.p, p->opcode_base, &chains);
		at = next_rare(&chains, at, &advance);
		if (advance)
			note_rows(&st, base);
		advance *= UNIT * (uint64_t)p->min_inst_length;
		if (__builtin_add_overflow(st.vaddr, advance, &st.vaddr))
			return true;
		c.p += at < 2 * HALF ? at : 2 * HALF;
		if (at < 2 * HALF && step(p, &c, &st, &base))
			return true;
		at = at < 2 * HALF ? 0 : at - 2 * HALF;
	}
	c.p += at;
	while (c.p < c.end)
		if (step(p, &c, &st, &base))
			return true;
	return st.any; /* a sequence without an end: run() knows */
}

/* Is the program as they all are, so that skim() understands it? */
static bool may_skim(const struct program *p, const struct dw_cursor *c)
{
	return p->opcode_base > DW_LNS_fixed_advance_pc && p->opcode_base <= DW_LNS_set_isa + 1 &&
	       p->line_range >= 8 && dw_left(c) < p->most_rows && __builtin_cpu_supports("avx2");
}

#else

static bool may_skim(const struct program *p, const struct dw_cursor *c)
{
	(void)p, (void)c;
	return false;
}

static bool skim(const struct program *p, struct dw_cursor c)
{
	(void)p, (void)c;
	return true;
}
#endif

bool dw_lines_may_hold(const struct dw_sections *s, uint64_t offset, const struct dw_wanted *wanted)
{
	struct dw_cursor c = dw_cursor_at(&s->line, offset, s->swap);
	struct dw_line_header h = { 0 };
	const uint8_t *program;
	struct program p;

	if (dw_read_line_parameters(&c, &h, &program, NULL))
		return false;
	if (h.max_ops > 1 || !h.line_range)
		return true; /* VLIW: an address is more than a sum */
	c.p = program;
	p = (struct program){ h.min_inst_length, h.opcode_base, h.line_range, h.opcode_lengths,
			      wanted, sc_limit_facts(s->file_size) / 2 };
	return (!may_skim(&p, &c) || skim(&p, c)) && run(&p, c);
}
