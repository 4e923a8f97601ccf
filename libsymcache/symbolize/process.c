/* The address space of a process: see process.h. */
#include "libsymcache/symbolize/process.h"

#include <search.h>
#include <unistd.h>

#include "libsymcache/base/search.h"
#include "libsymcache/symbolize/module.h"

enum {
	STEPS_TO_BASE = 64,
	TEXTS_MAX = 64 << 20, /* bytes of images' texts */
};

/* Of all processes that come from one another. */
struct images {
	unsigned refs;
	struct symcache_finder finder; /* caches NULL: there are none */
	VEC(struct symcache_image *) list;
	void *tree; /* the same, by what is known of them */
	size_t text_bytes;
};

/* Of processes that are the same so far. */
struct maps {
	unsigned refs;
	VEC(struct symcache_mapping) list; /* ascending, disjoint */
};

struct symcache_process {
	struct images *images;
	struct maps *maps; /* NULL: nothing is mapped */
};

/* ---- processes ------------------------------------------------------------------------- */

struct symcache_process *symcache_process_create(const struct symcache_finder *finder)
{
	struct symcache_process *p = calloc(1, sizeof(*p));

	if (p)
		p->images = calloc(1, sizeof(*p->images));
	if (!p || !p->images) {
		free(p);
		return NULL;
	}
	p->images->refs = 1;
	if (finder)
		p->images->finder = *finder;
	return p;
}

static void keep_node(void *node)
{
	(void)node; /* it is in the list, too */
}

static void leave_images(struct images *images)
{
	if (--images->refs)
		return;
	if (images->tree)
		tdestroy(images->tree, keep_node);
	for (size_t i = 0; i < images->list.len; i++) {
		free(images->list.data[i]->bound);
		if (images->list.data[i]->code)
			images->list.data[i]->close_code(images->list.data[i]->code);
		free(images->list.data[i]);
	}
	vec_deinit(&images->list);
	free(images);
}

void symcache_process_clear(struct symcache_process *p)
{
	struct maps *m = p->maps;

	p->maps = NULL;
	if (!m || --m->refs)
		return;
	vec_deinit(&m->list);
	free(m);
}

void symcache_process_destroy(struct symcache_process *p)
{
	if (!p)
		return;
	symcache_process_clear(p);
	leave_images(p->images);
	free(p);
}

struct symcache_process *symcache_process_fork(struct symcache_process *p)
{
	struct symcache_process *child = malloc(sizeof(*child));

	if (!child)
		return NULL;
	*child = *p;
	child->images->refs++;
	if (child->maps)
		child->maps->refs++;
	return child;
}

/* ---- images ---------------------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b, size_t a_len, size_t b_len)
{
	return a_len != b_len ? (a_len > b_len ? 1 : -1) : a_len ? memcmp(a, b, a_len) : 0;
}

static int compare_images(const void *left, const void *right)
{
	const struct symcache_image *a = left, *b = right;
	int order = compare_texts((const char *)a->build_id, (const char *)b->build_id,
				  a->build_id_len, b->build_id_len);

	if (!order)
		order = compare_texts(a->path, b->path, strlen(a->path), strlen(b->path));
	if (!order)
		order = (int)a->kernel - (int)b->kernel;
	return order ? order : strcmp(a->release, b->release);
}

/* An image with its texts behind it, for which there is room in the list. NULL: out of memory, or
 * too many. */
static struct symcache_image *make_image(struct images *images, const struct symcache_file_id *of)
{
	const size_t texts = of->path.len + of->release.len;
	struct symcache_image *image;
	char *path, *release;
	const char *slash;

	if (of->build_id_len > SYMCACHE_BUILD_ID_MAX || texts > TEXTS_MAX - images->text_bytes ||
	    images->list.len == SYMCACHE_MAPPINGS_MAX || !vec_reserve(&images->list, 1))
		return NULL;
	image = calloc(1, sizeof(*image) + texts + 2);
	if (!image)
		return NULL;
	path = (char *)(image + 1);
	release = path + of->path.len + 1;
	if (of->path.len) /* else ptr may be NULL */
		memcpy(path, of->path.ptr, of->path.len);
	if (of->release.len)
		memcpy(release, of->release.ptr, of->release.len);
	if (of->build_id_len)
		memcpy(image->build_id, of->build_id, of->build_id_len);
	slash = strrchr(path, '/');
	image->path = path;
	image->name = slash ? slash + 1 : path;
	image->build_id_len = of->build_id_len;
	image->kernel = of->kernel;
	image->release = release;
	return image;
}

