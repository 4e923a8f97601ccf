/* core_json.c: `core --format json`: a line for each thread; see core.h. Frames are its inner
 * loop: what a place has is made once, numbers are written by hand. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/frame_line.h"
#include "cmd/cli/output.h"
#include "cmd/core/core.h"

static void put_registers(const struct symcache_core *core, const struct symcache_registers *r)
{
	const char *before = "";
	char name[8];

	fputs(",\"registers\":{", stdout);
	for (uint64_t left = r->known; left; left &= left - 1, before = ",") {
		unsigned n = (unsigned)__builtin_ctzll(left);

		printf("%s\"%s\":\"0x%" PRIx64 "\"", before,
		       symcache_register_name(core->machine, n, name), r->value[n]);
	}
	putchar('}');
}

static void put_name(const char *name)
{
	struct mk_out o = { 0 };
	char *text;

	mk_gen_text(&(struct mk_gen){ .to = &o }, NULL, name);
	text = must(mk_out_take(&o));
	printf("\"name\":%s,", text);
	free(text);
}

/* The members of each function's object behind those of its frame, with a comma in front: one
 * text behind the other. */
static const char *describe(struct symcache_code_place *place,
			    const struct symcache_walked_frame *f)
{
	const struct symcache_core_image *image = f->owner;
	struct mk_out all = { 0 };

	for (size_t i = 0; i < place->num_frames || !i; i++) {
		const struct symcache_place_frame *in = place->num_frames ? &place->frames[i] :
									    NULL;
		const size_t start = all.len;
		struct mk_gen *j = &(struct mk_gen){ .to = &all };

		mk_gen_open_map(j, NULL);
		if (image) {
			mk_gen_text(j, "module", image->name);
			mk_gen_text(j, "build_id", image->id);
			if (image->cache)
				mk_gen_hex(j, "address", place->vaddr);
		}
		if (in && in->function.ptr)
			mk_gen_string(j, "function", in->function.ptr, in->function.len);
		if (in && *in->file) {
			mk_gen_text(j, "file", in->file);
			mk_gen_number(j, "line", in->line);
			mk_gen_number(j, "column", in->column);
		}
		mk_gen_bool(j, "inlined", i + 1 < place->num_frames);
		if (!all.error)
			all.buf[start] = ',';
		mk_out_char(&all, 0);
	}
	return place->text = must(all.error ? NULL : all.buf);
}

void core_json_stack(const struct core_run *r, const struct symcache_stack *stack, size_t thread)
{
	const struct symcache_core *core = r->core;
	const struct symcache_core_thread *t = &core->threads[thread];
	const char *between = "";

	printf("{\"thread\":%" PRIu32 ",", t->tid);
	if (*t->name)
		put_name(t->name);
	printf("\"died\":%s,\"frames\":[", !thread && core->died ? "true" : "false");
	for (size_t i = 0; i < stack->num_frames; i++) {
		const struct symcache_walked_frame *f = &stack->frames[i];
		struct symcache_code_place *place = core_place(r, f);
		const char *text = place->text ? place->text : describe(place, f);

		for (size_t k = 0; k < place->num_frames || !k; k++, between = ",") {
			put(between);
			put_digits("{\"frame\":", i, 10);
			put_digits(",\"pc\":\"0x", f->pc, 16);
			put("\",\"trust\":\"");
			put(trust_word(f->trust));
			put("\"");
			put(text);
			text += strlen(text) + 1;
			if (f->signal)
				put(",\"signal\":true");
			if (stack->registers && k + 1 >= place->num_frames)
				put_registers(core, &stack->registers[i]);
			put("}");
		}
	}
	printf("],\"stopped\":\"%s\"", stop_word(stack->stop));
	if (stack->stop == SYMCACHE_STOP_MEMORY)
		printf(",\"address\":\"0x%" PRIx64 "\"", stack->address);
	puts("}");
}

void core_json_summary(const struct core_run *r)
{
	size_t n;
	const struct symcache_core_image *list = symcache_core_images_list(r->images, &n);
	struct mk_gen *j = out_json(false);

	for (size_t i = 0; i < n; i++) {
		const struct symcache_core_image *m = &list[i];

		mk_gen_open_map(j, NULL);
		mk_gen_text(j, "module", m->module->path);
		mk_gen_text(j, "build_id", m->id);
		mk_gen_hex(j, "start", m->module->start);
		mk_gen_number(j, "frames", m->frames);
		mk_gen_number(j, "stacks_cut", m->lost);
		if (m->asked) {
			mk_gen_bool(j, "symbols", m->cache && m->cache->header->num_functions);
			mk_gen_bool(j, "unwind", m->cache && m->cache->unwind.facts);
		}
		if (m->why.code)
			mk_gen_text(j, "error", m->why.msg);
		mk_gen_close_map(j);
		mk_gen_end(j);
	}
}
