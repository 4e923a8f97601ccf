/*
 * Fuzzing of the filter. The first byte chooses dialect and colour, the second how
 * the rest is cut into pieces. Apart from not crashing:
 *   - the output does not depend on how the input was cut;
 *   - input without a word of any format, and ESC, comes out as it is.
 */
#include "libmarkup/resolve/resolve.h"
#include "libmarkup/testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

/* The groups of the log, fed in pieces. */
static struct fake_text groups_of(const char *in, size_t len, size_t piece,
				  enum markup_format format)
{
	const struct markup_options options = { .group = true, .format = format };
	struct fake_text got = { 0 };
	struct markup_groups *g;
	struct markup_filter *f;

	check(!markup_groups_create(&g));
	const struct markup_sink sink = { g, markup_groups_take };
	check(!markup_filter_create(&options, &fake_resolver, 1, &sink, &f));
	for (size_t at = 0; at < len; at += piece)
		check(!markup_filter_feed(f, in + at, len - at < piece ? len - at : piece));
	check(!markup_filter_finish(f) && !markup_filter_end(f) &&
	      !markup_groups_write(g, format, false, fake_append, &got));
	markup_filter_destroy(f);
	markup_groups_destroy(g);
	return got;
}

static void check_groups(const char *in, size_t len, size_t piece, enum markup_format format)
{
	struct fake_text whole = groups_of(in, len, len + 1, format);
	struct fake_text pieces = groups_of(in, len, piece, format);

	check(whole.len == pieces.len &&
	      (!whole.len || !memcmp(whole.buf, pieces.buf, whole.len)));
	free(whole.buf);
	free(pieces.buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum markup_dialect dialects[] = {
		MARKUP_DEFAULT, MARKUP_LLVM, MARKUP_FUCHSIA,
	};
	struct markup_options options = { 0 };
	struct fake_sink whole, pieces;
	struct mk_ahead words = { 0 };
	uint64_t newlines = 0;

	if (size < 2)
		return 0;
	const char *in = (const char *)data + 2;
	const size_t len = size - 2;
	options.dialect = dialects[data[0] % (sizeof(dialects) / sizeof(dialects[0]))];
	options.color = data[0] / 16 % 3;
	options.format = data[1] / 16 % 3;
	options.demux = data[0] / 64 % 2 ? "" : NULL;
	options.collect_dumpfiles = true;

	mk_ahead_init(&words, mk_inputs, MK_SCAN_ESC);
	check(!fake_filter(&options, in, len, len + 1, &whole));
	check(!fake_filter(&options, in, len, data[1] % 16 + 1u, &pieces));
	check(whole.out.len == pieces.out.len &&
	      !memcmp(whole.out.buf, pieces.out.buf, whole.out.len));
	check(whole.err.len == pieces.err.len &&
	      !memcmp(whole.err.buf, pieces.err.buf, whole.err.len));
	if (options.dialect == MARKUP_DEFAULT && options.format == MARKUP_TEXT_OUT &&
	    !mk_ahead_finds(&words, in, in + len, &newlines)) {
		check(whole.out.len == len && !memcmp(whole.out.buf, in, len));
		check(!whole.err.len);
	}
	/* Frames of the usual form have a way of their own, which demux does without. */
	if (options.dialect == MARKUP_DEFAULT && options.format == MARKUP_TEXT_OUT &&
	    !options.demux) {
		fake_sink_deinit(&pieces);
		options.demux = "\001(\002)\003";
		check(!fake_filter(&options, in, len, len + 1, &pieces));
		check(memmem(in, len, "\001\002\003", 3) ||
		      (whole.out.len == pieces.out.len &&
		       !memcmp(whole.out.buf, pieces.out.buf, whole.out.len)));
	}
	fake_sink_deinit(&whole);
	fake_sink_deinit(&pieces);
	check_groups(in, len, data[1] % 16 + 1u, MARKUP_JSON);
	check_groups(in, len, data[1] % 16 + 1u, MARKUP_HTML);
	return 0;
}
