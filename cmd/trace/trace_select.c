/*
 * trace_select.c: which frames are wanted, as GDB's tfind has it.
 *
 * Unlike tfind, which compares addresses with the tracepoint's, --pc, --range and
 * --line look at the program counter of the frame itself: of a stepping tracepoint
 * they find the steps, too. --line is about the innermost function: its file and
 * line, the one the program counter is in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/opt.h"
#include "cmd/trace/trace.h"

/* A number that is all of text[0, len). */
static bool number(const char *text, size_t len, int base, uint64_t *ret)
{
	char buf[40], *end;

	if (len == 0 || len >= sizeof(buf) || text[0] == '-')
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	errno = 0;
	*ret = strtoull(buf, &end, base);
	return !*end && !errno;
}

static bool parse(enum trace_by by, const char *text, struct trace_range *ret)
{
	const char *mark = strrchr(text, by == BY_LINE ? ':' : ',');
	size_t len = strlen(text);
	bool fine = false;

	switch (by) {
	case BY_TRACEPOINT:
	case BY_FRAME:
		fine = number(text, len, 10, &ret->first);
		break;
	case BY_PC:
		fine = number(text, len, 16, &ret->first);
		break;
	case BY_RANGE:
		return mark && number(text, (size_t)(mark - text), 16, &ret->first) &&
		       number(mark + 1, strlen(mark + 1), 16, &ret->last) &&
		       ret->first <= ret->last;
	case BY_LINE:
		ret->file = text;
		fine = mark && mark > text && number(mark + 1, strlen(mark + 1), 10, &ret->first);
		break;
	}
	ret->last = ret->first;
	return fine;
}

bool select_add(struct trace_select *s, enum trace_by by, const struct opt_list *values)
{
	static const char *const form[] = {
		[BY_TRACEPOINT] = "--tracepoint takes a number",
		[BY_FRAME] = "--frame takes a number",
		[BY_PC] = "--pc takes an address in hex",
		[BY_RANGE] = "--range takes two addresses in hex, A,B, the first and the last",
		[BY_LINE] = "--line takes FILE:LINE",
	};

	s->list[by] = must_calloc(values->len + 1, sizeof(*s->list[by]));
	for (size_t i = 0; i < values->len; i++) {
		struct trace_range *range = &s->list[by][s->len[by]++];

		if (!parse(by, values->items[i], range)) {
			cmd_error("%s, not '%s'", form[by], values->items[i]);
			return false;
		}
		if (by == BY_FRAME && range->last > s->last_frame)
			s->last_frame = range->last;
	}
	return true;
}

void select_deinit(struct trace_select *s)
{
	for (size_t by = 0; by < sizeof(s->list) / sizeof(*s->list); by++)
		free(s->list[by]);
}

bool select_any(const struct trace_select *s)
{
	for (size_t by = 0; by < sizeof(s->len) / sizeof(*s->len); by++)
		if (s->len[by])
			return true;
	return false;
}

/* True also if nothing was asked for. */
static bool in_list(const struct trace_select *s, enum trace_by by, uint64_t value)
{
	for (size_t i = 0; i < s->len[by]; i++)
		if (value >= s->list[by][i].first && value <= s->list[by][i].last)
			return true;
	return s->len[by] == 0;
}

/* Is `path` the file called `file`, or does it end in /`file`? */
static bool same_file(const char *path, const char *file, size_t len)
{
	size_t path_len = strlen(path);

	return path_len >= len && memcmp(path + path_len - len, file, len) == 0 &&
	       (path_len == len || file[0] == '/' || path[path_len - len - 1] == '/');
}

static bool at_line(const struct trace_select *s, struct places *places, uint64_t pc)
{
	struct place *place = places_code(places, pc);

	if (place->wanted >= 0)
		return place->wanted;
	place->wanted = 0;
	for (size_t i = 0; i < s->len[BY_LINE] && place->num_frames; i++) {
		const struct trace_range *range = &s->list[BY_LINE][i];
		size_t len = (size_t)(strrchr(range->file, ':') - range->file);

		if (place->frames[0].line == range->first &&
		    same_file(places_path(places, &place->frames[0]), range->file, len))
			place->wanted = 1;
	}
	return place->wanted;
}

bool select_wants(const struct trace_select *s, struct places *places,
		  const struct tfile_frame *frame, struct tfile_pc pc)
{
	if (!in_list(s, BY_FRAME, frame->number))
		return false;
	if (s->len[BY_TRACEPOINT] &&
	    (frame->tracepoint < 0 || !in_list(s, BY_TRACEPOINT, (uint64_t)frame->tracepoint)))
		return false;
	if (!s->len[BY_PC] && !s->len[BY_RANGE] && !s->len[BY_LINE])
		return true;
	return tfile_pc_known(pc) && in_list(s, BY_PC, pc.address) &&
	       in_list(s, BY_RANGE, pc.address) &&
	       (!s->len[BY_LINE] || at_line(s, places, pc.address));
}
