/* symcache.Cache, with its frames as texts and numbers: see symcache.h. */
#include "module.h"

static PyStructSequence_Field frame_fields[] = {
	{ "name", "of the function, demangled; None: unknown" },
	{ "path", "of the source file; None: unknown" },
	{ "line", "0: unknown" }, { "column", "0: unknown" },
	{ "inlined", "the next frame is its caller, in the same machine code" },
	{ "function", "its number in the cache; None" }, { NULL, NULL },
};
PyStructSequence_Desc frame_desc = { "symcache.Frame", "A function and a place in its source.",
				     frame_fields, 6 };

static PyStructSequence_Field batch_fields[] = {
	{ "first", "uint64[n + 1]: the frames of address i are ids[first[i]:first[i + 1]]" },
	{ "ids", "uint32[m][4]: function, file, line, column of each frame" }, { NULL, NULL },
};
PyStructSequence_Desc batch_desc = { "symcache.Batch", "The frames of many addresses.",
				     batch_fields, 2 };

static PyStructSequence_Field variable_fields[] = {
	{ "name", "demangled" }, { "path", "where it is declared; None" }, { "line", "0: unknown" },
	{ "address", "its start" }, { "size", "bytes; 0: unknown" }, { NULL, NULL },
};
PyStructSequence_Desc variable_desc = { "symcache.Variable", "A variable.", variable_fields, 5 };

PyObject *new_cache(struct symcache_cache *c)
{
	struct cache *self = new_object(st.cache);

	if (self)
		self->c = c;
	else
		symcache_cache_unref(c);
	return (PyObject *)self;
}

static PyObject *cache_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	static char *names[] = { "path", NULL };
	struct symcache_cache *c;
	struct symcache_error err;
	PyObject *path;
	int rc;

	(void)type;
	if (!PyArg_ParseTupleAndKeywords(args, kw, "O&:Cache", names, PyUnicode_FSConverter, &path))
		return NULL;
	rc = symcache_cache_open(PyBytes_AsString(path), &c, &err);
	Py_DECREF(path);
	return rc ? raise_error(&err) : new_cache(c);
}

static void cache_free(PyObject *self)
{
	symcache_cache_unref(((struct cache *)self)->c);
	free_object(self);
}

/* ---- texts ---------------------------------------------------------------------------- */

static PyObject *number(uint32_t n)
{
	return n == SYMCACHE_UNKNOWN ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(n);
}

static PyObject *path(const char *file, uint32_t flags)
{
	return own_text(flags & SYMCACHE_FRAME_NO_FILE ? NULL : file);
}

static char *put(char **at, const char *s)
{
	char *to = *at;

	*at = s ? stpcpy(to, s) + 1 : to;
	return s ? to : NULL;
}

/* Room for the frames of most answers. */
union room {
	struct symcache_frame frames[4];
	char bytes[2048];
};

/* Frames of a resolver as our own, with their texts, in one block: in `room`, or of
 * PyMem_Malloc(). */
static struct symcache_frame *own(const struct symcache_frame *f, size_t n, union room *room)
{
	size_t size = n * sizeof(*f);
	struct symcache_frame *ret = room->frames;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += (f[i].function ? strlen(f[i].function) + 1 : 0) +
			(f[i].file ? strlen(f[i].file) + 1 : 0);
	if (size > sizeof(*room) && !(ret = PyMem_Malloc(size)))
		return (void *)PyErr_NoMemory();
	at = (char *)(ret + n);
	for (size_t i = 0; i < n; i++) {
		ret[i] = f[i];
		ret[i].function = put(&at, f[i].function);
		ret[i].file = put(&at, f[i].file);
	}
	return ret;
}

