/*
 * Images that are mapped as a whole, named on the command line; and images for the unwinder: see
 * process.h.
 */
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/symbolize/process.h"
#include "libsymcache/unwind/unwind.h"

/* Cuts "@BIAS" off `spec`, unless that is a file's name. */
static int cut_bias(char *spec, uint64_t *bias, struct sc_error *err)
{
	char *at = strrchr(spec, '@'), *end;

	*bias = 0;
	if (!at || access(spec, F_OK) == 0)
		return 0;
	*bias = strtoull(at + 1, &end, 16);
	if (end == at + 1 || *end)
		return sc_error_set(err, SC_EINVAL, "'%.180s': the bias is not a hex number", spec);
	*at = '\0';
	return 0;
}

static int add_image(struct symcache_process *p, const char *name, uint64_t bias,
		     struct sc_error *err)
{
	const struct symcache_file_id of = { .path = sc_str_of(name) };
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symcache_image *image;
	size_t nibbles;

	if (access(name, F_OK) && symcache_build_id_parse(name, id, &nibbles, NULL))
		return sc_error_set(err, SC_EINVAL, "'%.180s' is neither a file nor a build ID",
				    name);
	image = symcache_process_new_image(p, &of);
	if (!image || !symcache_image_bind(image, name))
		return sc_no_memory(err);
	if (symcache_image_open(p, image)) {
		*err = image->why;
		return err->code;
	}
	image->bias = bias;
	image->start = bias + symcache_load_base(image->cache);
	image->end = image->start + (image->cache->image ? image->cache->image->image_size :
				     UINT32_MAX);
	if (image->end < image->start) /* around the end of the address space */
		image->end = UINT64_MAX;
	return 0;
}

/* Is `a` mapped before `b`, which then has what both have? */
static bool is_before(const struct symcache_image *a, const struct symcache_image *b)
{
	return a->start != b->start ? a->start < b->start : a->number > b->number;
}

/* Maps all images anew. There are a few dozen at most. */
static int map_images(struct symcache_process *p)
{
	const struct symcache_image *last = NULL;
	struct symcache_image *next, *image;
	int rc = 0;

	symcache_process_clear(p);
	do {
		next = NULL;
		for (size_t i = 0; (image = symcache_process_image_at(p, i)); i++)
			if ((!last || is_before(last, image)) && (!next || is_before(image, next)))
				next = image;
		if (next)
			rc = symcache_process_map(p, &(struct symcache_mapping){
				next->start, next->end, 0, SYMCACHE_FROM_LOAD_BASE, next });
		last = next;
	} while (next && !rc);
	return rc;
}

int symcache_process_load(struct symcache_process *p, const char *spec, struct sc_error *err)
{
	char *name __attribute__((cleanup(sc_free_text))) = sc_text("%s", spec);
	uint64_t bias = 0;
	int rc = name ? cut_bias(name, &bias, err) : sc_no_memory(err);

	if (!rc)
		rc = add_image(p, name, bias, err);
	return !rc && map_images(p) ? sc_no_memory(err) : rc;
}

bool symcache_process_unwind(void *process, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct symcache_address at;
	const struct symcache *cache;

	symcache_process_find(process, address, SYMCACHE_EXACT, &at);
	if (!at.image)
		return false;
	ret->owner = at.image;
	cache = at.image->cache;
	if (at.reason == SYMCACHE_NO_CACHE)
		return true;
	if (at.reason == SYMCACHE_OUTSIDE &&
	    !symcache_vaddr_from(cache, SYMCACHE_FROM_PAGE, address - at.image->start, &at.vaddr))
		return false;
	ret->cache = cache;
	ret->base = address - (at.vaddr - symcache_load_base(cache));
	return !cache->image || address - ret->base < cache->image->image_size;
}

/* ---- code -------------------------------------------------------------------------------- */

static void open_code(struct symcache_process *p, struct symcache_image *image)
{
	const struct symcache_ext_image *facts = image->cache->image;
	const char *files[3] = { NULL };
	size_t i = 0;

	image->code_asked = true;
	image->close_code = symcache_code_close;
	if (!facts || facts->build_id_len > SYMCACHE_BUILD_ID_MAX || !symcache_process_uses_files(p))
		return;
	symcache_module_files(image->module, files);
	while (!image->code && files[i])
		symcache_code_open(files[i++], facts->build_id, facts->build_id_len, &image->code,
				   NULL);
	if (!image->code && *image->path == '/')
		symcache_code_open(image->path, facts->build_id, facts->build_id_len, &image->code,
				   NULL);
}

bool symcache_process_code(void *process, uint64_t address, void *to, size_t bytes)
{
	struct symcache_address at;

	if (symcache_process_find(process, address, SYMCACHE_EXACT, &at) != SYMCACHE_FOUND)
		return false;
	if (!at.image->code_asked)
		open_code(process, at.image);
	return at.image->code && symcache_code_read(at.image->code, at.vaddr, to, bytes);
}
