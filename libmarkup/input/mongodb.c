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
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

/* A member of an object at *p, `name` being its name with quotes and colon: its text. */
static bool take_member(const char **p, const char *end, const char *name, struct markup_str *ret)
{
	const char *at = *p, *quote;

	if (!mk_take_text(&at, end, name) || !mk_take_text(&at, end, "\""))
		return false;
	quote = memchr(at, '"', (size_t)(end - at));
	if (!quote || memchr(at, '\\', (size_t)(quote - at)))
		return false;
	*ret = (struct markup_str){ at, (size_t)(quote - at) };
	*p = quote + 1;
	return true;
}

static bool take_number(const char **p, const char *end, const char *name, uint64_t *ret)
{
	struct markup_str s;
	const char *at = *p, *digits;

	if (!take_member(&at, end, name, &s))
		return false;
	digits = s.ptr;
	if (!mk_take_digits(&digits, s.ptr + s.len, ret) || digits != s.ptr + s.len)
		return false;
	*p = at;
	return true;
}

/* The next module of the list in [*p, end), which it moves behind. */
static bool next_module(const char **p, const char *end, uint64_t *base, struct markup_str *path,
			struct markup_str *id)
{
	static const char begin[] = "{\"b\":", key[] = "\"buildId\":";
	const char *at = *p, *close;

	while ((at = memmem(at, (size_t)(end - at), begin, strlen(begin)))) {
		at++;
		close = memchr(at, '}', (size_t)(end - at));
		if (!close)
			return false;
		*p = close;
		if (take_number(&at, close, "\"b\":", base) && mk_take_text(&at, close, ",") &&
		    take_member(&at, close, "\"path\":", path) &&
		    (at = memmem(at, (size_t)(close - at), key, strlen(key))) &&
		    take_member(&at, close, key, id) && path->len && id->len % 2 == 0 &&
		    mk_field_build_id(*id, NULL))
			return true;
		at = close;
	}
	return false;
}

static const char *find_list(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), "\"somap\":[", strlen("\"somap\":["));
}

/* The names of the modules, for the lines of glibc's that follow. */
static void read_names(struct mk_line *l, const char *p, const char *end)
{
	struct markup_str path, id;
	uint64_t base;

	while (next_module(&p, end, &base, &path, &id))
		if (!mk_add_binding(l, path.ptr, p, path, id))
			return;
}

static bool read_row(const char **p, const char *end, struct mk_row *row)
{
	const char *list = row->at ? *p : find_list(*p, end);

	row->at = list;
	row->code = true;
	if (!list || !next_module(&list, end, &row->start, &row->name, &row->build_id))
		return false;
	*p = list;
	return true;
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	static const char begin[] = "\"frame\":{";
	const char *end = l->p + l->len, *list = find_list(l->p, end), *p, *text;
	uint64_t address, base, rel;
	struct mk_event *e;

	(void)dialect;
	if (list) {
		read_names(l, list, end);
		return;
	}
	p = memmem(l->p, l->len, begin, strlen(begin));
	if (!p)
		return;
	p += strlen(begin);
	if (!take_number(&p, end, "\"a\":", &address) || !mk_take_text(&p, end, ",") ||
	    !take_number(&p, end, "\"b\":", &base) || !mk_take_text(&p, end, ","))
		return;
	text = p;
	if (!take_number(&p, end, "\"o\":", &rel) || address - base != rel ||
	    !(e = mk_add_frame(l, "mongodb", text, p)))
		return;
	e->form = MK_FORM_MEMBER;
	e->address = address;
	e->absolute = e->returns = true;
	e->reach = 1;
}

const struct mk_input mk_mongodb_input = {
	.name = "mongodb",
	.words = (const char *const[]){ "\"o\":", "soma", NULL },
	.find_context = find_list,
	.read = read_line,
	.chained = true,
	.cuttable = true,
	.table_words = (const char *const[]){ "soma", NULL },
	.read_row = read_row,
};