static PyObject *frame_texts(struct cache *self, uint64_t address, int symbols)
{
	const struct symcache_frame *found;
	union room room;
	const size_t n = symcache_frames(symbols ? st.with_symbols : st.plain, self->c, address,
					 &found);
	struct symcache_frame *f = own(found, n, &room);
	PyObject *ret = f ? PyTuple_New((Py_ssize_t)n) : NULL;

	for (size_t i = 0; ret && i < n; i++) {
		PyObject *const items[] = {
			own_text(f[i].flags & SYMCACHE_FRAME_NO_FUNCTION ? NULL : f[i].function),
			path(f[i].file, f[i].flags), PyLong_FromUnsignedLong(f[i].line),
			PyLong_FromUnsignedLong(f[i].column),
			PyBool_FromLong(f[i].flags & SYMCACHE_FRAME_INLINED), number(f[i].function_id),
		};
		PyObject *frame = sequence(st.frame, items, 6);

		if (frame && !PyTuple_SetItem(ret, (Py_ssize_t)i, frame))
			continue;
		Py_DECREF(ret);
		ret = NULL;
	}
	if (f != room.frames)
		PyMem_Free(f);
	return ret;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/* Is it of unsigned items of `size` bytes without gaps, aligned? Bytes are as well, if their
 * number fits. */
static int fits(const Py_buffer *b, size_t size)
{
	const char *f = b->format ? b->format : "B";

	f += *f == '@' || *f == '=' || *f == '<';
	return (!b->len || (uintptr_t)b->buf % size == 0) && (size_t)b->len % size == 0 &&
	       ((b->itemsize == 1 && strchr("Bbc", *f)) ||
		((size_t)b->itemsize == size && *f && strchr(size == 8 ? "QLN" : "IL", *f)));
}

/* A view of new bytes as items of one format, in rows of `columns` (0: none). */
static PyObject *view_of(PyObject *bytes, const char *format, size_t columns)
{
	PyObject *view = bytes ? PyMemoryView_FromObject(bytes) : NULL, *ret = NULL;

	if (view && columns && PyByteArray_Size(bytes))
		ret = PyObject_CallMethod(view, "cast", "s(nn)", format,
					  PyByteArray_Size(bytes) / (Py_ssize_t)(4 * columns),
					  (Py_ssize_t)columns);
	else if (view)
		ret = PyObject_CallMethod(view, "cast", "s", format);
	Py_XDECREF(view);
	Py_XDECREF(bytes);
	return ret;
}

static PyObject *empty_bytes(size_t size)
{
	return PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size);
}

/* Into new arrays. */
static PyObject *batch_new(struct cache *self, const uint64_t *vaddr, size_t n)
{
	PyObject *first = empty_bytes((n + 1) * 8), *ids = NULL;
	size_t guess = n + n / 2 + 16, total = 0;
	PyObject *items[2];

	for (;;) {
		ids = first ? empty_bytes(guess * sizeof(struct symcache_ids)) : NULL;
		if (!ids)
			break;
		uint64_t *f = (void *)PyByteArray_AsString(first);
		struct symcache_ids *to = (void *)PyByteArray_AsString(ids);
		Py_BEGIN_ALLOW_THREADS
		total = symcache_frame_ids_batch(self->c, vaddr, n, f, to, guess);
		Py_END_ALLOW_THREADS
		if (total <= guess)
			break;
		guess = total;
		Py_DECREF(ids);
	}
	if (!ids || PyByteArray_Resize(ids, (Py_ssize_t)(total * sizeof(struct symcache_ids)))) {
		Py_XDECREF(first);
		Py_XDECREF(ids);
		return NULL;
	}
	items[0] = view_of(first, "Q", 0);
	items[1] = view_of(ids, "I", 4);
	return sequence(st.batch, items, 2);
}

/* Into arrays of the caller; returns how many frames there are. */
static PyObject *batch_into(struct cache *self, const uint64_t *vaddr, size_t n, PyObject *out)
{
	Py_buffer first, ids;
	PyObject *a, *b, *ret = NULL;
	size_t total;

	if (!PyTuple_Check(out)) {
		PyErr_SetString(PyExc_TypeError, "out is (first, ids)");
		return NULL;
	}
	if (!PyArg_ParseTuple(out, "OO;out is (first, ids)", &a, &b) ||
	    PyObject_GetBuffer(a, &first, PyBUF_CONTIG | PyBUF_FORMAT))
		return NULL;
	if (PyObject_GetBuffer(b, &ids, PyBUF_CONTIG | PyBUF_FORMAT)) {
		PyBuffer_Release(&first);
		return NULL;
	}
	if (!fits(&first, 8) || (size_t)first.len < 8 * (n + 1) || !fits(&ids, 4)) {
		PyErr_SetString(PyExc_ValueError, "out is (uint64[n + 1], uint32[m][4]), aligned");
	} else {
		Py_BEGIN_ALLOW_THREADS
		total = symcache_frame_ids_batch(self->c, vaddr, n, first.buf, ids.buf,
						 (size_t)ids.len / sizeof(struct symcache_ids));
		Py_END_ALLOW_THREADS
		ret = PyLong_FromSize_t(total);
	}
	PyBuffer_Release(&first);
	PyBuffer_Release(&ids);
	return ret;
}

