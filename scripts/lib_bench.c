/*
 * Look-ups through libsymcache.so: nanoseconds for each.
 *
 *   lib_bench STORE FILE-NAME N         N addresses of random functions' code
 *   lib_bench STORE FILE-NAME N names   N linkage names of functions, and N lines of code, in any order
 *
 * Processor time, the median of several passes; the first question by a name or a line makes an index, which is measured
 * apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-find.h>
#include <time.h>

enum { PASSES = 7 };

static struct symcache_cache *cache;
static struct symcache_resolver *resolver;
static uint64_t *vaddr, *first;
static struct symcache_ids *ids;
static size_t n, num_frames; /* or what else is found */

static void batch(void)
{
	num_frames = symcache_frame_ids_batch(cache, vaddr, n, first, ids, 4 * n);
}

static void singly(void)
{
	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		num_frames += symcache_frame_ids(cache, vaddr[i], ids, 4);
}

static void texts(void)
{
	const struct symcache_frame *f;

	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		num_frames += symcache_frames(resolver, cache, vaddr[i], &f);
}

static void texts_ahead(void)
{
	const struct symcache_frame *f;

	num_frames = 0;
	for (size_t i = 0; i < n; i++) {
		if (i % 16 == 0)
			symcache_frames_ahead(resolver, cache, vaddr + i, n - i < 16 ? n - i : 16);
		num_frames += symcache_frames(resolver, cache, vaddr[i], &f);
	}
}

static char id_text[129];

static void by_id(void)
{
	const struct symcache_frame *f;

	num_frames = 0;
	for (size_t i = 0; i < n; i++) {
		const int found = symcache_resolve(resolver, id_text, vaddr[i], &f, NULL);

		num_frames += found > 0 ? (size_t)found : 0;
	}
}

/* ---- names and lines ------------------------------------------------------------ */

static char **names, **shown, **lines;

static int on_definition(void *ctx, const struct symcache_definition *d)
{
	(void)ctx;
	num_frames += d->name[0] != 0;
	return 0;
}

static int on_range(void *ctx, const struct symcache_line_range *r)
{
	(void)ctx;
	num_frames += r->end > r->vaddr;
	return 0;
}

static void by_name(void)
{
	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		symcache_each_definition(resolver, cache, names[i], on_definition, NULL, NULL);
}

static void by_shown_name(void)
{
	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		symcache_each_definition(resolver, cache, shown[i], on_definition, NULL, NULL);
}

static void addresses_by_name(void)
{
	uint64_t found[16];

	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		num_frames += symcache_addresses_of(resolver, cache, names[i], found, 16);
}

