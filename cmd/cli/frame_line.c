/* frame_line.c: see frame_line.h. Names come from files of others. */
#include "cmd/cli/frame_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli/shown.h"

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

void frame_line_put(const struct frame_line *f)
{
	const bool sure = f->trust <= SYMCACHE_TRUST_CFI;
	char number[48];

	if (f->inlined)
		snprintf(number, sizeof(number), "#%zu.%zu", f->number, f->inlined);
	else
		snprintf(number, sizeof(number), "#%zu", f->number);
	printf("  %-6s %c 0x%0*" PRIx64 "  ", number, sure ? ' ' : '?', 2 * (int)f->word, f->pc);
	put_shown(f->function ? f->function : f->signal ? "<signal>" : "??");
	if (*f->file) {
		fputs(" at ", stdout);
		put_shown(f->file);
		printf(":%" PRIu32, f->line);
		if (f->column)
			printf(":%" PRIu32, f->column);
	}
	if (f->module) {
		fputs(" (", stdout);
		put_shown(f->module);
		if (f->has_offset)
			printf("+0x%" PRIx64, f->offset);
		putchar(')');
	}
	if (f->signal && f->function)
		fputs(" [signal]", stdout);
	if (!sure)
		printf(" [%s]", symcache_trust_text(f->trust));
	putchar('\n');
}