static PyObject *batch(struct cache *self, PyObject *addresses, PyObject *out)
{
	PyObject *ret = NULL;
	Py_buffer b;

	if (PyObject_GetBuffer(addresses, &b, PyBUF_CONTIG_RO | PyBUF_FORMAT))
		return NULL;
	if (!fits(&b, 8))
		PyErr_SetString(PyExc_ValueError,
				"addresses are a contiguous, aligned buffer of unsigned "
				"64-bit integers (uint64)");
	else
		ret = out == Py_None ? batch_new(self, b.buf, (size_t)b.len / 8) :
			batch_into(self, b.buf, (size_t)b.len / 8, out);
	PyBuffer_Release(&b);
	return ret;
}

/* An int, or what stands for one: a scalar of numpy, say, which is a buffer of no dimensions. */
static int is_one(PyObject *o)
{
	Py_buffer b;
	int ret;

	if (PyLong_Check(o) || !PyIndex_Check(o) || !PyObject_CheckBuffer(o))
		return PyIndex_Check(o);
	if (PyObject_GetBuffer(o, &b, PyBUF_FULL_RO)) {
		PyErr_Clear();
		return 1;
	}
	ret = !b.ndim;
	PyBuffer_Release(&b);
	return ret;
}

static PyObject *frames(PyObject *self, PyObject *args, PyObject *kw)
{
	static char *names[] = { "addresses", "out", "symbols", NULL };
	PyObject *addresses, *out = Py_None;
	unsigned long long address;
	int symbols = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O|Op:frames", names, &addresses, &out,
					 &symbols))
		return NULL;
	if (!is_one(addresses))
		return batch((struct cache *)self, addresses, out);
	addresses = PyNumber_Index(addresses);
	address = addresses ? PyLong_AsUnsignedLongLong(addresses) : 0;
	Py_XDECREF(addresses);
	return PyErr_Occurred() ? NULL : frame_texts((struct cache *)self, address, symbols);
}

/* ---- single questions ------------------------------------------------------------------------ */

static PyObject *name_of(PyObject *self, PyObject *arg)
{
	const unsigned long n = PyLong_AsUnsignedLong(arg);

	if (PyErr_Occurred())
		return NULL;
	return text(n > UINT32_MAX ? NULL :
		    symcache_function_name(st.plain, ((struct cache *)self)->c, (uint32_t)n));
}

static PyObject *path_of(PyObject *self, PyObject *arg)
{
	const unsigned long n = PyLong_AsUnsignedLong(arg);

	if (PyErr_Occurred())
		return NULL;
	return text(n > UINT32_MAX ? NULL :
		    symcache_file_path(st.plain, ((struct cache *)self)->c, (uint32_t)n));
}

static PyObject *linkage_name(PyObject *self, PyObject *arg)
{
	const unsigned long n = PyLong_AsUnsignedLong(arg);
	const char *s = NULL;
	size_t len;

	if (PyErr_Occurred())
		return NULL;
	if (n <= UINT32_MAX)
		s = symcache_linkage_name(((struct cache *)self)->c, (uint32_t)n, &len);
	if (!s)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)len, "surrogateescape");
}

static PyObject *variable(PyObject *self, PyObject *arg)
{
	const unsigned long long address = PyLong_AsUnsignedLongLong(arg);
	struct symcache_frame *texts;
	struct symcache_variable v;
	union room room;
	PyObject *ret;

	if (PyErr_Occurred())
		return NULL;
	if (symcache_variable_at(st.plain, ((struct cache *)self)->c, address, &v))
		Py_RETURN_NONE;
	texts = own(&(struct symcache_frame){ .function = v.name, .file = v.file }, 1,
		    &room);
	if (!texts)
		return NULL;
	PyObject *const items[] = {
		own_text(texts->function), path(texts->file, v.flags), PyLong_FromUnsignedLong(v.line),
		PyLong_FromUnsignedLongLong(v.vaddr), PyLong_FromUnsignedLongLong(v.size),
	};
	ret = sequence(st.variable, items, 5);
	if (texts != room.frames)
		PyMem_Free(texts);
	return ret;
}

