/*
 * Address → text: remembered, else made from the resolver's frames.
 *
 * What is remembered holds for one state of the modules and maps, which has a
 * number, its generation: after a reset, or when a map is added, it is not found
 * any more. In memory it is:
 *
 *   struct text_head | ends[n] | text of the pieces, one after another
 */
#include "libmarkup/resolve/resolve.h"

struct text_head {
	uint32_t n;
	uint32_t map; /* number of the map in the context */
};

/* Where misses of `m` are counted, or NULL. */
static struct markup_module *missing_of(struct mk_resolve *r, struct mk_module *m)
{
	if (!m->missing)
		m->missing = mk_modules_entry(&r->missing, m->name, m->build_id, m->build_id_len);
	return m->missing;
}

static void *find_kernel(struct mk_resolve *r, const struct mk_module *m, const char **why)
{
	const char *slash = memchr(m->name.ptr, '/', m->name.len);
	const size_t len = slash ? (size_t)(slash - m->name.ptr) : 0, skipped = slash ? len + 1 : 0;
	const struct sc_str release = { m->name.ptr, len };
	const struct sc_str name = { m->name.ptr + skipped, m->name.len - skipped };

	return r->resolver.kernel ? r->resolver.kernel(r->resolver.ctx, name, release, why) : NULL;
}

/* Asks the resolver. */
static void *find_module(struct mk_resolve *r, const struct mk_module *m, const char **why)
{
	const struct markup_resolver *from = &r->resolver;
	void *found;

	if (m->build_id_len && from->module) {
		found = from->module(from->ctx, m->build_id, m->build_id_len, why);
		if (found || !from->file || r->dialect == MARKUP_LLVM || !m->name.len ||
		    *m->name.ptr != '/')
			return found;
		return from->file(from->ctx, m->name, m->build_id, m->build_id_len, why);
	}
	if (m->kernel)
		return find_kernel(r, m, why);
	return from->named ? from->named(from->ctx, m->name, why) : NULL;
}

static void note_symbols(struct mk_resolve *r, const struct mk_module *m)
{
	if (r->html && r->resolver.symbols)
		mk_modules_list(&r->lines, &(struct markup_module){
			.name = m->name, .build_id = m->build_id, .build_id_len = m->build_id_len,
			.symbols = r->resolver.symbols(r->resolver.ctx, m->handle),
		});
}

static void *ask_for(struct mk_resolve *r, struct mk_module *m)
{
	struct mk_where *w = r->where;
	const char *why = NULL;

	m->asked = true;
	m->handle = find_module(r, m, &why);
	if (m->handle)
		note_symbols(r, m);
	if (m->handle || r->dialect == MARKUP_LLVM)
		return m->handle;
	struct markup_module *e = missing_of(r, m);
	if (!e || e->no_symbols)
		return NULL;
	e->no_symbols = true;
	if (!w->sink.complain)
		return NULL;
	r->scratch.len = 0;
	mk_out_bytes(&r->scratch, m->build_id, m->build_id_len < 64 ? m->build_id_len : 64);
	mk_out_char(&r->scratch, 0);
	char name[256];
	struct sc_str shown = mk_shortened(m->name, name, sizeof(name));
	w->warning_about = e;
	if (!m->build_id_len)
		mk_complain(w, "no symbols for module \"%.*s\"%s%s", (int)shown.len, shown.ptr,
			    why ? ": " : "", why ? why : "");
	else
		mk_complain(w, "no symbols for module \"%.*s\" (build ID %s)%s%s", (int)shown.len,
		    shown.ptr, r->scratch.buf, why ? ": " : "", why ? why : "");
	w->warning_about = NULL;
	return NULL;
}

/* The resolver's handle of a module, or NULL; warns the first time. */
static inline void *handle_of(struct mk_resolve *r, struct mk_module *m)
{
	return m->asked ? m->handle : ask_for(r, m);
}

void *mk_lookup_module(struct mk_resolve *r, uint32_t module)
{
	return handle_of(r, &r->context.modules[module]);
}

