/* Stacks of core files, processes and trace files: see <symcache-build.h>. Of the other library, as
 * build.c. */
#include <inttypes.h>
#include <symcache-build.h>

#include "libsymcache/api/private.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/core/core.h"
#include "libsymcache/symbolize/places.h"
#include "libsymcache/trace/collected.h"

struct walk {
	struct symcache_core *core;        /* NULL: of a trace file */
	struct symcache_caches *caches;
	struct symcache_names *names;
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
	const char *name = image || !w->core ? NULL : symcache_core_jitted(w->core, f->lookup_pc);
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
		w->frames.data[w->frames.len++] = api_jit_frame(name);
	w->frames.data[w->frames.len] = (struct symcache_frame){ .function = NULL };
	return true;
}

static int give_frame(struct walk *w, const struct symcache_walked_thread *t,
		      const struct symcache_unwind_frame *f, struct symcache_error *err)
{
	const struct symcache_image *image = f->owner;
	struct symcache_walked_frame frame = {
		.pc = f->pc, .path = image ? image->path : "", .how = f->trust, .flags = f->signal,
		.build_id = image ? image->build_id : NULL,
		.build_id_len = image ? image->build_id_len : 0,
	};

	if (!take_place(w, f, &frame.vaddr))
		return api_error(err, SC_ENOMEM, "out of memory");
	frame.frames = w->frames.data;
	frame.num_frames = w->frames.len;
	return w->fn(w->ctx, t, &frame);
}

/* All frames of a stack, and its end. */
static int give_stack(struct walk *w, struct symcache_walked_thread *t,
		      const struct symcache_stack *stack, struct symcache_error *err)
{
	for (size_t k = 0; k < stack->num_frames; k++) {
		const int rc = give_frame(w, t, &stack->frames[k], err);

		if (rc)
			return rc;
	}
	t->end = symcache_stop_text(stack->stop);
	return w->fn(w->ctx, t, NULL);
}

/* Makes what names places, of a store (NULL: none) and debug folders. */
static int begin(struct walk *w, struct symcache_store *store, const char *const *debug_dirs,
		 struct symcache_error *err)
{
	struct symcache_caches_options from = {
		.memory_only = true, .without_symbols = true, .debug_dirs = debug_dirs,
		.search_debug_dirs = debug_dirs,
	};
	const struct symcache_names_options how = { .table = SYMCACHE_TABLE_OUTERMOST };
	const int rc = store ? symcache_private_store(store, symcache_version, false, &from.borrowed,
						      err) : 0;

	if (rc)
		return rc;
	w->caches = symcache_caches_create(&from);
	w->names = symcache_names_create(&how);
	w->places = w->caches && w->names ? symcache_places_create(w->caches, w->names, true) : NULL;
	return w->places ? 0 : api_error(err, SC_ENOMEM, "out of memory");
}

static void end(struct walk *w)
{
	symcache_places_destroy(w->places);
	symcache_stack_deinit(&w->stack);
	vec_deinit(&w->frames);
	symcache_names_destroy(w->names);
	symcache_caches_destroy(w->caches);
}

/* ---- cores and processes ------------------------------------------------------------------ */

static int give_thread(struct walk *w, size_t i, struct symcache_error *err)
{
	const struct symcache_core_thread *thread = &w->core->threads[i];
	struct symcache_walked_thread t = {
		.tid = thread->tid, .died = !i && w->core->died, .name = thread->name,
	};
	struct sc_error e;

	if (symcache_core_walk(w->core, thread, false, &w->stack, &e))
		return api_fail(err, &e);
	return give_stack(w, &t, &w->stack, err);
}

/* Of the core at `path`, or of a process. */
static int stacks_of(const char *path, uint32_t pid, const struct symcache_stack_options *options,
		     struct walk *w, struct symcache_error *err)
{
	const struct symcache_stack_options defaults = { .size = sizeof(defaults) },
		*o = options ? options : &defaults;
	struct sc_error e;
	int rc;

