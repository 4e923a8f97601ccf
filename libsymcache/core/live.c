/*
 * A process that runs, as a core: see core.h. Its file is /proc/PID/mem, in which an offset is an
 * address; its notes are what /proc says.
 *
 * Threads are stopped for as long as it takes to copy their registers and stacks (live_threads.c); what
 * is not on stacks (unwind information of code made at run time, the headers of modules) is read while
 * the process runs.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libmarkup/input/maps.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/core/parts.h"

enum { MAX_TEXT = 4096, MAX_AUXV = 64 << 10, MAX_MAPS = 1 << 30 };

/* The text of /proc/PID/NAME, on the heap, with a NUL, not much more of it than `most`: a process makes
 * its command line as long as it likes. NULL: it cannot be read, errno says why. */
static char *read_proc(uint32_t pid, const char *name, size_t most, size_t *len)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	VEC(char) text = { 0 };
	char path[64], *ret = NULL;
	ssize_t n = 1;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (n > 0 && text.len < most && vec_reserve(&text, (16 << 10) + 1)) {
		n = read(fd, text.data + text.len, 16 << 10);
		text.len += n > 0 ? (size_t)n : 0;
	}
	if (!n || (n > 0 && text.len >= most))
		ret = malloc(text.len + 1); /* what is large in a list is not malloc()'s */
	if (n >= 0 && !ret) {
		sc_memory_refused();
		errno = ENOMEM;
	}
	if (ret) {
		memcpy(ret, text.data, text.len);
		ret[text.len] = 0;
		*len = text.len;
	}
	vec_deinit(&text);
	return ret;
}

/* ---- what it is ----------------------------------------------------------------------------- */

/* Machine and word, by the program's file. SC_ESYS, SC_EUNSUPPORTED. */
static int read_program(struct symcache_core *core, struct sc_error *err)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	uint8_t header[20] = { 0 };
	char path[40];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", core->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, header, sizeof(header)) < 0)
		return sc_error_sys(err, "cannot read its program");
	core->private->is_64 = header[EI_CLASS] == ELFCLASS64;
	core->word = core->private->is_64 ? 8 : 4;
	core->machine = (uint16_t)get_number(header + 18, 2);
	return sc_core_stack_register(core) ? 0 :
	       sc_error_set(err, SC_EUNSUPPORTED, "a process of machine %u", core->machine);
}

static void read_texts(struct symcache_core *core)
{
	size_t len;
	char *text = read_proc(core->pid, "comm", MAX_TEXT, &len);

	if (text && len)
		memcpy(core->command, text, len - 1 < sizeof(core->command) - 1 ?
					    len - 1 : sizeof(core->command) - 1);
	free(text);
	text = read_proc(core->pid, "cmdline", sizeof(core->arguments), &len);
	len = text && len < sizeof(core->arguments) ? len : sizeof(core->arguments) - 1;
	for (size_t i = 0; text && i + 1 < len; i++)
		core->arguments[i] = text[i] ? text[i] : ' ';
	free(text);
}

static void read_auxv(struct symcache_core *core)
{
	struct symcache_core_private *p = core->private;
	const unsigned w = core->word;
	size_t len;
	char *pairs = read_proc(core->pid, "auxv", MAX_AUXV, &len);

	for (size_t at = 0; pairs && at + 2 * w <= len; at += 2 * w) {
		const uint64_t type = get_number((uint8_t *)pairs + at, w);

		if (type < sizeof(p->auxv) / sizeof(*p->auxv))
			p->auxv[type] = get_number((uint8_t *)pairs + at + w, w);
	}
	free(pairs);
}

/* False: out of memory. */
static bool add_row(struct symcache_core *core, char *line, char *end)
{
	struct symcache_core_private *p = core->private;
	struct mk_row row = { 0 };
	struct mapping *m;

	if (!mk_read_maps_row(line, end, &row) || row.start > INT64_MAX)
		return true;
	if (!sc_core_add_memory(core, (struct segment){ row.start, row.end, row.start,
			row.end - row.start, row.code ? PF_R | PF_X : PF_R }))
		return false;
	if (!row.path)
		return true;
	m = vec_push(&p->mappings);
	if (!m)
		return false;
	((char *)row.name.ptr)[row.name.len] = 0; /* of " (deleted)", or of the line's end */
	*m = (struct mapping){ row.start, row.end, row.offset, row.name.ptr };
	return true;
}

static int read_maps(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	size_t len;
	bool ok = true;

	p->file_note = read_proc(core->pid, "maps", MAX_MAPS, &len);
	if (!p->file_note)
		return sc_error_sys(err, "cannot read its maps");
	for (char *line = p->file_note, *newline; ok && line < p->file_note + len;
	     line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(p->file_note + len - line));
		newline = newline ? newline : p->file_note + len;
		ok = add_row(core, line, newline);
	}
	return ok && sc_core_order(&p->memory) ? 0 : sc_no_memory(err);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int read_process(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	char path[32];
	int rc;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", core->pid);
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p->fd < 0)
		return sc_error_sys(err, "cannot read its memory");
	if ((rc = read_program(core, err)))
		return rc;
	read_texts(core);
	read_auxv(core);
	rc = sc_core_live_threads(core, err);
	if (!rc)
		rc = sc_core_modules(core, err);
	if (!rc && !symcache_perf_map_of(core->pid, &p->jitted))
		rc = sc_no_memory(err);
	return rc;
}

int symcache_core_attach(uint32_t pid, struct symcache_core **ret, struct sc_error *err)
{
	struct symcache_core *core = sc_core_create(err);
	int rc = SC_ENOMEM;

	*ret = core;
	if (core) {
		core->pid = pid;
		core->private->file_size = UINT64_MAX;
		rc = read_maps(core, err);
		if (!rc)
			rc = read_process(core, err);
	}
	if (rc) {
		sc_error_prefix(err, "process %" PRIu32 ": ", pid);
		symcache_core_close(core);
		*ret = NULL;
	} else {
		sc_core_publish(core);
	}
	return rc;
}

const char *symcache_core_jitted(const struct symcache_core *core, uint64_t address)
{
	return symcache_perf_map_name(&core->private->jitted, address);
}
