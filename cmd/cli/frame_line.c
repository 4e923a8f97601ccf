/* frame_line.c: see frame_line.h. Names come from files of others. */
#include "cmd/cli/frame_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli/shown.h"
#include "libmarkup/bytes/number.h"

void put_shown(const char *text)
{
	shown_put(stdout, text, strlen(text));
}

const char *trust_word(enum symcache_trust trust)
{
	return trust == SYMCACHE_TRUST_FRAME_POINTER ? "frame_pointer" : symcache_trust_text(trust);
}

const char *stop_word(enum symcache_stop stop)
{
	static const char *const words[] = { "", "end", "no_memory", "no_row", "no_unwind", "no_cache",
					     "no_module", "lost", "not_growing", "limit" };

	return words[stop];
}

void put(const char *text)
{
	fwrite_unlocked(text, 1, strlen(text), stdout);
}

void put_digits(const char *before, uint64_t value, unsigned base)
{
	char buf[FMT_MAX];
	const size_t prefix = base == 16 ? 2 : 0;
	const size_t len = base == 16 ? mk_fmt_hex(buf, value) : mk_fmt_dec(buf, value);

	put(before);
	fwrite_unlocked(buf + prefix, 1, len - prefix, stdout);
}

/* One function; `inlined`: 1 for the innermost inlined one; 0: not inlined. */
static void put_line(const struct frame_line *f, const struct symcache_place_frame *in,
		     size_t inlined)
{
	const struct symcache_walked_frame *frame = f->frame;
	const bool sure = frame->trust <= SYMCACHE_TRUST_CFI;
	const char *function = in ? in->function.ptr : NULL;
	char number[48];

	if (inlined)
		snprintf(number, sizeof(number), "#%zu.%zu", f->number, inlined);
	else
		snprintf(number, sizeof(number), "#%zu", f->number);
	printf("  %-6s %c 0x%0*" PRIx64 "  ", number, sure ? ' ' : '?', 2 * (int)f->word,
	       frame->pc);
	put_shown(function ? function : frame->signal ? "<signal>" : "??");
	if (in && *in->file) {
		fputs(" at ", stdout);
		put_shown(in->file);
		printf(":%" PRIu32, in->line);
		if (in->column)
			printf(":%" PRIu32, in->column);
	}
	if (f->module) {
		fputs(" (", stdout);
		put_shown(f->module);
		if (f->has_offset)
			printf("+0x%" PRIx64, f->offset);
		putchar(')');
	}
	if (frame->signal && function)
		fputs(" [signal]", stdout);
	if (!sure)
		printf(" [%s]", symcache_trust_text(frame->trust));
	putchar('\n');
}

void frame_lines_put(const struct frame_line *f)
{
	const size_t n = f->place->num_frames;

	for (size_t i = 0; i < n; i++)
		put_line(f, &f->place->frames[i], i + 1 < n ? i + 1 : 0);
	if (!n)
		put_line(f, NULL, 0);
}
