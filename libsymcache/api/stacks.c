/* Stacks of core files and of processes: see <symcache-build.h>. Of the other library, as build.c. */
#include <symcache-build.h>

#include "libsymcache/api/private.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/core/core.h"
#include "libsymcache/symbolize/places.h"

struct walk {
	struct symcache_core *core;
	struct symcache_places *places;
	struct symcache_stack stack;
	VEC(struct symcache_frame) frames; /* of the frame that is handed out */
	symcache_walked_fn *fn;
	void *ctx;
};

/* The functions at a frame; *vaddr: where it is in the ELF file. False: out of memory. */
static bool take_place(struct walk *w, const struct symcache_unwind_frame *f, uint64_t *vaddr)
{
	const struct symcache_image *image = f->owner;
	const bool cached = image && image->cache;
	const char *name = image ? NULL : symcache_core_jitted(w->core, f->lookup_pc);
	const struct symcache_code_place *place;

	*vaddr = cached ? f->rel_pc + symcache_load_base(image->cache) : 0;
	place = symcache_places_get(w->places, image, cached ? image->module : NULL, *vaddr);
	vec_clear(&w->frames);
	if (!place || !vec_reserve(&w->frames, place->num_frames + 2))
		return false;
	for (size_t i = 0; i < place->num_frames; i++) {
		const struct sc_frame *of = &place->frames[i];

		w->frames.data[w->frames.len++] = (struct symcache_frame){
			.function = of->function.ptr ? of->function.ptr : "??",
			.file = *of->file.ptr ? of->file.ptr : "??",
			.line = of->line, .column = of->column, .function_id = of->function_idx,
			.flags = (i + 1 < place->num_frames ? SYMCACHE_FRAME_INLINED : 0) |
				 (of->of_table ? SYMCACHE_FRAME_SYMBOL : 0) |
				 (of->function.ptr ? 0 : SYMCACHE_FRAME_NO_FUNCTION) |
				 (*of->file.ptr ? 0 : SYMCACHE_FRAME_NO_FILE),
		};
	}
	if (name)
		w->frames.data[w->frames.len++] = (struct symcache_frame){
			.function = name, .file = "??", .function_id = SYMCACHE_UNKNOWN,
			.flags = SYMCACHE_FRAME_NO_FILE };
	w->frames.data[w->frames.len] = (struct symcache_frame){ .function = NULL };
	return true;
}

static int give_frame(struct walk *w, const struct symcache_walked_thread *t,
		      const struct symcache_unwind_frame *f)
{
	const struct symcache_image *image = f->owner;
	struct symcache_walked_frame frame = {
		.pc = f->pc, .path = image ? image->path : "", .how = f->trust, .flags = f->signal,
		.build_id = image ? image->build_id : NULL,
		.build_id_len = image ? image->build_id_len : 0,
	};

	if (!take_place(w, f, &frame.vaddr))
		return SC_ENOMEM;
	frame.frames = w->frames.data;
	frame.num_frames = w->frames.len;
	return w->fn(w->ctx, t, &frame);
}

static int give_thread(struct walk *w, size_t i, struct symcache_error *err)
{
	const struct symcache_core_thread *thread = &w->core->threads[i];
	struct symcache_walked_thread t = {
		.tid = thread->tid, .died = !i && w->core->died, .name = thread->name,
	};
	struct sc_error e;
	int rc;

	if (symcache_core_walk(w->core, thread, false, &w->stack, &e))
		return api_fail(err, &e);
	for (size_t k = 0; k < w->stack.num_frames; k++) {
		rc = give_frame(w, &t, &w->stack.frames[k]);
		if (rc)
			return rc == SC_ENOMEM ? api_error(err, rc, "out of memory") : rc;
	}
	t.end = symcache_stop_text(w->stack.stop);
	return w->fn(w->ctx, &t, NULL);
}

/* Of a core, which is closed. */
static int walk(struct walk *w, const struct symcache_stack_options *o, struct symcache_error *err)
{
	struct symcache_caches_options from = {
		.memory_only = true, .without_symbols = true, .debug_dirs = o->debug_dirs,
		.search_debug_dirs = o->debug_dirs,
	};
	const struct symcache_names_options how = { .table = SYMCACHE_TABLE_OUTERMOST };
	struct symcache_caches *caches = NULL;
	struct symcache_names *names = NULL;
	int rc = o->store ? symcache_private_store(o->store, symcache_version, false, &from.borrowed,
						   err) : 0;

	if (!rc) {
		caches = symcache_caches_create(&from);
		names = symcache_names_create(&how);
		w->places = caches && names ? symcache_places_create(caches, names, true) : NULL;
		rc = w->places ? 0 : api_error(err, SC_ENOMEM, "out of memory");
	}
	if (!rc)
		symcache_core_use(w->core, caches, "the store");
	for (size_t i = 0; !rc && i < w->core->num_threads; i++)
		rc = give_thread(w, i, err);
	symcache_places_destroy(w->places);
	symcache_stack_deinit(&w->stack);
	vec_deinit(&w->frames);
	symcache_core_close(w->core);
	symcache_names_destroy(names);
	symcache_caches_destroy(caches);
	return rc;
}

/* Of the core at `path`, or of a process. */
static int stacks_of(const char *path, uint32_t pid, const struct symcache_stack_options *options,
		     struct walk *w, struct symcache_error *err)
{
	const struct symcache_stack_options defaults = { .size = sizeof(defaults) };
	struct sc_error e;

	if (!w->fn || (options && !api_fits(options)))
		return api_error(err, SC_EINVAL, "unknown options, or no function");
	if (path ? symcache_core_open(path, &w->core, &e) : symcache_core_attach(pid, &w->core, &e))
		return api_fail(err, &e);
	return walk(w, options ? options : &defaults, err);
}

int symcache_core_stacks(const char *path, const struct symcache_stack_options *options,
			 symcache_walked_fn *fn, void *ctx, struct symcache_error *err)
{
	if (!path)
		return api_error(err, SC_EINVAL, "NULL in place of a path");
	return stacks_of(path, 0, options, &(struct walk){ .fn = fn, .ctx = ctx }, err);
}

int symcache_process_stacks(uint32_t pid, const struct symcache_stack_options *options,
			    symcache_walked_fn *fn, void *ctx, struct symcache_error *err)
{
	return stacks_of(NULL, pid, options, &(struct walk){ .fn = fn, .ctx = ctx }, err);
}
