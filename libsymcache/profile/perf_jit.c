/* Names of code that was made at run time, in a folder that the caller names: see perf.h. */
#include "libsymcache/profile/perf.h"

/* May there be code of a JIT? Of files it is the linker's. */
static bool is_memory(const struct symcache_mapping *m)
{
	const char *path = m ? m->image->path : "";

	return !*path || !strncmp(path, "//anon", 6) || !strncmp(path, "/memfd:", 7) ||
	       !strcmp(path, "[heap]") || !strncmp(path, "/dev/zero", 9);
}

/* The map of a process, read when it is first asked for. NULL: out of memory. */
static const struct symcache_perf_map *map_of(struct perf_profile *p, uint32_t pid)
{
	uint32_t at = prof_ids_find(&p->jit_pids, pid);
	struct symcache_perf_map *map;

	if (at != PROF_NONE)
		return &p->jitted.data[at];
	map = prof_ids_add(&p->jit_pids, pid) ? vec_push(&p->jitted) : NULL;
	return map && symcache_perf_map_in(p->jit_dir, pid, map) ? map : NULL;
}

bool perf_jitted(struct perf_profile *p, uint32_t pid, const struct symcache_mapping *m,
		 uint64_t address, const char **name)
{
	const struct symcache_perf_map *map;
	const char *found;

	*name = "";
	if (!p->jit_dir || !is_memory(m))
		return true;
	map = map_of(p, pid);
	found = map ? symcache_perf_map_name(map, address) : NULL;
	*name = found ? found : "";
	return map;
}

void perf_jit_clear(struct perf_profile *p)
{
	for (size_t i = 0; i < p->jitted.len; i++)
		symcache_perf_map_deinit(&p->jitted.data[i]);
	vec_clear(&p->jitted);
	prof_ids_clear(&p->jit_pids);
}