/* An address of this module found nothing, or is none of it. */
static void count_miss(struct mk_resolve *r, struct mk_module *m, bool placed)
{
	struct markup_module *e = r->where->silent ? NULL : missing_of(r, m);

	if (!e)
		return;
	e->frames++;
	e->unplaced += !placed && m->handle;
	e->table_only = m->handle && r->resolver.table_only &&
			r->resolver.table_only(r->resolver.ctx, m->handle);
}

/* Renders all pieces into r->scratch, in the form that is remembered. */
static const struct text_head *render(struct mk_resolve *r, const struct mk_code *t, uint32_t map)
{
	struct mk_out *o = &r->scratch;
	struct text_head head = { (uint32_t)t->n, map };

	o->len = 0;
	mk_out_put(o, (const char *)&head, sizeof(head));
	for (size_t i = 0; i < t->n; i++)
		mk_out_lit(o, "\0\0\0\0");
	const size_t text = o->len;
	for (size_t i = 0; i < t->n && !o->error; i++) {
		mk_put_piece(o, t, i);
		uint32_t end = (uint32_t)(o->len - text);
		if (!o->error)
			memcpy(o->buf + sizeof(head) + i * sizeof(end), &end, sizeof(end));
	}
	if (o->error)
		r->error = o->error;
	return (const struct text_head *)(const void *)o->buf;
}

static void use_text(struct mk_code *t, const struct text_head *head)
{
	t->n = head->n;
	t->found = true;
	t->frames = NULL;
	t->num_frames = 0;
	t->ends = (const uint32_t *)(head + 1);
	t->text = (const char *)(t->ends + t->n);
}

static inline void look_up_code(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr,
			 const struct mk_wanted *wanted, struct mk_code *ret)
{
	void *handle = r->where->silent ? NULL : handle_of(r, m);

	*ret = (struct mk_code){ .n = 1, .wanted = wanted };
	if (handle && m->generation && r->resolver.line_code)
		ret->num_frames = r->resolver.line_code(r->resolver.ctx, handle, vaddr,
							&ret->frames);
	else if (handle)
		ret->num_frames = r->resolver.code(r->resolver.ctx, handle, vaddr, &ret->frames);
	ret->module = handle;
	for (size_t i = 0; i < ret->num_frames && !ret->found; i++)
		ret->found = ret->frames[i].function.ptr || ret->frames[i].file.ptr;
	if (ret->num_frames && !wanted->style->chain)
		ret->n = ret->num_frames;
	r->stats.frames++;
	if (ret->found)
		r->stats.frames_resolved++;
	else
		count_miss(r, m, true);
}

void mk_lookup_code(struct mk_resolve *r, uint32_t module, uint64_t vaddr,
		    const struct mk_wanted *wanted, struct mk_code *ret)
{
	look_up_code(r, &r->context.modules[module], vaddr, wanted, ret);
}

/* Puts what was found into the memo, if it is worth it. */
static void remember(struct mk_resolve *r, const struct mk_memo_key *key, bool worth, uint32_t map,
		     struct mk_code *t)
{
	const struct text_head *head;

	if (!worth || !t->found || r->resolver.source)
		return;
	head = render(r, t, map);
	if (r->error)
		return;
	mk_memo_put(&r->memo, key, head, r->scratch.len);
	use_text(t, head);
}

void mk_lookup_named(struct mk_resolve *r, struct mk_module *m, const struct mk_event *e,
		     const struct mk_wanted *wanted, struct mk_code *ret)
{
	const struct mk_memo_key key = { m->generation, e->lookup, mk_memo_kind(wanted) };
	const struct text_head *head;
	bool worth;

	head = mk_memo_get(&r->memo, &key, &worth);
	if (head) {
		*ret = (struct mk_code){ .wanted = wanted };
		use_text(ret, head);
		r->stats.frames++;
		r->stats.frames_resolved++;
		return;
	}
	look_up_code(r, m, e->lookup, wanted, ret);
	remember(r, &key, worth, 0, ret);
}

