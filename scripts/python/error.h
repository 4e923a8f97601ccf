/* error.h: which exception an error of the libraries is, the same in both modules. */
#ifndef SYMCACHE_PYTHON_ERROR_H
#define SYMCACHE_PYTHON_ERROR_H

#include <Python.h>
#include <symcache.h>

/* `error_class` is symcache.Error. Returns NULL. */
static PyObject *raise_as(PyObject *error_class, const struct symcache_error *err)
{
	PyObject *type, *e, *code;

	switch (err->code) {
	case SYMCACHE_ENOMEM: return PyErr_NoMemory();
	case SYMCACHE_EINVAL: type = PyExc_ValueError; break;
	case SYMCACHE_ENOTFOUND: type = PyExc_FileNotFoundError; break;
	case SYMCACHE_ESYS: case SYMCACHE_EFULL: type = PyExc_OSError; break;
	default: type = error_class;
	}
	e = PyObject_CallFunction(type, "s", err->msg);
	code = PyLong_FromLong(err->code);
	if (e && code && (type != error_class || !PyObject_SetAttrString(e, "code", code)))
		PyErr_SetObject(type, e);
	Py_XDECREF(e);
	Py_XDECREF(code);
	return NULL;
}

#endif
