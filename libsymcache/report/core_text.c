/* A core's stacks for people: see core.h. */
#include <elf.h>
#include <inttypes.h>
#include <signal.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/report/core.h"

enum { FIRST_SHOWN = 200, LAST_SHOWN = MK_CORE_LAST, MAX_PERIOD = 16, MAX_IDS = 12,
       FIRST_KEPT = FIRST_SHOWN + 2 * MAX_PERIOD };

const char *mk_machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64: return "x86-64";
	case EM_386: return "i386";
	case EM_AARCH64: return "AArch64";
	case EM_RISCV: return "RISC-V";
	}
	return "?";
}

static void put_signal(struct mk_out *o, const struct symcache_core *core)
{
	const char *name = sigabbrev_np(core->signal);

	if (!core->signal)
		return;
	if (name)
		mk_put(o, ", SIG", name);
	else
		mk_put(o, ", signal ", (int64_t)core->signal);
	if (core->has_signal_address)
		mk_put(o, " at ", mk_hex(core->signal_address));
}

void mk_core_text_head(struct mk_core *c)
{
	const struct symcache_core *core = c->core;
	const size_t n = core->num_modules;
	size_t without_cache = 0, without_unwind = 0;
	struct mk_out *o = c->out;

	for (size_t i = 0; i < n; i++) {
		const struct symcache_image *m = core->modules[i];

		without_cache += m->asked && !m->cache;
		without_unwind += m->cache && !m->cache->unwind.facts;
	}
	mk_put(o, mk_shown(c->path), ": ", mk_shown(*core->arguments ? core->arguments :
						    *core->command ? core->command : "a program"));
	if (core->pid)
		mk_put(o, " (pid ", core->pid, ")");
	mk_put(o, ", ", mk_machine_name(core->machine));
	put_signal(o, core);
	mk_put(o, "; ", core->num_threads, core->num_threads == 1 ? " thread, " : " threads, ", n,
	       n == 1 ? " module" : " modules");
	if (without_cache)
		mk_put(o, ", ", without_cache, " not in the store");
	if (without_unwind)
		mk_put(o, ", ", without_unwind, " without unwind information");
	mk_put(o, "\n");
}

static void put_heading(struct mk_core *c, const size_t *threads, size_t n)
{
	const struct symcache_core_thread *all = c->core->threads, *first = &all[threads[0]];
	struct mk_out *o = c->out;

	if (n == 1) {
		mk_put(o, "thread ", first->tid, *first->name ? ", " : "", mk_shown(first->name),
		       !threads[0] && c->core->died ? ", the one that died\n" : "\n");
		return;
	}
	mk_put(o, n, " threads with equal stacks:");
	for (size_t i = 0; i < n && i < MAX_IDS; i++)
		mk_put(o, " ", all[threads[i]].tid);
	mk_put(o, n > MAX_IDS ? " …\n" : "\n");
}

static void put_registers(struct mk_core *c, const struct symcache_registers *r)
{
	unsigned column = 0;
	char name[8];

	for (uint64_t left = r->known; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctzll(left);

		mk_out_printf(c->out, "%s%4s 0x%0*" PRIx64,
			      column % 4 ? "  " : column ? "\n        " : "        ",
			      symcache_register_name(c->core->machine, n, name), 2 * c->core->word,
			      r->value[n]);
		column++;
	}
	if (column)
		mk_put(c->out, "\n");
}

/* Why code of an image may have no name. */
static const char *why_nameless(const struct symcache_image *image)
{
	const struct symcache_ext_image *facts = image->cache ? image->cache->image : NULL;
	const uint32_t sources = facts ? facts->sources : 0;

	return !image->cache ? image->asked ? "not in the store" : NULL :
	       sources & SYMCACHE_FROM_DWARF ? "no function is known there" :
	       sources & SYMCACHE_FROM_NAMES ? "names of functions alone" :
	       sources & SYMCACHE_FROM_SYMTAB ? "only .symtab" :
	       sources & SYMCACHE_FROM_MINIDEBUGINFO ? "only MiniDebugInfo" :
	       sources & SYMCACHE_FROM_DYNSYM ? "only .dynsym" : "no symbols";
}

