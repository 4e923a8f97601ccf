/* module.h: what the parts of Python's module share: see module.c. */
#ifndef SYMCACHE_PYTHON_H
#define SYMCACHE_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache.h>

/* Of the module, of which a process has one: the limited API has no way from a slot of a type to
 * its module. Resolvers are used under the interpreter's lock, and what they give is copied before
 * an object is made: that may start the garbage collector, which runs Python code and may give the
 * lock up. The same holds for a handle that other code may close: whoever makes objects takes a
 * reference first. */
extern struct state {
	PyObject *error;              /* symcache.Error */
	PyTypeObject *store, *cache, *filter, *process, *frame, *entry, *batch, *variable, *definition,
		*range, *located, *local, *missing;
	struct symcache_resolver *plain, *with_symbols;
} st;

/* Raises what an error stands for; returns NULL. */
PyObject *raise_error(const struct symcache_error *err);

/* A text of the library, which may become invalid meanwhile; None for NULL. Bytes that are not
 * UTF-8 become surrogates. */
PyObject *text(const char *s);
PyObject *own_text(const char *s); /* that stays valid */

/* "0123abcd", or bytes: a build ID as bytes. Returns 0, or −1 with an exception. */
int parse_id(PyObject *o, uint8_t id[64], size_t *len);
PyObject *hex(const uint8_t *id, size_t len);

/* A new object of a type; NULL with an exception. */
void *new_object(PyTypeObject *type);
void free_object(PyObject *self);

/* A struct sequence of `n` new references, which are taken; NULL if one is. */
PyObject *sequence(PyTypeObject *type, PyObject *const items[], Py_ssize_t n);

struct store {
	PyObject_HEAD struct symcache_store
		*s; /* NULL: closed. Whoever gives up the lock takes a reference */
};
struct cache {
	PyObject_HEAD
	struct symcache_cache *c;
};

/* The store of an object; NULL, with an exception: it is closed, or none. */
struct symcache_store *store_of(PyObject *o);

/* Takes the reference. */
PyObject *new_cache(struct symcache_cache *c);

/* Methods of Cache in find.c. */
PyObject *cache_addresses_of(PyObject *self, PyObject *arg);
PyObject *cache_find(PyObject *self, PyObject *arg);
PyObject *cache_match(PyObject *self, PyObject *arg);
PyObject *cache_where(PyObject *self, PyObject *arg);
PyObject *cache_locals(PyObject *self, PyObject *arg); /* locals.c */

extern PyType_Spec store_spec, cache_spec, filter_spec, process_spec;
extern PyStructSequence_Desc frame_desc, entry_desc, batch_desc, variable_desc, definition_desc, range_desc,
	located_desc, local_desc, missing_desc;

#endif
