/*
 * testing.h: random logs with all that may be open where a log is cut, and what a filter
 * made of them, for the tests that cut them.
 */
#ifndef MARKUP_FILTER_TESTING_H
#define MARKUP_FILTER_TESTING_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

static inline unsigned pick(unsigned n)
{
	return (unsigned)rand() % n;
}

static inline void add(struct fake_text *t, const char *text)
{
	fake_append(t, text, strlen(text));
}

static inline void add_line(struct fake_text *t, bool prefix)
{
	static const char *const lines[] = {
		"plain {text} with }}} braces {{\n", "another line\r\n", "\n",
		"\033[31mred\033[0m\n", "\033[1mbold for long\n", "\033[32m{{{symbol:_Z1fv}}}\033[0m\n",
		"{{{bt:0:0x10193:pc}}}\n", "[1] {{{bt:1:0x10501:ra:msg}}} x\n", "{{{bt:2:0x40123}}}\n",
		"{{{bt:3:0x50123}}}\n", "{{{pc:0x10201}}} {{{data:0x20012}}}\n", "{{{bt:3:nonsense}}}\n",
		"{{{Bad}}} {{{symbol}}}\n", "{{{dumpfile:sancov:x}}}\n",
		"{{{hexdict:RIP: 0x10201 A: 0}}}\n", "{{{hexdict:RIP: 0x10201\nRAX: 0x20012}}} x\n",
		"{{{hexdict:A: 0x10201\n", "B: 0x10\n", "C: 0x20010}}}\n", "{{{symbol:_Z1fv}}}\n",
		"\033[35m{{{symbol:_Z1fv\033[0m}}}\n",
	};
	char line[256];
	const unsigned n = pick(8);

	if (prefix && pick(8)) {
		snprintf(line, sizeof(line), "[1.%u] %u.7> ", n, 100 + pick(4));
		add(t, line);
	}
	switch (pick(40)) {
	case 0:
		add(t, pick(4) ? "{{{reset}}}\n" : "x {{{reset}}} y\n");
		break;
	case 1:
		snprintf(line, sizeof(line), "{{{module:%u:m%u:elf:%s}}}\n", n, n,
			 !pick(4) ? "ff" : n < 3 ? "aa" : n < 5 ? "bb01" : n < 6 ? "cc" : n < 7 ? "dd" : "ee");
		add(t, line);
		break;
	case 2:
	case 3:
		snprintf(line, sizeof(line), "{{{mmap:0x%x:0x4000:load:%u:rx:0x%x}}}\n",
			 0x10000 * (n + 1), n, n == 1 ? 0x4000 : 0x0);
		add(t, line);
		break;
	case 4:
		add(t, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"
		       "{{{mmap:0x20000:0x1000:load:0:rw:0x4000}}}\n");
		break;
	default:
		add(t, lines[pick(sizeof(lines) / sizeof(lines[0]))]);
	}
}

static inline void make_log(struct fake_text *t, unsigned seed, bool prefix)
{
	size_t size = 300000 + 400000 * (seed % 4);

	srand(seed);
	t->len = 0;
	while (t->len < size) {
		unsigned run = pick(200);
		if (!pick(400))
			for (unsigned i = 0; i < 20000; i++)
				add(t, "a line without end {{{symbol:_Z1fv}}} ");
		if (!pick(300)) {
			for (unsigned i = 0; i < 10000; i++)
				add(t, "many lines of plain text, in which nothing happens\n");
		}
		while (run--)
			add_line(t, prefix);
		/* Until a reset most of it would fail. */
		if (!pick(5))
			add(t, "{{{reset}}}\n");
	}
	if (pick(2))
		add(t, "{{{module:9:z:elf:aa}}}");
}

struct reports {
	char missing[1024];
	struct markup_stats stats;
	struct fake_text dumpfiles;
};

static inline void note_missing(void *ctx, const struct markup_module *m)
{
	struct reports *r = ctx;
	size_t len = strlen(r->missing);
	snprintf(r->missing + len, sizeof(r->missing) - len, "%.*s %02x %d %d;", (int)m->name.len,
		 m->name.ptr, m->build_id[0], (int)m->frames, m->no_symbols);
}

static inline void same_text(const char *what, const struct fake_text *got,
			     const struct fake_text *want)
{
	size_t i = 0;

	while (i < got->len && i < want->len && got->buf[i] == want->buf[i])
		i++;
	if (got->len != want->len || i < got->len) {
		size_t from = i < 100 ? 0 : i - 100;
		print_message("%s differs at %zu of %zu and %zu:\n got  %.200s\n want %.200s\n",
			      what, i, got->len, want->len, got->buf + from, want->buf + from);
		fail();
	}
}

#endif
