/* Fuzz target: facts made of bytes are flattened, assembled and laid out; pieces and
 * ranges must ascend, and the file must be valid. */
#include "libsymcache/write/flatten/flat_check.h"
#include "libsymcache/write/image/layout.h"
#include "libsymcache/write/image/plain_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(what) ((what) ? (void)0 : (fprintf(stderr, "not so: %s\n", #what), abort()))

/* Bytes of the input, one after the other; 0 behind the end. */
struct input {
	const uint8_t *p, *end;
};

static uint8_t byte(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

/* An address: mostly small, sometimes one of the odd ones. */
static uint64_t address(struct input *in)
{
	static const uint64_t odd[] = { 0, UINT64_MAX, UINT64_MAX - 1, 0xffffffff, 0x100000000,
					0x1000000ff, 0x100000fff };
	uint8_t b = byte(in);

	return b >= 0xf8 ? odd[b - 0xf8 < 7 ? b - 0xf8 : 6] : 0xc0ull + b;
}

static const char *name(struct input *in)
{
	static const char *const names[] = { NULL, "", "f", "g", "a.c", "b.c", "/x", "h" };

	return names[byte(in) % 8];
}

static void make_unit(struct input *in, struct dw_facts *u)
{
	uint8_t scopes = byte(in) % 32, sequences = byte(in) % 8;

	for (int i = 0; i < 4; i++)
		*vec_push(&u->files) = (struct dw_file){ name(in), name(in), name(in) };
	for (uint32_t i = 0; i < scopes; i++) {
		struct dw_scope *s = vec_push(&u->scopes);
		uint8_t parent = byte(in);

		s->name = name(in);
		s->parent = parent & 0x80 ? DW_NONE : parent & 0x40 || !i ? parent : parent % i;
		s->call_file = byte(in) % 6;
		s->call_line = byte(in);
		s->decl_file = byte(in);
		s->first_range = (uint32_t)u->ranges.len;
		s->num_ranges = byte(in) % 4;
		for (uint32_t k = 0; k < s->num_ranges; k++)
			*vec_push(&u->ranges) = (struct dw_range){ address(in), address(in) };
		s->entry_vaddr = address(in);
	}
	for (uint32_t i = 0; i < sequences; i++) {
		uint64_t at = address(in);
		struct dw_sequence *s = vec_push(&u->sequences);

		*s = (struct dw_sequence){ at, at, (uint32_t)u->rows.len, 1 + byte(in) % 8 };
		for (uint32_t k = 0; k < s->num_rows; k++) {
			*vec_push(&u->rows) = (struct dw_row){ at, byte(in) % 6, byte(in),
							       byte(in) };
			if (at < UINT64_MAX - 16)
				at += byte(in) % 16;
		}
		s->end = at < UINT64_MAX ? at + 1 : at;
		if (s->end <= s->start) {
			u->rows.len = s->first_row;
			u->sequences.len--;
		}
	}
}

static uint64_t code_end(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr >= 0x100 && vaddr < 0x180 ? 0x180 :
	       vaddr >= 0x1c0 && vaddr < 0x1000000ff ? 0x1000000ff : 0;
}

static const char *symbol_at(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr % 8 ? NULL : "symbol";
}

static void check_file(const struct sc_tables *tables, const struct sc_final *final)
{
	static const struct sc_data_symbols no_data;
	static const struct sc_table_symbols no_symbols;
	struct sc_content content = { .version = 9, .tables = tables, .ranges = final,
				      .data = &no_data, .symbols = &no_symbols,
				      .image = { .soname = SC_NONE, .writer = SC_NONE } };
	struct plain_cache cache;
	struct sc_layout *layout;
	const char *fault;
	uint8_t *bytes;

	must(!sc_layout_create(&content, &layout, NULL));
	bytes = malloc(sc_layout_counts(layout).size);
	sc_layout_write(layout, 1, bytes);
	fault = plain_open(&cache, bytes, sc_layout_counts(layout).size);
	if (fault) {
		fprintf(stderr, "not a valid cache: %s\n", fault);
		abort();
	}
	free(bytes);
	sc_layout_destroy(layout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sc_tables tables;
	struct input in = { data, data + size };
	struct sc_flatten_env env = { &tables, 0x80, code_end, symbol_at, NULL };
	struct sc_flattener *f = sc_flattener_create(&env);
	struct sc_code_symbol symbols[4];
	struct sc_flat flat = {0};
	struct sc_final final = {0};
	size_t n = 0;

	for (int units = byte(&in) % 4; units >= 0; units--) {
		struct dw_facts unit = {0};
		size_t pieces = flat.pieces.len, ranges = flat.ranges.len;

		make_unit(&in, &unit);
		must(sc_flatten(f, &unit, &flat));
		check_flat(&flat, env.load_base, pieces, ranges);
		dw_facts_deinit(&unit);
	}
	for (int i = 0; i < 4; i++) {
		uint64_t start = 0x80 + byte(&in);
		symbols[n++] = (struct sc_code_symbol){ start, start + 1 + byte(&in), "symbol" };
	}
	must(sc_assemble(&flat, &(struct sc_code_symbols){ symbols, n, env.load_base }, &tables, 1,
			 &final));
	for (size_t i = 1; i < final.ranges.len; i++)
		must(final.ranges.data[i - 1].start < final.ranges.data[i].start);
	check_file(&tables, &final);
	vec_deinit(&final.ranges);
	sc_flat_deinit(&flat);
	sc_flattener_destroy(f);
	sc_tables_deinit(&tables);
	memset(&tables, 0, sizeof(tables));
	return 0;
}
