/* symcache_walk(): the test walks its own stack, through functions whose order it knows. */
#include <symcache-stack.h>

#include "libsymcache/api/testing.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <ucontext.h>

#ifdef __x86_64__

static struct symcache_store *store;
static struct symcache_cache *cache;
static uint64_t bias;
static unsigned stop_after, memory_left;

static int read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	assert_ptr_equal(ctx, &bias);
	if (!memory_left)
		return 0;
	memory_left--;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return 1;
}

static int is_executable(void *ctx, uint64_t address)
{
	Dl_info info;

	assert_ptr_equal(ctx, &bias);
	return dladdr((const void *)(uintptr_t)address, &info) != 0;
}

/* This program; not libc. */
static struct symcache_cache *find_module(void *ctx, uint64_t address, uint64_t *ret)
{
	struct link_map *map;
	Dl_info info;

	assert_ptr_equal(ctx, &bias);
	if (!dladdr1((const void *)(uintptr_t)address, &info, (void **)&map, RTLD_DL_LINKMAP) || *map->l_name)
		return NULL;
	*ret = bias = map->l_addr;
	return cache;
}

struct seen {
	struct symcache_resolver *resolver;
	unsigned frames;
	char text[1000];
};

static int take(void *ctx, const struct symcache_stack_frame *f)
{
	struct seen *seen = ctx;
	const struct symcache_frame *frames;

	assert_true(f->lookup_pc == f->pc - (f->how != SYMCACHE_WALK_CONTEXT));
	assert_int_equal(f->flags, 0);
	if (!f->cache)
		assert_int_equal(f->vaddr, 0);
	else {
		assert_ptr_equal(f->cache, cache);
		assert_int_equal(f->vaddr, f->lookup_pc - bias);
		assert_true(symcache_frames(seen->resolver, cache, f->vaddr, &frames) >= 1);
		snprintf(seen->text + strlen(seen->text), 100, "%s ", frames[0].function);
	}
	return ++seen->frames == stop_after;
}

static struct symcache_walk_options options = {
	.size = sizeof(options), .machine = EM_X86_64, .read = read_memory, .module = find_module,
	.executable = is_executable, .ctx = &bias,
};

static __attribute__((noinline)) int walk_here(struct seen *seen, const char **why)
{
	static const uint8_t order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
	struct symcache_thread t = { .known = 0xffff };
	ucontext_t context;

	assert_int_equal(getcontext(&context), 0);
	t.pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	for (unsigned i = 0; i < 16; i++)
		t.value[i] = (uint64_t)context.uc_mcontext.gregs[order[i]];
	return symcache_walk(&options, &t, take, seen, why, NULL);
}

static __attribute__((noinline)) int outer(struct seen *seen, const char **why)
{
	return walk_here(seen, why) + (seen->frames == UINT32_MAX);
}

static void walks(void **state)
{
	static const struct { unsigned stop_after, memory; const char *begins, *why; } cases[] = {
		{ 0, 100000, "walk_here outer walks ", NULL },
		{ 2, 100000, "walk_here outer ", "" },
		{ 0, 0, "walk_here ", "no memory" },
	};

	(void)state;
	store = open_a(0);
	cache = get(store);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct seen seen = { .resolver = resolver(0) };
		const char *why;

		stop_after = cases[i].stop_after;
		memory_left = cases[i].memory;
		assert_int_equal(outer(&seen, &why), cases[i].stop_after > 0);
		assert_memory_equal(seen.text, cases[i].begins, strlen(cases[i].begins));
		if (cases[i].why) {
			assert_string_equal(seen.text, cases[i].begins);
			assert_string_equal(why, cases[i].why);
		}
		symcache_resolver_destroy(seen.resolver);
	}
	symcache_cache_unref(cache);
	symcache_store_close(store);
}

/* ---- a process that is made ------------------------------------------------------------------ */

enum { CODE = 0x50000, NOWHERE = 0x9000000, STACK = 0x7000 };

