/* Local variables, as llvm-symbolizer lays them out. */
#include <stdlib.h>
#include <string.h>

#include "cmd/lookup/explain.h"
#include "cmd/lookup/locals.h"

static void put_line(struct mk_out *t, struct symcache_str name)
{
	if (name.len)
		mk_out_shown(t, (struct markup_str){ name.ptr, name.len });
	else
		mk_put(t, "??");
	mk_out_char(t, '\n');
}

static void put_number(struct mk_out *t, bool known, uint64_t number, char end)
{
	if (known)
		mk_out_dec(t, number);
	else
		mk_put(t, "??");
	mk_out_char(t, end);
}

static void json_local(struct mk_gen *j, const struct symcache_local *l, const char *path)
{
	mk_gen_open_map(j, NULL);
	mk_gen_text(j, "DeclFile", l->file.name.ptr ? path : "");
	mk_gen_number(j, "DeclLine", l->line);
	if (l->has_offset)
		mk_gen_signed(j, "FrameOffset", l->offset);
	mk_gen_string(j, "FunctionName", l->function.len ? l->function.ptr : "", l->function.len);
	mk_gen_string(j, "Name", l->name.len ? l->name.ptr : "", l->name.len);
	if (l->has_size)
		mk_gen_hex(j, "Size", l->size);
	else
		mk_gen_text(j, "Size", "");
	if (l->has_tag)
		mk_gen_hex(j, "TagOffset", l->tag);
	else
		mk_gen_text(j, "TagOffset", "");
	mk_gen_close_map(j);
}

void style_local(struct worker *w, const struct request *r, const struct symcache_local *l)
{
	char *path = explain_path(&l->file);
	struct mk_out *t = &w->out;

	if (w->json) {
		style_places(w, r);
		json_local(w->json, l, path);
	} else {
		put_line(t, l->function);
		put_line(t, l->name);
		mk_out_shown(t, (struct markup_str){ path, strlen(path) });
		mk_put(t, ":", l->line, "\n");
		if (l->has_offset && l->offset < 0)
			mk_out_char(t, '-');
		put_number(t, l->has_offset,
			   l->offset < 0 ? -(uint64_t)l->offset : (uint64_t)l->offset, ' ');
		put_number(t, l->has_size, l->size, ' ');
		put_number(t, l->has_tag, l->tag, '\n');
	}
	free(path);
}
