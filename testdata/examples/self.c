/*
 * self [STORE]: a process names its own stack. Its modules, with their build IDs and where they
 * were loaded, come from dl_iterate_phdr(); what the store lacks is built from the file.
 */
#ifndef _GNU_SOURCE /* C++ has it */
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <symcache-build.h>

struct module {
	uintptr_t address;      /* that is looked for */
	uintptr_t bias;         /* of the module that has it: what was added to its addresses */
	unsigned char id[64];
	size_t id_len;
	char path[4096];
};

/* Notes are words: sizes of name and description, type, name, description. */
static void read_notes(const char *at, size_t size, struct module *m)
{
	ElfW(Nhdr) n;

	while (size >= sizeof(n)) {
		size_t name, all;

		memcpy(&n, at, sizeof(n));
		name = (n.n_namesz + 3u) & ~3u;
		all = sizeof(n) + name + ((n.n_descsz + 3u) & ~3u);
		if (all > size)
			return;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_descsz <= sizeof(m->id)) {
			memcpy(m->id, at + sizeof(n) + name, n.n_descsz);
			m->id_len = n.n_descsz;
			return;
		}
		at += all;
		size -= all;
	}
}

static int on_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct module *m = (struct module *)ctx;
	int i, ours = 0;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		ours |= p->p_type == PT_LOAD &&
			m->address - info->dlpi_addr - p->p_vaddr < p->p_memsz;
	}
	if (!ours)
		return 0;
	m->bias = info->dlpi_addr;
	snprintf(m->path, sizeof(m->path), "%s",
		 *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE && !m->id_len)
			read_notes((const char *)info->dlpi_addr + p->p_vaddr, p->p_memsz, m);
	}
	return 1;
}

static void print(struct symcache_store *store, struct symcache_resolver *resolver, uintptr_t pc)
{
	struct module m;
	struct symcache_cache *cache = NULL;
	const struct symcache_frame *f;
	size_t n = 0;

	memset(&m, 0, sizeof(m));
	m.address = pc;
	if (dl_iterate_phdr(on_module, &m) &&
	    (!store || symcache_store_get(store, m.id, m.id_len, &cache, NULL)))
		symcache_make(m.path, NULL, &cache, NULL);
	if (cache)
		n = symcache_frames(resolver, cache, pc - m.bias, &f);
	for (; n && f->function; f++)
		printf("%s at %s:%u\n", f->function, f->file, f->line);
	if (!n)
		printf("0x%lx in %s\n", (unsigned long)(pc - m.bias), m.path);
	symcache_cache_unref(cache);
}

static __attribute__((noinline)) int deep(struct symcache_store *store,
					  struct symcache_resolver *resolver)
{
	void *pc[64];
	int n = backtrace(pc, 64), i;

	for (i = 0; i < n; i++) /* behind the first one they are return addresses: one too far */
		print(store, resolver, (uintptr_t)pc[i] - (i > 0));
	return n;
}

int main(int argc, char **argv)
{
	struct symcache_resolver *resolver;
	struct symcache_store *store = NULL;
	struct symcache_error err;
	int n;

	if ((argc > 1 && symcache_store_open(argv[1], 0, &store, &err)) ||
	    symcache_resolver_create(NULL, &resolver, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	n = deep(store, resolver);
	symcache_resolver_destroy(resolver);
	symcache_store_close(store);
	return n < 2;
}
