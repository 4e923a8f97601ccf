/*
 * What the resolver is asked for the lines of logs: which modules, which places in them, which
 * addresses; all of it in its order, against what is known to be right: testdata/logs, and
 * testdata/markup with what is asked. Nothing is remembered, so each address is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void put(struct fake_text *t, const char *format, ...)
{
	char line[2000];
	va_list ap;

	va_start(ap, format);
	fake_append(t, line, (size_t)vsnprintf(line, sizeof(line), format, ap));
	va_end(ap);
}

/* A handle: the name and build ID of the module. */
struct handle {
	struct handle *next;
	char text[400];
};

struct asked {
	struct fake_text text;
	struct handle *handles;
};

static void *ask_module(void *ctx, struct markup_module *m, const char **why)
{
	struct asked *a = ctx;
	const bool known = case_module(NULL, m, why);
	struct handle *h = calloc(1, sizeof(*h));

	snprintf(h->text, sizeof(h->text), "%.*s%s", (int)m->name.len, m->name.len ? m->name.ptr : "",
		 m->build_id_len ? " " : "");
	for (size_t i = 0; i < m->build_id_len; i++)
		sprintf(h->text + strlen(h->text), "%02x", m->build_id[i]);
	put(&a->text, "module %s%s%s%.*s: %s\n", h->text, m->kernel ? ", the kernel's" : "",
	    m->release.len ? " of " : "", (int)m->release.len, m->release.len ? m->release.ptr : "",
	    known ? "known" : "unknown");
	m->table_only = strstr(h->text, "mongod") != NULL;
	h->next = a->handles;
	a->handles = h;
	return known ? h : NULL;
}

/* Programs are linked to 0x400000, code is up to 0x3000; all symbols are at 0x1200, and some have
 * another size. */
static bool ask_place(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	static const char *const origins[] = {
		[MARKUP_FROM_ZERO] = "zero", [MARKUP_FROM_LOAD_BASE] = "load base", [MARKUP_FROM_FILE] = "file",
		[MARKUP_FROM_VALGRIND] = "valgrind", [MARKUP_FROM_CODE] = "code", [MARKUP_FROM_SYMBOL] = "symbol",
		[MARKUP_INSIDE] = "inside", [MARKUP_FIXED] = "fixed", [MARKUP_FROM_SHOWN] = "shown",
	};
	const struct handle *h = module;
	const bool by_symbol = p->origin == MARKUP_FROM_SYMBOL || p->origin == MARKUP_FROM_SHOWN;
	struct asked *a = ctx;
	bool found = p->offset < 0x800000 && p->offset % 0x400000 < 0x3000;

	*vaddr = by_symbol ? 0x1200 + p->offset : p->origin == MARKUP_FROM_VALGRIND ? p->offset - 0x108000 : p->offset;
	if (p->origin == MARKUP_FIXED)
		found = p->offset >> 22 == 1;
	if (p->origin == MARKUP_FROM_VALGRIND)
		found = *vaddr < 0x3000;
	if (by_symbol)
		found = !sc_str_is(p->symbol, "no_such_function") && p->symbol_size != 0x100;
	if (p->symbol_size == 0x100)
		p->size_here = 0x99;
	put(&a->text, "place in %s: from %s %llx", h->text, origins[p->origin], (unsigned long long)p->offset);
	if (p->symbol.len)
		put(&a->text, ", symbol %.*s of %llx", (int)p->symbol.len, p->symbol.ptr,
		    (unsigned long long)p->symbol_size);
	if (p->address)
		put(&a->text, ", address %llx", (unsigned long long)p->address);
	if (p->has_page)
		put(&a->text, ", %llx from its page", (unsigned long long)p->from_page);
	put(&a->text, found ? ": %llx\n" : ": no\n", (unsigned long long)*vaddr);
	return found;
}

static size_t ask_code(void *ctx, void *module, uint64_t vaddr, bool named, const struct sc_frame **frames)
{
	put(&((struct asked *)ctx)->text, "%scode in %s: %llx\n", named ? "named " : "", ((struct handle *)module)->text,
	    (unsigned long long)vaddr);
	return case_code(NULL, NULL, vaddr, named, frames);
}

/* The trampoline of signals is at 0x1310. */
static bool ask_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	put(&((struct asked *)ctx)->text, "data in %s: %llx\n", ((struct handle *)module)->text,
	    (unsigned long long)vaddr);
	if (vaddr < 0x1310 || vaddr > 0x1318)
		return fake_data(NULL, module, vaddr, ret);
	*ret = (struct markup_data){ STR("__restore_rt"), vaddr - 0x1310, NOWHERE, 0 };
	return true;
}

static struct sc_str ask_source(void *ctx, void *module, const struct sc_frame *frame)
{
	(void)ctx, (void)module, (void)frame;
	return (struct sc_str){ NULL, 0 };
}

