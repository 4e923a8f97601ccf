/*
 * What call frame information at random becomes, recorded: that of several machines, in both orders of
 * bytes, in the file or its debug file; in tables and, of trampolines, in instructions.
 */
#include "libsymcache/write/image/unwind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/base/testing_bytes.h"

enum { MADE = 600, WHOLE = 16, TEXT = 0x1000, SIZE = 0x200,
       GOT = TEXT + SIZE, GOT_SIZE = 0x40, MORE_TEXT = GOT + GOT_SIZE, FRAME = 0x4000 };

static const struct shape { const char *name; uint16_t machine; bool is_64, big_endian; } shapes[] = {
	{ "x86-64", EM_X86_64, true, false }, { "x86", EM_386, false, false },
	{ "AArch64", EM_AARCH64, true, false }, { "ppc64", EM_PPC64, true, true },
	{ "s390x", EM_S390, true, true }, { "ARM, big-endian", EM_ARM, false, true },
	{ "MIPS", EM_MIPS, false, true },
};

struct made {
	uint64_t seed;
	const struct shape *shape;
	unsigned word;
	struct bytes text, got, more_text, eh_frame, debug_frame;
};

static uint32_t below(struct made *m, uint32_t n)
{
	return testing_below(&m->seed, n);
}

/* ---- instructions of the code ------------------------------------------------------------------- */

