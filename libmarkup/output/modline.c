/*
 * The module line: one module element and the maps that follow it become
 *
 *   [[[ELF module #0x0 "a.o"; BuildID=abcdef [0x1000-0x1fff](r),[0x2000-0x2fff](rx)]]]
 *
 * and maps that come later, under no open line of their module, become
 *
 *   [[[ELF module #0x0 "a.o"; adds [0x4900-0x4900](rw)]]]
 *
 * What comes before the maps is written at once, the maps, sorted, on closing.
 */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/output/output.h"

void mk_modline_open(struct mk_output *r, uint32_t module, bool adds)
{
	const struct mk_module *m = &r->resolve->context.modules[module];
	struct mk_modline *l = &r->modline;
	char id[FMT_MAX + 3] = " #";
	struct mk_out *o = &r->out;

	mk_modline_close(r, true);
	mk_sgr_highlight(r, o);
	mk_out_lit(o, "[[[ELF module");
	size_t len = 2 + mk_fmt_hex(id + 2, m->id);
	id[len++] = ' ';
	mk_put_value(r, o, id, len);
	mk_put_values(r, o, "\"", m->name, adds ? "\"; adds" : "\"; BuildID=");
	if (!adds) {
		r->scratch.len = 0;
		mk_out_bytes(&r->scratch, m->build_id, m->build_id_len);
		mk_put_value(r, o, r->scratch.buf, r->scratch.len);
	}
	l->open = true;
	l->crlf = r->newline[0] == '\r';
	l->module = module;
	vec_clear(&l->maps);
}

void mk_modline_add(struct mk_output *r, uint32_t map)
{
	uint32_t *added = vec_push(&r->modline.maps);

	if (added)
		*added = map;
	else
		r->out.error = -ENOMEM;
}

static int by_address(const void *a, const void *b, void *ctx)
{
	const struct mk_map *maps = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (maps[i].address != maps[j].address)
		return maps[i].address < maps[j].address ? -1 : 1;
	return i < j ? -1 : i > j;
}

void mk_modline_close(struct mk_output *r, bool newline)
{
	struct mk_modline *l = &r->modline;
	struct mk_out *o = &r->out;

	if (!l->open)
		return;
	l->open = false;
	if (l->maps.len)
		qsort_r(l->maps.data, l->maps.len, sizeof(*l->maps.data), by_address,
			r->resolve->context.maps);
	for (size_t i = 0; i < l->maps.len; i++) {
		const struct mk_map *m = &r->resolve->context.maps[l->maps.data[i]];
		/* The first map again is a first map to LLVM, too. */
		mk_out_char(o, l->maps.data[i] == l->maps.data[0] ? ' ' : ',');
		mk_put_values(r, o, "[", mk_hex(m->address), "-", mk_hex(m->address + m->size - 1),
			      "](", (sc_str_of(m->mode)), ")");
	}
	mk_out_lit(o, "]]]");
	if (r->options.dialect == MARKUP_LLVM)
		l->crlf = r->newline[0] == '\r'; /* LLVM takes that of the closing line */
	if (newline)
		mk_put(o, l->crlf ? "\r\n" : "\n");
	mk_sgr_restore(r, o);
}
