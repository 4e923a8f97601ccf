/* Functions of several units that the linker folded into one: see folded.h. */
#include "libsymcache/write/flatten/folded.h"

/* Is the function of a piece called so? One without a place of its own is an assembler's. */
static bool is_called(const struct sc_naming *n, const struct sc_piece *p, const char *name)
{
	const struct sc_maps *maps = p->part ? &n->flat->more.data[p->part - 1].maps : NULL;
	const uint32_t number = maps ? sc_moved(maps->functions, p->function) : p->function;
	const struct sc_function *f = number != SC_NONE ? &n->tables->functions.data[number] : NULL;
	const struct sc_string *s = f && f->name != SC_NONE ? &n->tables->strings.data[f->name] : NULL;

	return s && f->decl_line && s->len == strlen(name) && !memcmp(s->ptr, name, s->len);
}

void sc_prefer_kept(struct sc_intervals *functions, const struct sc_naming *n)
{
	const struct sc_piece *pieces = n->flat->pieces.data;

	for (size_t i = 0, end; i < functions->list.len; i = end) {
		unsigned best = 0;
		size_t found = 0;
		const char *name;

		end = sc_equal_end(functions, i);
		if (end == i + 1)
			continue;
		name = n->symbols->symbol_at ?
		       n->symbols->symbol_at(n->symbols->ctx, functions->list.data[i].start) : NULL;
		for (size_t k = end; k-- > i;) {
			const struct sc_piece *p = &pieces[functions->list.data[k].id];
			const unsigned score = p->kind != SC_PIECE_FUNCTION ? 0 :
				1 + 2 * p->has_rows + (name && is_called(n, p, name));

			if (score > best) {
				best = score;
				found = k;
			}
		}
		if (best)
			sc_prefer(functions, found, end - 1);
	}
}
