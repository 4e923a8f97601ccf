/* Places and frames: see stack.h. Names come from files of others. */
#include "libsymcache/report/stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symcache_code_place *mk_place(struct mk_places *p, const void *owner,
				     struct symcache_module *module, uint64_t vaddr)
{
	struct symcache_code_place *place = symcache_places_get(p->of, owner, module, vaddr);

	if (place)
		return place;
	p->out->error = -ENOMEM;
	free(p->none.text);
	p->none = (struct symcache_code_place){ 0 };
	return &p->none;
}

void mk_places_deinit(struct mk_places *p)
{
	symcache_places_destroy(p->of);
	free(p->none.text);
}

/* The end of a path with its last folder, if there are more of them, else all of it. */
static const char *end_of_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *before = slash;

	while (before > path && *--before != '/')
		;
	return before > path ? before : path;
}

void mk_put_position(struct mk_out *o, const struct sc_frame *f, bool brief)
{
	const char *path = brief ? end_of_path(f->file.ptr) : f->file.ptr;

	if (*f->file.ptr)
		mk_put(o, " at ", path > f->file.ptr ? "…" : "", mk_shown(path), ":", f->line);
	if (*f->file.ptr && f->column)
		mk_put(o, ":", f->column);
}

/* One function; `inlined`: 1 for the innermost inlined one; 0: not inlined. */
static void put_line(struct mk_out *o, const struct mk_stack_line *f,
		     const struct sc_frame *in, size_t inlined)
{
	const struct symcache_unwind_frame *frame = f->walked;
	const bool sure = frame->trust <= SYMCACHE_TRUST_CFI;
	const char *function = in ? in->function.ptr : NULL;
	const bool color = f->color && function;
	char number[48];

	if (inlined)
		snprintf(number, sizeof(number), "#%zu.%zu", f->number, inlined);
	else
		snprintf(number, sizeof(number), "#%zu", f->number);
	mk_out_printf(o, "  %-6s %c 0x%0*" PRIx64 "  ", number, sure ? ' ' : '?', 2 * (int)f->word,
		      frame->pc);
	mk_put(o, color ? MK_VALUE_ON : "",
	       mk_shown(function ? function : frame->signal ? "<signal>" : "??"),
	       color ? MK_VALUE_OFF : "");
	if (in)
		mk_put_position(o, in, f->brief);
	if (f->module) {
		mk_put(o, " (", mk_shown(f->module));
		if (f->has_offset)
			mk_put(o, "+", mk_hex(f->offset));
		if (f->why && !function && !frame->signal)
			mk_put(o, ": ", f->why);
		mk_put(o, ")");
	}
	if (frame->signal && function)
		mk_put(o, " [signal]");
	if (!sure)
		mk_put(o, " [", symcache_trust_text(frame->trust), "]");
	mk_put(o, "\n");
}

void mk_put_frame(struct mk_out *o, const struct mk_stack_line *f)
{
	const size_t n = f->place->num_frames;

	for (size_t i = 0; i < n; i++)
		put_line(o, f, &f->place->frames[i], i + 1 < n ? i + 1 : 0);
	if (!n)
		put_line(o, f, NULL, 0);
}

const char *mk_trust_word(enum symcache_trust trust)
{
	return trust == SYMCACHE_TRUST_FRAME_POINTER ? "frame_pointer" : symcache_trust_text(trust);
}

void mk_json_stop(struct mk_gen *g, const struct symcache_stack *s)
{
	mk_gen_text(g, "stopped", symcache_stop_word(s->stop));
	if (s->stop == SYMCACHE_STOP_MEMORY)
		mk_gen_hex(g, "address", s->address);
}
