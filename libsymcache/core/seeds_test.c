/* What is read of each seed of the fuzz target, and of damaged ones: the process, its threads and
 * modules, what is mapped, memory, and the stacks that are found without caches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/core/parts.h"
#include "libsymcache/core/testing_fields.h"

enum { MOST = 40 }; /* threads and the like */

/* Bytes of memory, as far as they are there. */
static void put_memory(FILE *to, struct symcache_core *core, uint64_t address)
{
	uint8_t bytes[64];
	size_t n = sizeof(bytes);

	while (n && !symcache_core_read(core, address, bytes, n))
		n /= 2;
	fprintf(to, "%" PRIx64 "%s: ", address,
		symcache_core_executable(core, address) ? " code" : "");
	put_digest(to, bytes, n);
	fputc('\n', to);
}

static void put_process(FILE *to, const struct symcache_core *core)
{
	fprintf(to, "machine %u, %u bytes, pid %" PRIu32 " %s|%s|, signal %d %d", core->machine, core->word,
		core->pid, core->command, core->arguments, core->signal, core->signal_code);
	if (core->has_signal_address)
		fprintf(to, " at %" PRIx64, core->signal_address);
	fprintf(to, ", signature %" PRIx64 ", %" PRIu64 " missing%s\n", core->signature, core->missing,
		core->died ? ", died" : "");
}

static void put_module(FILE *to, const struct symcache_core *core, const struct symcache_image *m)
{
	fprintf(to, "module [%" PRIx64 " %" PRIx64 ") %s%s, build ID ", m->start, m->end, m->path,
		m == core->vdso ? " (vDSO)" : "");
	for (size_t i = 0; i < m->build_id_len; i++)
		fprintf(to, "%02x", m->build_id[i]);
	fprintf(to, ", %" PRIu64 " frames, %" PRIu64 " lost: %s\n", m->frames, m->lost, m->why.msg);
}

static void put_mappings(FILE *to, const struct symcache_core *core)
{
	size_t n;
	const struct symcache_mapping *list = symcache_process_mappings(core->process, &n);

	for (size_t i = 0; i < n && i < MOST; i++)
		fprintf(to, "mapped [%" PRIx64 " %" PRIx64 ") %" PRIx64 " from %d of %s\n",
			list[i].start, list[i].end, list[i].offset, list[i].origin,
			list[i].image->path);
}

static void put_thread(FILE *to, struct symcache_core *core, const struct symcache_core_thread *t)
{
	struct symcache_stack stack = { 0 };
	struct sc_error err;

	fprintf(to, "thread %" PRIu32 " %s, pc %" PRIx64 ", known %" PRIx64 ", ", t->tid, t->name,
		t->registers.pc, t->registers.known);
	put_digest(to, t->registers.value, sizeof(t->registers.value));
	fputc('\n', to);
	put_memory(to, core, t->registers.value[sc_core_stack_register(core)]);
	if (symcache_core_walk(core, t, false, &stack, &err))
		fprintf(to, "%d %s\n", err.code, err.msg);
	for (size_t i = 0; i < stack.num_frames && i < MOST; i++)
		fprintf(to, " %" PRIx64 " %s", stack.frames[i].pc,
			symcache_trust_text(stack.frames[i].trust));
	fprintf(to, ": %zu frames, %s %" PRIx64 "\n", stack.num_frames, symcache_stop_word(stack.stop),
		stack.address);
	symcache_stack_deinit(&stack);
}

static void put_segments(FILE *to, struct symcache_core *core)
{
	const struct segments *memory = &core->private->memory;

	for (size_t i = 0; i < memory->list.len && i < MOST; i++) {
		const struct segment s = memory->list.data[i];

		put_memory(to, core, s.start - 1);
		put_memory(to, core, s.start);
		if (s.size)
			put_memory(to, core, s.start + s.size - 1);
	}
}

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_core *core;
	struct sc_error err;
	char path[32];
	const int fd = testing_memfd(bytes, size, path);

	if (symcache_core_open(path, &core, &err)) {
		/* The path is another one each time. */
		fprintf(to, "%d%s\n", err.code, err.msg + strlen(path));
	} else {
		symcache_core_use(core, caches, "--module");
		symcache_process_use(core->process, &(struct symcache_finder){
			.find = symcache_find_module, .caches = caches, .no_files = true });
		put_process(to, core);
		for (size_t i = 0; i < core->num_threads && i < MOST; i++)
			put_thread(to, core, &core->threads[i]);
		for (size_t i = 0; i < core->num_modules && i < MOST; i++)
			put_module(to, core, core->modules[i]);
		put_mappings(to, core);
		put_segments(to, core);
		symcache_core_close(core);
	}
	close(fd);
	symcache_caches_destroy(caches);
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "core", NULL };

	(void)state;
	expect_answers_of_fields("core", seeds, 256, core_fields, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
