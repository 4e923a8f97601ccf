/* Python's module symcache._build: what needs libsymcache-build, see symcache-build.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <symcache-build.h>

#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Of an index that is running. */
struct run {
	PyObject *report;      /* or None */
	PyThreadState *thread; /* without the interpreter's lock */
	int failed;            /* there is an exception */
};

static void on_file(void *ctx, const char *path, int code, const char *message)
{
	struct run *r = ctx;
	PyObject *ret, *name;

	if (r->report == Py_None || r->failed)
		return;
	PyEval_RestoreThread(r->thread);
	name = PyUnicode_DecodeFSDefault(path);
	ret = name ? PyObject_CallFunction(r->report, "Ois", name, code, message) : NULL;
	r->failed = !ret;
	Py_XDECREF(name);
	Py_XDECREF(ret);
	r->thread = PyEval_SaveThread();
}

/* A list of paths as C has it, in one block; *keep is what it points into. */
static const char **paths_of(PyObject *list, PyObject **keep, Py_ssize_t *n)
{
	const char **paths;

	*keep = PySequence_List(list);
	*n = *keep ? PyList_Size(*keep) : 0;
	paths = *keep ? PyMem_Calloc((size_t)*n + 1, sizeof(*paths)) : NULL;
	for (Py_ssize_t i = 0; paths && i < *n; i++) {
		PyObject *bytes;

		if (!PyUnicode_FSConverter(PyList_GetItem(*keep, i), &bytes)) {
			PyMem_Free(paths);
			return NULL;
		}
		PyList_SetItem(*keep, i, bytes);
		paths[i] = PyBytes_AsString(bytes);
	}
	return paths;
}

static PyObject *error_class; /* symcache.Error */

static PyObject *raise_error(const struct symcache_error *err)
{
	return raise_as(error_class, err);
}

static PyObject *index_paths(PyObject *self, PyObject *args)
{
	struct symcache_make_options options = { .size = sizeof(options), .file = on_file };
	struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
	PyObject *handle, *list, *dirs, *keep = NULL, *keep_dirs = NULL;
	struct run run = { NULL, NULL, 0 };
	const char **paths = NULL, **debug_dirs = NULL;
	struct symcache_error err;
	Py_ssize_t n = 0, num_dirs;
	int rc = 0;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOIOzIO", &handle, &list, &options.threads, &dirs,
			      &options.tags, &options.flags, &run.report))
		return NULL;
	paths = paths_of(list, &keep, &n);
	if (paths && dirs != Py_None)
		debug_dirs = paths_of(dirs, &keep_dirs, &num_dirs);
	if (paths && !PyErr_Occurred()) {
		struct symcache_store *s = PyCapsule_GetPointer(handle, "symcache_store");

		options.debug_dirs = debug_dirs;
		options.ctx = &run;
		run.thread = PyEval_SaveThread();
		rc = symcache_store_index(s, paths, (size_t)n, &options, &counts, &err);
		PyEval_RestoreThread(run.thread);
	}
	PyMem_Free(paths);
	PyMem_Free(debug_dirs);
	Py_XDECREF(keep);
	Py_XDECREF(keep_dirs);
	if (PyErr_Occurred())
		return NULL;
	if (rc)
		return raise_error(&err);
	return Py_BuildValue("KKKK", counts.done, counts.stayed, counts.none, counts.failed);
}

static PyObject *build_id(PyObject *self, PyObject *arg)
{
	struct symcache_error err;
	uint8_t id[SYMCACHE_ID_MAX];
	PyObject *path;
	size_t len;
	int derived, rc;

	(void)self;
	if (!PyUnicode_FSConverter(arg, &path))
		return NULL;
	rc = symcache_file_build_id(PyBytes_AsString(path), id, &len, &derived, &err);
	Py_DECREF(path);
	return rc ? raise_error(&err) : PyBytes_FromStringAndSize((char *)id, (Py_ssize_t)len);
}