/* `known`: if it was announced. */
static inline const struct mk_map *look_up(struct mk_resolve *r, const struct mk_memo_key *key,
				    const struct mk_announced *known,
				    const struct mk_wanted *wanted, struct mk_code *ret)
{
	const struct text_head *head = NULL;
	const struct mk_map *map;
	bool worth = known && known->worth;

	r->memo_kind = key->kind;
	if (!known || known->remembered)
		head = mk_memo_get(&r->memo, key, &worth);
	if (head) {
		use_text(ret, head);
		r->stats.frames++;
		r->stats.frames_resolved++;
		return &r->context.maps[head->map];
	}
	map = known ? known->map : mk_context_find(&r->context, key->address);
	if (!map) {
		*ret = (struct mk_code){ .n = 1 };
		r->stats.frames++;
		r->stats.frames_outside++;
		return NULL;
	}
	look_up_code(r, &r->context.modules[map->module], mk_map_vaddr(map, key->address), wanted,
		     ret);
	remember(r, key, worth, (uint32_t)(map - r->context.maps), ret);
	return map;
}

const struct mk_map *mk_lookup_address(struct mk_resolve *r, uint64_t address,
				       const struct mk_wanted *wanted, struct mk_code *ret)
{
	const struct mk_memo_key key = { r->context.generation, address, mk_memo_kind(wanted) };

	return look_up(r, &key, mk_ahead_address(r, &key), wanted, ret);
}

const struct mk_map *mk_lookup_announced(struct mk_resolve *r, const struct mk_announced *e,
					 const struct mk_wanted *wanted, struct mk_code *ret)
{
	const struct mk_memo_key key = { r->ahead.generation, e->peek.address, r->ahead.kind };

	return look_up(r, &key, e, wanted, ret);
}

void mk_put_piece(struct mk_out *o, const struct mk_code *t, size_t i)
{
	if (t->num_frames && t->frames) {
		t->wanted->style->render(t->wanted->output, o, t->frames, t->num_frames, i);
	} else if (t->text) {
		uint32_t start = i ? t->ends[i - 1] : 0;
		mk_out_put(o, t->text + start, t->ends[i] - start);
	}
}

struct sc_str mk_source_of(const struct mk_resolve *r, const struct mk_code *t, size_t i)
{
	return r->resolver.source && t->frames && i < t->num_frames && t->frames[i].line ?
		r->resolver.source(r->resolver.ctx, t->module, &t->frames[i]) :
		(struct sc_str){ NULL, 0 };
}

bool mk_lookup_data(struct mk_resolve *r, uint32_t module, uint64_t vaddr,
		    struct markup_data *ret)
{
	void *handle = r->where->silent ? NULL : mk_lookup_module(r, module);
	return handle && r->resolver.data(r->resolver.ctx, handle, vaddr, ret);
}

struct sc_str mk_lookup_demangled(struct mk_resolve *r, struct sc_str name)
{
	return r->resolver.demangle && !r->where->silent
		       ? r->resolver.demangle(r->resolver.ctx, name) : name;
}

bool mk_named_data(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr,
		   struct markup_data *ret)
{
	void *handle = r->where->silent ? NULL : handle_of(r, m);

	return handle && r->resolver.data(r->resolver.ctx, handle, vaddr, ret);
}

bool mk_named_place(struct mk_resolve *r, struct mk_module *m, const struct markup_place *place,
		    uint64_t *vaddr)
{
	void *handle = r->where->silent ? NULL : handle_of(r, m);

	return handle && r->resolver.place &&
	       r->resolver.place(r->resolver.ctx, handle, place, vaddr);
}

void mk_count_unplaced(struct mk_resolve *r, struct mk_module *m)
{
	r->stats.frames++;
	count_miss(r, m, false);
}

static void forget_missing(struct mk_context *c)
{
	for (uint32_t i = 0; i < c->num_modules; i++) {
		c->modules[i].missing = NULL;
		c->modules[i].noted = false;
		c->modules[i].asked = c->modules[i].handle;
	}
}

void mk_forget_missing(struct mk_resolve *r)
{
	mk_demux_each(r, forget_missing);
	forget_missing(&r->named);
}
