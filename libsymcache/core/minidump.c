/*
 * Minidumps of Linux and Android, as Breakpad and Crashpad write them: see parts.h.
 *
 * A header names a directory of streams: threads with their contexts, modules with their
 * build IDs, ranges of memory. Ranges occur twice: a thread's stack is in the list of
 * memory, too. Where code is, is known by the process's maps or by the list of memory's
 * kinds; without them modules are code as a whole.
 */
#include <elf.h>

#include "libsymcache/core/parts.h"

enum {
	STREAM_THREADS = 3, STREAM_MODULES = 4, STREAM_MEMORY = 5, STREAM_EXCEPTION = 6,
	STREAM_SYSTEM = 7, STREAM_MEMORY_64 = 9, STREAM_MISC = 15, STREAM_MEMORY_KINDS = 16,
	STREAM_THREAD_NAMES = 24,
	STREAM_STATUS = 0x47670004, STREAM_COMMAND = 0x47670006, STREAM_MAPS = 0x47670009,

	PLATFORM_LINUX = 0x8201, PLATFORM_ANDROID = 0x8203, PLATFORM_FUCHSIA = 0x8206,
	CODEVIEW_ELF = 0x4270454c, CODEVIEW_GUID = 0x53445352,
	EXECUTABLE = 0xf0,                   /* PAGE_EXECUTE… */
	MAX_NAME = 4096, MAX_MAPS = 16 << 20,
	MAX_KEPT = 64 << 20,                 /* of a compressed one, at first */
};

struct stream {
	uint64_t at, size;
};

/* Where a thread's context has what: registers by their numbers in DWARF. */
static const struct context {
	uint16_t machine;
	uint8_t word;
	uint16_t first, pc, size;            /* offsets of the first of `order`, and of the pc */
	uint8_t num;
	uint8_t order[17];                   /* num 32: ascending */
} contexts[] = {
	{ EM_X86_64, 8, 120, 248, 256, 16, { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 } },
	{ EM_386, 4, 156, 184, 200, 11, { 7, 6, 3, 2, 1, 0, 5, 64, 64, 64, 4 } },
	{ EM_AARCH64, 8, 8, 264, 272, 32, { 0 } },
};

static const struct context *context_of(const struct symcache_core *core)
{
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++)
		if (contexts[i].machine == core->machine)
			return &contexts[i];
	return NULL;
}

static uint32_t number_at(struct symcache_core *core, uint64_t offset)
{
	uint8_t bytes[4] = { 0 };

	sc_core_file(core, offset, bytes, 4);
	return (uint32_t)get_number(bytes, 4);
}

/* The stream of that kind; size 0: there is none. */
static struct stream find_stream(struct symcache_core *core, uint32_t kind)
{
	const uint32_t n = number_at(core, 8), at = number_at(core, 12);
	uint8_t entry[12];

	for (uint64_t i = 0; i < n && sc_core_file(core, at + i * 12, entry, 12); i++)
		if (get_number(entry, 4) == kind)
			return (struct stream){ get_number(entry + 8, 4),
						get_number(entry + 4, 4) };
	return (struct stream){ 0 };
}

/* Reads record `i` of a list: a number of records, then these. False: there are no more. */
static bool next_record(struct symcache_core *core, const struct stream *list, uint64_t i,
			uint8_t *to, size_t size)
{
	/* Some writers align the first record at 8. */
	const uint64_t n = list->size ? number_at(core, list->at) : 0;
	const uint64_t from = list->size == 8 + n * size ? 8 : 4;

	return i < n && from + (i + 1) * size <= list->size &&
	       sc_core_file(core, list->at + from + i * size, to, size);
}

/* ---- threads -------------------------------------------------------------------------------- */

static bool read_context(struct symcache_core *core, uint32_t at, struct symcache_registers *ret)
{
	const struct context *c = context_of(core);
	uint8_t bytes[272];

	if (!sc_core_file(core, at, bytes, c->size))
		return false;
	for (unsigned i = 0; i < c->num; i++) {
		const unsigned reg = c->num == 32 ? i : c->order[i];

		if (reg < 64)
			symcache_set_register(ret, reg,
					      get_number(bytes + c->first + i * c->word, c->word));
	}
	ret->pc = get_number(bytes + c->pc, c->word);
	return true;
}

