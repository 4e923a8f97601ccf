/*
 * Address → rendered text: memo, else resolver and renderer.
 *
 * The text of an address depends on its module's symbols, its address in the
 * ELF file and the style alone, not on where the module lies nor on what it is
 * called, so what is remembered outlives resets. In memory it is:
 *
 *   struct text_head | ends[n] | text of the pieces, one after another
 */
#include "libmarkup/state.h"

struct text_head {
	uint32_t n, found;
};

void *mk_lookup_module(struct markup_filter *f, uint32_t module)
{
	struct markup_module *m = &f->context.modules[module];
	const char *why = NULL;
	bool added;

	if (m->asked)
		return m->handle;
	m->asked = true;
	m->handle = f->resolver.module(f->resolver.ctx, m->build_id, m->build_id_len, &why);
	if (m->handle || f->options.dialect == MARKUP_LLVM)
		return m->handle;
	struct markup_missing *e = mk_missing_entry(&f->missing, m, &added);
	m->missing = e;
	if (!e || e->no_symbols)
		return NULL;
	e->no_symbols = true;
	f->scratch.len = 0;
	mk_out_bytes(&f->scratch, m->build_id, m->build_id_len < 64 ? m->build_id_len : 64);
	mk_out_char(&f->scratch, 0);
	char name[256];
	struct markup_str shown = mk_printable(m->name, name, sizeof(name));
	mk_complain(f, "no symbols for module \"%.*s\" (build ID %s)%s%s", (int)shown.len,
		    shown.ptr, f->scratch.buf, why ? ": " : "", why ? why : "");
	return NULL;
}

/* An address of this module found nothing. */
static void count_miss(struct markup_filter *f, uint32_t module)
{
	struct markup_module *m = &f->context.modules[module];
	bool added;

	if (!m->missing)
		m->missing = mk_missing_entry(&f->missing, m, &added);
	if (m->missing)
		((struct markup_missing *)m->missing)->frames++;
}

/* Renders into f->scratch. */
static void render(struct markup_filter *f, void *handle, uint64_t vaddr,
		   const struct code_style *style)
{
	const struct markup_frame *frames = NULL;
	struct markup_out *o = &f->scratch;
	size_t n = handle ? f->resolver.code(f->resolver.ctx, handle, vaddr, &frames) : 0;
	struct text_head head = { 1, 0 };

	for (size_t i = 0; i < n; i++)
		head.found |= frames[i].function.ptr || frames[i].file.ptr;
	if (n && !style->chain)
		head.n = (uint32_t)n;
	o->len = 0;
	mk_out_put(o, (const char *)&head, sizeof(head));
	for (uint32_t i = 0; i < head.n; i++)
		mk_out_lit(o, "\0\0\0\0");
	const size_t text = o->len;
	for (uint32_t i = 0; i < head.n && !o->error; i++) {
		if (n)
			style->render(f, o, frames, n, i);
		uint32_t end = (uint32_t)(o->len - text);
		memcpy(o->buf + sizeof(head) + i * sizeof(end), &end, sizeof(end));
	}
	if (o->error) { /* no memory: one empty piece; the filter stops soon */
		f->error = o->error;
		memcpy(o->buf, (const uint32_t[]){ 1, 0, 0 }, 3 * sizeof(uint32_t));
	}
}

void mk_lookup_code(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    const struct code_style *style, struct code_text *ret)
{
	void *handle = mk_lookup_module(f, module);
	struct memo_key key = { handle, vaddr, style->kind << 8 | mk_sgr_style(f) };
	const struct text_head *head = handle ? mk_memo_get(&f->memo, &key) : NULL;

	f->stats.frames++;
	if (!head) {
		render(f, handle, vaddr, style);
		head = (const struct text_head *)(const void *)f->scratch.buf;
		if (handle && !f->error)
			mk_memo_put(&f->memo, &key, head, f->scratch.len);
	}
	ret->n = head->n;
	ret->found = head->found;
	ret->ends = (const uint32_t *)(head + 1);
	ret->text = (const char *)(ret->ends + ret->n);
	if (ret->found)
		f->stats.frames_resolved++;
	else
		count_miss(f, module);
}

bool mk_lookup_data(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    struct markup_data *ret)
{
	void *handle = mk_lookup_module(f, module);
	return handle && f->resolver.data(f->resolver.ctx, handle, vaddr, ret);
}

struct markup_str mk_lookup_demangled(struct markup_filter *f, struct markup_str name)
{
	return f->resolver.demangle ? f->resolver.demangle(f->resolver.ctx, name) : name;
}
