/*
 * images.c: see images.h. A process has a few dozen images at most, so they are a
 * list, and each address costs one walk over it.
 */
#include "cmd/trace/images.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "symcache/build_id.h"

struct images {
	struct cmd_caches caches;
	struct image *list;
	size_t len;
};

struct images *images_create(const char *store)
{
	struct images *m = must_calloc(1, sizeof(*m));

	cmd_caches_init(&m->caches, store, (struct symcache_caches_options){ 0 });
	return m;
}

void images_destroy(struct images *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->len; i++)
		free(m->list[i].name);
	free(m->list);
	cmd_caches_deinit(&m->caches);
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

static int open_image(struct images *m, const char *name, struct image *image,
		      struct sc_error *err)
{
	bool is_file = access(name, F_OK) == 0;
	const char *slash = strrchr(name, '/');
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t nibbles;

	if (!is_file && symcache_build_id_parse(name, id, &nibbles, NULL))
		return sc_error_set(err, SC_EINVAL, "'%.180s' is neither a file nor a build ID",
				    name);
	image->name = must_asprintf("%s", slash ? slash + 1 : name);
	image->module = symcache_caches_module(m->caches.caches, is_file ? SYMCACHE_MODULE_FILE :
					       SYMCACHE_MODULE_BUILD_ID, name);
	if (!image->module)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	return symcache_module_cache(image->module, &image->cache, NULL, err);
}

int images_add(struct images *m, const char *spec, struct sc_error *err)
{
	char *name = must_asprintf("%s", spec);
	struct image image = { 0 };
	int rc = cut_bias(name, &image.bias, err);

	if (rc == 0)
		rc = open_image(m, name, &image, err);
	free(name);
	if (rc) {
		free(image.name);
		return rc;
	}
	image.begin = image.bias + symcache_load_base(image.cache);
	image.end = image.begin + (image.cache->image ? image.cache->image->image_size :
				   UINT32_MAX);
	if (image.end < image.begin) /* around the end of the address space */
		image.end = UINT64_MAX;
	m->list = must_realloc(m->list, (m->len + 1) * sizeof(image));
	m->list[m->len++] = image;
	return 0;
}

const struct image *images_find(const struct images *m, uint64_t runtime_pc)
{
	const struct image *best = NULL;

	for (size_t i = 0; i < m->len; i++) {
		const struct image *image = &m->list[i];

		if (runtime_pc >= image->begin && runtime_pc < image->end &&
		    (!best || image->begin > best->begin))
			best = image;
	}
	return best;
}

const struct image *images_get(const struct images *m, size_t i)
{
	return i < m->len ? &m->list[i] : NULL;
}

struct symcache_caches *images_caches(const struct images *m)
{
	return m->caches.caches;
}