static void by_line(void)
{
	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		symcache_each_line_range(resolver, cache, lines[i], on_range, NULL, NULL);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each once, in any order. */
static size_t shuffle(char **list, size_t num)
{
	size_t kept = 0;

	qsort(list, num, sizeof(*list), by_text);
	for (size_t i = 0; i < num; i++)
		if (!kept || strcmp(list[i], list[kept - 1]))
			list[kept++] = list[i];
	for (size_t i = kept; i > 1; i--) {
		const size_t k = (unsigned)rand() % i;
		char *other = list[i - 1];

		list[i - 1] = list[k];
		list[k] = other;
	}
	return kept;
}

/* In one piece, in this order, as lines of a file are. */
static void pack(char **list, size_t num)
{
	size_t size = 1;
	char *to;

	for (size_t i = 0; i < num; i++)
		size += strlen(list[i]) + 1;
	to = malloc(size);
	for (size_t i = 0; to && i < num; i++) {
		char *const text = list[i];

		list[i] = to;
		to = stpcpy(to, text) + 1;
		free(text);
	}
}

/* How many there are. */
static size_t gather_names(uint32_t functions)
{
	size_t num = 0, len;

	names = calloc(functions, sizeof(*names));
	for (uint32_t i = 0; names && i < functions; i++) {
		const char *name = symcache_linkage_name(cache, i, &len);

		if (name && symcache_function_entry(cache, i) != UINT64_MAX)
			names[num++] = strndup(name, len);
	}
	num = shuffle(names, num);
	shown = calloc(num, sizeof(*shown));
	for (size_t i = 0; shown && i < num; i++)
		shown[i] = strdup(symcache_demangled(resolver, names[i]));
	pack(names, num);
	pack(shown, num);
	return num;
}

static size_t gather_lines(void)
{
	const struct symcache_frame *f;
	size_t num = 0;

	lines = calloc(2 * n, sizeof(*lines));
	for (size_t i = 0; lines && i < 2 * n; i++)
		if (symcache_frames(resolver, cache, vaddr[i], &f) && f->line &&
		    !(f->flags & SYMCACHE_FRAME_NO_FILE)) {
			lines[num] = malloc(strlen(f->file) + 16);
			sprintf(lines[num++], "%s:%u", f->file, f->line);
		}
	num = shuffle(lines, num);
	pack(lines, num);
	return num;
}

/* ---- all ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now(void) /* in nanoseconds */
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(const char *name, void (*pass)(void))
{
	double ns[PASSES];

	for (int i = 0; i < PASSES; i++) {
		const double begin = now();

		pass();
		ns[i] = (now() - begin) / (double)n;
	}
	qsort(ns, PASSES, sizeof(*ns), by_value);
	printf("%s\t%.0f\t%.2f\n", name, ns[PASSES / 2], (double)num_frames / (double)n);
}

/* The first question alone, in nanoseconds. */
static void measure_first(const char *name, void (*pass)(void))
{
	const size_t all = n;
	const double begin = now();

	n = 1;
	pass();
	printf("%s\t%.0f\n", name, now() - begin);
	n = all;
}

static void measure_names(uint32_t functions)
{
	const size_t num_names = gather_names(functions), num_lines = gather_lines();

	n = num_names < n ? num_names : n;
	measure_first("library, the first name", by_name);
	measure_first("library, the first demangled name", by_shown_name);
	measure("library, definitions of a name", by_name);
	measure("library, addresses of a name", addresses_by_name);
	measure("library, definitions of a demangled name", by_shown_name);
	n = num_lines < n ? num_lines : n;
	measure_first("library, the first line", by_line);
	measure("library, code of a line", by_line);
}

static void measure_addresses(void)
{
	measure("library, numbers in a batch", batch);
	measure("library, numbers one by one", singly);
	measure("library, texts one by one", texts);
	measure("library, texts announced by 16", texts_ahead);
	measure("library, texts by build ID", by_id);
}

int main(int argc, char **argv)
{
	struct symcache_resolver_options options = { sizeof(options), 0, NULL };
	struct symcache_error err;
	const uint8_t *id;
	uint32_t functions;
	size_t len;

	if (argc < 4 || symcache_store_open(argv[1], 0, &options.store, &err) ||
	    symcache_store_find(options.store, argv[2], &cache, &err) ||
	    symcache_resolver_create(&options, &resolver, &err))
		return fprintf(stderr, "%s\n", argc < 4 ? "lib_bench STORE NAME N [names]" : err.msg), 1;
	n = strtoull(argv[3], NULL, 0);
	vaddr = calloc(2 * n, sizeof(*vaddr));
	first = calloc(n + 1, sizeof(*first));
	ids = calloc(4 * n, sizeof(*ids));
	functions = symcache_cache_num_functions(cache);
	id = symcache_cache_build_id(cache, &len);
	for (size_t i = 0; i < len; i++)
		snprintf(id_text + 2 * i, 3, "%02x", id[i]);
	if (!vaddr || !first || !ids || !functions)
		return 1;
	srand(1);
	for (size_t i = 0; i < 2 * n; ) {
		const uint64_t entry =
			symcache_function_entry(cache, (uint32_t)((unsigned)rand() % functions));

		if (entry != UINT64_MAX)
			vaddr[i++] = entry + (unsigned)rand() % 64;
	}
	if (argc > 4)
		measure_names(functions);
	else
		measure_addresses();
	return 0;
}
