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
#endif

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(walks), cmocka_unit_test(refuses) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
