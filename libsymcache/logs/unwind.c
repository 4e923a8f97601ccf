/*
 * Stacks in a log, walked by the unwind information of its modules: see resolver.h and
 * libmarkup/markup.h.
 */
#include <elf.h>
#include <string.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/logs/resolver.h"
#include "libsymcache/symbolize/module.h"
#include "libsymcache/unwind/unwind.h"

struct stack_walk {
	const struct markup_stack *stack;
	uint64_t stack_pointer;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct stack_walk *w = ctx;
	const uint64_t at = address - w->stack_pointer;

	if (at > w->stack->len || bytes > w->stack->len - at)
		return false;
	memcpy(to, w->stack->bytes + at, bytes);
	return true;
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	const struct stack_walk *w = ctx;
	uint64_t vaddr;
	void *module;

	if (!w->stack->find(w->stack->find_ctx, address, &module, &vaddr))
		return false;
	ret->cache = module ? sc_module_cache(module) : NULL;
	if (ret->cache)
		ret->base = address - (vaddr - symcache_load_base(ret->cache));
	return true;
}

/* The number in DWARF of a register of the log. */
static unsigned number_of(uint16_t machine, struct sc_str name)
{
	static const struct { const char *name; uint8_t amd64, i386, arm64, riscv; } any[] = {
		{ "sp", 7, 4, 31, 2 }, { "fp", 6, 5, 29, 8 }, { "lr", 64, 64, 30, 1 },
	};
	char text[8];

	if (name.len >= sizeof(text))
		return SYMCACHE_NO_REGISTER;
	memcpy(text, name.ptr, name.len);
	text[name.len] = '\0';
	for (size_t i = 0; i < sizeof(any) / sizeof(*any); i++)
		if (!strcmp(text, any[i].name))
			return machine == EM_X86_64 ? any[i].amd64 : machine == EM_386 ? any[i].i386 :
			       machine == EM_AARCH64 ? any[i].arm64 : any[i].riscv;
	return symcache_register_number(machine, text);
}

/* Takes the registers. False: they are not those of this machine, or pc and sp are missing. */
static bool take_registers(const struct markup_stack *s, uint16_t machine,
			   struct symcache_registers *ret)
{
	const unsigned sp = number_of(machine, (struct sc_str){ "sp", 2 });
	bool pc = false;

	ret->known = 0;
	for (size_t i = 0; i < s->num_registers; i++) {
		const struct markup_register *r = &s->registers[i];
		const unsigned n = number_of(machine, r->name);

		if (r->name.len == 2 && !memcmp(r->name.ptr, "pc", 2)) {
			ret->pc = r->value;
			pc = true;
		} else if (n == SYMCACHE_NO_REGISTER) {
			return false;
		} else if (n < 64) {
			symcache_set_register(ret, n, r->value);
		}
	}
	return pc && ret->known >> sp & 1;
}

/* The machine, by the module at the pc, else by the names of the registers. */
static bool find_machine(struct stack_walk *w, uint16_t *machine, struct symcache_registers *ret)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_386, EM_RISCV };
	struct symcache_unwind_frame module = { 0 };

	for (size_t i = 0; i < w->stack->num_registers; i++)
		if (w->stack->registers[i].name.len == 2 && !memcmp(w->stack->registers[i].name.ptr, "pc", 2) &&
		    find_module(w, w->stack->registers[i].value, &module) && module.cache && module.cache->image) {
			*machine = module.cache->image->machine;
			return take_registers(w->stack, *machine, ret);
		}
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		*machine = machines[i];
		if (take_registers(w->stack, *machine, ret))
			return true;
	}
	return false;
}

size_t sc_log_unwind(void *ctx, const struct markup_stack *stack,
		     const struct markup_caller **callers, const char **end)
{
	struct sc_log_resolver *r = ctx;
	struct stack_walk w = { .stack = stack };
	struct symcache_unwind_source source = {
		.read = read_memory, .module = find_module, .ctx = &w, .modules = &w };
	struct symcache_registers registers;
	struct symcache_unwind_frame f;
	struct symcache_unwinder u;

	if (!find_machine(&w, &source.machine, &registers) ||
	    symcache_unwind_begin(&u, &source, &registers, NULL))
		return 0;
	w.stack_pointer = registers.value[number_of(source.machine, (struct sc_str){ "sp", 2 })];
	vec_clear(&r->callers);
	while (vec_reserve(&r->callers, 1) && symcache_unwind_next(&u, &f))
		r->callers.data[r->callers.len++] = (struct markup_caller){
			.pc = f.pc, .exact = f.pc == f.lookup_pc,
			.how = f.trust > SYMCACHE_TRUST_CFI ? symcache_trust_text(f.trust) : NULL };
	*end = u.stop == SYMCACHE_STOP_END ? NULL : symcache_stop_text(u.stop);
	*callers = r->callers.data;
	return r->callers.len;
}
