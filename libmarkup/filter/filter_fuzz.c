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
	return 0;
}