/* At STACK a return address; at CODE what returns from signals on x86-64, which saved registers above it. */
static int read_made(void *ctx, uint64_t address, void *to, size_t bytes)
{
	static const uint8_t trampoline[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint64_t stack[30] = { CODE + 0x500, [5 + 15] = STACK + 0x100, [5 + 16] = CODE + 0x700 };
	const struct { uint64_t at; const void *bytes; size_t size; } parts[] = {
		{ CODE, trampoline, sizeof(trampoline) }, { STACK, stack, sizeof(stack) },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (address >= parts[i].at && address - parts[i].at + bytes <= parts[i].size) {
			memcpy(to, (const uint8_t *)parts[i].bytes + (address - parts[i].at), bytes);
			return 1;
		}
	return 0;
}

static struct symcache_cache *find_made(void *ctx, uint64_t address, uint64_t *ret)
{
	*ret = CODE;
	return address >= CODE && address < CODE + 0x1000 ? ctx : NULL;
}

static int is_code(void *ctx, uint64_t address)
{
	(void)ctx;
	return address < NOWHERE;
}

static int print(void *ctx, const struct symcache_stack_frame *f)
{
	char *text = ctx;

	sprintf(text + strlen(text), "%llx %llx sp %llx, %u %u%s; ", (unsigned long long)f->pc,
		(unsigned long long)f->lookup_pc, (unsigned long long)f->stack_pointer, f->how, f->flags,
		f->cache ? "" : " none");
	return 0;
}

/* All that a frame says, and each option. */
static void walks_made(void **state)
{
	static const struct {
		uint32_t machine, max_frames;
		uint64_t signature, pc, link;
		const char *wants;
	} cases[] = {
		{ EM_X86_64, 0, 0, NOWHERE, 0,
		  "9000000 9000000 sp 7000, 0 0 none; 50500 504ff sp 7008, 3 0; no unwind information for the address" },
		{ EM_X86_64, 1, 0, NOWHERE, 0, "9000000 9000000 sp 7000, 0 0 none; too many frames" },
		{ EM_X86_64, 0, 0, CODE, 0,
		  "50000 50000 sp 7000, 0 1; 50700 50700 sp 7100, 1 0; no unwind information for the address" },
		{ EM_AARCH64, 0, 0, NOWHERE, 0xff00000000050500,
		  "9000000 9000000 sp 7000, 0 0 none; 50500 504ff sp 7000, 3 0; no unwind information for the address" },
		{ EM_AARCH64, 0, 0xff0ull << 48, NOWHERE, 0xff0000000050500,
		  "9000000 9000000 sp 7000, 0 0 none; 50500 504ff sp 7000, 3 0; no unwind information for the address" },
		/* Not all of its bits are a signature. */
		{ EM_AARCH64, 0, 0xf0ull << 48, NOWHERE, 0xff000000050500,
		  "9000000 9000000 sp 7000, 0 0 none; the address is in no module" },
	};
	struct symcache_store *s = open_a(0);
	struct symcache_cache *c = get(s);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int arm = cases[i].machine == EM_AARCH64;
		const struct symcache_walk_options o = {
			.size = sizeof(o), .machine = cases[i].machine, .max_frames = cases[i].max_frames,
			.signature = cases[i].signature, .read = read_made, .module = find_made, .executable = is_code, .ctx = c,
		};
		struct symcache_thread t = { .pc = cases[i].pc, .known = arm ? 3ull << 30 : 1 << 7 };
		const char *why = "";
		char text[500] = "";

		t.value[arm ? 31 : 7] = STACK;
		t.value[30] = cases[i].link;
		ok(symcache_walk(&o, &t, print, text, &why, NULL));
		strcat(text, why);
		assert_string_equal(text, cases[i].wants);
	}
	symcache_cache_unref(c);
	symcache_store_close(s);
}

/* Options of a caller that forgot something are refused, not called. */
static void refuses(void **state)
{
	const struct symcache_thread t = { 0 };
	struct symcache_walk_options o[5];
	struct symcache_error err;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		o[i] = options;
	o[0].read = NULL;
	o[1].module = NULL;
	o[2].executable = NULL;
	o[3].size = 8;
	o[4].machine = 0x10000 + EM_X86_64;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(symcache_walk(&o[i], &t, take, NULL, NULL, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_walk(NULL, &t, take, NULL, NULL, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_walk(&options, NULL, take, NULL, NULL, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_walk(&options, &t, NULL, NULL, NULL, &err), SYMCACHE_EINVAL);
	o[4].machine = EM_S390;
	assert_int_equal(symcache_walk(&o[4], &t, take, NULL, NULL, &err), SYMCACHE_EUNSUPPORTED);
	assert_string_equal(err.msg, "stacks of machine 22 are not read");
}

#else
static void walks(void **state)
{
	(void)state;
	printf("skipped: registers of x86-64 alone\n");
	skip();
}
#define refuses walks
#define walks_made walks
#endif

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(walks), cmocka_unit_test(walks_made), cmocka_unit_test(refuses) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
