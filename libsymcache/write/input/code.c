/* Instructions of an ELF file: see build.h. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/elf/elf.h"
#include "libsymcache/write/build.h"

struct symcache_code {
	struct sc_elf *elf;
};

int symcache_code_open(const char *path, const uint8_t *build_id, size_t build_id_len,
		       struct symcache_code **ret, struct sc_error *err)
{
	struct symcache_code *c = *ret = calloc(1, sizeof(*c));
	int rc = c ? sc_elf_open(path, &c->elf, err) : sc_no_memory(err);

	if (!rc && (!build_id_len || c->elf->build_id_len != build_id_len ||
		    memcmp(c->elf->build_id, build_id, build_id_len) || !sc_elf_has(c->elf, ".text")))
		rc = sc_error_set(err, SC_ENOTFOUND, "%s is of another build, or has no code", path);
	if (!rc)
		return 0;
	symcache_code_close(c);
	*ret = NULL;
	return rc;
}

void symcache_code_close(struct symcache_code *c)
{
	if (c)
		sc_elf_close(c->elf);
	free(c);
}

bool symcache_code_read(struct symcache_code *c, uint64_t vaddr, void *to, size_t bytes)
{
	size_t size;
	const uint8_t *at = sc_elf_bytes_at(c->elf, vaddr, &size);

	if (bytes > size)
		return false;
	memcpy(to, at, bytes);
	return true;
}
