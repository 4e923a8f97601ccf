/* core_json.c: `core --format json`: a line for each thread; see core.h. Frames are its inner
 * loop: what a place has is made once, numbers are written by hand. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/frame_line.h"
#include "cmd/cli/number.h"
#include "cmd/core/core.h"

static void put(const char *text)
{
	fwrite_unlocked(text, 1, strlen(text), stdout);
}

static void put_digits(const char *before, uint64_t value, unsigned base)
{
	char buf[20], *p = format_number(buf + sizeof(buf), value, base);

	put(before);
	fwrite_unlocked(p, 1, (size_t)(buf + sizeof(buf) - p), stdout);
}

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
	struct json_gen *j = json_gen_create_memory();
	char *text;

	json_gen_text(j, NULL, name);
	text = json_gen_take(j);
	printf("\"name\":%s,", text);
	free(text);
}

void core_json_stack(const struct symcache_core *core, struct core_places *places,
		     const struct core_stack *stack, size_t thread)
{
	const struct symcache_core_thread *t = &core->threads[thread];
	const char *between = "";

	printf("{\"thread\":%" PRIu32 ",", t->tid);
	if (*t->name)
		put_name(t->name);
	printf("\"died\":%s,\"frames\":[", !thread && core->died ? "true" : "false");
	for (size_t i = 0; i < stack->num_frames; i++) {
		const struct core_frame *f = &stack->frames[i];
		const struct core_place *place = core_places_get(places, f);

		for (size_t k = 0; k < place->num_rows; k++, between = ",") {
			put(between);
			put_digits("{\"frame\":", i, 10);
			put_digits(",\"pc\":\"0x", f->pc, 16);
			put("\",\"trust\":\"");
			put(trust_word(f->trust));
			put("\"");
			fwrite_unlocked(place->rows[k].json, 1, place->rows[k].json_len, stdout);
			if (f->signal)
				put(",\"signal\":true");
			if (stack->registers && k + 1 == place->num_rows)
				put_registers(core, &stack->registers[i]);
			put("}");
		}
	}
	printf("],\"stopped\":\"%s\"", stop_word(stack->stop));
	if (stack->stop == SYMCACHE_STOP_MEMORY)
		printf(",\"address\":\"0x%" PRIx64 "\"", stack->address);
	puts("}");
}

void core_json_summary(struct core_modules *modules)
{
	size_t n;
	struct core_module *list = core_modules_list(modules, &n);
	struct json_gen *j = json_gen_create(false);

	for (size_t i = 0; i < n; i++) {
		const struct core_module *m = &list[i];

		json_gen_open_map(j, NULL);
		json_gen_text(j, "module", m->module->path);
		json_gen_text(j, "build_id", m->id);
		json_gen_hex(j, "start", m->module->start);
		json_gen_number(j, "frames", m->frames);
		json_gen_number(j, "stacks_cut", m->lost);
		if (m->asked) {
			json_gen_bool(j, "symbols", m->cache && m->cache->header->num_functions);
			json_gen_bool(j, "unwind", m->cache && m->cache->unwind.facts);
		}
		if (m->why)
			json_gen_text(j, "error", m->why);
		json_gen_close_map(j);
		json_gen_end(j);
	}
	json_gen_destroy(j);
}
