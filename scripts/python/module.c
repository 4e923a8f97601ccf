/*
 * Python's module symcache._symcache: libsymcache for Python, on the limited API of 3.11, so that
 * one binary is for all later versions.
 *
 * Single look-ups keep the interpreter's lock; batches, logs and whatever reads or writes a store
 * give it up.
 */
#include "error.h"
#include "module.h"

struct state st;

PyObject *raise_error(const struct symcache_error *err)
{
	return raise_as(st.error, err);
}

PyObject *own_text(const char *s)
{
	if (!s)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "surrogateescape");
}

PyObject *text(const char *s)
{
	const size_t size = s ? strlen(s) + 1 : 0;
	char *copy = s ? PyMem_Malloc(size) : NULL; /* what handles errors is Python */
	PyObject *ret;

	if (s && !copy)
		return PyErr_NoMemory();
	ret = own_text(s ? memcpy(copy, s, size) : NULL);
	PyMem_Free(copy);
	return ret;
}

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int parse_id(PyObject *o, uint8_t id[64], size_t *len)
{
	const char *s = NULL;
	Py_ssize_t n = 0;
	char *bytes;

	if (PyBytes_Check(o)) {
		if (PyBytes_AsStringAndSize(o, &bytes, &n))
			return -1;
		if (n > 0 && n <= 64) {
			memcpy(id, bytes, (size_t)n);
			*len = (size_t)n;
			return 0;
		}
	} else {
		s = PyUnicode_AsUTF8AndSize(o, &n);
		if (!s)
			return -1;
		for (Py_ssize_t i = 0; i + 1 < n && i < 128; i += 2) {
			const int high = nibble(s[i]), low = nibble(s[i + 1]);

			if (high < 0 || low < 0)
				break;
			id[i / 2] = (uint8_t)(high << 4 | low);
			*len = (size_t)i / 2 + 1;
			if (i + 2 == n)
				return 0;
		}
	}
	PyErr_SetString(PyExc_ValueError, "not a build ID: 1 to 64 bytes, or their hex digits");
	return -1;
}

PyObject *hex(const uint8_t *id, size_t len)
{
	char s[129];

	for (size_t i = 0; i < len && i < 64; i++)
		snprintf(s + 2 * i, 3, "%02x", id[i]);
	return PyUnicode_FromStringAndSize(s, (Py_ssize_t)(2 * len));
}

void *new_object(PyTypeObject *type)
{
	return ((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
}

void free_object(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

PyObject *sequence(PyTypeObject *type, PyObject *const items[], Py_ssize_t n)
{
	PyObject *ret = PyStructSequence_New(type);
	int whole = ret != NULL;

	for (Py_ssize_t i = 0; i < n; i++)
		whole &= items[i] != NULL;
	for (Py_ssize_t i = 0; i < n; i++) {
		if (whole)
			PyStructSequence_SetItem(ret, i, items[i]);
		else
			Py_XDECREF(items[i]);
	}
	if (whole)
		return ret;
	Py_XDECREF(ret);
	return NULL;
}

static PyObject *demangle(PyObject *self, PyObject *arg)
{
	const char *name = PyUnicode_AsUTF8AndSize(arg, NULL);

	(void)self;
	return name ? text(symcache_demangled(st.plain, name)) : NULL;
}

static PyMethodDef functions[] = {
	{ "demangle", demangle, METH_O,
	  "demangle(name: str) -> str\n\nA linkage name of C++, Rust or D as people read it; else itself." },
	{ NULL, NULL, 0, NULL },
};

static int add(PyObject *m, const char *name, PyTypeObject **to, PyObject *type)
{
	*to = (PyTypeObject *)type;
	return type ? PyModule_AddObjectRef(m, name, type) : -1;
}

static int fill(PyObject *m)
{
	const struct symcache_resolver_options symbols = { sizeof(symbols), SYMCACHE_SYMBOL_NAMES };
	struct symcache_error err;

	st.error = PyErr_NewExceptionWithDoc("symcache.Error", "What went wrong; code is negative, of "
					      "SYMCACHE_E... in symcache.h.", NULL, NULL);
	if (!st.error || PyModule_AddObjectRef(m, "Error", st.error) ||
	    add(m, "Frame", &st.frame, (PyObject *)PyStructSequence_NewType(&frame_desc)) ||
	    add(m, "Entry", &st.entry, (PyObject *)PyStructSequence_NewType(&entry_desc)) ||
	    add(m, "Batch", &st.batch, (PyObject *)PyStructSequence_NewType(&batch_desc)) ||
	    add(m, "Variable", &st.variable,
		(PyObject *)PyStructSequence_NewType(&variable_desc)) ||
	    add(m, "Definition", &st.definition,
		(PyObject *)PyStructSequence_NewType(&definition_desc)) ||
	    add(m, "LineRange", &st.range, (PyObject *)PyStructSequence_NewType(&range_desc)) ||
	    add(m, "Located", &st.located, (PyObject *)PyStructSequence_NewType(&located_desc)) ||
	    add(m, "Local", &st.local, (PyObject *)PyStructSequence_NewType(&local_desc)) ||
	    add(m, "Missing", &st.missing, (PyObject *)PyStructSequence_NewType(&missing_desc)) ||
	    add(m, "Process", &st.process, PyType_FromSpec(&process_spec)) ||
	    add(m, "Store", &st.store, PyType_FromSpec(&store_spec)) ||
	    add(m, "Cache", &st.cache, PyType_FromSpec(&cache_spec)) ||
	    add(m, "Filter", &st.filter, PyType_FromSpec(&filter_spec)) ||
	    PyModule_AddStringConstant(m, "__version__", symcache_version_string()))
		return -1;
	if (symcache_resolver_create(NULL, &st.plain, &err) ||
	    symcache_resolver_create(&symbols, &st.with_symbols, &err)) {
		raise_error(&err);
		return -1;
	}
	return 0;
}

PyMODINIT_FUNC PyInit__symcache(void)
{
	static struct PyModuleDef def = {
		PyModuleDef_HEAD_INIT, .m_name = "symcache._symcache", .m_size = -1,
		.m_methods = functions,
	};
	PyObject *m = PyModule_Create(&def);

	if (m && fill(m)) {
		Py_DECREF(m);
		return NULL;
	}
	return m;
}
