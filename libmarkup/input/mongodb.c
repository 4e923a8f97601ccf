/*
 * MongoDB's logs, from version 4.4 on a line of JSON for each frame:
 *
 *   {"t":…,"msg":"Frame","attr":{"frame":{"a":"55D0C30A597B","b":"55D0C294C000","o":"75997B"}}}
 *
 * behind a line with all modules, which stays, as in older versions the whole backtrace does,
 * whose frames follow as lines of glibc's:
 *
 *   …"somap":[{"b":"55D0C294C000","path":"/usr/bin/mongod","elfType":3,"buildId":"FB66…"},…]
 *
 * All are return addresses.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static const char list_word[] = "\"somap\":[";

/* The next module of the list in [*p, end), which it moves behind. */
static bool next_module(const char **p, const char *end, uint64_t *base, struct sc_str *path,
			struct sc_str *id)
{
	const char *at = *p, *close;

	while ((at = mk_find(at, end, "{\"b\":"))) {
		close = memchr(at, '}', (size_t)(end - at));
		if (!close)
			return false;
		*p = close;
		if (mk_match(&at, close, "{\"b\":\"%x\",\"path\":\"%s\"", base, path) &&
		    path->len && !memchr(path->ptr, '\\', path->len) &&
		    (at = mk_find(at, close, "\"buildId\":")) &&
		    mk_match(&at, close, "\"buildId\":\"%b\"", id))
			return true;
		at = close;
	}
	return false;
}

/* The names of the modules, for the lines of glibc's that follow. */
static void read_names(struct mk_line *l, const char *p, const char *end)
{
	struct sc_str path, id;
	uint64_t base;

	while (next_module(&p, end, &base, &path, &id))
		mk_add_binding(l, path.ptr, p, path, id);
}

static bool read_row(const char **p, const char *end, struct mk_row *row)
{
	const char *list = row->at ? *p : mk_find(*p, end, list_word);

	row->at = list;
	row->code = row->whole = true;
	if (!list || !next_module(&list, end, &row->start, &row->name, &row->build_id))
		return false;
	*p = list;
	return true;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *list = mk_find(l->p, end, list_word), *p, *text;
	uint64_t address, base, rel;
	struct mk_event *e;

	if (list) {
		read_names(l, list, end);
		return;
	}
	p = mk_find(l->p, end, "\"frame\":{");
	if (!p || !mk_match(&p, end, "\"frame\":{\"a\":\"%x\",\"b\":\"%x\",", &address, &base))
		return;
	text = p;
	if (!mk_match(&p, end, "\"o\":\"%x\"", &rel) || address - base != rel)
		return;
	e = mk_add_frame(l, "mongodb", text, p);
	e->form = MK_FORM_MEMBER;
	e->address = address;
	e->absolute = true;
	e->returns = MK_RETURN;
	e->reach = 1;
}

const struct mk_input mk_mongodb_input = {
	.name = "mongodb",
	.words = (const char *const[]){ "\"o\":", "soma", NULL },
	.context_words = (const char *const[]){ list_word, NULL },
	.read = read_line,
	.chained = true,
	.cuttable = true,
	.table_words = (const char *const[]){ "soma", NULL },
	.read_row = read_row,
};