static struct symcache_image *add_image(struct images *images, struct symcache_image *image)
{
	images->text_bytes += strlen(image->path) + strlen(image->release);
	image->number = (uint32_t)images->list.len;
	return images->list.data[images->list.len++] = image;
}

struct symcache_image *symcache_process_new_image(struct symcache_process *p,
						  const struct symcache_file_id *of)
{
	struct symcache_image *image = make_image(p->images, of);

	return image ? add_image(p->images, image) : NULL;
}

struct symcache_image *symcache_process_image(struct symcache_process *p,
					      const struct symcache_file_id *of)
{
	struct symcache_image *image = make_image(p->images, of), **found;

	if (!image)
		return NULL;
	found = tsearch(image, &p->images->tree, compare_images);
	if (found && *found == image)
		return add_image(p->images, image);
	free(image);
	return found ? *found : NULL;
}

struct symcache_image *symcache_process_image_at(const struct symcache_process *p, size_t i)
{
	return i < p->images->list.len ? p->images->list.data[i] : NULL;
}

bool symcache_image_bind(struct symcache_image *image, const char *to)
{
	free(image->bound);
	image->bound = strdup(to);
	return image->bound;
}

bool symcache_process_uses_files(const struct symcache_process *p)
{
	return !p->images->finder.no_files;
}

void symcache_process_use(struct symcache_process *p, const struct symcache_finder *finder)
{
	p->images->finder = *finder;
}

static int find_cache(const struct symcache_finder *finder, struct symcache_image *image)
{
	const struct symcache_file_id of = {
		.path = sc_str_of(image->path), .build_id = image->build_id,
		.build_id_len = image->build_id_len, .kernel = image->kernel,
		.release = sc_str_of(image->release), .bound = image->bound,
	};
	int rc;

	if (!finder->find)
		return sc_error_set(&image->why, SC_ENOTFOUND, "there is no source of caches");
	rc = finder->find(finder, &of, &image->module, &image->why);
	if (rc == SC_ENOMEM)
		return sc_no_memory(&image->why);
	if (rc && !*image->why.msg)
		sc_error_set(&image->why, rc, *image->name ?
			     "the store has no file of that name" :
			     "neither its name nor its build ID is known");
	return rc;
}

int symcache_image_open(struct symcache_process *p, struct symcache_image *image)
{
	int rc;

	if (image->asked)
		return image->why.code;
	image->asked = true;
	rc = find_cache(&p->images->finder, image);
	if (!rc)
		image->why = (struct sc_error){ 0 };
	image->cache = rc ? NULL : sc_module_cache(image->module);
	return image->why.code = rc;
}

/* ---- mappings -------------------------------------------------------------------------- */

/* Maps that are this process' alone. NULL: out of memory. */
static struct maps *own_maps(struct symcache_process *p)
{
	struct maps *own, *shared = p->maps;

	if (shared && shared->refs == 1)
		return shared;
	own = calloc(1, sizeof(*own));
	if (!own || (shared && !vec_reserve(&own->list, shared->list.len))) {
		free(own);
		return NULL;
	}
	own->refs = 1;
	if (shared && shared->list.len) {
		memcpy(own->list.data, shared->list.data,
		       shared->list.len * sizeof(*shared->list.data));
		own->list.len = shared->list.len;
	}
	if (shared)
		shared->refs--;
	return p->maps = own;
}

/* What is left of a mapping from `start` on. */
static struct symcache_mapping behind(struct symcache_mapping m, uint64_t start)
{
	m.offset += start - m.start;
	m.start = start;
	return m;
}

int symcache_process_map(struct symcache_process *p, const struct symcache_mapping *m)
{
	struct maps *maps = m->start < m->end ? own_maps(p) : NULL;
	struct symcache_mapping put[3], *list;
	size_t n = 0, first, end;

	if (m->start >= m->end)
		return 0;
	if (!maps || !vec_reserve(&maps->list, 2))
		return SC_ENOMEM;
	list = maps->list.data;
	first = SC_SEARCH(i, maps->list.len, list[i].end <= m->start);
	end = SC_SEARCH(i, maps->list.len, list[i].start < m->end);
	if (first < end && list[first].start < m->start) {
		put[n] = list[first];
		put[n++].end = m->start;
	}
	if (m->image)
		put[n++] = *m;
	if (first < end && list[end - 1].end > m->end)
		put[n++] = behind(list[end - 1], m->end);
	if (maps->list.len - (end - first) + n > SYMCACHE_MAPPINGS_MAX)
		return SC_ELIMIT;
	memmove(list + first + n, list + end, (maps->list.len - end) * sizeof(*list));
	memcpy(list + first, put, n * sizeof(*put));
	maps->list.len = maps->list.len - (end - first) + n;
	return 0;
}

const struct symcache_mapping *symcache_process_mappings(const struct symcache_process *p,
							 size_t *n)
{
	*n = p->maps ? p->maps->list.len : 0;
	return *n ? p->maps->list.data : NULL;
}

const struct symcache_mapping *symcache_process_at(const struct symcache_process *p,
						   uint64_t address)
{
	size_t n;
	const struct symcache_mapping *list = symcache_process_mappings(p, &n);
	const size_t at = SC_SEARCH(i, n, list[i].start <= address);

	return at && (address < list[at - 1].end || list[at - 1].end == UINT64_MAX) ?
		&list[at - 1] : NULL;
}

/* ---- addresses ------------------------------------------------------------------------- */

/*
 * Where the first page of the file is mapped, of which `m` is a part: below it, with nothing else
 * in between. There may be several such mappings, as linkers put the headers and the first code
 * into one page of the file: it is the lowest one.
 */
static bool find_base(const struct symcache_process *p, const struct symcache_mapping *m,
		      uint64_t *base)
{
	const struct symcache_image *image = m->image;
	bool found = false;

	for (unsigned steps = 0; steps < STEPS_TO_BASE; steps++, m--) {
		if (m->image != image || m->origin != SYMCACHE_FROM_FILE || (found && m->offset))
			break;
		if (!m->offset) {
			*base = m->start;
			found = true;
		}
		if (m == p->maps->list.data)
			break;
	}
	return found;
}

static bool find_vaddr(const struct symcache_process *p, const struct symcache_mapping *m,
		       const struct symcache *cache, uint64_t address, struct symcache_address *ret)
{
	uint64_t base;

	if (m->origin == SYMCACHE_FROM_FILE && !symcache_has_offsets(cache) &&
	    find_base(p, m, &base))
		return symcache_vaddr_from(cache, SYMCACHE_FROM_PAGE, address - base, &ret->vaddr);
	return symcache_vaddr_from(cache, m->origin, ret->offset, &ret->vaddr);
}

enum symcache_reason symcache_process_find(struct symcache_process *p, uint64_t address,
					   enum symcache_pc pc, struct symcache_address *ret)
{
	const uint64_t looked_up = address - (pc == SYMCACHE_RETURNS);
	const struct symcache_mapping *m = looked_up <= address ? symcache_process_at(p, looked_up)
								: NULL;

	*ret = (struct symcache_address){ .reason = SYMCACHE_NO_IMAGE };
	if (!m)
		return ret->reason;
	ret->image = m->image;
	ret->offset = looked_up - m->start + m->offset;
	ret->reason = SYMCACHE_NO_CACHE;
	if (symcache_image_open(p, m->image))
		return ret->reason;
	m->image->cache = sc_module_cache(m->image->module);
	if (m->image->cache)
		ret->reason = find_vaddr(p, m, m->image->cache, looked_up, ret) ?
			SYMCACHE_FOUND : SYMCACHE_OUTSIDE;
	return ret->reason;
}
