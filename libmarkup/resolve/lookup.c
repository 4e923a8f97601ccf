/*
 * Address → the resolver's frames, or what the output made of them the last time.
 *
 * What is remembered holds for one state of the modules and maps, which has a
 * number, its generation: after a reset, or when a map is added, it is not found
 * any more.
 */
#include "libmarkup/resolve/resolve.h"

/* Where misses of `m` are counted, or NULL. */
static struct markup_module *missing_of(struct mk_resolve *r, struct mk_module *m)
{
	if (!m->missing)
		m->missing = mk_modules_entry(&r->missing, m->name, m->build_id, m->build_id_len);
	return m->missing;
}

/* Asks the resolver. */
static void *find_module(struct mk_resolve *r, struct mk_module *m, const char **why)
{
	const char *slash = m->kernel ? memchr(m->name.ptr, '/', m->name.len) : NULL;
	const size_t len = slash ? (size_t)(slash - m->name.ptr) : 0, skipped = slash ? len + 1 : 0;
	struct markup_module of = {
		.build_id = m->build_id, .build_id_len = m->build_id_len, .kernel = m->kernel,
		.name = { m->name.ptr + skipped, m->name.len - skipped },
		.release = { m->name.ptr, len },
	};
	void *found;

	if (r->dialect == MARKUP_LLVM && of.build_id_len) /* LLVM looks at no file */
		of.name.len = 0;
	found = r->resolver.module ? r->resolver.module(r->resolver.ctx, &of, why) : NULL;
	if (!found)
		return NULL;
	m->table_only = of.table_only;
	if (r->wants_symbols) {
		of.name = m->name;
		mk_modules_list(&r->lines, &of);
	}
	return found;
}