static PyObject *get_build_id(PyObject *self, void *unused)
{
	size_t len;
	const uint8_t *id = symcache_cache_build_id(((struct cache *)self)->c, &len);

	(void)unused;
	return hex(id, len);
}

static PyObject *get_load_base(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(symcache_cache_load_base(((struct cache *)self)->c));
}

static PyObject *get_bytes(PyObject *self, void *unused)
{
	size_t size;
	const char *data = symcache_cache_bytes(((struct cache *)self)->c, &size);

	(void)unused;
	return PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

static PyObject *get_damaged(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(symcache_cache_damaged(((struct cache *)self)->c));
}

static void end_handle(PyObject *capsule)
{
	symcache_cache_unref(PyCapsule_GetPointer(capsule, "symcache_cache"));
}

/* For symcache._build: a reference. */
static PyObject *handle(PyObject *self, void *unused)
{
	struct symcache_cache *c = ((struct cache *)self)->c;

	(void)unused;
	return PyCapsule_New(symcache_cache_ref(c), "symcache_cache", end_handle);
}

static PyMethodDef methods[] = {
	{ "frames", (PyCFunction)(void (*)(void))frames, METH_VARARGS | METH_KEYWORDS,
	  "frames(addresses, out=None, symbols=False)\n\n"
	  "The frames of one address (int), innermost first: a tuple of Frame.\n"
	  "Of many, a buffer of uint64 (array.array, numpy.ndarray, memoryview): a Batch of\n"
	  "numbers, see function(), path() for their texts; or how many frames there are, with\n"
	  "out=(first, ids), writable buffers, of which ids is filled as far as it goes.\n"
	  "symbols: the ELF symbol table names the outermost frame." },
	{ "function", name_of, METH_O, "function(number) -> str | None\n\nThe demangled name." },
	{ "path", path_of, METH_O, "path(number) -> str | None\n\nThe path of a source file." },
	{ "linkage_name", linkage_name, METH_O, "linkage_name(number) -> str | None" },
	{ "variable", variable, METH_O, "variable(address) -> Variable | None" },
	{ "locals", cache_locals, METH_O, "locals(address) -> list[Local]\n\nThe local variables of the innermost "
	  "function there, and of those inlined into it.\nThe cache must have them: Store.index(..., locals=True)." },
	{ "addresses_of", cache_addresses_of, METH_O, "addresses_of(linkage_name) -> list[int]\n\nWhere functions "
	  "of that name begin." },
	{ "find", cache_find, METH_O, "find(name) -> list[Definition]\n\nFunctions and variables of a linkage "
	  "name, or of a demangled\none, with or without its parameters." },
	{ "match", cache_match, METH_O, "match(pattern) -> list[Definition]\n\nThe same of a pattern: '*' is any "
	  "text, '?' one byte." },
	{ "where", cache_where, METH_O, "where('FILE:LINE') -> list[LineRange]\n\nThe code of a line, inlined "
	  "or not." },
	{ NULL, NULL, 0, NULL },
};
static PyGetSetDef getters[] = {
	{ "build_id", get_build_id, NULL, "hex digits; '': it came from no store", NULL },
	{ "load_base", get_load_base, NULL, "p_vaddr of the image's first PT_LOAD", NULL },
	{ "bytes", get_bytes, NULL, "a copy of the cache", NULL },
	{ "_handle", handle, NULL, NULL, NULL },
	{ "damaged", get_damaged, NULL, "found so by a look-up: nothing is found any more", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};
static PyType_Slot slots[] = {
	{ Py_tp_new, cache_new }, { Py_tp_dealloc, cache_free }, { Py_tp_methods, methods },
	{ Py_tp_getset, getters },
	{ Py_tp_doc, "Cache(path)\n\nThe symbols of one program or library: a SymCache file, or from a "
	  "Store.\nAddresses are those of the ELF file." },
	{ 0, NULL },
};
PyType_Spec cache_spec = { "symcache._symcache.Cache", sizeof(struct cache), 0, Py_TPFLAGS_DEFAULT,
			   slots };
