/* symcache.Store and symcache.Entry: see symcache.h. */
#include "module.h"

static PyStructSequence_Field entry_fields[] = {
	{ "build_id", "hex digits" }, { "source_path", "the file that was indexed" },
	{ "debug_path", "its separate debug file, or ''" }, { "tags", "tuple of words" },
	{ "size", "of the cache, bytes" }, { "time", "when it was indexed, seconds since 1970" },
	{ NULL, NULL },
};
PyStructSequence_Desc entry_desc = { "symcache.Entry", "What a store knows about a cache.",
				     entry_fields, 6 };

struct symcache_store *store_of(PyObject *o)
{
	if (!PyObject_TypeCheck(o, st.store)) {
		PyErr_SetString(PyExc_TypeError, "not a symcache.Store");
		return NULL;
	}
	if (!((struct store *)o)->s)
		PyErr_SetString(PyExc_ValueError, "the store is closed");
	return ((struct store *)o)->s;
}

static PyObject *store_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	static char *names[] = { "path", "write", NULL };
	PyObject *path = NULL, *bytes = NULL, *self;
	struct symcache_store *s;
	struct symcache_error err;
	int write = 0, rc;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|Op:Store", names, &path, &write) ||
	    (path && path != Py_None && !PyUnicode_FSConverter(path, &bytes)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	rc = symcache_store_open(bytes ? PyBytes_AsString(bytes) : NULL,
				 write ? SYMCACHE_STORE_WRITE : 0, &s, &err);
	Py_END_ALLOW_THREADS
	Py_XDECREF(bytes);
	if (rc)
		return raise_error(&err);
	self = new_object(type);
	if (self)
		((struct store *)self)->s = s;
	else
		symcache_store_close(s);
	return self;
}

static void store_free(PyObject *self)
{
	symcache_store_close(((struct store *)self)->s);
	free_object(self);
}

static PyObject *store_close(PyObject *self, PyObject *unused)
{
	(void)unused;
	symcache_store_close(((struct store *)self)->s);
	((struct store *)self)->s = NULL;
	Py_RETURN_NONE;
}

static PyObject *store_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	return Py_NewRef(self);
}

typedef int find_fn(struct symcache_store *, const char *, struct symcache_cache **,
		    struct symcache_error *);

/* The cache of a build ID (bytes), or of text as `find` takes it; NULL without an exception:
 * there is none. */
static PyObject *look(PyObject *self, PyObject *key, find_fn *find)
{
	struct symcache_store *s = store_of(self);
	struct symcache_cache *c;
	struct symcache_error err;
	uint8_t id[64];
	const char *name;
	size_t len;
	int rc;

	if (!s)
		return NULL;
	if (PyBytes_Check(key)) {
		if (parse_id(key, id, &len))
			return NULL;
		rc = symcache_store_get(s, id, len, &c, &err);
	} else {
		name = PyUnicode_AsUTF8AndSize(key, NULL);
		if (!name)
			return NULL;
		rc = find(s, name, &c, &err);
	}
	if (!rc)
		return new_cache(c);
	return rc == SYMCACHE_ENOTFOUND ? NULL : raise_error(&err);
}

static PyObject *must_find(PyObject *self, PyObject *key, find_fn *find)
{
	PyObject *ret = look(self, key, find);

	if (!ret && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, key);
	return ret;
}

static PyObject *store_item(PyObject *self, PyObject *key)
{
	return must_find(self, key, symcache_store_find);
}

static PyObject *by_build_id(PyObject *self, PyObject *key)
{
	return must_find(self, key, symcache_store_find_build_id);
}

static PyObject *by_name(PyObject *self, PyObject *key)
{
	return must_find(self, key, symcache_store_find_name);
}

static PyObject *store_get(PyObject *self, PyObject *args)
{
	PyObject *key, *otherwise = Py_None, *ret;

	if (!PyArg_ParseTuple(args, "O|O:get", &key, &otherwise))
		return NULL;
	ret = look(self, key, symcache_store_find);
	return ret || PyErr_Occurred() ? ret : Py_NewRef(otherwise);
}

static int store_contains(PyObject *self, PyObject *key)
{
	PyObject *c = look(self, key, symcache_store_find);

	if (!c)
		return PyErr_Occurred() ? -1 : 0;
	Py_DECREF(c);
	return 1;
}

static PyObject *tags_of(const char *tags)
{
	PyObject *s = text(tags), *list = NULL, *ret = NULL;

	if (s && !*tags)
		ret = PyTuple_New(0);
	else if (s && (list = PyObject_CallMethod(s, "split", "s", "\n")))
		ret = PySequence_Tuple(list);
	Py_XDECREF(s);
	Py_XDECREF(list);
	return ret;
}

static int add_entry(void *ctx, const struct symcache_entry *e)
{
	size_t len;
	const uint8_t *id = symcache_entry_build_id(e, &len);
	PyObject *const items[] = {
		hex(id, len), text(symcache_entry_source_path(e)), text(symcache_entry_debug_path(e)),
		tags_of(symcache_entry_tags(e)), PyLong_FromUnsignedLongLong(symcache_entry_size(e)),
		PyLong_FromLongLong(symcache_entry_time(e)),
	};
	PyObject *entry = sequence(st.entry, items, 6);
	int rc = !entry || PyList_Append(ctx, entry);

	Py_XDECREF(entry);
	return rc;
}