static bool add_memory(struct symcache_core *core, uint64_t start, uint64_t size, uint64_t offset)
{
	if (!size || offset > INT64_MAX || size > INT64_MAX || start + size < start)
		return true;
	return sc_core_add_memory(core, (struct segment){ start, start + size, offset, size, 0 });
}

static bool add_thread(struct symcache_core *core, uint32_t tid, uint32_t context)
{
	struct symcache_core_thread t = { .tid = tid }, *added;

	if (!read_context(core, context, &t.registers))
		return true;
	added = vec_push(&core->private->threads);
	if (added)
		*added = t;
	return added;
}

/* The thread that died comes first, with the registers of its exception. */
static bool read_threads(struct symcache_core *core)
{
	const struct stream list = find_stream(core, STREAM_THREADS);
	const struct stream exception = find_stream(core, STREAM_EXCEPTION);
	uint8_t record[168];
	uint32_t died = 0;

	core->died = exception.size >= sizeof(record) &&
		     sc_core_file(core, exception.at, record, sizeof(record));
	if (core->died) {
		died = (uint32_t)get_number(record, 4);
		core->signal = (int)get_number(record + 8, 4);
		core->signal_code = (int)get_number(record + 12, 4);
		core->signal_address = get_number(record + 24, 8);
		core->has_signal_address = sc_core_has_address(core->signal, core->signal_code);
		if (!add_thread(core, died, (uint32_t)get_number(record + 164, 4)))
			return false;
	}
	core->died = core->private->threads.len;
	for (uint64_t i = 0; next_record(core, &list, i, record, 48); i++) {
		const uint32_t tid = (uint32_t)get_number(record, 4);

		if ((!core->died || tid != died) &&
		    !add_thread(core, tid, (uint32_t)get_number(record + 44, 4)))
			return false;
		if (!add_memory(core, get_number(record + 24, 8), get_number(record + 32, 4),
				get_number(record + 36, 4)))
			return false;
	}
	return true;
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool read_memory(struct symcache_core *core)
{
	const struct stream list = find_stream(core, STREAM_MEMORY);
	const struct stream list_64 = find_stream(core, STREAM_MEMORY_64);
	uint8_t record[16];
	uint64_t n, at;

	for (uint64_t i = 0; next_record(core, &list, i, record, 16); i++)
		if (!add_memory(core, get_number(record, 8), get_number(record + 8, 4),
				get_number(record + 12, 4)))
			return false;
	if (list_64.size < 16 || !sc_core_file(core, list_64.at, record, 16))
		return true;
	n = get_number(record, 8);
	at = get_number(record + 8, 8);
	for (uint64_t i = 0; i < n && i < (list_64.size - 16) / 16 &&
	     sc_core_file(core, list_64.at + 16 + i * 16, record, 16); i++) {
		const uint64_t size = get_number(record + 8, 8);

		if (at + size < at || !add_memory(core, get_number(record, 8), size, at))
			break;
		at += size;
	}
	return true;
}

static bool add_code(struct symcache_core *core, uint64_t start, uint64_t end)
{
	struct segment *s = end > start ? vec_push(&core->private->code.list) : NULL;

	if (s)
		*s = (struct segment){ .start = start, .end = end };
	return s || end <= start;
}

/* A stream as text, NUL-terminated, on the heap; NULL: there is none. */
static char *read_text(struct symcache_core *core, uint32_t kind)
{
	const struct stream s = find_stream(core, kind);
	const size_t size = s.size < MAX_MAPS ? (size_t)s.size : MAX_MAPS;
	char *text = size && (core->private->compressed || size <= core->private->file_size) ?
		malloc(size + 1) : NULL;

	if (text && !sc_core_file(core, s.at, text, size)) {
		free(text);
		text = NULL;
	}
	if (text)
		text[size] = '\0';
	return text;
}

/* Lines "start-end r-xp …" of /proc/PID/maps. */
static bool read_maps(struct symcache_core *core)
{
	char *text = read_text(core, STREAM_MAPS), *rest = text, *line;
	bool ok = true;

	while (ok && text && (line = strsep(&rest, "\n"))) {
		char *at;
		const uint64_t start = strtoull(line, &at, 16);
		const uint64_t end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;

		if (strlen(at) > 4 && at[3] == 'x')
			ok = add_code(core, start, end);
	}
	free(text);
	return ok;
}

static bool read_kinds(struct symcache_core *core)
{
	const struct stream s = find_stream(core, STREAM_MEMORY_KINDS);
	uint8_t head[16], record[48];
	bool ok = true;
	uint64_t size;

	if (s.size < 16 || !sc_core_file(core, s.at, head, 16))
		return true;
	size = get_number(head + 4, 4);
	for (uint64_t i = 0, n = get_number(head + 8, 8); ok && i < n && size >= 48 &&
	     i < s.size / size && sc_core_file(core, s.at + get_number(head, 4) + i * size, record, 48); i++)
		if (get_number(record + 36, 4) & EXECUTABLE)
			ok = add_code(core, get_number(record, 8),
				      get_number(record, 8) + get_number(record + 24, 8));
	return ok;
}

/* ---- modules -------------------------------------------------------------------------------- */

/* A text: bytes, then UTF-16; what is not in ASCII is '?', as names are only for people. */
static char *read_name(struct symcache_core *core, uint32_t at)
{
	const size_t n = number_at(core, at) / 2;
	uint8_t units[2 * MAX_NAME];
	char *name = NULL;

	if (n <= MAX_NAME && sc_core_file(core, at + 4ull, units, 2 * n))
		name = malloc(n + 1);
	else
		return strdup("");
	for (size_t i = 0; name && i < n; i++)
		name[i] = !units[2 * i + 1] && units[2 * i] < 0x80 ? (char)units[2 * i] : '?';
	if (name)
		name[n] = '\0';
	return name;
}

/* The build ID, or its first 16 bytes: old writers had no room for more. */
static size_t read_build_id(struct symcache_core *core, uint32_t at, uint32_t size,
			    uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	const uint32_t kind = size > 4 ? number_at(core, at) : 0;
	const size_t len = kind == CODEVIEW_GUID ? 16 : size - 4;
	bool any = false;

	if ((kind != CODEVIEW_ELF && kind != CODEVIEW_GUID) || len > SYMCACHE_BUILD_ID_MAX ||
	    len > size - 4 || !sc_core_file(core, at + 4ull, id, len))
		return 0;
	for (size_t i = 0; i < len; i++)
		any |= id[i];
	return any ? len : 0;
}

static bool read_modules(struct symcache_core *core)
{
	const struct stream list = find_stream(core, STREAM_MODULES);
	uint8_t record[108];

	for (uint64_t i = 0; next_record(core, &list, i, record, sizeof(record)); i++) {
		const uint64_t start = get_number(record, 8), end = start + get_number(record + 8, 4);
		uint8_t id[SYMCACHE_BUILD_ID_MAX];
		struct symcache_image *image;
		char *path;

		if (end <= start)
			continue;
		path = read_name(core, (uint32_t)get_number(record + 20, 4));
		image = !path ? NULL : sc_core_add_module(core, &(struct symcache_file_id){
			.path = sc_str_of(path), .build_id = id,
			.build_id_len = read_build_id(core, (uint32_t)get_number(record + 80, 4),
						      (uint32_t)get_number(record + 76, 4), id),
		}, start, end);
		if (image && (!strncmp(path, "linux-gate", 10) || !strcmp(path, "[vdso]")))
			core->vdso = image;
		free(path);
		if (!image)
			return false;
	}
	return true;
}

/* ---- all ------------------------------------------------------------------------------------ */

static int read_system(struct symcache_core *core, struct sc_error *err)
{
	const struct stream s = find_stream(core, STREAM_SYSTEM);
	uint8_t record[24];
	uint32_t platform, processor;

	if (s.size < sizeof(record) || !sc_core_file(core, s.at, record, sizeof(record)))
		return sc_error_set(err, SC_EFORMAT,
				    "a minidump that does not say of which system, or is cut off");
	processor = (uint32_t)get_number(record, 2);
	platform = (uint32_t)get_number(record + 20, 4);
	switch (processor) {
	case 0: core->machine = EM_386; break;
	case 9: core->machine = EM_X86_64; break;
	case 12: case 0x8003: core->machine = EM_AARCH64; break;
	default: core->machine = EM_NONE; break;
	}
	if (platform != PLATFORM_LINUX && platform != PLATFORM_ANDROID &&
	    platform != PLATFORM_FUCHSIA)
		return sc_error_set(err, SC_EUNSUPPORTED, "a minidump of another system than Linux or "
				    "Android (platform 0x%x)", platform);
	if (!context_of(core))
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "minidumps of processor 0x%x are not read", processor);
	core->word = context_of(core)->word;
	core->private->is_64 = core->word == 8;
	return 0;
}