	if (!w->fn || !api_fits(o))
		return api_error(err, SC_EINVAL, "unknown options, or no function");
	if (path ? symcache_core_open(path, &w->core, &e) : symcache_core_attach(pid, &w->core, &e))
		return api_fail(err, &e);
	rc = begin(w, o->store, o->debug_dirs, err);
	if (!rc)
		symcache_core_use(w->core, w->caches, "the store");
	for (size_t i = 0; !rc && i < w->core->num_threads; i++)
		rc = give_thread(w, i, err);
	symcache_core_close(w->core);
	end(w);
	return rc;
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

/* ---- trace files -------------------------------------------------------------------------- */

/* What is traced: the images that were named, and the file about them. */
struct traced {
	struct symcache_process *images;
	struct symtrace file;
	struct symtrace_stack stack;
};

static int give_trace_frame(struct walk *w, struct traced *of, const struct symtrace_frame *frame,
			    struct symcache_error *err)
{
	const struct symtrace_pc pc = symtrace_frame_pc(&of->file, frame);
	struct symcache_unwind_frame alone = { .pc = pc.address, .lookup_pc = pc.address };
	struct symcache_walked_thread t = { .tid = (uint32_t)frame->number };
	char name[32];
	struct sc_error e;
	int rc;

	snprintf(name, sizeof(name), "tracepoint %d", frame->tracepoint);
	t.name = name;
	if (!symtrace_pc_known(pc)) {
		t.end = "its program counter was not collected";
		return w->fn(w->ctx, &t, NULL);
	}
	rc = symtrace_walk(&of->file, frame, pc, of->images, &of->stack, &e);
	if (!rc)
		return give_stack(w, &t, &of->stack.stack, err);
	if (rc == SC_ENOMEM)
		return api_fail(err, &e);
	symcache_process_unwind(of->images, pc.address, &alone);
	alone.rel_pc = pc.address - alone.base;
	rc = give_frame(w, &t, &alone, err);
	t.end = e.msg;
	return rc ? rc : w->fn(w->ctx, &t, NULL);
}

static int give_trace(struct walk *w, struct traced *of, struct symcache_error *err)
{
	struct symtrace_frames frames = symtrace_frames(&of->file);
	struct symtrace_error fault = of->file.fault;
	struct symtrace_frame frame;
	int rc, more;

	while ((more = symtrace_next_frame(&frames, &frame, &fault)) > 0) {
		rc = give_trace_frame(w, of, &frame, err);
		if (rc)
			return rc;
		symtrace_release(&of->file, frame.offset);
	}
	return more < 0 ? api_error(err, SC_EFORMAT, "offset %" PRIu64 ": %s", fault.offset,
				    fault.msg) : 0;
}

static int open_traced(struct walk *w, const char *path, const struct symcache_trace_options *o,
		       struct traced *of, struct sc_error *err)
{
	struct symtrace_target target;

	of->images = symcache_process_create(&(struct symcache_finder){
		.find = symcache_find_module, .caches = w->caches });
	if (!of->images)
		return sc_no_memory(err);
	for (size_t i = 0; i < o->num_modules; i++) {
		const int rc = symcache_process_load(of->images, o->modules[i], err);

		if (rc)
			return rc;
	}
	target = symtrace_target_of(of->images);
	return symtrace_open(path, &target, SYMTRACE_ORDER_AUTO, &of->file, err);
}

int symcache_trace_stacks(const char *path, const struct symcache_trace_options *o,
			  symcache_walked_fn *fn, void *ctx, struct symcache_error *err)
{
	struct walk w = { .fn = fn, .ctx = ctx };
	struct traced of = { 0 };
	struct sc_error e;
	int rc;

	if (!path || !fn || !o || !api_fits(o) || !o->num_modules || !o->modules)
		return api_error(err, SC_EINVAL, "unknown options, or no file, function or modules");
	rc = begin(&w, o->store, o->debug_dirs, err);
	if (!rc && open_traced(&w, path, o, &of, &e))
		rc = api_fail(err, &e);
	if (!rc)
		rc = give_trace(&w, &of, err);
	symtrace_stack_deinit(&of.stack);
	symtrace_close(&of.file);
	end(&w);
	symcache_process_destroy(of.images);
	return rc;
}
