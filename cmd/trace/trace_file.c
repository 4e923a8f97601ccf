/* trace_file.c: opens one trace file; warnings and errors within it; its places. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/shown.h"
#include "cmd/trace/trace.h"

#define FAULTS_SHOWN 10

static void complain(const struct trace_file *f, const char *kind, uint64_t offset,
		     const char *msg)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	shown_put(out, msg, strlen(msg));
	if (fclose(out) == 0)
		cmd_error("%s: offset %llu: %s%s", f->path, (unsigned long long)offset, kind, text);
	free(text);
}

void trace_fault(struct trace_file *f, const struct symtrace_error *err)
{
	/* A file that ends within a block also lacks the next frame. */
	if (f->faults && err->offset == f->last_fault)
		return;
	f->last_fault = err->offset;
	if (f->faults++ < FAULTS_SHOWN)
		complain(f, "", err->offset, err->msg);
}

bool trace_open(struct trace_file *f, const char *path, const struct symcache_images *images,
		enum symtrace_order order)
{
	const struct symtrace_target target = symtrace_target_of(images);
	const struct symtrace *t = &f->trace;
	struct sc_error err;

	*f = (struct trace_file){ .path = path };
	if (symtrace_open(path, &target, order, &f->trace, &err)) {
		cmd_error("%s: %s", path, err.msg);
		return false;
	}
	if (*t->fault.msg)
		trace_fault(f, &t->fault);
	for (size_t i = 0; i < t->num_notices && i < SYMTRACE_NOTICES_MAX; i++)
		complain(f, "warning: ", t->notices[i].offset, t->notices[i].msg);
	if (t->num_notices > SYMTRACE_NOTICES_MAX)
		cmd_error("%s: %zu more warnings", path, t->num_notices - SYMTRACE_NOTICES_MAX);
	return true;
}

void trace_close(struct trace_file *f)
{
	if (f->faults > FAULTS_SHOWN)
		cmd_error("%s: %u more errors", f->path, f->faults - FAULTS_SHOWN);
	symtrace_close(&f->trace);
}

struct place places_code(const struct places *p, uint64_t address)
{
	const struct symcache_image *image = symcache_images_find(p->images, address);

	return (struct place){ image,
			       must(symcache_places_get(p->of, image, image ? image->module : NULL,
							address - (image ? image->bias : 0))) };
}

const struct symcache_data_place *places_data(const struct places *p, uint64_t address)
{
	const struct symcache_image *image = symcache_images_find(p->images, address);

	return must((void *)symcache_places_data(p->of, image, image ? image->module : NULL,
						 address - (image ? image->bias : 0)));
}