/* What symcache_profile() gave so far. */
struct gathered {
	char *bytes;
	size_t len;
};

static int gather(void *ctx, const void *data, size_t len)
{
	struct gathered *g = ctx;
	char *bytes = realloc(g->bytes, g->len + len);

	if (!bytes)
		return 1;
	memcpy(bytes + g->len, data, len);
	g->bytes = bytes;
	g->len += len;
	return 0;
}

static PyObject *profile(PyObject *self, PyObject *args)
{
	struct symcache_profile_options options = { .size = sizeof(options), .write = gather };
	struct gathered g = { NULL, 0 };
	struct symcache_error err;
	struct symcache_store *s;
	PyThreadState *thread;
	PyObject *handle, *dir, *ret;
	Py_buffer in;
	int rc;

	(void)self;
	if (!PyArg_ParseTuple(args, "Oy*IIzO", &handle, &in, &options.form, &options.flags,
			      &options.value, &dir))
		return NULL;
	s = PyCapsule_GetPointer(handle, "symcache_store");
	options.ctx = &g;
	options.jit_dir = dir == Py_None ? NULL : PyBytes_AsString(dir);
	thread = PyEval_SaveThread();
	rc = s ? symcache_profile(s, in.buf, (size_t)in.len, &options, &err) : 0;
	PyEval_RestoreThread(thread);
	PyBuffer_Release(&in);
	ret = !s ? NULL : rc ? raise_error(&err) :
		PyBytes_FromStringAndSize(g.bytes, (Py_ssize_t)g.len);
	free(g.bytes);
	return ret;
}

/* Stacks that are gathered: a list of (tid, name, died, [(pc, vaddr, path, build ID, how, frames)],
 * end). */
struct stacks {
	PyObject *threads, *frames; /* those of the thread so far; or NULL */
	PyThreadState *thread;
};

static PyObject *texts_of(const struct symcache_walked_frame *frame)
{
	PyObject *ret = PyList_New(0);

	for (const struct symcache_frame *f = frame->frames; ret && f->function; f++) {
		PyObject *one = Py_BuildValue("zzIINz",
			f->flags & SYMCACHE_FRAME_NO_FUNCTION ? NULL : f->function,
			f->flags & SYMCACHE_FRAME_NO_FILE ? NULL : f->file, f->line, f->column,
			PyBool_FromLong(f->flags & SYMCACHE_FRAME_INLINED), NULL);

		if (!one || PyList_Append(ret, one))
			Py_CLEAR(ret);
		Py_XDECREF(one);
	}
	return ret;
}

static int add_walked(struct stacks *s, const struct symcache_walked_thread *thread,
		      const struct symcache_walked_frame *frame)
{
	PyObject *texts = NULL, *one;
	int failed;

	if (!s->frames && !(s->frames = PyList_New(0)))
		return 1;
	if (frame && !(texts = texts_of(frame)))
		return 1;
	one = frame ? Py_BuildValue("KKsy#IN", (unsigned long long)frame->pc,
				    (unsigned long long)frame->vaddr, frame->path, frame->build_id,
				    (Py_ssize_t)frame->build_id_len, frame->how, texts) :
		Py_BuildValue("IsNNs", thread->tid, thread->name, PyBool_FromLong(thread->died),
			      s->frames, thread->end);
	failed = !one || PyList_Append(frame ? s->frames : s->threads, one);
	if (!frame)
		s->frames = NULL; /* it was taken */
	Py_XDECREF(one);
	return failed;
}

static int on_walked(void *ctx, const struct symcache_walked_thread *thread,
		     const struct symcache_walked_frame *frame)
{
	struct stacks *s = ctx;
	int failed;

	PyEval_RestoreThread(s->thread);
	failed = add_walked(s, thread, frame);
	s->thread = PyEval_SaveThread();
	return failed;
}

/* Whose stacks are wanted. */
struct wanted {
	struct symcache_store *store;
	const char *path;        /* of a core, or of a trace file; NULL: of a process */
	unsigned pid;
	const char *const *modules; /* of a trace file; NULL: it is a core */
	Py_ssize_t num_modules;
};

