/*
 * core_text.c: stacks for people; see core.h and cmd/cli/frame_line.h.
 */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli/frame_line.h"
#include "cmd/core/core.h"

enum { FIRST_SHOWN = 200, LAST_SHOWN = 50, MAX_PERIOD = 16, MAX_IDS = 12 };

static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64: return "x86-64";
	case EM_386: return "i386";
	case EM_AARCH64: return "AArch64";
	case EM_RISCV: return "RISC-V";
	}
	return "?";
}

static void put_signal(const struct symcache_core *core)
{
	const char *name = sigabbrev_np(core->signal);

	if (!core->signal)
		return;
	if (name)
		printf(", SIG%s", name);
	else
		printf(", signal %d", core->signal);
	if (core->has_signal_address)
		printf(" at 0x%" PRIx64, core->signal_address);
}

void core_text_head(const struct core_run *r)
{
	const struct symcache_core *core = r->core;
	size_t n, without_cache = 0, without_unwind = 0;
	const struct symcache_core_image *list = symcache_core_images_list(r->images, &n);

	for (size_t i = 0; i < n; i++) {
		without_cache += list[i].asked && !list[i].cache;
		without_unwind += list[i].cache && !list[i].cache->unwind.facts;
	}
	put_shown(r->path);
	fputs(": ", stdout);
	put_shown(*core->arguments ? core->arguments : *core->command ? core->command : "a program");
	if (core->pid)
		printf(" (pid %" PRIu32 ")", core->pid);
	printf(", %s", machine_name(core->machine));
	put_signal(core);
	printf("; %zu thread%s, %zu module%s", core->num_threads, core->num_threads == 1 ? "" : "s",
	       n, n == 1 ? "" : "s");
	if (without_cache)
		printf(", %zu not in the store", without_cache);
	if (without_unwind)
		printf(", %zu without unwind information", without_unwind);
	putchar('\n');
}

static void put_heading(const struct symcache_core *core, const size_t *threads, size_t n)
{
	const struct symcache_core_thread *first = &core->threads[threads[0]];

	if (n == 1) {
		printf("thread %" PRIu32, first->tid);
		if (*first->name) {
			fputs(", ", stdout);
			put_shown(first->name);
		}
		puts(!threads[0] && core->died ? ", the one that died" : "");
		return;
	}
	printf("%zu threads with equal stacks:", n);
	for (size_t i = 0; i < n && i < MAX_IDS; i++)
		printf(" %" PRIu32, core->threads[threads[i]].tid);
	puts(n > MAX_IDS ? " …" : "");
}

static void put_registers(const struct symcache_core *core, const struct symcache_registers *r)
{
	unsigned column = 0;
	char name[8];

	for (uint64_t left = r->known; left; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctzll(left);

		printf("%s%4s 0x%0*" PRIx64, column % 4 ? "  " : column ? "\n        " : "        ",
		       symcache_register_name(core->machine, n, name), 2 * core->word, r->value[n]);
		column++;
	}
	if (column)
		putchar('\n');
}

static void put_frame(const struct core_run *r, const struct symcache_stack *stack, size_t i)
{
	const struct symcache_walked_frame *f = &stack->frames[i];
	const struct symcache_core_image *image = f->owner;

	frame_lines_put(&(struct frame_line){
		.number = i, .word = r->core->word, .frame = f, .place = core_place(r, f),
		.module = image ? image->name : NULL, .has_offset = image && image->cache,
		.offset = image ? f->pc - image->base : 0,
	});
	if (stack->registers)
		put_registers(r->core, &stack->registers[i]);
}

/* How many frames repeat from `from` on, with which period: recursion. 0: none. */
static size_t find_period(const struct symcache_stack *s, size_t from)
{
	for (size_t period = 1; period <= MAX_PERIOD && from + 2 * period <= s->num_frames;
	     period++) {
		size_t k = 0;

		while (k < period && s->frames[from + k].pc == s->frames[from + period + k].pc)
			k++;
		if (k == period)
			return period;
	}
	return 0;
}

static void put_stop(const struct symcache_stack *s)
{
	const struct symcache_core_image *lacks = s->lacks;

	printf("  %s", symcache_stop_text(s->stop));
	if (s->stop == SYMCACHE_STOP_MEMORY)
		printf(" at 0x%" PRIx64, s->address);
	if (lacks) {
		fputs(": ", stdout);
		put_shown(lacks->name);
		if (*lacks->id)
			printf(", build ID %s", lacks->id);
		if (s->stop == SYMCACHE_STOP_NO_UNWIND)
			fputs("; index the program or library itself, too", stdout);
	}
	putchar('\n');
}

void core_text_stack(const struct core_run *r, const struct symcache_stack *stack,
		     const size_t *threads, size_t num_threads)
{
	size_t n = stack->num_frames;

	putchar('\n');
	put_heading(r->core, threads, num_threads);
	for (size_t i = 0; i < n; i++) {
		if (i == FIRST_SHOWN && n > FIRST_SHOWN + LAST_SHOWN) {
			size_t period = find_period(stack, i);

			printf("  … %zu frames", n - FIRST_SHOWN - LAST_SHOWN);
			if (period)
				printf(", repeating every %zu", period);
			puts(" (--format json has all)");
			i = n - LAST_SHOWN;
		}
		put_frame(r, stack, i);
	}
	put_stop(stack);
}

void core_text_summary(const struct core_run *r)
{
	size_t n;
	const struct symcache_core_image *list = symcache_core_images_list(r->images, &n);

	puts("\nstart               frames  build ID                                  module");
	for (size_t i = 0; i < n; i++) {
		const struct symcache_core_image *m = &list[i];

		printf("0x%016" PRIx64 "  %6" PRIu64 "  %-40s  ", m->module->start, m->frames,
		       *m->id ? m->id : "unknown");
		put_shown(*m->module->path ? m->module->path : "?");
		if (m->why.code) {
			fputs(": ", stdout);
			put_shown(m->why.msg);
		} else if (m->cache && !m->cache->unwind.facts) {
			fputs(": no unwind information: index the program or library itself, too",
			      stdout);
		} else if (m->cache && !m->cache->header->num_functions) {
			fputs(": no symbols: index its debug file, too", stdout);
		}
		putchar('\n');
	}
}
