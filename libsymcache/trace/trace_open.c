/*
 * trace_open.c: a trace file out of a file: maps it, reads its definitions, and decides
 * what it does not say: the byte order of the frames and, where there is no good target
 * description, the layout of the registers.
 *
 * Byte order: the caller's; else that of the target; else that of the target
 * description's architecture; else the one in which the frames make sense.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/trace/tdesc.h"
#include "libsymcache/trace/tfile_reader.h"

#define RELEASE_STEP (UINT64_C(8) << 20)

void symtrace_release(struct symtrace *t, uint64_t offset)
{
	for (; t->map && offset <= t->size && offset >= t->released + 2 * RELEASE_STEP;
	     t->released += RELEASE_STEP)
		madvise((char *)t->map + t->released, RELEASE_STEP, MADV_DONTNEED);
}

static int map_file(const char *path, void **map, size_t *size, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	*map = NULL;
	*size = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return sc_error_set(err, SC_ESYS, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EINVAL, S_ISDIR(st.st_mode) ? "is a directory" :
				    "is not a regular file");
	if (!st.st_size)
		return 0;
	*size = (size_t)st.st_size;
	*map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (*map == MAP_FAILED)
		return sc_error_set(err, SC_ESYS, "%s", strerror(errno));
	madvise(*map, *size, MADV_SEQUENTIAL);
	return 0;
}

/* The registers: of the target description if it is of the target's machine and names
 * a program counter, else the usual ones. False: the description's machine is unknown. */
static bool find_layout(struct tfile_reader *r, const struct symtrace_target *target,
			struct tdesc_machine *machine)
{
	struct symtrace *t = r->file;
	const struct sc_str text = t->tdesc;
	const struct symtrace_register *pc;
	char why[120];
	bool known = false;

	if (text.ptr && tdesc_parse(&t->layout, text.ptr, text.len, why, sizeof(why)) < 0) {
		tfile_notice(r, t->tdesc_offset,
			     "while parsing target description: %s; ignoring it", why);
	} else if (text.ptr) {
		known = tdesc_find_machine(t->layout.architecture, machine);
		if (known && target->machine && target->machine != machine->machine) {
			tfile_notice(r, t->tdesc_offset, "target description of another "
				     "architecture (%s) than the module's; ignoring it",
				     t->layout.architecture);
			tdesc_deinit(&t->layout);
		}
	}
	if (!tdesc_pc(&t->layout)) {
		tdesc_deinit(&t->layout);
		if (target->machine)
			tdesc_default(&t->layout, target->machine, target->is64);
		else if (known)
			tdesc_default(&t->layout, machine->machine, machine->is64);
	}
	pc = tdesc_pc(&t->layout);
	if (pc)
		t->pc_slot = (struct symtrace_pc_slot){ pc->offset, pc->size };
	return known;
}

static bool find_order(const struct symtrace *t, const struct symtrace_target *target,
		       const struct tdesc_machine *machine, enum symtrace_order order)
{
	if (order != SYMTRACE_ORDER_AUTO)
		return order == SYMTRACE_ORDER_BIG;
	if (target->machine)
		return target->big_endian;
	if (machine && machine->big_endian >= 0)
		return machine->big_endian;
	return symtrace_guess_big_endian(t) == 1;
}

int symtrace_open(const char *path, const struct symtrace_target *target,
		  enum symtrace_order order, struct symtrace *ret, struct sc_error *err)
{
	struct tfile_reader r = { .file = ret };
	struct tdesc_machine machine;
	size_t size;
	void *map;
	int rc = map_file(path, &map, &size, err);
	bool known;

	*ret = (struct symtrace){ 0 };
	if (rc)
		return rc;
	r.failed = symtrace_read(ret, map, size);
	ret->map = map;
	if (!ret->text) {
		rc = sc_error_set(err, r.failed, "offset %llu: %s",
				  (unsigned long long)ret->fault.offset, ret->fault.msg);
		symtrace_close(ret);
		return rc;
	}
	known = find_layout(&r, target, &machine);
	ret->big_endian = find_order(ret, target, known ? &machine : NULL, order);
	return 0;
}

void symtrace_close(struct symtrace *t)
{
	size_t n = t->num_notices < SYMTRACE_NOTICES_MAX ? t->num_notices : SYMTRACE_NOTICES_MAX;

	for (size_t i = 0; i < n; i++)
		free((char *)t->notices[i].msg);
	free(t->tracepoints);
	sc_big_free(t->pieces, t->cap_pieces * sizeof(*t->pieces));
	sc_big_free(t->variables, t->cap_variables * sizeof(*t->variables));
	free(t->text);
	tdesc_deinit(&t->layout);
	if (t->map)
		munmap(t->map, t->size);
	*t = (struct symtrace){ 0 };
}
