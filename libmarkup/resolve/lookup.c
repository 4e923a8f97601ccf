/*
 * Address → text: remembered, else made from the resolver's frames.
 *
 * What is remembered holds for one state of the modules and maps, which has a
 * number, its generation: after a reset, or when a map is added, it is not found
 * any more. In memory it is:
 *
 *   struct text_head | ends[n] | text of the pieces, one after another
 */
#include "libmarkup/state.h"

struct text_head {
	uint32_t n;
	uint32_t map; /* number of the map in the context */
};

/* Where misses of `m` are counted, or NULL. */
static struct markup_missing *missing_of(struct markup_filter *f, struct markup_module *m)
{
	if (!m->missing)
		m->missing = mk_missing_entry(&f->missing, m->name, m->build_id, m->build_id_len);
	return m->missing;
}

void *mk_lookup_module(struct markup_filter *f, uint32_t module)
{
	struct markup_module *m = &f->context.modules[module];
	const char *why = NULL;

	if (m->asked)
		return m->handle;
	m->asked = true;
	m->handle = f->resolver.module(f->resolver.ctx, m->build_id, m->build_id_len, &why);
	if (m->handle || f->options.dialect == MARKUP_LLVM)
		return m->handle;
	struct markup_missing *e = missing_of(f, m);
	if (!e || e->no_symbols)
		return NULL;
	e->no_symbols = true;
	if (!f->sink.complain ||
	    (f->sink.warns && !f->sink.warns(f->sink.ctx, m->build_id, m->build_id_len)))
		return NULL;
	f->scratch.len = 0;
	mk_out_bytes(&f->scratch, m->build_id, m->build_id_len < 64 ? m->build_id_len : 64);
	mk_out_char(&f->scratch, 0);
	char name[256];
	struct markup_str shown = mk_printable(m->name, name, sizeof(name));
	f->warning_about = e;
	mk_complain(f, "no symbols for module \"%.*s\" (build ID %s)%s%s", (int)shown.len,
		    shown.ptr, f->scratch.buf, why ? ": " : "", why ? why : "");
	f->warning_about = NULL;
	return NULL;
}

/* An address of this module found nothing. */
static void count_miss(struct markup_filter *f, uint32_t module)
{
	if (f->silent)
		return;
	struct markup_missing *e = missing_of(f, &f->context.modules[module]);

	if (e)
		e->frames++;
}

/* Renders all pieces into f->scratch, in the form that is remembered. */
static const struct text_head *render(struct markup_filter *f, const struct code_style *style,
				      const struct code_text *t, uint32_t map)
{
	struct markup_out *o = &f->scratch;
	struct text_head head = { (uint32_t)t->n, map };

	o->len = 0;
	mk_out_put(o, (const char *)&head, sizeof(head));
	for (size_t i = 0; i < t->n; i++)
		mk_out_lit(o, "\0\0\0\0");
	const size_t text = o->len;
	for (size_t i = 0; i < t->n && !o->error; i++) {
		style->render(f, o, t->frames, t->num_frames, i);
		uint32_t end = (uint32_t)(o->len - text);
		if (!o->error)
			memcpy(o->buf + sizeof(head) + i * sizeof(end), &end, sizeof(end));
	}
	if (o->error)
		f->error = o->error;
	return (const struct text_head *)(const void *)o->buf;
}

static void use_text(struct code_text *t, const struct text_head *head)
{
	t->n = head->n;
	t->found = true;
	t->frames = NULL;
	t->ends = (const uint32_t *)(head + 1);
	t->text = (const char *)(t->ends + t->n);
}

void mk_lookup_code(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    const struct code_style *style, struct code_text *ret)
{
	const struct markup_resolver *r = &f->resolver;
	void *handle = f->silent ? NULL : mk_lookup_module(f, module);

	*ret = (struct code_text){ .n = 1, .style = style };
	if (handle)
		ret->num_frames = r->code(r->ctx, handle, vaddr, &ret->frames);
	for (size_t i = 0; i < ret->num_frames && !ret->found; i++)
		ret->found = ret->frames[i].function.ptr || ret->frames[i].file.ptr;
	if (ret->num_frames && !style->chain)
		ret->n = ret->num_frames;
	f->stats.frames++;
	if (ret->found)
		f->stats.frames_resolved++;
	else
		count_miss(f, module);
}

/* `known`: if it was announced. */
static const struct markup_mmap *look_up(struct markup_filter *f, const struct memo_key *key,
					 const struct announced *known,
					 const struct code_style *style, struct code_text *ret)
{
	const struct text_head *head = NULL;
	const struct markup_mmap *map;
	bool worth = known && known->worth;

	f->memo_kind = key->kind;
	if (!known || known->remembered)
		head = mk_memo_get(&f->memo, key, &worth);
	if (head) {
		use_text(ret, head);
		f->stats.frames++;
		f->stats.frames_resolved++;
		return &f->context.maps[head->map];
	}
	map = known ? known->map : mk_context_find(&f->context, key->address);
	if (!map) {
		*ret = (struct code_text){ .n = 1 };
		f->stats.frames++;
		f->stats.frames_outside++;
		return NULL;
	}
	mk_lookup_code(f, map->module, mk_mmap_vaddr(map, key->address), style, ret);
	if (worth && ret->found) {
		head = render(f, style, ret, (uint32_t)(map - f->context.maps));
		if (!f->error) {
			mk_memo_put(&f->memo, key, head, f->scratch.len);
			use_text(ret, head);
		}
	}
	return map;
}

const struct markup_mmap *mk_lookup_address(struct markup_filter *f, uint64_t address,
					    const struct code_style *style,
					    struct code_text *ret)
{
	const struct memo_key key = { f->context.generation, address, mk_memo_kind(f, style) };

	return look_up(f, &key, mk_ahead_address(f, &key), style, ret);
}

const struct markup_mmap *mk_lookup_announced(struct markup_filter *f, const struct announced *e,
					      const struct code_style *style,
					      struct code_text *ret)
{
	const struct memo_key key = { f->ahead.generation, e->address, f->ahead.kind };

	return look_up(f, &key, e, style, ret);
}

void mk_code_piece(struct markup_filter *f, struct markup_out *o, const struct code_text *t,
		   size_t i)
{
	if (t->num_frames && t->frames) {
		t->style->render(f, o, t->frames, t->num_frames, i);
	} else if (t->text) {
		uint32_t start = i ? t->ends[i - 1] : 0;
		mk_out_put(o, t->text + start, t->ends[i] - start);
	}
}

bool mk_lookup_data(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    struct markup_data *ret)
{
	void *handle = f->silent ? NULL : mk_lookup_module(f, module);
	return handle && f->resolver.data(f->resolver.ctx, handle, vaddr, ret);
}

struct markup_str mk_lookup_demangled(struct markup_filter *f, struct markup_str name)
{
	return f->resolver.demangle && !f->silent ? f->resolver.demangle(f->resolver.ctx, name) : name;
}
