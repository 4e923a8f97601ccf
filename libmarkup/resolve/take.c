/* Modules and maps of the log → the context, and what is wrong with them. */
#include "libmarkup/resolve/resolve.h"

#include <errno.h>

#include "libmarkup/bytes/fields.h"

int mk_resolve_init(struct mk_resolve *r, const struct markup_options *options,
		    const struct markup_resolver *resolver, struct mk_where *where)
{
	r->resolver = *resolver;
	r->dialect = options->dialect;
	r->where = where;
	r->keep_modules = options->keep_modules;
	r->fixes_base = !options->omit_module_lines;
	mk_context_init(&r->context, options->dialect, &r->generations);
	mk_context_init(&r->named, options->dialect, &r->generations);
	r->context.fixes_base = r->fixes_base;
	if (mk_out_init(&r->scratch, 4096, NULL, NULL))
		return -ENOMEM;
	return mk_demux_init(r, options->demux);
}

void mk_resolve_deinit(struct mk_resolve *r)
{
	mk_demux_deinit(r);
	mk_context_deinit(&r->context);
	mk_context_deinit(&r->named);
	mk_memo_deinit(&r->memo);
	mk_modules_deinit(&r->missing);
	mk_modules_deinit(&r->seen);
	mk_modules_deinit(&r->lines);
	mk_out_deinit(&r->scratch);
	free(r->ahead_line.events);
}

static void said(struct mk_event *e, const char *at, const char *what)
{
	mk_problem(e, &(struct mk_problem){ MK_ERROR, MK_SAID, at, what });
}

/* Lists a module that collides with another one, too. */
static void note_duplicate(struct mk_resolve *r, const struct mk_event *e)
{
	uint8_t id[MISSING_ID_MAX];
	const size_t len = (e->detail.len + 1) / 2;

	if (r->keep_modules && len <= sizeof(id) && mk_field_build_id(e->detail, id))
		mk_modules_entry(&r->seen, e->name, id, len);
}

/* A name comes to stand for a build ID. */
static void bind(struct mk_resolve *r, struct mk_event *e)
{
	/* A GUID is three numbers, the least significant byte first, and 8 bytes. */
	static const unsigned char order[16] = { 3, 2, 1, 0, 5, 4, 7, 6,
						 8, 9, 10, 11, 12, 13, 14, 15 };
	const struct mk_module *m;
	char id[32];

	for (size_t i = 0; e->guid && i < sizeof(order); i++)
		memcpy(id + 2 * i, e->detail.ptr + 2 * order[i], 2);
	if (e->guid)
		e->detail = (struct sc_str){ id, sizeof(id) };

	if (mk_context_bind(&r->context, e->kernel ? MK_KERNEL : mk_bound_id(e->name), e->name,
			    e->detail, &e->index) == MK_CTX_FULL) {
		said(e, e->text.ptr, "too many modules");
		return;
	}
	e->detail = (struct sc_str){ NULL, 0 };
	m = &r->context.modules[e->index];
	e->fresh = true;
	if ((r->keep_modules || r->wants_symbols) && m->build_id_len)
		mk_modules_entry(&r->seen, m->name, m->build_id, m->build_id_len);
}

static void take_module(struct mk_resolve *r, struct mk_event *e)
{
	const char *id = e->rest.ptr;

	if (e->binds) {
		bind(r, e);
		return;
	}
	switch (mk_context_add_module(&r->context, e->number, e->name, e->detail, &e->index)) {
	case MK_CTX_SAME:
		if (r->dialect != MARKUP_LLVM)
			return;
		/* fall through */
	case MK_CTX_DUPLICATE:
		note_duplicate(r, e);
		said(e, id, "duplicate module ID");
		return;
	case MK_CTX_FULL:
		said(e, id, "too many modules");
		return;
	default:
		e->fresh = true;
		if (r->keep_modules || r->wants_symbols) {
			const struct mk_module *m = &r->context.modules[e->index];
			mk_modules_entry(&r->seen, m->name, m->build_id, m->build_id_len);
		}
	}
}

/* Fuchsia's: into its module. */
static void place_map(struct mk_resolve *r, struct mk_event *e, struct mk_module *m)
{
	switch (mk_context_place(&r->context, m, e->address, e->size, e->vaddr)) {
	case MK_CTX_OVERLAP:
		said(e, e->rest.ptr, "Inconsistent base address.");
		break;
	case MK_CTX_OK:
		e->fresh = true;
		break;
	default:
		break;
	}
	mk_context_note_map(&r->context, &(struct mk_map){
		.address = e->address, .size = e->size, .vaddr = e->vaddr,
		.module = (uint32_t)(m - r->context.modules) }, e->detail);
}

static void take_map(struct mk_resolve *r, struct mk_event *e)
{
	struct mk_map map = { .address = e->address, .size = e->size, .vaddr = e->vaddr };
	struct mk_module *m = mk_context_module(&r->context, e->number);
	const struct mk_map *other;

	if (!m) {
		e->num_problems -= e->bad; /* that of a later field */
		said(e, e->name.ptr, r->dialect == MARKUP_FUCHSIA ? "Invalid module id."
								   : "unknown module ID");
		return;
	}
	if (e->bad)
		return;
	if (r->dialect == MARKUP_FUCHSIA) {
		e->index = (uint32_t)(m - r->context.modules);
		place_map(r, e, m);
		return;
	}
	map.module = (uint32_t)(m - r->context.modules);
	memcpy(map.mode, e->mode, sizeof(map.mode));
	switch (mk_context_add_map(&r->context, &map, &e->index)) {
	case MK_CTX_OVERLAP:
		other = &r->context.maps[e->index];
		mk_problem(e, &(struct mk_problem){
			MK_ERROR, MK_OVERLAP, e->rest.ptr,
			.numbers = { r->context.modules[other->module].id, other->address,
				     other->address + other->size - 1 } });
		return;
	case MK_CTX_FULL:
		said(e, e->rest.ptr, "too many mmaps");
		return;
	default:
		e->fresh = true;
	}
}

void mk_take(struct mk_resolve *r, struct mk_event *e)
{
	r->in_trace |= e->aside == MK_IN_TRACE || e->aside == MK_CARRIES;
	if (e->aside == MK_CARRIES)
		mk_carry(r, e);
	if (e->kind == MK_MODULE && !e->bad)
		take_module(r, e);
	else if (mk_names_module(e))
		mk_take_frame(r, e);
	else if (e->kind == MK_MAP && (!e->bad || e->late))
		take_map(r, e);
}