/* The process: its ID, and its command with arguments, which are ended by NUL. */
static void read_process(struct symcache_core *core)
{
	const struct stream misc = find_stream(core, STREAM_MISC),
			    args = find_stream(core, STREAM_COMMAND);
	char *status = read_text(core, STREAM_STATUS),
	     *pid = status ? strstr(status, "\nPid:") : NULL;
	size_t n = sizeof(core->arguments) - 1;

	if (misc.size >= 12 && number_at(core, misc.at + 4) & 1)
		core->pid = number_at(core, misc.at + 8);
	else if (pid)
		core->pid = (uint32_t)strtoul(pid + 5, NULL, 10);
	free(status);
	n = args.size < n ? (size_t)args.size : n;
	if (!sc_core_file(core, args.at, core->arguments, n))
		n = 0;
	while (n && !core->arguments[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!core->arguments[i])
			core->arguments[i] = ' ';
}

static void read_thread_names(struct symcache_core *core)
{
	const struct stream list = find_stream(core, STREAM_THREAD_NAMES);
	struct symcache_core_private *p = core->private;
	uint8_t record[12];
	size_t at = 0;

	for (uint64_t i = 0; next_record(core, &list, i, record, sizeof(record)); i++) {
		const uint32_t tid = (uint32_t)get_number(record, 4);
		char *name = get_number(record + 8, 4) ? NULL :
			read_name(core, (uint32_t)get_number(record + 4, 4));

		/* They are in the order of the threads, but for the one that died. */
		for (size_t k = 0; name && k < p->threads.len && at < 16 * p->threads.len;
		     k++, at++) {
			struct symcache_core_thread *t = &p->threads.data[at % p->threads.len];

			if (t->tid == tid) {
				strncpy(t->name, name, sizeof(t->name) - 1);
				break;
			}
		}
		free(name);
	}
}

int sc_core_minidump(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct range range = { 0, MAX_KEPT };
	int rc = sc_core_keep(core, &range, 1, err);
	bool known; /* where code is */

	core->missing = 0;
	p->minidump = true;
	if (!rc)
		rc = read_system(core, err);
	if (rc)
		return rc;
	if (!read_threads(core) || !read_memory(core) || !read_maps(core) || !read_modules(core) ||
	    (!p->code.list.len && !read_kinds(core)))
		return sc_no_memory(err);
	known = p->code.list.len;
	for (size_t i = 0; !known && i < p->modules.len; i++)
		if (!add_code(core, p->modules.data[i]->start, p->modules.data[i]->end))
			return sc_no_memory(err);
	if (!p->threads.len)
		return sc_error_set(err, SC_EFORMAT, "the minidump has no threads, or is cut off");
	read_process(core);
	read_thread_names(core);
	if (!sc_core_order(&p->memory) || !sc_core_order(&p->code) || !sc_core_place_modules(core))
		return sc_no_memory(err);
	return 0;
}
