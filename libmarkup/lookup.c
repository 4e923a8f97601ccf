/*
 * Address → text: remembered, else made from the resolver's frames.
 *
 * The text depends on the module's symbols, the location and the style alone,
 * not on where the module lies nor on what it is called, so what is remembered
 * outlives resets. In memory it is:
 *
 *   struct text_head | ends[n] | text of the pieces, one after another
 */
#include "libmarkup/state.h"

struct text_head {
	uint32_t n, found;
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
	struct markup_missing *e = missing_of(f, &f->context.modules[module]);

	if (e)
		e->frames++;
}

/* Renders all pieces into f->scratch, in the form that is remembered. */
static const struct text_head *render(struct markup_filter *f, const struct code_style *style,
				      const struct code_text *t)
{
	struct markup_out *o = &f->scratch;
	struct text_head head = { (uint32_t)t->n, t->found };

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
	t->found = head->found;
	t->frames = NULL;
	t->ends = (const uint32_t *)(head + 1);
	t->text = (const char *)(t->ends + t->n);
}

static void find_text(struct markup_filter *f, void *handle, uint64_t vaddr,
		      const struct code_style *style, struct code_text *ret)
{
	const struct markup_resolver *r = &f->resolver;
	uint64_t location = handle ? r->locate(r->ctx, handle, vaddr) : MARKUP_NOWHERE;
	struct memo_key key = { handle, location, style->kind << 8 | mk_sgr_style(f) };
	const struct text_head *head;
	bool worth;

	*ret = (struct code_text){ .n = 1, .style = style };
	if (location == MARKUP_NOWHERE)
		return;
	head = mk_memo_get(&f->memo, &key, &worth);
	if (head) {
		use_text(ret, head);
		return;
	}
	ret->num_frames = r->frames(r->ctx, handle, location, &ret->frames);
	for (size_t i = 0; i < ret->num_frames && !ret->found; i++)
		ret->found = ret->frames[i].function.ptr || ret->frames[i].file.ptr;
	if (!ret->num_frames)
		return;
	if (!style->chain)
		ret->n = ret->num_frames;
	if (worth) {
		head = render(f, style, ret);
		if (!f->error) {
			mk_memo_put(&f->memo, &key, head, f->scratch.len);
			use_text(ret, head);
		}
	}
}

void mk_lookup_code(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    const struct code_style *style, struct code_text *ret)
{
	if (f->silent) {
		*ret = (struct code_text){ .n = 1 };
		return;
	}
	find_text(f, mk_lookup_module(f, module), vaddr, style, ret);
	f->stats.frames++;
	if (ret->found)
		f->stats.frames_resolved++;
	else
		count_miss(f, module);
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
