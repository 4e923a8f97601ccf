/*
 * trace_file.c: opens one trace file: maps it, reads its definitions, and decides
 * what the file does not say: the byte order of the frames and, where there is no
 * good target description, the layout of the registers.
 *
 * Byte order: the option; else that of the first module; else that of the target
 * description's architecture; else the one in which the frames make sense.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/trace/trace.h"

#define FAULTS_TOLD 10
#define RELEASE_STEP (UINT64_C(8) << 20)

static void tell(const struct trace_file *f, const char *kind, uint64_t offset, const char *msg)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	words_escaped(out, msg, strlen(msg));
	if (fclose(out) == 0)
		cmd_error("%s: offset %llu: %s%s", f->path, (unsigned long long)offset, kind, text);
	free(text);
}

void trace_fault(struct trace_file *f, const struct tfile_error *err)
{
	/* A file that ends within a block also lacks the next frame. */
	if (f->faults && err->offset == f->last_fault)
		return;
	f->last_fault = err->offset;
	if (f->faults++ < FAULTS_TOLD)
		tell(f, "", err->offset, err->msg);
}

void trace_release(struct trace_file *f, uint64_t offset)
{
	for (; offset <= f->map_size && offset >= f->released + 2 * RELEASE_STEP;
	     f->released += RELEASE_STEP)
		madvise((char *)f->map + f->released, RELEASE_STEP, MADV_DONTNEED);
}

static bool map_file(struct trace_file *f)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const char *why = NULL;

	if (fd < 0 || fstat(fd, &st) < 0)
		why = strerror(errno);
	else if (S_ISDIR(st.st_mode))
		why = "is a directory";
	else if (!S_ISREG(st.st_mode))
		why = "is not a regular file";
	if (!why && st.st_size > 0) {
		f->map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (f->map == MAP_FAILED) {
			f->map = NULL;
			why = strerror(errno);
		} else {
			f->map_size = (size_t)st.st_size;
			madvise(f->map, f->map_size, MADV_SEQUENTIAL);
		}
	}
	if (fd >= 0)
		close(fd);
	if (why)
		cmd_error("%s: %s", f->path, why);
	return !why;
}

/* The first module whose cache knows what machine it is for. */
static const struct symcache_ext_image *first_image(const struct images *images)
{
	for (size_t i = 0; images_get(images, i); i++)
		if (images_get(images, i)->cache->image)
			return images_get(images, i)->cache->image;
	return NULL;
}

/* The registers: of the target description if it is of the modules' machine and
 * names any, else the default ones. *machine: what the description says. */
static bool find_layout(struct trace_file *f, const struct symcache_ext_image *image,
			struct tdesc_machine *machine)
{
	const struct tfile_str text = f->tfile.tdesc;
	char why[120], msg[240];
	bool known = false;

	if (text.ptr && tdesc_parse(&f->tdesc, text.ptr, text.len, why, sizeof(why)) < 0) {
		snprintf(msg, sizeof(msg), "while parsing target description: %s; ignoring it", why);
		tell(f, "warning: ", f->tfile.tdesc_offset, msg);
	} else if (text.ptr) {
		known = tdesc_find_machine(f->tdesc.architecture, machine);
		if (known && image && image->machine != machine->machine) {
			snprintf(msg, sizeof(msg), "target description of another architecture (%s) "
				 "than the module's; ignoring it", f->tdesc.architecture);
			tell(f, "warning: ", f->tfile.tdesc_offset, msg);
			tdesc_deinit(&f->tdesc);
			known = false;
		}
	}
	if (!tdesc_pc(&f->tdesc)) {
		tdesc_deinit(&f->tdesc);
		if (image)
			tdesc_default(&f->tdesc, image->machine, image->elf_class == 64);
		else if (known)
			tdesc_default(&f->tdesc, machine->machine, machine->is64);
	}
	return known;
}

static void find_order(struct trace_file *f, const struct symcache_ext_image *image,
		       const struct tdesc_machine *machine, int order)
{
	if (order != TRACE_ORDER_AUTO)
		f->tfile.big_endian = order == TRACE_ORDER_BIG;
	else if (image)
		f->tfile.big_endian = image->big_endian;
	else if (machine && machine->big_endian >= 0)
		f->tfile.big_endian = machine->big_endian;
	else
		f->tfile.big_endian = tfile_guess_big_endian(&f->tfile) == 1;
}

bool trace_open(struct trace_file *f, const char *path, const struct images *images, int order)
{
	const struct symcache_ext_image *image = first_image(images);
	const struct tdesc_register *pc;
	struct tdesc_machine machine;
	struct tfile_error err;
	bool known;

	*f = (struct trace_file){ .path = path };
	if (!map_file(f))
		return false;
	if (tfile_open(&f->tfile, f->map, f->map_size, &err) < 0)
		trace_fault(f, &err);
	f->opened = f->tfile.text != NULL;
	for (size_t i = 0; i < f->tfile.num_notices && i < TFILE_NOTICES_MAX; i++)
		tell(f, "warning: ", f->tfile.notices[i].offset, f->tfile.notices[i].msg);
	if (f->tfile.num_notices > TFILE_NOTICES_MAX)
		cmd_error("%s: %zu more warnings", path,
			  f->tfile.num_notices - TFILE_NOTICES_MAX);
	known = find_layout(f, image, &machine);
	find_order(f, image, known ? &machine : NULL, order);
	pc = tdesc_pc(&f->tdesc);
	if (pc)
		f->slot = (struct tfile_pc_slot){ pc->offset, pc->size };
	return f->opened;
}

void trace_close(struct trace_file *f)
{
	if (f->faults > FAULTS_TOLD)
		cmd_error("%s: %u more errors", f->path, f->faults - FAULTS_TOLD);
	tfile_close(&f->tfile);
	tdesc_deinit(&f->tdesc);
	if (f->map)
		munmap(f->map, f->map_size);
}