/* Frame `number`, which is at stack->frames[i]. */
static void put_frame(struct mk_core *c, const struct symcache_stack *stack, size_t number, size_t i)
{
	const struct symcache_unwind_frame *f = &stack->frames[i];
	const struct symcache_image *image = f->owner;

	mk_put_frame(c->out, &(struct mk_stack_line){
		.number = number, .word = c->core->word, .walked = f, .place = mk_core_place(c, f),
		.color = c->color, .brief = c->brief,
		.module = image ? image->name : NULL, .has_offset = image,
		.offset = image ? mk_core_offset(f) : 0,
		.why = image ? why_nameless(image) : NULL,
	});
	if (stack->registers)
		put_registers(c, &stack->registers[i]);
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

static void put_stop(struct mk_out *o, const struct symcache_stack *s)
{
	const struct symcache_image *lacks = s->lacks;
	char id[SYMCACHE_BUILD_ID_TEXT];

	mk_put(o, "  ", symcache_stop_text(s->stop));
	if (s->stop == SYMCACHE_STOP_MEMORY)
		mk_put(o, " at ", mk_hex(s->address));
	if (lacks) {
		mk_put(o, ": ", mk_shown(lacks->name));
		if (lacks->build_id_len)
			mk_put(o, ", build ID ", symcache_build_id_text(id, lacks->build_id,
									lacks->build_id_len));
		if (s->stop == SYMCACHE_STOP_NO_UNWIND)
			mk_put(o, "; index the program or library itself, too");
	}
	mk_put(o, "\n");
}

/* A copy of frames, or registers, of one size: `first` ones and `last` ones of `n`. NULL: out of
 * memory. */
static void *copy_ends(const void *from, size_t size, size_t n, size_t first, size_t last)
{
	uint8_t *to = sc_big_alloc((first + last) * size);

	if (!to)
		return NULL;
	memcpy(to, from, first * size);
	memcpy(to + first * size, (const uint8_t *)from + (n - last) * size, last * size);
	return to;
}

bool mk_core_shown_part(const struct symcache_stack *stack, struct symcache_stack *ret,
			size_t *left_out)
{
	const size_t n = stack->num_frames;
	const bool all = n <= FIRST_KEPT + LAST_SHOWN;
	const size_t first = all ? n : FIRST_KEPT, last = all ? 0 : LAST_SHOWN;

	*left_out = n - first - last;
	*ret = *stack;
	ret->num_frames = ret->cap_frames = first + last;
	ret->cap_registers = stack->registers ? first + last : 0;
	ret->frames = copy_ends(stack->frames, sizeof(*stack->frames), n, first, last);
	ret->registers = stack->registers ?
		copy_ends(stack->registers, sizeof(*stack->registers), n, first, last) : NULL;
	return ret->frames && (ret->registers || !stack->registers);
}

void mk_core_text_stack(struct mk_core *c, const struct symcache_stack *stack, size_t left_out,
			const size_t *threads, size_t num_threads)
{
	const size_t n = stack->num_frames + left_out;
	struct mk_out *o = c->out;

	mk_put(o, "\n");
	put_heading(c, threads, num_threads);
	for (size_t i = 0; i < n; i++) {
		if (i == FIRST_SHOWN && n > FIRST_SHOWN + LAST_SHOWN) {
			const size_t period = find_period(stack, i);

			mk_put(o, "  … ", n - FIRST_SHOWN - LAST_SHOWN, " frames");
			if (period)
				mk_put(o, ", repeating every ", period);
			mk_put(o, " (--format json has all)\n");
			i = n - LAST_SHOWN;
		}
		put_frame(c, stack, i, i < FIRST_KEPT ? i : i - left_out);
	}
	put_stop(o, stack);
}

void mk_core_text_summary(struct mk_core *c)
{
	char id[SYMCACHE_BUILD_ID_TEXT];
	struct mk_out *o = c->out;

	mk_put(o, "\nstart               frames  build ID                                  module\n");
	for (size_t i = 0; i < c->core->num_modules; i++) {
		const struct symcache_image *m = c->core->modules[i];

		symcache_build_id_text(id, m->build_id, m->build_id_len);
		mk_out_printf(o, "0x%016" PRIx64 "  %6" PRIu64 "  %-40s  ", m->start, m->frames,
			      *id ? id : "unknown");
		mk_put(o, mk_shown(*m->path ? m->path : "?"));
		if (m->why.code)
			mk_put(o, ": ", mk_shown(m->why.msg));
		else if (m->cache && !m->cache->unwind.facts)
			mk_put(o, ": no unwind information: index the program or library itself, too");
		else if (m->cache && !m->cache->header->num_functions)
			mk_put(o, ": no symbols: index its debug file, too");
		mk_put(o, "\n");
	}
}
