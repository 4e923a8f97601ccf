/* symcache.Filter: see symcache.h. Output gathers here while the interpreter's lock is given up. */
#include "module.h"

#include <symcache-filter.h>

static PyStructSequence_Field missing_fields[] = {
	{ "name", "of the module" }, { "build_id", "hex digits; '': the log does not say" },
	{ "frames", "addresses in it that found nothing" },
	{ "no_module", "the store has no such module" },
	{ "no_lines", "the store has no more of it than a symbol table" },
	{ "other_build", "what the store has is of another build than the log" },
	{ NULL, NULL },
};
PyStructSequence_Desc missing_desc = { "symcache.Missing", "A module in which addresses found nothing.",
				       missing_fields, 6 };

struct filter {
	PyObject_HEAD
	struct symcache_filter *f;
	struct symcache_store *s; /* a reference; or NULL */
	char *out;
	size_t len, cap;
	int busy;              /* a thread is in it */
};

static int gather(void *ctx, const char *data, size_t len)
{
	struct filter *f = ctx;
	char *more;

	if (len > f->cap - f->len) {
		const size_t cap = f->cap * 2 > f->len + len ? f->cap * 2 : f->len + len;

		more = realloc(f->out, cap);
		if (!more)
			return 1;
		f->out = more;
		f->cap = cap;
	}
	memcpy(f->out + f->len, data, len);
	f->len += len;
	return 0;
}

static int format_of(const char *name)
{
	static const char *const names[] = { "text", "json", "html", "llvm" };

	for (int i = 0; i < 4; i++)
		if (!strcmp(name, names[i]))
			return i;
	PyErr_SetString(PyExc_ValueError, "format is 'text', 'json', 'html' or 'llvm'");
	return -1;
}

static void filter_free(PyObject *self)
{
	struct filter *f = (struct filter *)self;

	symcache_filter_destroy(f->f);
	symcache_store_close(f->s);
	free(f->out);
	free_object(self);
}

static PyObject *filter_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	static char *names[] = { "store", "format", "threads", NULL };
	struct symcache_filter_options options = { sizeof(options), 0, 0, gather, NULL, NULL };
	struct symcache_store *s = NULL;
	struct symcache_error err;
	const char *format = "text";
	unsigned threads = 1;
	struct filter *self;
	PyObject *store;
	int how;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O|sI:Filter", names, &store, &format,
					 &threads) ||
	    (store != Py_None && !(s = store_of(store))) || (how = format_of(format)) < 0)
		return NULL;
	self = new_object(type);
	if (!self)
		return NULL;
	self->s = s ? symcache_store_ref(s) : NULL;
	options.format = (uint32_t)how;
	options.threads = threads;
	options.ctx = self;
	if (!symcache_filter_create(s, &options, &self->f, &err))
		return (PyObject *)self;
	Py_DECREF(self);
	return raise_error(&err);
}

enum step { FEED, FLUSH, FINISH };

static int work(struct filter *f, enum step step, const Py_buffer *b, struct symcache_error *err)
{
	int rc;

	switch (step) {
	case FEED:
		return symcache_filter_feed(f->f, b->buf, (size_t)b->len, err);
	case FLUSH:
		return symcache_filter_flush(f->f, err);
	default:
		rc = symcache_filter_finish(f->f, err);
		return rc ? rc : symcache_filter_end(f->f, err);
	}
}

/* One step; returns the output so far, as bytes. */
static PyObject *run(PyObject *o, enum step step, const Py_buffer *b)
{
	struct filter *f = (struct filter *)o;
	struct symcache_error err;
	PyObject *ret;
	int rc;

	if (f->busy) {
		PyErr_SetString(PyExc_RuntimeError, "another thread uses the filter");
		return NULL;
	}
	f->busy = 1;
	Py_BEGIN_ALLOW_THREADS
	rc = work(f, step, b, &err);
	Py_END_ALLOW_THREADS
	f->busy = 0;
	if (rc)
		return raise_error(&err);
	ret = PyBytes_FromStringAndSize(f->out, (Py_ssize_t)f->len);
	if (ret)
		f->len = 0;
	return ret;
}

static PyObject *feed(PyObject *self, PyObject *args)
{
	PyObject *ret;
	Py_buffer b;

	if (!PyArg_ParseTuple(args, "s*:feed", &b))
		return NULL;
	ret = run(self, FEED, &b);
	PyBuffer_Release(&b);
	return ret;
}

static PyObject *flush(PyObject *self, PyObject *unused)
{
	(void)unused;
	return run(self, FLUSH, NULL);
}

static PyObject *finish(PyObject *self, PyObject *unused)
{
	(void)unused;
	return run(self, FINISH, NULL);
}

/* The filter, which no thread is in; NULL with an exception. */
static struct symcache_filter *idle(PyObject *self)
{
	struct filter *f = (struct filter *)self;

