/*
 * A trace file is shown: one walk over its frames, through the map; what a frame needs is
 * looked up once for each address, so that time is bounded by reading and printing and
 * memory does not grow with the file.
 */
#include <errno.h>
#include <stdlib.h>

#include "libsymcache/read/read.h"
#include "libsymcache/report/trace.h"

/* Finds damaged blocks where nothing else reads them. */
static void check_blocks(struct mk_trace *t, const struct symtrace_frame *frame)
{
	struct symtrace_blocks blocks = symtrace_blocks(&t->file, frame);
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	while ((more = symtrace_next_block(&blocks, &block, &err)) > 0)
		;
	if (more < 0)
		mk_trace_fault(t, &err);
}

/* Is the innermost function at one of the lines that are wanted? */
static bool at_line(struct mk_trace *t, uint64_t pc)
{
	struct symcache_code_place *place = mk_trace_place(t, pc).at;
	enum { NOT_TRIED, NO, YES };

	if (place->wanted == NOT_TRIED)
		place->wanted = place->num_frames &&
			symtrace_select_line(t->options->select, place->frames[0].file.ptr,
					     place->frames[0].line) ? YES : NO;
	return place->wanted == YES;
}

/* The summary's line of a place: of its innermost function. NULL: out of memory. */
static struct symtrace_line *find_line(struct symtrace_summary *s, struct mk_trace_place place)
{
	const struct sc_frame *inner = place.at->frames;
	struct symtrace_line *line;
	struct mk_out o = { 0 };
	char *unknown;

	if (place.at->num_frames)
		return symtrace_summary_line(s, mk_trace_function(inner), inner->file.ptr, inner->line);
	mk_put(&o, "??", place.image ? " in " : "", place.image ? place.image->name : "");
	unknown = mk_out_take(&o);
	line = unknown ? symtrace_summary_line(s, unknown, "", 0) : NULL;
	free(unknown);
	return line;
}

static void count(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct mk_trace_place place = { 0 };

	if (symtrace_pc_known(pc)) {
		place = mk_trace_place(t, pc.address);
		if (!place.at->user && !(place.at->user = find_line(t->summary, place))) {
			t->out->error = -ENOMEM;
			return;
		}
	}
	symtrace_summary_add(t->summary, frame, pc, place.at ? place.at->user : NULL);
}

/* Shows or counts the frames that are wanted. */
static void walk(struct mk_trace *t, const struct mk_trace_form *form)
{
	const struct symtrace_select *select = t->options->select;
	struct symtrace_frames frames = symtrace_frames(&t->file);
	struct symtrace_frame frame;
	struct symtrace_error err;
	int more = 0;

	while (!t->out->error && (more = symtrace_next_frame(&frames, &frame, &err)) > 0) {
		const struct symtrace_pc pc = symtrace_frame_pc(&t->file, &frame);

		if (symtrace_pc_known(pc)) {
			if (!t->known_pcs++)
				t->ret->first_pc = pc.address;
			t->in_image += symcache_process_at(t->options->images, pc.address) != NULL;
		}
		symtrace_release(&t->file, frame.offset);
		if (select->len[SYMTRACE_BY_FRAME] && frame.number > select->last_frame)
			return;
		if (!symtrace_select_frame(select, &frame, pc) ||
		    (select->len[SYMTRACE_BY_LINE] && !at_line(t, pc.address)))
			continue;
		t->ret->frames++;
		if (t->summary) {
			count(t, &frame, pc);
			check_blocks(t, &frame);
		} else {
			form->frame(t, &frame, pc);
		}
	}
	if (more < 0)
		mk_trace_fault(t, &err);
}

/* If no frame is in a module: those that can be loaded anywhere need their bias. */
static void find_unplaced(const struct mk_trace *t)
{
	enum { ELF_SHARED = 3 };
	const uint64_t far = t->ret->first_pc - 0x555555554000;
	const struct symcache_image *image;

	for (size_t i = 0; t->known_pcs && !t->in_image &&
	     (image = symcache_process_image_at(t->options->images, i)); i++) {
		const struct symcache_ext_image *facts = image->cache->image;

		if (image->bias || !facts || facts->elf_type != ELF_SHARED)
			continue;
		t->ret->unplaced = i + 1;
		t->ret->by_gdb = far < facts->image_size;
		return;
	}
}

static void show(struct mk_trace *t)
{
	const struct mk_trace_form *form = t->options->json ? &mk_trace_json : &mk_trace_text;
	const bool whole = !symtrace_select_any(t->options->select) && !t->summary;

	if (whole || t->options->named)
		form->header(t);
	if (whole)
		form->definitions(t);
	walk(t, form);
	if (t->summary) {
		symtrace_summary_sort(t->summary);
		form->summary(t);
	}
	find_unplaced(t);
}

int markup_trace_report(const char *path, const struct markup_trace_options *options,
			struct mk_out *out, struct markup_traced *ret, struct sc_error *err)
{
	struct mk_trace t = { .path = path, .options = options, .out = out, .json = { .to = out },
			      .ret = ret };
	int rc;

	*ret = (struct markup_traced){ 0 };
	rc = mk_trace_open(&t, err);
	if (!rc)
		show(&t);
	mk_trace_close(&t);
	return rc ? rc : out->error == -ENOMEM ? sc_no_memory(err) : 0;
}
