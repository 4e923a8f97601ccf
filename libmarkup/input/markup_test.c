/*
 * Elements of markup → events, in each dialect, as "KIND values", or what is wrong with them. Ours takes
 * what the specification says, LLVM's what its filter takes, Fuchsia's what its own does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libmarkup/bytes/out.h"
#include "libmarkup/input/input.h"

static const struct {
	const char *element, *ours, *llvm, *fuchsia; /* NULL: as ours; "": no event */
} cases[] = {
	/* Frames: a return address unless it is said. */
	{ "bt:0:0x1010", "frame 0 1010 100f", NULL, NULL },
	{ "bt:0:0x1010:ra", "frame 0 1010 100f", NULL, NULL },
	{ "bt:12:0x1010:pc", "frame 12 1010 1010", NULL, NULL },
	{ "bt:0:0x1010:pc:some: text", "frame 0 1010 1010 some: text", "frame 0 1010 100f expected at most 3 field(s); found 5",
	  "frame 0 1010 1010 some" },
	{ "bt:0:0x1010:text", "frame 0 1010 100f text", "bad expected PC type; found 'text'", "frame 0 1010 100f text" },
	{ "bt:0:1010", "bad expected address; found '1010'", NULL, "frame 0 3f2 3f1" },
	{ "bt:0x1:0x1010", "bad expected frame number; found '0x1'", NULL, "frame 1 1010 100f" },
	{ "bt:x:0x1010", "bad expected frame number; found 'x'", NULL, "unknown" },
	{ "bt:1:x", "bad expected address; found 'x'", NULL, "unknown" },
	{ "bt:2147483648:0x1", "frame 2147483648 1 0", NULL, "unknown" },
	{ "bt:0", "bad expected at least 2 field(s); found 1", NULL, "unknown" },
	{ "bt", "bad expected at least 2 field(s); found 0", NULL, "unknown" },
	{ "pc:0x1010", "pc 0 1010 1010", NULL, "unknown" },
	{ "pc:0x1010:ra", "pc 0 1010 100f", NULL, "unknown" },
	{ "pc:0x1010:pc", "pc 0 1010 1010", NULL, "unknown" },
	{ "pc:", "bad expected address; found ''", NULL, "unknown" },
	{ "data:0x1010", "data 0 1010", NULL, "unknown" },
	{ "data:0x1010:1", "data 0 1010", "data 0 1010 expected 1 field(s); found 2", "unknown" },
	/* The context. */
	{ "module:1:a.so:elf:aabb", "module 1 a.so aabb", NULL, NULL },
	{ "module:0x1:a.so:elf:aabb", "module 1 a.so aabb", NULL, NULL },
	{ "module:1::elf:aabb", "module 1  aabb", NULL, NULL },
	{ "module:1:a:b.so:elf:aabb", "module 1 a:b.so aabb", "bad unknown module type", "module 1 a:b.so aabb" },
	{ "module:1:a.so:elf:aabb:x", "module 1 a.so aabb", "module 1 a.so aabb expected 4 field(s); found 5", "module 1 a.so aabb" },
	{ "module:1:a.so:coff:aabb", "bad unknown module type", NULL, "unknown" },
	{ "module:1:a.so:elf:xx", "bad expected build ID; found 'xx'", NULL, "module 1 a.so xx" },
	{ "module:1:a.so:elf:abc", "module 1 a.so abc", NULL, NULL },
	{ "module:x:a.so:elf:aabb", "bad expected module ID; found 'x'", NULL, "unknown" },
	{ "module:1:a.so", "bad expected at least 3 field(s); found 2", NULL, "unknown" },
	{ "mmap:0x7000:0x1000:load:1:rx:0x2000", "map 1 7000+1000 rx 2000", NULL, "map 1 7000+1000 rx 2000" },
	{ "mmap:0x7000:4096:load:0x1:Rwx:0x2000", "map 1 7000+1000 rwx 2000", NULL, "map 1 7000+1000 Rwx 2000" },
	{ "mmap:28672:0x1000:load:1:rx:0x2000", "bad expected address; found '28672'", NULL, "map 1 7000+1000 rx 2000" },
	{ "mmap:0x7000:x:load:1:rx:0x2000", "bad expected size; found 'x'", NULL, "unknown" },
	{ "mmap:0x7000:0x1000:file:1:rx:0x2000", "bad unknown mmap type", NULL, "unknown" },
	{ "mmap:0x7000:0x1000:load:x:rx:0x2000", "bad expected module ID; found 'x'", NULL, "unknown" },
	{ "mmap:0x7000:0x1000:load:1:rq:0x2000", "bad expected mode; found 'rq'", NULL, "map 1 7000+1000 rq 2000" },
	{ "mmap:0x7000:0x1000:load:1:rx:x", "bad expected address; found 'x'", NULL, "unknown" },
	{ "mmap:0x7000:0x1000:load:1:rx", "bad expected 6 field(s); found 5", NULL, "unknown" },
	{ "mmap:0x7000:0x1000", "bad expected at least 3 field(s); found 2", NULL, "unknown" },
	{ "reset", "reset", NULL, NULL },
	{ "reset:1", "reset", "reset expected 0 field(s); found 1", NULL },
	/* Others. */
	{ "symbol:_Z1fv", "symbol _Z1fv", NULL, "unknown" },
	{ "symbol:a:b", "symbol a", "symbol a expected 1 field(s); found 2", "unknown" },
	{ "dumpfile:llvm-profdata:a.profraw", "dumpfile llvm-profdata a.profraw", "unknown", "dumpfile llvm-profdata a.profraw" },
	{ "dumpfile:x", "bad expected at least 2 field(s); found 1", "unknown", "unknown" },
	{ "else:1", "unknown", NULL, NULL },
	{ "Else:1", "", "bad tags must be all lowercase characters", "unknown" },
};

static void put_values(struct mk_out *o, const struct mk_event *e)
{
	static const char *const kinds[] = {
		[MK_RESET] = "reset", [MK_MODULE] = "module", [MK_MAP] = "map", [MK_FRAME] = "frame", [MK_PC] = "pc",
		[MK_DATA] = "data", [MK_SYMBOL] = "symbol", [MK_DUMPFILE] = "dumpfile",
		[MK_UNKNOWN] = "unknown",
	};
	char text[256];
	int len = snprintf(text, sizeof(text), "%s", e->bad ? "bad" : kinds[e->kind]);

	if (!e->bad && (e->kind == MK_FRAME || e->kind == MK_PC))
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %llu %llx %llx%s%.*s", (unsigned long long)e->number,
				(unsigned long long)e->address, (unsigned long long)e->lookup, e->detail.len ? " " : "",
				(int)e->detail.len, e->detail.ptr ? e->detail.ptr : "");
	else if (!e->bad && e->kind == MK_DATA)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " 0 %llx", (unsigned long long)e->address);
	else if (!e->bad && e->kind == MK_MODULE)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %llu %.*s %.*s", (unsigned long long)e->number,
				(int)e->name.len, e->name.ptr, (int)e->detail.len, e->detail.ptr);
	else if (!e->bad && e->kind == MK_MAP)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %llu %llx+%llx %.*s %llx", (unsigned long long)e->number,
				(unsigned long long)e->address, (unsigned long long)e->size,
				e->mode[0] ? 4 : (int)e->detail.len, e->mode[0] ? e->mode : e->detail.ptr,
				(unsigned long long)e->vaddr);
	else if (!e->bad && e->kind == MK_SYMBOL)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %.*s", (int)e->name.len, e->name.ptr);
	else if (!e->bad && e->kind == MK_DUMPFILE)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %.*s %.*s", (int)e->detail.len, e->detail.ptr,
				(int)e->name.len, e->name.ptr);
	mk_out_put(o, text, (size_t)len);
	for (unsigned i = 0; i < e->num_problems; i++) {
		mk_out_char(o, ' ');
		mk_put_problem(o, &e->problems[i]);
	}
}

static void test_elements(void **state)
{
	static const enum markup_dialect dialects[] = { MARKUP_DEFAULT, MARKUP_LLVM, MARKUP_FUCHSIA };

	(void)state;
	for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t at = i / 3;
		const char *all[] = { cases[at].ours, cases[at].llvm, cases[at].fuchsia };
		const char *want = all[i % 3] ? all[i % 3] : cases[at].ours;
		char line[200];
		const int len = snprintf(line, sizeof(line), "x {{{%s}}}: y", cases[at].element);
		struct mk_line l = { .p = line, .len = (size_t)len, .part = MK_LINE_WHOLE, .newline = "\n",
				     .dialect = dialects[i % 3] };
		struct mk_out out = { 0 };
		char *got;

		mk_read_line(&mk_markup_input, &l);
		if (l.num_events)
			put_values(&out, l.events);
		mk_out_char(&out, 0);
		got = mk_out_take(&out);
		assert_int_equal(l.num_events, *want != 0);
		assert_true(!*want || (l.events->text.ptr - line == 2 && l.events->text.len == (size_t)len - 5));
		if (strcmp(got, want))
			print_error("%s, dialect %zu\n  is %s\n not %s\n", cases[at].element, i % 3, got, want), *state = got;
		free(got);
		free(l.events);
	}
	assert_null(*state);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_elements) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