static PyObject *entries(PyObject *self, PyObject *args)
{
	PyObject *list;
	struct symcache_store *s = store_of(self);
	struct symcache_error err = { 0, "" };
	const char *prefix = "";
	int rc;

	if (!s || !PyArg_ParseTuple(args, "|s:entries", &prefix))
		return NULL;
	symcache_store_ref(s); /* the list and its tuples may be made by code that closes it */
	list = PyList_New(0);
	rc = list ? symcache_store_each(s, prefix, add_entry, list, &err) : -1;
	symcache_store_close(s);
	if (!rc)
		return list;
	Py_XDECREF(list);
	return PyErr_Occurred() ? NULL : raise_error(&err);
}

static PyObject *store_iter(PyObject *self)
{
	PyObject *list = PyObject_CallMethod(self, "entries", NULL), *ret = NULL;

	if (list)
		ret = PyObject_GetIter(list);
	Py_XDECREF(list);
	return ret;
}

static PyObject *refresh(PyObject *self, PyObject *args)
{
	struct symcache_store *s = store_of(self);

	(void)args;
	if (!s)
		return NULL;
	symcache_store_refresh(s);
	Py_RETURN_NONE;
}

static PyObject *remove_entry(PyObject *self, PyObject *arg)
{
	struct symcache_store *s = store_of(self);
	struct symcache_error err;
	uint8_t id[64];
	size_t len;
	int rc;

	if (!s || parse_id(arg, id, &len))
		return NULL;
	symcache_store_ref(s);
	Py_BEGIN_ALLOW_THREADS
	rc = symcache_store_remove(s, id, len, &err);
	symcache_store_close(s);
	Py_END_ALLOW_THREADS
	if (!rc)
		Py_RETURN_NONE;
	if (rc != SYMCACHE_ENOTFOUND)
		return raise_error(&err);
	PyErr_SetObject(PyExc_KeyError, arg);
	return NULL;
}

static PyObject *add_tags(PyObject *self, PyObject *args)
{
	struct symcache_store *s = store_of(self);
	struct symcache_error err;
	const char *tags;
	PyObject *key;
	uint8_t id[64];
	size_t len;
	int rc;

	if (!s || !PyArg_ParseTuple(args, "Os:tag", &key, &tags) || parse_id(key, id, &len))
		return NULL;
	symcache_store_ref(s);
	Py_BEGIN_ALLOW_THREADS
	rc = symcache_store_tag(s, id, len, tags, &err);
	symcache_store_close(s);
	Py_END_ALLOW_THREADS
	if (rc)
		return raise_error(&err);
	Py_RETURN_NONE;
}

static PyObject *get_path(PyObject *self, void *unused)
{
	struct symcache_store *s = store_of(self);
	PyObject *ret;

	(void)unused;
	if (!s)
		return NULL;
	symcache_store_ref(s);
	ret = PyUnicode_DecodeFSDefault(symcache_store_path(s));
	symcache_store_close(s);
	return ret;
}

static void close_handle(PyObject *capsule)
{
	symcache_store_close(PyCapsule_GetPointer(capsule, "symcache_store"));
}

/* For symcache._build: a reference. */
static PyObject *handle(PyObject *self, void *unused)
{
	struct symcache_store *s = store_of(self);

	(void)unused;
	return s ? PyCapsule_New(symcache_store_ref(s), "symcache_store", close_handle) : NULL;
}

static PyMethodDef methods[] = {
	{ "close", store_close, METH_NOARGS, "close()\n\nCaches that came from it stay." },
	{ "__enter__", store_enter, METH_NOARGS, NULL },
	{ "__exit__", store_close, METH_VARARGS, NULL },
	{ "get", store_get, METH_VARARGS, "get(key, default=None)\n\nstore[key], or the default." },
	{ "by_build_id", by_build_id, METH_O, "by_build_id(key) -> Cache\n\nkey: bytes, or the beginning of "
	  "its hex digits; never a name. KeyError." },
	{ "by_name", by_name, METH_O, "by_name(name) -> Cache\n\nThe only one of that file name, whatever it "
	  "looks like. KeyError." },
	{ "entries", entries, METH_VARARGS, "entries(prefix='') -> list[Entry]\n\nThose whose build ID "
	  "begins so, in the order of the build IDs." },
	{ "refresh", refresh, METH_NOARGS, "refresh()\n\nWhat is found from now on is what the store has "
	  "now." },
	{ "remove", remove_entry, METH_O, "remove(build_id)\n\nRemoves an entry; KeyError." },
	{ "tag", add_tags, METH_VARARGS, "tag(build_id, tag)\n\nPuts a word on an entry." },
	{ NULL, NULL, 0, NULL },
};
static PyGetSetDef getters[] = {
	{ "path", get_path, NULL, "the path that was opened", NULL },
	{ "_handle", handle, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot slots[] = {
	{ Py_tp_new, store_new }, { Py_tp_dealloc, store_free }, { Py_tp_methods, methods },
	{ Py_tp_getset, getters }, { Py_mp_subscript, store_item }, { Py_sq_contains, store_contains },
	{ Py_tp_iter, store_iter },
	{ Py_tp_doc, "Store(path=None, write=False)\n\nCaches by build ID. path None: the default one. "
	  "store[key]: key is a build ID as\nbytes, or text: the beginning of its hex digits, or the name "
	  "of the file." },
	{ 0, NULL },
};
PyType_Spec store_spec = { "symcache._symcache.Store", sizeof(struct store), 0,
			   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots };
