/* symcache.Process: see symcache-process.h. */
#include "module.h"

#include <symcache-process.h>

static PyStructSequence_Field located_fields[] = {
	{ "address", "as it was asked for" }, { "vaddr", "in the ELF file, if there is a cache" },
	{ "path", "of the image; ''" }, { "build_id", "hex digits; ''" },
	{ "frames", "tuple of Frame, innermost first" }, { "why", "there are none; ''" }, { NULL, NULL },
};
PyStructSequence_Desc located_desc = { "symcache.Located", "What is at an address of a process.",
				       located_fields, 6 };

struct process {
	PyObject_HEAD
	struct symcache_space *s;
	int busy; /* objects are made of its answers, which may run any Python */
};

/* The space, which is not being asked; NULL with an exception. */
static struct symcache_space *space_of(PyObject *self)
{
	if (!((struct process *)self)->busy)
		return ((struct process *)self)->s;
	PyErr_SetString(PyExc_RuntimeError, "the process is being asked");
	return NULL;
}

static PyObject *process_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	struct symcache_store *stores[16];
	struct symcache_space_options options = { sizeof(options), stores, 0, 0 };
	const Py_ssize_t n = PyTuple_Size(args);
	struct symcache_space *s;
	struct symcache_error err;
	PyObject *self;

	if ((kw && PyDict_Size(kw)) || n > 16) {
		PyErr_SetString(PyExc_TypeError, "Process(*stores): 16 at most");
		return NULL;
	}
	for (Py_ssize_t i = 0; i < n; i++)
		if (!(stores[options.num_stores++] = store_of(PyTuple_GetItem(args, i))))
			return NULL;
	if (symcache_space_create(&options, &s, &err))
		return raise_error(&err);
	self = new_object(type);
	if (self)
		((struct process *)self)->s = s;
	else
		symcache_space_destroy(s);
	return self;
}

static void process_free(PyObject *self)
{
	symcache_space_destroy(((struct process *)self)->s);
	free_object(self);
}

static PyObject *done(int rc, const struct symcache_error *err)
{
	return rc < 0 ? raise_error(err) : Py_NewRef(Py_None);
}

static PyObject *add(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "start", "end", "offset", "path", "build_id", "origin", NULL };
	static const char *const origins[] = { "file", "image", "vaddr" };
	struct symcache_mapped m = { .size = sizeof(m) };
	unsigned long long start, end, offset = 0;
	const char *origin = "file";
	PyObject *id = Py_None;
	struct symcache_space *s = space_of(self);
	struct symcache_error err;
	uint8_t bytes[64];

	if (!s || !PyArg_ParseTupleAndKeywords(args, kw, "KK|KzOs:add", names, &start, &end, &offset,
					       &m.path, &id, &origin))
		return NULL;
	while (m.from < 3 && strcmp(origins[m.from], origin))
		m.from++;
	if (id != Py_None) {
		if (parse_id(id, bytes, &m.build_id_len))
			return NULL;
		m.build_id = bytes;
	}
	m.start = start;
	m.end = end;
	m.offset = offset;
	return done(symcache_space_add(s, &m, &err), &err);
}

static PyObject *add_process(PyObject *self, PyObject *arg)
{
	const unsigned long pid = PyLong_AsUnsignedLong(arg);
	struct symcache_space *s = space_of(self);
	struct symcache_error err;

	if (!s || PyErr_Occurred())
		return NULL;
	return done(symcache_space_add_process(s, pid > INT32_MAX ? INT32_MAX : (uint32_t)pid, &err), &err);
}

static PyObject *add_maps(PyObject *self, PyObject *arg)
{
	struct symcache_space *s = space_of(self);
	struct symcache_error err;
	Py_ssize_t len;
	const char *maps = s ? PyUnicode_AsUTF8AndSize(arg, &len) : NULL;

	return maps ? done(symcache_space_add_maps(s, maps, (size_t)len, &err), &err) : NULL;
}

static PyObject *add_kernel(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "kallsyms", "modules", "release", NULL };
	const char *kallsyms, *modules = NULL, *release = NULL;
	struct symcache_space *s = space_of(self);
	struct symcache_error err;

	if (!s || !PyArg_ParseTupleAndKeywords(args, kw, "s|zz:add_kernel", names, &kallsyms, &modules,
					       &release))
		return NULL;
	return done(symcache_space_add_kernel(s, kallsyms, modules, release, &err), &err);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static PyObject *frames_of(const struct symcache_located *l)
{
	PyObject *ret = PyTuple_New((Py_ssize_t)l->num_frames);

	for (size_t i = 0; ret && i < l->num_frames; i++) {
		const struct symcache_frame *f = &l->frames[i];
		PyObject *const items[] = {
			own_text(f->flags & SYMCACHE_FRAME_NO_FUNCTION ? NULL : f->function),
			own_text(f->flags & SYMCACHE_FRAME_NO_FILE ? NULL : f->file),
			PyLong_FromUnsignedLong(f->line), PyLong_FromUnsignedLong(f->column),
			PyBool_FromLong(f->flags & SYMCACHE_FRAME_INLINED),
			f->function_id == SYMCACHE_UNKNOWN ? Py_NewRef(Py_None) :
				PyLong_FromUnsignedLong(f->function_id),
		};
		PyObject *frame = sequence(st.frame, items, 6);

		if (!frame || PyTuple_SetItem(ret, (Py_ssize_t)i, frame))
			Py_CLEAR(ret);
	}
	return ret;
}

/* Nonzero: there is an exception. */
static int on_located(void *list, size_t i, const struct symcache_located *l)
{
	PyObject *const items[] = {
		PyLong_FromUnsignedLongLong(l->address), PyLong_FromUnsignedLongLong(l->vaddr),
		own_text(l->path), hex(l->build_id, l->build_id_len), frames_of(l), own_text(l->why),
	};
	PyObject *located = sequence(st.located, items, 6);

	return !located || PyList_SetItem(list, (Py_ssize_t)i, located);
}

static PyObject *symbolize(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "addresses", "return_addresses", NULL };
	struct symcache_addresses at = { .size = sizeof(at) };
	struct symcache_space *s = space_of(self);
	PyObject *addresses, *ints = NULL, *ret = NULL;
	struct symcache_error err;
	uint64_t *list = NULL;
	int returns = 0, rc;

	if (!s || !PyArg_ParseTupleAndKeywords(args, kw, "O|p:symbolize", names, &addresses, &returns))
		return NULL;
	ints = PySequence_List(addresses);
	at.num = ints ? (size_t)PyList_Size(ints) : 0;
	at.flags = returns ? SYMCACHE_RETURN_ADDRESSES : 0;
	at.list = list = ints ? PyMem_Calloc(at.num + 1, sizeof(*list)) : NULL;
	for (size_t i = 0; list && i < at.num && !PyErr_Occurred(); i++)
		list[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(ints, (Py_ssize_t)i));
	if (list && !PyErr_Occurred())
		ret = PyList_New((Py_ssize_t)at.num);
	if (ret && space_of(self)) { /* numbers of a sequence may run Python, too */
		((struct process *)self)->busy = 1;
		rc = symcache_space_symbolize(s, &at, on_located, ret, &err);
		((struct process *)self)->busy = 0;
		if (rc < 0 && !PyErr_Occurred())
			raise_error(&err);
	}
	if (PyErr_Occurred())
		Py_CLEAR(ret);
	PyMem_Free(list);
	Py_XDECREF(ints);
	return ret;
}

/* ---- for symcache._build --------------------------------------------------------------------- */

static void let_go(PyObject *capsule)
{
	Py_DECREF(PyCapsule_GetContext(capsule));
}

/* The space, which lives as long as the process, to which this is a reference. */
static PyObject *handle(PyObject *self, void *unused)
{
	struct symcache_space *s = space_of(self);
	PyObject *ret = s ? PyCapsule_New(s, "symcache_space", NULL) : NULL;

	(void)unused;
	if (ret && !PyCapsule_SetContext(ret, self) && !PyCapsule_SetDestructor(ret, let_go))
		Py_INCREF(self);
	return ret;
}

static PyGetSetDef getters[] = {
	{ "_handle", handle, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};
#define KEYWORDS(f) (PyCFunction)(void (*)(void))f, METH_VARARGS | METH_KEYWORDS
static PyMethodDef methods[] = {
	{ "add", KEYWORDS(add), "add(start, end, offset=0, path=None, build_id=None, origin='file')\n\n"
	  "Maps a part of a file. Offsets count from the beginning of the file, from its load base\n"
	  "('image'), or are addresses of the ELF file ('vaddr')." },
	{ "add_process", add_process, METH_O, "add_process(pid)\n\nMaps what a running process has; 0: this one." },
	{ "add_maps", add_maps, METH_O, "add_maps(text)\n\nMaps the rows of a text as /proc/PID/maps." },
	{ "add_kernel", KEYWORDS(add_kernel), "add_kernel(kallsyms, modules=None, release=None)\n\n"
	  "Maps the kernel and its modules, by the texts of /proc/kallsyms and /proc/modules, read by root." },
	{ "symbolize", KEYWORDS(symbolize), "symbolize(addresses, return_addresses=False) -> list[Located]\n\n"
	  "What is at addresses: any sequence of int. return_addresses: the call before each." },
	{ NULL, NULL, 0, NULL },
};
static PyType_Slot slots[] = {
	{ Py_tp_new, process_new }, { Py_tp_dealloc, process_free }, { Py_tp_methods, methods },
	{ Py_tp_getset, getters },
	{ Py_tp_doc, "Process(*stores)\n\nAn address space: what is mapped where. Without stores the default "
	  "one is asked." },
	{ 0, NULL },
};
PyType_Spec process_spec = { "symcache._symcache.Process", sizeof(struct process), 0,
			     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots };
