/* Fuzz target: an ELF file is opened, and all is asked of it that can be. */
#include <string.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/elf/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches each byte, so that the sanitizer sees bytes that are not there. */
static volatile uint8_t sink;

static void touch(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sink ^= data[i];
}

static void ask_sections(struct sc_elf *e)
{
	static const char *const names[] = {
		".text", ".debug_info", ".debug_line", ".debug_str", ".gnu_debuglink",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const uint8_t *bytes;
		size_t n;

		if (!sc_elf_section(e, names[i], &bytes, &n, NULL))
			touch(bytes, n);
	}
}

static void ask_symbols(struct sc_elf *e)
{
	struct sc_elf_symbols s;

	if (sc_elf_symbols(e, &s, NULL))
		return;
	for (size_t i = 0; i < s.code.len; i++) {
		const struct sc_elf_symbol *c = &s.code.data[i];

		if (i &&
		    (c[-1].vaddr > c->vaddr || (c[-1].vaddr == c->vaddr && c[-1].size >= c->size)))
			abort();
		touch((const uint8_t *)s.code.data[i].name, strlen(s.code.data[i].name));
		sc_elf_range_at(&e->exec, s.code.data[i].vaddr);
	}
	for (size_t i = 0; i < s.data.len; i++)
		touch((const uint8_t *)s.data.data[i].name, strlen(s.data.data[i].name));
	sc_elf_symbols_deinit(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const dirs[] = { NULL };
	char path[32];
	int fd = testing_memfd(data, size, path);
	struct sc_elf *e, *debug;
	struct sc_error err;
	uint8_t id[16];
	const char *soname;

	if (!sc_elf_open(path, &e, &err)) {
		ask_sections(e);
		ask_symbols(e);
		sc_elf_fold_text(e, id);
		soname = sc_elf_soname(e);
		if (soname)
			touch((const uint8_t *)soname, strlen(soname));
		if (!sc_elf_find_debug(e, dirs, &debug, NULL))
			sc_elf_close(debug);
		sc_elf_close(e);
	}
	close(fd);
	return 0;
}
