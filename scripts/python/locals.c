/* Local variables, of symcache.Cache: see symcache-find.h. What is found is copied before objects are made of
 * it: see module.h. */
#include "module.h"

#include <symcache-find.h>

static PyStructSequence_Field local_fields[] = {
	{ "name", "as the source has it; \"??\": it has none" },
	{ "function", "that it is of; None: unknown" },
	{ "path", "where it is declared; None" }, { "line", "0: unknown" },
	{ "offset", "bytes from the frame base; None: unknown" },
	{ "size", "bytes; None: unknown" }, { "tag", "its number among HWASan's tags; None" },
	{ NULL, NULL },
};
PyStructSequence_Desc local_desc = { "symcache.Local", "A local variable or parameter.", local_fields, 7 };

struct found {
	struct symcache_local_variable *list; /* their texts are ours */
	size_t n;
};

/* Nonzero ends the search. */
static int on_local(void *ctx, const struct symcache_local_variable *v)
{
	struct found *found = ctx;
	struct symcache_local_variable *to =
		realloc(found->list, (found->n + 1) * sizeof(*found->list));

	if (!to)
		return 1;
	found->list = to;
	to += found->n++;
	*to = *v;
	to->name = strdup(v->name);
	to->function = strdup(v->function);
	to->file = strdup(v->file);
	return !to->name || !to->function || !to->file;
}

static PyObject *object_of(const struct symcache_local_variable *v)
{
	PyObject *const items[] = {
		own_text(v->name),
		own_text(v->flags & SYMCACHE_FRAME_NO_FUNCTION ? NULL : v->function),
		own_text(v->flags & SYMCACHE_FRAME_NO_FILE ? NULL : v->file),
		PyLong_FromUnsignedLong(v->line),
		v->flags & SYMCACHE_LOCAL_HAS_OFFSET ? PyLong_FromLongLong(v->offset) : Py_NewRef(Py_None),
		v->flags & SYMCACHE_LOCAL_HAS_SIZE ? PyLong_FromUnsignedLongLong(v->size) : Py_NewRef(Py_None),
		v->flags & SYMCACHE_LOCAL_HAS_TAG ? PyLong_FromUnsignedLongLong(v->tag) : Py_NewRef(Py_None),
	};

	return sequence(st.local, items, 7);
}

PyObject *cache_locals(PyObject *self, PyObject *arg)
{
	const unsigned long long address = PyLong_AsUnsignedLongLong(arg);
	struct found found = { NULL, 0 };
	struct symcache_error err;
	PyObject *ret = NULL;
	int rc;

	if (PyErr_Occurred())
		return NULL;
	rc = symcache_each_local(st.plain, ((struct cache *)self)->c, address, on_local, &found, &err);
	if (rc > 0)
		PyErr_NoMemory();
	else if (rc && rc != SYMCACHE_ENOTFOUND)
		raise_error(&err);
	else
		ret = PyList_New(0);
	for (size_t i = 0; i < found.n; i++) {
		PyObject *o = ret ? object_of(&found.list[i]) : NULL;

		if (ret && (!o || PyList_Append(ret, o)))
			Py_CLEAR(ret);
		Py_XDECREF(o);
		free((char *)found.list[i].name);
		free((char *)found.list[i].function);
		free((char *)found.list[i].file);
	}
	free(found.list);
	return ret;
}
