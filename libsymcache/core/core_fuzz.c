/*
 * Fuzz target: any bytes as a core file or minidump, plain or compressed; its mutator knows their
 * headers, notes and streams. All that is found in it is
 * used: threads, modules, memory; stacks are walked without caches, which ends soon.
 */
#include <string.h>
#include <sys/mman.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/core/parts.h"
#include "libsymcache/core/testing_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	const struct symcache_core *core = ctx;
	const struct symcache_mapping *m = symcache_process_at(core->process, address);

	ret->base = m ? m->image->start : 0;
	return m && symcache_core_executable(ctx, address);
}

static void walk(struct symcache_core *core, const struct symcache_core_thread *thread)
{
	const struct symcache_unwind_source source = {
		.machine = core->machine, .signature = core->signature, .max_frames = 200,
		.read = symcache_core_read, .module = find_module,
		.executable = symcache_core_executable, .ctx = core, .modules = core,
	};
	struct symcache_unwinder u;
	struct symcache_unwind_frame f;
	unsigned frames = 0;

	must(!symcache_unwind_begin(&u, &source, &thread->registers, NULL));
	while (symcache_unwind_next(&u, &f))
		must(frames++ <= 200);
	must(u.stop != SYMCACHE_STOP_NONE && frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symcache_core *core;
	struct sc_error err = { 0 };
	uint8_t bytes[4096];
	char path[32];
	int fd = testing_memfd(data, size, path);

	if (symcache_core_open(path, &core, &err)) {
		must(!core && err.code && err.msg[0]);
		close(fd);
		return 0;
	}
	must(core->num_threads);
	for (size_t i = 0; i < core->num_modules; i++) {
		const struct symcache_image *m = core->modules[i];

		must(m->path && m->build_id_len <= sizeof(m->build_id));
		must(!i || m->start >= core->modules[i - 1]->start);
		symcache_core_read(core, m->start, bytes, sizeof(bytes));
	}
	for (size_t i = 0; i < core->num_threads && i < 50; i++)
		walk(core, &core->threads[i]);
	symcache_core_close(core);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct fields fields = { .data = data, .size = size };

	core_fields(&fields);
	return fields_mutate(&fields, max, seed);
}
