/*
 * Fuzzing of saved contexts, and of kept tables. The first byte chooses which, dialect and
 * demux. What is taken can be saved and taken again, and is the same then; a log can be
 * filtered with it.
 */
#include "libmarkup/markup.h"
#include "libmarkup/testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

/* NULL: it was not taken. */
static struct markup_filter *resumed(const struct markup_options *options, const void *saved,
				     size_t len, struct fake_sink *out)
{
	const struct markup_sink sink = { out, fake_write, fake_complain };
	struct markup_filter *f;

	check(!markup_filter_create(options, &fake_resolver, 1, &sink, &f));
	markup_filter_input(f, "log");
	if (!markup_filter_resume(f, 7, saved, len))
		return f;
	markup_filter_destroy(f);
	return NULL;
}

static void try_tables(const struct markup_options *options, const uint8_t *data, size_t size)
{
	static const char log_text[] =
		"host app[7]: [0x555500001022]\n"
		"    @     0x555500001022 (unknown)\n"
		"#0  0x0000555500001000 in ?? ()\n";
	struct fake_sink out = { 0 };
	const struct markup_sink sink = { &out, fake_write, fake_complain };
	struct markup_filter *f;

	check(!markup_filter_create(options, &fake_resolver, 1, &sink, &f));
	markup_filter_input(f, "log");
	markup_filter_give_tables(f, data, size);
	check(!markup_filter_feed(f, log_text, sizeof(log_text) - 1) && !markup_filter_finish(f));
	markup_filter_destroy(f);
	fake_sink_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char log_text[] =
		"{{{bt:0:0x10193}}}\n"
		"[1.2] 100.7> {{{bt:0:0x11200:pc}}}\n"
		"[1.2] 7.7> {{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"
		"{{{module:0:a:elf:aa}}}\n"
		"[1.2] 7.7> {{{bt:0:0x11200}}}\n";
	struct fake_sink out = { 0 }, again = { 0 };
	struct markup_filter *f, *g;
	char *a, *b;
	size_t a_len, b_len;

	if (!size)
		return 0;
	const struct markup_options options = {
		.dialect = data[0] % 3,
		.demux = data[0] / 16 % 2 ? "" : NULL,
	};
	if (data[0] & 32) {
		try_tables(&options, data + 1, size - 1);
		return 0;
	}
	f = resumed(&options, data + 1, size - 1, &out);
	if (!f)
		return 0;
	check(!markup_filter_save(f, &a, &a_len));
	g = resumed(&options, a, a_len, &again);
	check(g);
	check(!markup_filter_save(g, &b, &b_len));
	check(a_len == b_len && !memcmp(a, b, a_len));
	check(!markup_filter_feed(f, log_text, sizeof(log_text) - 1) && !markup_filter_finish(f));
	check(!markup_filter_feed(g, log_text, sizeof(log_text) - 1) && !markup_filter_finish(g));
	check(out.out.len == again.out.len && !memcmp(out.out.buf, again.out.buf, out.out.len));
	markup_filter_destroy(f);
	markup_filter_destroy(g);
	fake_sink_deinit(&out);
	fake_sink_deinit(&again);
	free(a);
	free(b);
	return 0;
}