	if (!f->busy)
		return f->f;
	PyErr_SetString(PyExc_RuntimeError, "another thread uses the filter");
	return NULL;
}

static PyObject *set(PyObject *self, PyObject *args)
{
	struct symcache_filter *f = idle(self);
	const char *name, *value;
	struct symcache_error err;

	if (!f || !PyArg_ParseTuple(args, "ss:set", &name, &value))
		return NULL;
	return symcache_filter_set(f, name, value, &err) ? raise_error(&err) : Py_NewRef(Py_None);
}

static PyObject *stats(PyObject *self, PyObject *unused)
{
	struct symcache_filter_stats s = { .size = sizeof(s) };
	struct symcache_filter *f = idle(self);
	struct symcache_error err;

	(void)unused;
	if (!f)
		return NULL;
	if (symcache_filter_get_stats(f, &s, &err))
		return raise_error(&err);
	return Py_BuildValue("{sKsKsKsKsKsK}", "bytes", s.bytes, "frames", s.frames, "found", s.found,
			     "outside", s.outside, "understood", s.understood, "guessed", s.guessed);
}

/* What is missing, copied: objects may run any Python. */
struct missing {
	struct symcache_missing *list;
	size_t n;
	int no_memory;
};

static void on_missing(void *ctx, const struct symcache_missing *m)
{
	struct missing *all = ctx;
	struct symcache_missing *list = realloc(all->list, (all->n + 1) * sizeof(*list));
	char *texts = list ? malloc(m->name_len + m->build_id_len + 1) : NULL;

	all->list = list ? list : all->list;
	all->no_memory |= !texts;
	if (!texts)
		return;
	memcpy(texts, m->name, m->name_len);
	if (m->build_id_len)
		memcpy(texts + m->name_len, m->build_id, m->build_id_len);
	list[all->n] = *m;
	list[all->n].name = texts;
	list[all->n++].build_id = (uint8_t *)texts + m->name_len;
}

static PyObject *missing(PyObject *self, PyObject *unused)
{
	struct symcache_filter *f = idle(self);
	struct missing all = { NULL, 0, 0 };
	struct symcache_error err;
	PyObject *ret = NULL;

	(void)unused;
	if (!f)
		return NULL;
	if (symcache_filter_each_missing(f, on_missing, &all, &err) || all.no_memory)
		PyErr_NoMemory();
	else
		ret = PyList_New(0);
	for (size_t i = 0; i < all.n; i++) {
		const struct symcache_missing *m = &all.list[i];
		PyObject *one = !ret ? NULL : sequence(st.missing, (PyObject *[]){
			PyUnicode_DecodeUTF8(m->name, (Py_ssize_t)m->name_len, "surrogateescape"),
			hex(m->build_id, m->build_id_len), PyLong_FromUnsignedLongLong(m->frames),
			PyBool_FromLong(m->flags & SYMCACHE_MISSING_MODULE),
			PyBool_FromLong(m->flags & SYMCACHE_MISSING_LINES),
			PyBool_FromLong(m->flags & SYMCACHE_MISSING_BUILD) }, 6);

		if (ret && (!one || PyList_Append(ret, one)))
			Py_CLEAR(ret);
		Py_XDECREF(one);
		free((char *)m->name);
	}
	free(all.list);
	return ret;
}

static PyMethodDef methods[] = {
	{ "set", set, METH_VARARGS, "set(name: str, value: str)\n\nWhat an option of `symcache filter` sets, before "
	  "the first log:\ndialect, input, demux, module, map-path, link, group." },
	{ "stats", stats, METH_NOARGS, "stats() -> dict[str, int]\n\nBytes, frames, frames found, and more." },
	{ "missing", missing, METH_NOARGS, "missing() -> list[Missing]\n\nModules in which addresses "
	  "found nothing, most frames first." },
	{ "feed", feed, METH_VARARGS, "feed(log: str | bytes) -> bytes\n\nTakes a part of a log, cut anywhere; "
	  "gives what is ready." },
	{ "flush", flush, METH_NOARGS, "flush() -> bytes\n\nAll complete lines." },
	{ "finish", finish, METH_NOARGS, "finish() -> bytes\n\nThe end of the log." },
	{ NULL, NULL, 0, NULL },
};
static PyType_Slot slots[] = {
	{ Py_tp_new, filter_new }, { Py_tp_dealloc, filter_free }, { Py_tp_methods, methods },
	{ Py_tp_doc, "Filter(store, format='text', threads=1)\n\nTurns a log into text with functions, files "
	  "and lines.\nformat: 'text', 'json', 'html', 'llvm'. store None: nothing is found." },
	{ 0, NULL },
};
PyType_Spec filter_spec = { "symcache._symcache.Filter", sizeof(struct filter), 0,
			    Py_TPFLAGS_DEFAULT, slots };