static int walk(const struct wanted *w, struct stacks *s, struct symcache_error *err)
{
	const struct symcache_stack_options options = { sizeof(options), w->store, NULL };
	const struct symcache_trace_options of_trace = {
		.size = sizeof(of_trace), .store = w->store, .modules = w->modules,
		.num_modules = (uint32_t)w->num_modules };

	if (w->modules)
		return symcache_trace_stacks(w->path, &of_trace, on_walked, s, err);
	return w->path ? symcache_core_stacks(w->path, &options, on_walked, s, err) :
			 symcache_process_stacks(w->pid, &options, on_walked, s, err);
}

/* stacks(store's handle or None, path or None, PID, modules or None) */
static PyObject *stacks(PyObject *self, PyObject *args)
{
	PyObject *handle, *path, *modules, *bytes = NULL, *keep = NULL;
	struct stacks s = { PyList_New(0), NULL, NULL };
	struct wanted w = { .path = NULL };
	const char **list = NULL;
	struct symcache_error err;
	int rc = 0;

	(void)self;
	if (!s.threads || !PyArg_ParseTuple(args, "OOIO", &handle, &path, &w.pid, &modules) ||
	    (path != Py_None && !PyUnicode_FSConverter(path, &bytes)) ||
	    (modules != Py_None && !(list = paths_of(modules, &keep, &w.num_modules)))) {
		Py_XDECREF(s.threads);
		Py_XDECREF(bytes);
		Py_XDECREF(keep);
		return NULL;
	}
	w.modules = list;
	w.path = bytes ? PyBytes_AsString(bytes) : NULL;
	if (handle != Py_None)
		w.store = PyCapsule_GetPointer(handle, "symcache_store");
	if (!PyErr_Occurred()) {
		s.thread = PyEval_SaveThread();
		rc = walk(&w, &s, &err);
		PyEval_RestoreThread(s.thread);
	}
	PyMem_Free(list);
	Py_XDECREF(keep);
	Py_XDECREF(bytes);
	Py_XDECREF(s.frames);
	if (rc < 0 && !PyErr_Occurred())
		raise_error(&err);
	if (PyErr_Occurred())
		Py_CLEAR(s.threads);
	return s.threads;
}

/* ---- address spaces, which belong to who has the interpreter's lock: it is kept --------------- */

static PyObject *done(int rc, const struct symcache_error *err)
{
	return rc ? raise_error(err) : Py_NewRef(Py_None);
}

/* add_core(process's handle, path) */
static PyObject *add_core(PyObject *self, PyObject *args)
{
	struct symcache_space *s;
	struct symcache_error err;
	PyObject *handle, *path, *ret;

	(void)self;
	if (!PyArg_ParseTuple(args, "OO&", &handle, PyUnicode_FSConverter, &path))
		return NULL;
	s = PyCapsule_GetPointer(handle, "symcache_space");
	ret = s ? done(symcache_space_add_core(s, PyBytes_AsString(path), &err), &err) : NULL;
	Py_DECREF(path);
	return ret;
}

/* use_files(process's handle, debug directories or None, flags, URLs or None, key or None) */
static PyObject *use_files(PyObject *self, PyObject *args)
{
	struct symcache_space_files files = { .size = sizeof(files) };
	PyObject *handle, *dirs, *urls, *keep = NULL, *keep_urls = NULL, *ret = NULL;
	const char **list = NULL, **trees = NULL;
	struct symcache_space *s;
	struct symcache_error err;
	Py_ssize_t n;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOIOz", &handle, &dirs, &files.flags, &urls, &files.verify_key))
		return NULL;
	s = PyCapsule_GetPointer(handle, "symcache_space");
	if (s && (dirs == Py_None || (list = paths_of(dirs, &keep, &n))) &&
	    (urls == Py_None || (trees = paths_of(urls, &keep_urls, &n)))) {
		files.debug_dirs = list;
		files.urls = trees;
		ret = done(symcache_space_use_files(s, &files, &err), &err);
	}
	PyMem_Free(list);
	PyMem_Free(trees);
	Py_XDECREF(keep);
	Py_XDECREF(keep_urls);
	return ret;
}

