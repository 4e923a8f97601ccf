/* Names and lines to addresses, of symcache.Cache: see symcache-find.h. What is found is copied before
 * objects are made of it: see module.h. */
#include "module.h"

#include <symcache-find.h>

static PyStructSequence_Field definition_fields[] = {
	{ "name", "demangled" }, { "linkage_name", "as in the ELF file" },
	{ "path", "where it is declared; None" }, { "line", "0: unknown" },
	{ "address", "its start" }, { "size", "bytes; 0: unknown" },
	{ "data", "it is a variable, or other data" }, { NULL, NULL },
};
PyStructSequence_Desc definition_desc = { "symcache.Definition", "What a name stands for.",
					  definition_fields, 7 };

static PyStructSequence_Field range_fields[] = {
	{ "start", "address" }, { "end", "behind it" }, { "function", "that the line is in; None" },
	{ "path", "of the source file" }, { "line", NULL }, { "column", "0: unknown" },
	{ "inlined", "the function is inlined there" },
	{ "depth", "so many frames are inlined into the line's at the start" }, { NULL, NULL },
};
PyStructSequence_Desc range_desc = { "symcache.LineRange", "A piece of code of a line.", range_fields, 8 };

/* One that was found; its texts are ours. */
union found {
	struct symcache_definition name;
	struct symcache_line_range line;
};

struct found_list {
	union found *list;
	size_t n, room;
	int no_memory;
};

static union found *more(struct found_list *l)
{
	if (l->n == l->room) {
		const size_t room = l->room ? 2 * l->room : 16;
		union found *list = realloc(l->list, room * sizeof(*list));

		if (!list)
			return NULL;
		l->list = list;
		l->room = room;
	}
	return &l->list[l->n++];
}

/* Nonzero ends the search. */
static int copy(struct found_list *l, const char **a, const char **b, const char **c)
{
	const char **texts[] = { a, b, c };

	for (size_t i = 0; i < 3; i++)
		if (texts[i]) {
			*texts[i] = strdup(*texts[i]);
			l->no_memory |= !*texts[i];
		}
	return l->no_memory;
}

static int on_definition(void *ctx, const struct symcache_definition *d)
{
	struct found_list *l = ctx;
	union found *f = more(l);

	if (!f)
		return l->no_memory = 1;
	f->name = *d;
	return copy(l, &f->name.name, &f->name.linkage_name, &f->name.file);
}

static int on_range(void *ctx, const struct symcache_line_range *r)
{
	struct found_list *l = ctx;
	union found *f = more(l);

	if (!f)
		return l->no_memory = 1;
	f->line = *r;
	return copy(l, &f->line.function, &f->line.file, NULL);
}

static PyObject *definition_of(const union found *f)
{
	const struct symcache_definition *d = &f->name;
	PyObject *const items[] = {
		own_text(d->name), own_text(d->linkage_name),
		own_text(d->flags & SYMCACHE_FRAME_NO_FILE ? NULL : d->file),
		PyLong_FromUnsignedLong(d->line), PyLong_FromUnsignedLongLong(d->vaddr),
		PyLong_FromUnsignedLongLong(d->size),
		PyBool_FromLong(d->flags & SYMCACHE_DEFINITION_DATA),
	};

	return sequence(st.definition, items, 7);
}

static PyObject *range_of(const union found *f)
{
	const struct symcache_line_range *r = &f->line;
	PyObject *const items[] = {
		PyLong_FromUnsignedLongLong(r->vaddr), PyLong_FromUnsignedLongLong(r->end),
		own_text(r->flags & SYMCACHE_FRAME_NO_FUNCTION ? NULL : r->function),
		own_text(r->file), PyLong_FromUnsignedLong(r->line), PyLong_FromUnsignedLong(r->column),
		PyBool_FromLong(r->flags & SYMCACHE_FRAME_INLINED), PyLong_FromUnsignedLong(r->depth),
	};

	return sequence(st.range, items, 8);
}

/* Of what was found, which goes; `rc` is what the search returned. */
static PyObject *list_of(struct found_list *l, int rc, const struct symcache_error *err, int lines)
{
	PyObject *ret = NULL;

	if (l->no_memory)
		PyErr_NoMemory();
	else if (rc && rc != SYMCACHE_ENOTFOUND)
		raise_error(err);
	else
		ret = PyList_New(0);
	for (size_t i = 0; i < l->n; i++) {
		PyObject *o = !ret ? NULL : lines ? range_of(&l->list[i]) : definition_of(&l->list[i]);

		if (ret && (!o || PyList_Append(ret, o)))
			Py_CLEAR(ret);
		Py_XDECREF(o);
		free((char *)(lines ? l->list[i].line.function : l->list[i].name.name));
		free((char *)(lines ? l->list[i].line.file : l->list[i].name.file));
		if (!lines)
			free((char *)l->list[i].name.linkage_name);
	}
	free(l->list);
	return ret;
}

PyObject *cache_addresses_of(PyObject *self, PyObject *arg)
{
	const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
	struct symcache_cache *c = ((struct cache *)self)->c;
	uint64_t *found;
	size_t n;
	PyObject *ret;

	if (!name)
		return NULL;
	n = symcache_addresses_of(st.plain, c, name, NULL, 0);
	found = PyMem_Calloc(n + 1, sizeof(*found));
	if (!found)
		return PyErr_NoMemory();
	symcache_addresses_of(st.plain, c, name, found, n);
	ret = PyList_New(0);
	for (size_t i = 0; ret && i < n; i++) {
		PyObject *a = PyLong_FromUnsignedLongLong(found[i]);

		if (!a || PyList_Append(ret, a))
			Py_CLEAR(ret);
		Py_XDECREF(a);
	}
	PyMem_Free(found);
	return ret;
}

PyObject *cache_find(PyObject *self, PyObject *arg)
{
	const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);
	struct found_list found = { NULL, 0, 0, 0 };
	struct symcache_error err;

	return name ? list_of(&found, symcache_each_definition(st.plain, ((struct cache *)self)->c, name,
							       on_definition, &found, &err), &err, 0) : NULL;
}

PyObject *cache_match(PyObject *self, PyObject *arg)
{
	const char *pattern = PyUnicode_AsUTF8AndSize(arg, NULL);
	struct found_list found = { NULL, 0, 0, 0 };
	struct symcache_error err;

	return pattern ? list_of(&found, symcache_each_match(st.plain, ((struct cache *)self)->c, pattern,
							     on_definition, &found, &err), &err, 0) : NULL;
}

PyObject *cache_where(PyObject *self, PyObject *arg)
{
	const char *line = PyUnicode_AsUTF8AndSize(arg, NULL);
	struct found_list found = { NULL, 0, 0, 0 };
	struct symcache_error err;

	return line ? list_of(&found, symcache_each_line_range(st.plain, ((struct cache *)self)->c, line,
							       on_range, &found, &err), &err, 1) : NULL;
}
