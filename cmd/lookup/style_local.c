/* Local variables, as llvm-symbolizer lays them out. */
#include <stdlib.h>
#include <string.h>

#include "cmd/lookup/explain.h"
#include "cmd/lookup/locals.h"
#include "libsymcache/base/utf8.h"

/* No byte of it reaches a terminal that may not. */
static void put_shown(struct text *t, const char *text, size_t len)
{
	if (sc_printable(text, len))
		text_put(t, text, len);
	else
		t->len += sc_make_printable(text, len, text_room(t, 4 * len));
}

static void put_line(struct text *t, struct symcache_str name)
{
	if (name.len)
		put_shown(t, name.ptr, name.len);
	else
		text_str(t, "??");
	text_char(t, '\n');
}

static void put_number(struct text *t, bool known, uint64_t number, char end)
{
	if (known)
		text_number(t, number);
	else
		text_str(t, "??");
	text_char(t, end);
}

static void json_local(struct json_gen *j, const struct symcache_local *l, const char *path)
{
	json_gen_open_map(j, NULL);
	json_gen_text(j, "DeclFile", l->file.name.ptr ? path : "");
	json_gen_number(j, "DeclLine", l->line);
	if (l->has_offset)
		json_gen_signed(j, "FrameOffset", l->offset);
	json_gen_string(j, "FunctionName", l->function.len ? l->function.ptr : "", l->function.len);
	json_gen_string(j, "Name", l->name.len ? l->name.ptr : "", l->name.len);
	if (l->has_size)
		json_gen_hex(j, "Size", l->size);
	else
		json_gen_text(j, "Size", "");
	if (l->has_tag)
		json_gen_hex(j, "TagOffset", l->tag);
	else
		json_gen_text(j, "TagOffset", "");
	json_gen_close_map(j);
}

void style_local(struct worker *w, const struct request *r, const struct symcache_local *l)
{
	char *path = explain_path(&l->file);
	struct text *t = &w->out;

	if (w->json) {
		style_places(w, r);
		json_local(w->json, l, path);
	} else {
		put_line(t, l->function);
		put_line(t, l->name);
		put_shown(t, path, strlen(path));
		text_char(t, ':');
		text_number(t, l->line);
		text_char(t, '\n');
		if (l->has_offset && l->offset < 0)
			text_char(t, '-');
		put_number(t, l->has_offset,
			   l->offset < 0 ? -(uint64_t)l->offset : (uint64_t)l->offset, ' ');
		put_number(t, l->has_size, l->size, ' ');
		put_number(t, l->has_tag, l->tag, '\n');
	}
	free(path);
}