/* ---- sources, likewise ------------------------------------------------------------------------ */

static void end_reader(PyObject *capsule)
{
	symcache_source_reader_destroy(PyCapsule_GetPointer(capsule, "symcache_source_reader"));
}

/* source_reader(path maps, folders, store's handle or None, debug directories or None) */
static PyObject *source_reader(PyObject *self, PyObject *args)
{
	PyObject *maps, *folders, *store, *dirs, *keep[3] = { NULL }, *ret = NULL;
	struct symcache_source_options options = { .size = sizeof(options) };
	const char **lists[3] = { NULL };
	struct symcache_source_reader *s;
	struct symcache_error err;
	Py_ssize_t n;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOOO", &maps, &folders, &store, &dirs))
		return NULL;
	if ((lists[0] = paths_of(maps, &keep[0], &n)) && (lists[1] = paths_of(folders, &keep[1], &n)) &&
	    (dirs == Py_None || (lists[2] = paths_of(dirs, &keep[2], &n))) &&
	    (store == Py_None || (options.store = PyCapsule_GetPointer(store, "symcache_store")))) {
		options.path_maps = lists[0];
		options.folders = lists[1];
		options.debug_dirs = lists[2];
		ret = symcache_source_reader_create(&options, &s, &err) ? raise_error(&err) :
			PyCapsule_New(s, "symcache_source_reader", end_reader);
	}
	for (size_t i = 0; i < 3; i++) {
		PyMem_Free(lists[i]);
		Py_XDECREF(keep[i]);
	}
	return ret;
}

/* source_text(reader's handle, cache's handle or None, path): bytes, or None: it is not there */
static PyObject *source_text(PyObject *self, PyObject *args)
{
	struct symcache_source_reader *s;
	struct symcache_cache *c = NULL;
	PyObject *reader, *cache;
	struct symcache_error err;
	const char *path, *text;
	size_t size;
	int rc;

	(void)self;
	if (!PyArg_ParseTuple(args, "OOs", &reader, &cache, &path) ||
	    !(s = PyCapsule_GetPointer(reader, "symcache_source_reader")) ||
	    (cache != Py_None && !(c = PyCapsule_GetPointer(cache, "symcache_cache"))))
		return NULL;
	rc = symcache_source_text(s, c, path, &text, &size, &err);
	if (rc == SYMCACHE_ENOTFOUND || rc == SYMCACHE_EUNSUPPORTED)
		Py_RETURN_NONE;
	return rc ? raise_error(&err) : PyBytes_FromStringAndSize(text, (Py_ssize_t)size);
}

static PyMethodDef functions[] = {
	{ "source_reader", source_reader, METH_VARARGS, NULL },
	{ "source_text", source_text, METH_VARARGS, NULL },
	{ "stacks", stacks, METH_VARARGS, NULL },
	{ "add_core", add_core, METH_VARARGS, NULL },
	{ "use_files", use_files, METH_VARARGS, NULL },
	{ "index", index_paths, METH_VARARGS, NULL },
	{ "profile", profile, METH_VARARGS, NULL },
	{ "build_id", build_id, METH_O, "build_id(path) -> bytes\n\nThe build ID of an ELF file." },
	{ NULL, NULL, 0, NULL },
};

PyMODINIT_FUNC PyInit__build(void)
{
	static struct PyModuleDef def = {
		PyModuleDef_HEAD_INIT, .m_name = "symcache._build", .m_size = -1, .m_methods = functions,
	};
	PyObject *base = PyImport_ImportModule("symcache._symcache");

	error_class = base ? PyObject_GetAttrString(base, "Error") : NULL;
	Py_XDECREF(base);
	return error_class ? PyModule_Create(&def) : NULL;
}
