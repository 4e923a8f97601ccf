/* A trace file: faults and places: see trace.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "libsymcache/base/text.h"
#include "libsymcache/report/trace.h"

__attribute__((format(printf, 2, 3)))
static void complain(const struct mk_trace *t, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sc_vtext(fmt, ap);
	va_end(ap);
	if (text)
		t->options->complain(t->options->ctx, text);
	else
		t->out->error = -ENOMEM;
	free(text);
}

void mk_trace_fault(struct mk_trace *t, const struct symtrace_error *err)
{
	/* A file that ends within a block also lacks the next frame. */
	if (t->ret->faults && err->offset == t->last_fault)
		return;
	t->last_fault = err->offset;
	if (t->ret->faults++ < MARKUP_TRACE_FAULTS)
		complain(t, "%s: offset %" PRIu64 ": %s", t->path, err->offset, err->msg);
}

int mk_trace_open(struct mk_trace *t, struct sc_error *err)
{
	const struct markup_trace_options *o = t->options;
	const struct symtrace_target target = symtrace_target_of(o->images);
	const struct symtrace *f = &t->file;
	int rc = symtrace_open(t->path, &target, o->order, &t->file, err);

	if (rc)
		return rc;
	t->places = (struct mk_places){ t->out, symcache_places_create(o->caches, o->names, false) };
	t->summary = o->summary ? symtrace_summary_create() : NULL;
	if (!t->places.of || (o->summary && !t->summary))
		return sc_no_memory(err);
	if (*f->fault.msg)
		mk_trace_fault(t, &f->fault);
	for (size_t i = 0; i < f->num_notices && i < SYMTRACE_NOTICES_MAX; i++)
		complain(t, "%s: offset %" PRIu64 ": warning: %s", t->path, f->notices[i].offset,
			 f->notices[i].msg);
	if (f->num_notices > SYMTRACE_NOTICES_MAX)
		complain(t, "%s: %zu more warnings", t->path, f->num_notices - SYMTRACE_NOTICES_MAX);
	return 0;
}

void mk_trace_close(struct mk_trace *t)
{
	symtrace_summary_destroy(t->summary);
	symtrace_stack_deinit(&t->stack);
	mk_places_deinit(&t->places);
	symtrace_close(&t->file);
}

/* The image that holds it, or NULL, its module, and the address as that has it. */
struct located {
	const struct symcache_image *image;
	struct symcache_module *module;
	uint64_t vaddr;
};

static struct located locate(const struct mk_trace *t, uint64_t address)
{
	const struct symcache_mapping *in = symcache_process_at(t->options->images, address);

	return in ? (struct located){ in->image, in->image->module, address - in->image->bias } :
		    (struct located){ .vaddr = address };
}

struct mk_trace_place mk_trace_place(struct mk_trace *t, uint64_t address)
{
	const struct located l = locate(t, address);

	return (struct mk_trace_place){ l.image, mk_place(&t->places, l.image, l.module, l.vaddr) };
}

const struct symcache_data_place *mk_trace_data(struct mk_trace *t, uint64_t address)
{
	static const struct symcache_data_place none;
	const struct located l = locate(t, address);
	const struct symcache_data_place *data =
		symcache_places_data(t->places.of, l.image, l.module, l.vaddr);

	if (!data)
		t->out->error = -ENOMEM;
	return data ? data : &none;
}