static size_t ask_unwind(void *ctx, const struct markup_stack *stack, const struct markup_caller **callers,
			 const char **end)
{
	struct asked *a = ctx;

	put(&a->text, "stack:");
	for (size_t i = 0; i < stack->num_registers; i++)
		put(&a->text, " %.*s %llx", (int)stack->registers[i].name.len, stack->registers[i].name.ptr,
		    (unsigned long long)stack->registers[i].value);
	for (size_t i = 0; i + 8 <= stack->len; i += 8) {
		uint64_t word, vaddr = 0;
		void *module = NULL;

		memcpy(&word, stack->bytes + i, 8);
		put(&a->text, ", %llx", (unsigned long long)word);
		if (stack->find(stack->find_ctx, word, &module, &vaddr))
			put(&a->text, " in %s at %llx", module ? ((struct handle *)module)->text : "nothing",
			    (unsigned long long)vaddr);
	}
	put(&a->text, "\n");
	return fake_unwind(NULL, stack, callers, end);
}

static struct sc_str rest; /* of the log that is read again */

static size_t read_again(void *ctx, char *buf, size_t size)
{
	const size_t n = rest.len < size ? rest.len : size;

	(void)ctx;
	memcpy(buf, rest.ptr, n);
	rest = (struct sc_str){ rest.ptr + n, rest.len - n };
	return n;
}

static void report_module(void *ctx, const struct markup_module *m)
{
	put(ctx, "%.*s, build ID of %zu bytes: %llu frames, %llu unplaced%s%s%s\n", (int)m->name.len, m->name.ptr,
	    m->build_id_len, (unsigned long long)m->frames, (unsigned long long)m->unplaced,
	    m->no_symbols ? ", no symbols" : "", m->table_only ? ", a table only" : "",
	    m->other_build ? ", another build" : "");
}

/* Asks for all lines of a log, of a file or of a pipe. */
static void ask(const struct markup_options *options, const struct fake_text *log, bool file, struct asked *a)
{
	const struct markup_resolver resolver = {
		.ctx = a, .module = ask_module, .place = ask_place, .code = ask_code, .source = ask_source,
		.data = ask_data, .unwind = ask_unwind, .demangle = fake_demangle,
	};
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	const struct markup_stats *stats;
	struct markup_filter *f;

	assert_int_equal(markup_filter_create(options, &resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "log");
	rest = (struct sc_str){ log->buf, log->len };
	if (file)
		markup_filter_again(f, read_again, NULL);
	assert_int_equal(markup_filter_feed(f, log->buf, log->len), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	fake_append(&a->text, "---- \n", 6);
	fake_append(&a->text, got.out.buf, got.out.len);
	fake_append(&a->text, "---- complaints\n", 16);
	fake_append(&a->text, got.err.buf, got.err.len);
	fake_append(&a->text, "---- missing\n", 13);
	markup_filter_missing(f, report_module, &a->text);
	stats = markup_filter_stats(f);
	put(&a->text, "%llu frames, %llu resolved, %llu outside, %llu guessed\n", (unsigned long long)stats->frames,
	    (unsigned long long)stats->frames_resolved, (unsigned long long)stats->frames_outside,
	    (unsigned long long)stats->guessed);
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
	for (struct handle *h = a->handles, *next; h; h = next) {
		next = h->next;
		free(h);
	}
	a->handles = NULL;
}

static void test_asked(void **state)
{
	static const struct {
		const char *log, *name;
		bool file;
		struct markup_options options;
	} cases[] = {
		{ "neighbours", "neighbours.asked", true, { .dialect = MARKUP_DEFAULT } },
		{ "neighbours", "neighbours.asked-pipe", false, { .dialect = MARKUP_DEFAULT, .demux = "" } },
		{ "every-format", "every-format.asked", true, { .dialect = MARKUP_DEFAULT } },
		{ "elements", "elements.asked", false, { .dialect = MARKUP_DEFAULT } },
		{ "elements", "elements.asked-llvm", false, { .dialect = MARKUP_LLVM } },
		{ "elements", "elements.asked-fuchsia", false, { .dialect = MARKUP_FUCHSIA } },
		{ "processes", "processes.asked", false, { .dialect = MARKUP_DEFAULT, .demux = "" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_text log = { 0 };
		struct asked a = { 0 };

		read_case("logs", cases[i].log, ".log", &log);
		ask(&cases[i].options, &log, cases[i].file, &a);
		record(cases[i].name, &a.text);
		expect_recorded(cases[i].name, &a.text, "");
		free(a.text.buf);
		free(log.buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_asked) };

	return cmocka_run_group_tests_name("asked", tests, NULL, NULL);
}
