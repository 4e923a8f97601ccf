/*
 * The images of a process: see images.h. There are a few dozen at most, so they are a
 * list, and each address costs one walk over it.
 */
#include "libsymcache/symbolize/images.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"

struct symcache_images {
	struct symcache_caches *caches;
	VEC(struct symcache_image) list;
};

struct symcache_images *symcache_images_create(struct symcache_caches *caches)
{
	struct symcache_images *m = calloc(1, sizeof(*m));

	if (m)
		m->caches = caches;
	return m;
}

void symcache_images_destroy(struct symcache_images *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->list.len; i++)
		free(m->list.data[i].name);
	vec_deinit(&m->list);
	free(m);
}

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

static int open_image(struct symcache_images *m, const char *name, struct symcache_image *image,
		      struct sc_error *err)
{
	bool is_file = access(name, F_OK) == 0;
	const char *slash = strrchr(name, '/');
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t nibbles;

	if (!is_file && symcache_build_id_parse(name, id, &nibbles, NULL))
		return sc_error_set(err, SC_EINVAL, "'%.180s' is neither a file nor a build ID",
				    name);
	image->name = sc_text("%s", slash ? slash + 1 : name);
	image->module = symcache_caches_module(m->caches, is_file ? SYMCACHE_MODULE_FILE :
					       SYMCACHE_MODULE_BUILD_ID, name);
	if (!image->name || !image->module)
		return sc_no_memory(err);
	return symcache_module_cache(image->module, &image->cache, NULL, err);
}

int symcache_images_add(struct symcache_images *m, const char *spec, struct sc_error *err)
{
	char *name __attribute__((cleanup(sc_free_text))) = sc_text("%s", spec);
	struct symcache_image image = { 0 }, *added;
	int rc = name ? cut_bias(name, &image.bias, err) : sc_no_memory(err);

	if (rc == 0)
		rc = open_image(m, name, &image, err);
	added = rc ? NULL : vec_push(&m->list);
	if (!rc && !added)
		rc = sc_no_memory(err);
	if (rc) {
		free(image.name);
		return rc;
	}
	image.begin = image.bias + symcache_load_base(image.cache);
	image.end = image.begin + (image.cache->image ? image.cache->image->image_size :
				   UINT32_MAX);
	if (image.end < image.begin) /* around the end of the address space */
		image.end = UINT64_MAX;
	*added = image;
	return 0;
}

const struct symcache_image *symcache_images_find(const struct symcache_images *m,
						  uint64_t runtime_pc)
{
	const struct symcache_image *best = NULL;

	for (size_t i = 0; i < m->list.len; i++) {
		const struct symcache_image *image = &m->list.data[i];

		if (runtime_pc >= image->begin && runtime_pc < image->end &&
		    (!best || image->begin > best->begin))
			best = image;
	}
	return best;
}

const struct symcache_image *symcache_images_get(const struct symcache_images *m, size_t i)
{
	return i < m->list.len ? &m->list.data[i] : NULL;
}
