/* trace_select.c: which frames are wanted: see symtrace_select. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/trace/trace.h"

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

static bool parse(enum symtrace_by by, const char *text, struct symtrace_range *ret)
{
	const char *mark = strrchr(text, by == SYMTRACE_BY_LINE ? ':' : ',');
	size_t len = strlen(text), before = mark ? (size_t)(mark - text) : 0;
	bool fine = false;

	switch (by) {
	case SYMTRACE_BY_TRACEPOINT:
	case SYMTRACE_BY_FRAME:
		fine = number(text, len, 10, &ret->first);
		break;
	case SYMTRACE_BY_PC:
		fine = number(text, len, 16, &ret->first);
		break;
	case SYMTRACE_BY_RANGE:
		return mark && number(text, before, 16, &ret->first) &&
		       number(mark + 1, strlen(mark + 1), 16, &ret->last) &&
		       ret->first <= ret->last;
	case SYMTRACE_BY_LINE:
		ret->file = (struct sc_str){ text, before };
		fine = before && number(mark + 1, strlen(mark + 1), 10, &ret->first);
		break;
	}
	ret->last = ret->first;
	return fine;
}

int symtrace_select_add(struct symtrace_select *s, enum symtrace_by by, const char *text,
			struct sc_error *err)
{
	static const char *const form[] = {
		[SYMTRACE_BY_TRACEPOINT] = "a number", [SYMTRACE_BY_FRAME] = "a number",
		[SYMTRACE_BY_PC] = "an address in hex",
		[SYMTRACE_BY_RANGE] = "two addresses in hex, A,B, the first and the last",
		[SYMTRACE_BY_LINE] = "FILE:LINE",
	};
	struct symtrace_range range = { 0 }, *list;

	if (!parse(by, text, &range))
		return sc_error_set(err, SC_EINVAL, "takes %s, not '%s'", form[by], text);
	list = reallocarray(s->list[by], s->len[by] + 1, sizeof(range));
	if (!list)
		return sc_no_memory(err);
	s->list[by] = list;
	list[s->len[by]++] = range;
	if (by == SYMTRACE_BY_FRAME && range.last > s->last_frame)
		s->last_frame = range.last;
	return 0;
}

void symtrace_select_deinit(struct symtrace_select *s)
{
	for (size_t by = 0; by < SYMTRACE_BYS; by++)
		free(s->list[by]);
	*s = (struct symtrace_select){ 0 };
}

bool symtrace_select_any(const struct symtrace_select *s)
{
	for (size_t by = 0; by < SYMTRACE_BYS; by++)
		if (s->len[by])
			return true;
	return false;
}

/* True also if nothing was asked for. */
static bool in_list(const struct symtrace_select *s, enum symtrace_by by, uint64_t value)
{
	for (size_t i = 0; i < s->len[by]; i++)
		if (value >= s->list[by][i].first && value <= s->list[by][i].last)
			return true;
	return s->len[by] == 0;
}

bool symtrace_select_frame(const struct symtrace_select *s, const struct symtrace_frame *frame,
			   struct symtrace_pc pc)
{
	if (!in_list(s, SYMTRACE_BY_FRAME, frame->number))
		return false;
	if (s->len[SYMTRACE_BY_TRACEPOINT] &&
	    (frame->tracepoint < 0 ||
	     !in_list(s, SYMTRACE_BY_TRACEPOINT, (uint64_t)frame->tracepoint)))
		return false;
	if (!s->len[SYMTRACE_BY_PC] && !s->len[SYMTRACE_BY_RANGE] && !s->len[SYMTRACE_BY_LINE])
		return true;
	return symtrace_pc_known(pc) && in_list(s, SYMTRACE_BY_PC, pc.address) &&
	       in_list(s, SYMTRACE_BY_RANGE, pc.address);
}

/* Is `path` the file called `file`, or does it end in /`file`? */
static bool same_file(const char *path, struct sc_str file)
{
	size_t len = strlen(path);

	return len >= file.len && memcmp(path + len - file.len, file.ptr, file.len) == 0 &&
	       (len == file.len || file.ptr[0] == '/' || path[len - file.len - 1] == '/');
}

bool symtrace_select_line(const struct symtrace_select *s, const char *path, uint32_t line)
{
	for (size_t i = 0; i < s->len[SYMTRACE_BY_LINE]; i++) {
		const struct symtrace_range *range = &s->list[SYMTRACE_BY_LINE][i];

		if (line == range->first && same_file(path, range->file))
			return true;
	}
	return false;
}