/* Code with trampolines in it, and parts of them. */
static void make_text(struct made *m, struct bytes *o)
{
	static const uint8_t amd64[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	const bool arm = m->shape->machine == EM_AARCH64;
	const uint32_t size = arm ? sizeof(arm64) : sizeof(amd64);

	o->big_endian = m->shape->big_endian;
	while (o->b.len < SIZE)
		if (below(m, 10) == 0)
			put_block(o, arm ? arm64 : amd64, below(m, 4) ? size : below(m, size));
		else
			put(o, 4, 0x90909090);
	o->b.len = SIZE;
}

/* ---- call frame information ---------------------------------------------------------------------- */

static void make_expression(struct made *m, struct bytes *o)
{
	struct bytes e = { .big_endian = o->big_endian };

	switch (below(m, 6)) {
	case 0: put(&e, 1, 0x03), put(&e, m->word, TEXT + 8 * below(m, 9)), put(&e, 1, 0x06); break; /* addr, deref */
	case 1: put(&e, 1, 0x77), put_sleb(&e, 8 * (int)below(m, 9)); break; /* breg7 */
	case 2: put(&e, 1, 0x31), put(&e, 1, 0xff); break;               /* lit1, and what nobody knows */
	case 3: break;
	case 4: put(&e, 1, 0x0c), put(&e, 4, below(m, 9)), put(&e, 1, 0x03), put(&e, m->word, TEXT); break;
	default:
		for (unsigned n = 1022 + below(m, 4); n; n--)
			put(&e, 1, 0x96); /* nop */
	}
	put_uleb(o, e.b.len);
	put_block(o, e.b.data, e.b.len);
	bytes_deinit(&e);
}

static void make_instruction(struct made *m, struct bytes *o)
{
	const unsigned reg = below(m, 17), n = below(m, 12);

	switch (below(m, 9)) {
	case 0:
	case 1:
	case 2: put(o, 1, 0x40 | n); break;                                   /* advance_loc */
	case 3: put(o, 1, 0x0e), put_uleb(o, 8 * n); break;                   /* def_cfa_offset */
	case 4: put(o, 1, 0x80 | reg), put_uleb(o, n); break;                 /* offset */
	case 5: put(o, 1, 0x0c), put_uleb(o, reg), put_uleb(o, 8 * n); break; /* def_cfa */
	case 6: put(o, 1, 0x10 + 6 * (n % 2)), put_uleb(o, reg), make_expression(m, o); break; /* (val_)expression */
	case 7: put(o, 1, n % 4 ? 0x0f : 0x3f), make_expression(m, o); break; /* def_cfa_expression, or no instruction */
	default: put(o, 1, 0x07), put_uleb(o, reg);                           /* undefined */
	}
}

/* An address as the encoding of the common entry says. */
static void put_address(struct made *m, struct bytes *o, unsigned encoding, uint64_t vaddr)
{
	const uint64_t base = (encoding & 0x70) == 0x10 ? FRAME + o->b.len :
			      (encoding & 0x70) == 0x20 ? TEXT : (encoding & 0x70) == 0x30 ? GOT : 0;

	put(o, encoding & 0x0f ? 4 : m->word, vaddr - base);
}

static void make_table(struct made *m, struct bytes *o, bool eh)
{
	static const uint8_t encodings[] = { 0x00, 0x1b, 0x2b, 0x3b };
	const unsigned encoding = eh ? encodings[below(m, 4)] : 0;
	size_t begin;

	o->big_endian = m->shape->big_endian;
	begin = begin_length(o, 4);
	put(o, 4, eh ? 0 : UINT32_MAX);
	put(o, 1, below(m, 20) ? 1 : 2); /* version 2 is unknown */
	put_str(o, eh ? below(m, 3) ? "zR" : "zRS" : "");
	put_uleb(o, 1), put_sleb(o, -8), put(o, 1, 16);
	if (eh)
		put_uleb(o, 1), put(o, 1, encoding);
	put(o, 1, 0x0c), put_uleb(o, 7), put_uleb(o, 8);
	end_length(o, 4, begin);
	for (unsigned n = below(m, 6); n; n--) {
		const uint64_t start = (below(m, 3) ? TEXT : MORE_TEXT) + below(m, SIZE + 1);

		begin = begin_length(o, 4);
		put(o, 4, eh ? o->b.len : 0);
		put_address(m, o, encoding, start);
		put(o, encoding & 0x0f ? 4 : m->word, 1 + below(m, 80));
		if (eh)
			put_uleb(o, 0);
		for (unsigned k = below(m, 8); k; k--)
			make_instruction(m, o);
		end_length(o, 4, begin);
	}
	if (below(m, 12) == 0)
		put(o, 4, 0x100); /* an entry that is cut off */
}

/* ---- files ------------------------------------------------------------------------------------------ */

/* Bytes in front of the text. */
static uint64_t headers_of(const struct shape *s)
{
	return s->is_64 ? 120 : 88;
}

/* `debug`: the file that was split off, without the bytes of what is loaded. */
static struct sc_elf *make_file(struct made *m, bool debug, bool with_frame, uint16_t type, uint64_t base)
{
	const uint32_t kind = debug ? SHT_NOBITS : SHT_PROGBITS;
	const struct elf_section sections[] = {
		{ .name = ".text", .type = kind, .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = TEXT,
		  .content = debug ? NULL : &m->text, .size = SIZE },
		{ .name = ".got", .type = kind, .flags = SHF_ALLOC, .addr = GOT,
		  .content = debug ? NULL : &m->got, .size = GOT_SIZE },
		{ .name = ".more", .type = kind, .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = MORE_TEXT,
		  .content = debug ? NULL : &m->more_text, .size = SIZE },
		{ .name = ".eh_frame", .type = kind, .flags = SHF_ALLOC, .addr = FRAME,
		  .content = debug ? NULL : &m->eh_frame, .size = m->eh_frame.b.len },
		{ .name = ".debug_frame", .type = SHT_PROGBITS, /* now and then damaged */
		  .flags = below(m, 9) ? 0 : SHF_COMPRESSED, .content = &m->debug_frame },
	};
	const struct elf_shape shape = { .is_64 = m->shape->is_64, .big_endian = m->shape->big_endian,
		.machine = m->shape->machine, .type = type, .load_vaddr = base,
		.load_size = MORE_TEXT + SIZE - TEXT + headers_of(m->shape) };
	struct bytes file = { 0 };
	struct sc_elf *elf;
	struct sc_error err;

	put_elf(&file, &shape, sections, with_frame ? 5 : 4);
	assert_int_equal(sc_elf_open_memory(file.b.data, file.b.len, debug ? "debug" : "image", &elf, &err), 0);
	return elf;
}

static void put_rows(FILE *to, const struct sc_rows *r)
{
	const struct symcache_ext_unwind *f = &r->facts;

	fprintf(to, "registers %u %u %u, word %u, sources %" PRIx32 ", broken %" PRIu32 ", preserved %" PRIx32
		", %" PRIu64 " too far\n", f->stack_pointer, f->frame_pointer, f->link, f->word, f->sources,
		f->broken, f->preserved, r->too_far);
	for (size_t i = 0; i < r->starts.len; i++)
		fprintf(to, "%" PRIx32 " %" PRIu32 ", ", r->starts.data[i].start, r->starts.data[i].row);
	fputc('\n', to);
	for (size_t i = 0; i < r->rows.len; i++) {
		const struct symcache_ext_row *row = &r->rows.data[i];

		fprintf(to, "%zu: CFA %u %u %" PRId32 ", flags %u:", i, row->cfa, row->cfa_reg, row->n, row->flags);
		for (size_t k = row->first_rule; k < row->first_rule + row->num_rules; k++)
			fprintf(to, " %u: %u %" PRId32, r->rules.data[k].reg, r->rules.data[k].kind, r->rules.data[k].n);
		fputc('\n', to);
	}
	for (size_t i = 0; i < r->expressions.len && i < 64; i++)
		fprintf(to, "%02x", r->expressions.data[i]);
	fprintf(to, ", %zu bytes of expressions\n", r->expressions.len);
}

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	struct made m = { .shape = shapes };
	struct sc_rows rows = { 0 };
	struct sc_error fault = { 0 }, err;
	struct sc_elf *image, *debug;
	uint64_t headers;

	assert_int_equal(size, sizeof(m.seed));
	memcpy(&m.seed, bytes, size);
	m.shape = &shapes[m.seed % (sizeof(shapes) / sizeof(*shapes))];
	m.seed = (m.seed + 1) * 0x9e3779b97f4a7c15;
	m.word = m.shape->is_64 ? 8 : 4;
	headers = headers_of(m.shape);
	make_text(&m, &m.text);
	make_text(&m, &m.more_text);
	for (unsigned n = GOT_SIZE; n; n--)
		put(&m.got, 1, 0);
	make_table(&m, &m.eh_frame, true);
	make_table(&m, &m.debug_frame, false);
	/* The headers are loaded in front of the text; or it begins below the base, out of reach. */
	image = make_file(&m, false, below(&m, 3) == 0, below(&m, 8) ? ET_DYN : ET_REL,
			  below(&m, 6) ? TEXT - headers : TEXT + 0x40);
	debug = below(&m, 2) ? make_file(&m, true, below(&m, 4), ET_DYN, TEXT - headers) : NULL;
	assert_int_equal(sc_unwind_read(image, debug, &rows, &fault, &err), 0);
	fprintf(to, "%s, fault %s\n", m.shape->name, *fault.msg ? fault.msg : "none");
	put_rows(to, &rows);
	sc_rows_deinit(&rows);
	sc_elf_close(image);
	sc_elf_close(debug);
	bytes_deinit(&m.text);
	bytes_deinit(&m.got);
	bytes_deinit(&m.more_text);
	bytes_deinit(&m.eh_frame);
	bytes_deinit(&m.debug_frame);
}

static void test_frames(void **state)
{
	(void)state;
	expect_made("frames", "frames", MADE, WHOLE, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