static void *ask_for(struct mk_resolve *r, struct mk_module *m)
{
	struct mk_where *w = r->where;
	const char *why = NULL;

	m->asked = true;
	m->handle = find_module(r, m, &why);
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

bool mk_is_known(struct mk_resolve *r, struct mk_module *m)
{
	const char *why;

	if (r->where->silent)
		return false;
	if (!m->asked && !m->tried) {
		m->tried = true;
		m->handle = find_module(r, m, &why);
		m->asked = m->handle;
	}
	return m->handle;
}

/* An address of this module found nothing, or is none of it. */
static void count_miss(struct mk_resolve *r, struct mk_module *m, bool placed)
{
	struct markup_module *e = r->where->silent ? NULL : missing_of(r, m);

	if (!e)
		return;
	e->frames++;
	e->unplaced += !placed && m->handle;
	e->table_only = m->handle && m->table_only;
}

static inline void look_up_code(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr,
				struct mk_found *ret)
{
	void *handle = r->where->silent ? NULL : handle_of(r, m);

	*ret = (struct mk_found){ .module = handle };
	if (handle)
		ret->num_frames = r->resolver.code(r->resolver.ctx, handle, vaddr, m->generation,
						   &ret->frames);
	for (size_t i = 0; i < ret->num_frames && !ret->found; i++)
		ret->found = ret->frames[i].function.ptr || ret->frames[i].file.ptr;
	r->stats.frames++;
	if (ret->found)
		r->stats.frames_resolved++;
	else
		count_miss(r, m, true);
}

void mk_lookup_code(struct mk_resolve *r, uint32_t module, uint64_t vaddr, struct mk_found *ret)
{
	look_up_code(r, &r->context.modules[module], vaddr, ret);
}

static inline void use_remembered(struct mk_resolve *r, const struct mk_remembered *text,
				  struct mk_found *ret)
{
	ret->remembered = text;
	r->stats.frames++;
	r->stats.frames_resolved++;
}

/* Sources are not remembered. */
static inline void note_worth(const struct mk_resolve *r, const struct mk_memo_key *key, bool worth,
			      struct mk_found *ret)
{
	ret->worth = worth && ret->found && !r->resolver.source;
	ret->key = *key;
}

void mk_remember(struct mk_resolve *r, const struct mk_found *f, const struct mk_remembered *text,
		 size_t len)
{
	mk_memo_put(&r->memo, &f->key, text, len);
}

void mk_lookup_named(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr, uint32_t kind,
		     struct mk_found *ret)
{
	const struct mk_memo_key key = { m->generation, vaddr, kind };
	const struct mk_remembered *text;
	bool worth;

	text = mk_memo_get(&r->memo, &key, &worth);
	if (text) {
		use_remembered(r, text, ret);
		return;
	}
	look_up_code(r, m, vaddr, ret);
	note_worth(r, &key, worth, ret);
}

/* `known`: if it was announced. */
static inline const struct mk_map *look_up(struct mk_resolve *r, const struct mk_memo_key *key,
					   const struct mk_announced *known, struct mk_found *ret)
{
	const struct mk_remembered *text = NULL;
	const struct mk_map *map;
	bool worth = known && known->worth;

	r->memo_kind = key->kind;
	if (!known || known->remembered)
		text = mk_memo_get(&r->memo, key, &worth);
	if (text) {
		use_remembered(r, text, ret);
		return &r->context.maps[text->map];
	}
	map = known ? known->map : mk_context_find(&r->context, key->address);
	if (!map) {
		*ret = (struct mk_found){ 0 };
		r->stats.frames++;
		r->stats.frames_outside++;
		return NULL;
	}
	look_up_code(r, &r->context.modules[map->module], mk_map_vaddr(map, key->address), ret);
	note_worth(r, key, worth, ret);
	ret->map = (uint32_t)(map - r->context.maps);
	return map;
}

const struct mk_map *mk_lookup_address(struct mk_resolve *r, uint64_t address, uint32_t kind,
				       struct mk_found *ret)
{
	const struct mk_memo_key key = { r->context.generation, address, kind };

	return look_up(r, &key, mk_ahead_address(r, &key), ret);
}

const struct mk_map *mk_lookup_announced(struct mk_resolve *r, const struct mk_announced *e,
					 struct mk_found *ret)
{
	const struct mk_memo_key key = { r->ahead.generation, e->peek.address, r->ahead.kind };

	return look_up(r, &key, e, ret);
}

bool mk_lookup_data(struct mk_resolve *r, uint32_t module, uint64_t vaddr,
		    struct markup_data *ret)
{
	void *handle = r->where->silent ? NULL : mk_lookup_module(r, module);
	return handle && r->resolver.data &&
	       r->resolver.data(r->resolver.ctx, handle, vaddr, ret);
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

	return handle && r->resolver.data &&
	       r->resolver.data(r->resolver.ctx, handle, vaddr, ret);
}

bool mk_named_place(struct mk_resolve *r, struct mk_module *m, struct markup_place *place,
		    uint64_t *vaddr)
{
	void *handle = r->where->silent ? NULL : handle_of(r, m);

	return handle && r->resolver.place &&
	       r->resolver.place(r->resolver.ctx, handle, place, vaddr);
}

/* Warns once of a module that is of another build than that of the log. */
static void warn_of_build(struct mk_resolve *r, struct mk_module *m,
			  const struct markup_place *place)
{
	struct markup_module *e = missing_of(r, m);
	char name[256];
	struct sc_str shown = mk_shortened(m->name, name, sizeof(name));

	if (!e || e->other_build)
		return;
	e->other_build = true;
	if (!r->where->sink.complain)
		return;
	r->where->warning_about = e;
	mk_complain(r->where, "module \"%.*s\" is of another build: %.*s has 0x%llx bytes here",
		    (int)shown.len, shown.ptr, (int)place->symbol.len, place->symbol.ptr,
		    (unsigned long long)place->size_here);
	r->where->warning_about = NULL;
}

void mk_count_unplaced(struct mk_resolve *r, struct mk_module *m, const struct markup_place *place)
{
	r->stats.frames++;
	count_miss(r, m, false);
	if (place->size_here && !r->where->silent)
		warn_of_build(r, m, place);
}

static void forget_missing(struct mk_context *c)
{
	for (uint32_t i = 0; i < c->num_modules; i++) {
		c->modules[i].missing = NULL;
		c->modules[i].tried = false;
		c->modules[i].asked = c->modules[i].handle;
	}
}

void mk_forget_missing(struct mk_resolve *r)
{
	mk_demux_each(r, forget_missing);
	forget_missing(&r->named);
}
