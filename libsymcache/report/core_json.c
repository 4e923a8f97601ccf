/* A core as JSON: a line for each thread. Frames are the inner loop: what a place has is made
 * once, the rest is put together by hand. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/report/core.h"

static void put_registers(struct mk_core *c, const struct symcache_registers *r)
{
	const char *before = "";
	char name[8];

	mk_put(c->out, ",\"registers\":{");
	for (uint64_t left = r->known; left; left &= left - 1, before = ",") {
		const unsigned n = (unsigned)__builtin_ctzll(left);

		mk_put(c->out, before, "\"", symcache_register_name(c->core->machine, n, name),
		       "\":\"", mk_hex(r->value[n]), "\"");
	}
	mk_put(c->out, "}");
}

/* The members of each function's object behind those of its frame, a text behind the other. */
static const char *describe(struct symcache_code_place *place, const struct symcache_unwind_frame *f)
{
	const struct symcache_image *image = f->owner;
	struct mk_out all = { 0 };

	for (size_t i = 0; i < place->num_frames || !i; i++) {
		const struct sc_frame *in = place->num_frames ? &place->frames[i] :
									    NULL;
		struct mk_gen *g = &(struct mk_gen){ .to = &all, .depth = 1, .any = 2 };

		if (image) {
			mk_gen_text(g, "module", image->name);
			mk_gen_bytes(g, "build_id", image->build_id, image->build_id_len);
			if (image->cache)
				mk_gen_hex(g, "address", place->vaddr);
		}
		if (in && in->function.ptr)
			mk_gen_string(g, "function", sc_bare_name(in).ptr, sc_bare_name(in).len);
		if (in && in->scopes)
			mk_gen_string(g, "qualified", in->function.ptr, in->function.len);
		if (in && *in->file.ptr) {
			mk_gen_text(g, "file", in->file.ptr);
			mk_gen_number(g, "line", in->line);
			mk_gen_number(g, "column", in->column);
		}
		mk_gen_bool(g, "inlined", i + 1 < place->num_frames);
		mk_out_char(&all, 0);
	}
	return place->text = mk_out_take(&all);
}

/* What the process was, and what it died of. */
static void put_process(struct mk_gen *g, const struct symcache_core *core, bool first)
{
	const char *name = sigabbrev_np(core->signal);
	char text[24];

	if (core->pid)
		mk_gen_number(g, "pid", core->pid);
	if (*core->command)
		mk_gen_text(g, "program", core->command);
	if (!first || !core->signal)
		return;
	snprintf(text, sizeof(text), name ? "SIG%s" : "%.0s%d", name ? name : "", core->signal);
	mk_gen_text(g, "signal", text);
	if (core->has_signal_address)
		mk_gen_hex(g, "fault_address", core->signal_address);
}

void mk_core_json_stack(struct mk_core *c, const struct symcache_stack *stack, size_t thread)
{
	const struct symcache_core_thread *t = &c->core->threads[thread];
	struct mk_gen *g = &(struct mk_gen){ .to = c->out };
	const char *between = "";

	mk_gen_open_map(g, NULL);
	mk_gen_number(g, "thread", t->tid);
	if (*t->name)
		mk_gen_text(g, "name", t->name);
	mk_gen_bool(g, "died", !thread && c->core->died);
	put_process(g, c->core, !thread);
	mk_gen_open_array(g, "frames");
	for (size_t i = 0; i < stack->num_frames; i++) {
		const struct symcache_unwind_frame *f = &stack->frames[i];
		struct symcache_code_place *place = mk_core_place(c, f);
		const char *text = place->text ? place->text : describe(place, f);

		if (!text) {
			c->out->error = -ENOMEM;
			return;
		}
		for (size_t k = 0; k < place->num_frames || !k; k++, between = ",") {
			mk_put(c->out, between, "{\"frame\":", i, ",\"pc\":\"", mk_hex(f->pc),
			       "\",\"trust\":\"", mk_trust_word(f->trust), "\"", text);
			text += strlen(text) + 1;
			if (f->signal)
				mk_put(c->out, ",\"signal\":true");
			if (stack->registers && k + 1 >= place->num_frames)
				put_registers(c, &stack->registers[i]);
			mk_put(c->out, "}");
		}
	}
	mk_gen_close_array(g);
	mk_json_stop(g, stack);
	mk_gen_close_map(g);
	mk_gen_end(g);
}

void mk_core_json_summary(struct mk_core *c)
{
	struct mk_gen *g = &(struct mk_gen){ .to = c->out };

	for (size_t i = 0; i < c->core->num_modules; i++) {
		const struct symcache_image *m = c->core->modules[i];

		mk_gen_open_map(g, NULL);
		mk_gen_text(g, "module", m->path);
		mk_gen_bytes(g, "build_id", m->build_id, m->build_id_len);
		mk_gen_hex(g, "start", m->start);
		mk_gen_number(g, "frames", m->frames);
		mk_gen_number(g, "stacks_cut", m->lost);
		if (m->asked) {
			mk_gen_bool(g, "symbols", m->cache && m->cache->header->num_functions);
			mk_gen_bool(g, "unwind", m->cache && m->cache->unwind.facts);
		}
		if (m->why.code)
			mk_gen_text(g, "error", m->why.msg);
		mk_gen_close_map(g);
		mk_gen_end(g);
	}
}
