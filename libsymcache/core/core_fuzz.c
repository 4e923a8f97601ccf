/*
 * Fuzz target: any bytes as a core file or minidump, plain or compressed; its mutator knows their
 * headers, notes and streams. All that is found in it is
 * used: threads, modules, memory; stacks are walked without caches, which ends soon.
 */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_fields.h"
#include "libsymcache/core/parts.h"

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

/* ---- fields ------------------------------------------------------------------------------ */

static void add_notes(struct fields *f, uint64_t at, uint64_t size)
{
	const uint64_t end = size > f->size || at > f->size - size ? f->size : at + size;

	while (at + 12 <= end && f->num < FIELDS_MAX) {
		const uint64_t name = fields_add(f, at, 4), bytes = fields_add(f, at + 4, 4);
		const uint64_t desc = at + 12 + ((name + 3) & ~(uint64_t)3);

		fields_add(f, at + 8, 4);
		fields_run(f, desc, 8, bytes < 512 ? bytes / 8 : 64);
		at = desc + ((bytes + 3) & ~(uint64_t)3);
	}
}

static void add_core(struct fields *f)
{
	const uint64_t headers = fields_add(f, offsetof(Elf64_Ehdr, e_phoff), 8);
	const uint64_t n = fields_add(f, offsetof(Elf64_Ehdr, e_phnum), 2);

	fields_add(f, offsetof(Elf64_Ehdr, e_type), 2);
	fields_add(f, offsetof(Elf64_Ehdr, e_machine), 2);
	fields_add(f, offsetof(Elf64_Ehdr, e_shoff), 8);
	fields_run(f, offsetof(Elf64_Ehdr, e_ehsize), 2, 6);
	for (uint64_t i = 0; i < n && i < 64; i++) {
		const uint64_t at = headers + i * sizeof(Elf64_Phdr);

		fields_run(f, at, 4, 2);
		fields_run(f, at + 8, 8, 6);
		if (fields_get(f, at, 4) == PT_NOTE)
			add_notes(f, fields_get(f, at + 8, 8), fields_get(f, at + 32, 8));
	}
}

static void add_minidump(struct fields *f)
{
	const uint64_t n = fields_add(f, 8, 4), directory = fields_add(f, 12, 4);

	for (uint64_t i = 0; i < n && i < 64; i++) {
		const uint64_t at = directory + 12 * i, size = fields_add(f, at + 4, 4);

		fields_add(f, at, 4);
		fields_run(f, fields_add(f, at + 8, 4), 4, size < 1024 ? size / 4 : 256);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct fields fields = { .data = data, .size = size };

	if (size > 64 && !memcmp(data, ELFMAG, SELFMAG))
		add_core(&fields);
	else if (size > 32 && !memcmp(data, "MDMP", 4))
		add_minidump(&fields);
	return fields_mutate(&fields, max, seed);
}
