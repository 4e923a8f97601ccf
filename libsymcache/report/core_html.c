/* A core's stacks as a page: format/pages.md. What died is first and open; stacks that are equal
 * stand there once, folded. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "libmarkup/bytes/own.h"
#include "libmarkup/output/html/page.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/report/core.h"

enum { IDS_MAX = 1000 }; /* threads of a stack */

/* ---- frames ---------------------------------------------------------------------- */

static bool is_own(const struct mk_core *c, const struct symcache_image *image,
		   const struct sc_frame *f)
{
	const struct sc_str path = sc_str_of(image ? *image->path ? image->path : image->name : NULL);

	return mk_is_own(c->own, mk_own_module(c->own, path),
			 mk_own_place(c->own, f->function, f->file));
}

/* Its file is there if it is known. */
static struct sc_frame shown_frame(const struct sc_frame *f)
{
	struct sc_frame ret = *f;

	if (!ret.file.len)
		ret.file.ptr = NULL;
	return ret;
}

/* The row of the first function of the program's own, or of any. */
static void put_main_row(struct mk_core *c, const struct symcache_stack *stack, struct mk_out *row)
{
	for (size_t i = 0; i < stack->num_frames; i++) {
		const struct symcache_unwind_frame *f = &stack->frames[i];
		const struct symcache_code_place *place = mk_core_place(c, f);

		for (size_t k = 0; k < place->num_frames; k++) {
			const bool own = is_own(c, f->owner, &place->frames[k]);
			const struct sc_frame shown = shown_frame(&place->frames[k]);

			if (row->len && !own)
				continue;
			row->len = 0;
			mk_row_code(row, &shown);
			if (own)
				return;
		}
	}
	if (!row->len)
		mk_put(row, "<b>?", "?</b>"); /* no trigraph */
}

static void put_module(struct mk_out *o, const struct symcache_unwind_frame *f)
{
	const struct symcache_image *image = f->owner;

	mk_put(o, mk_escaped_text(image->name), "+", mk_hex(mk_core_offset(f)));
}

/* The lines around a place, if they are wanted and there. */
static struct sc_str source_of(struct mk_core *c, const struct symcache_image *image,
			       const struct sc_frame *f)
{
	if (!c->source_lines || !image || !image->cache || !f->file.len || !f->line)
		return (struct sc_str){ NULL, 0 };
	return symcache_source_lines(&c->sources, image->module, f->file, f->line, c->source_lines);
}

/* A row begins; with source lines it unfolds, at what died they are open. */
static void begin_row(struct mk_core *c, bool open, const char *classes, struct sc_str source)
{
	mk_put(c->out, source.len ? open ? "<details class=r0 open><summary" : "<details class=r0><summary" :
	       "<div", " class=\"r", classes, "\">");
}

static void end_row(struct mk_core *c, struct sc_str source)
{
	mk_put(c->out, source.len ? "</summary>" : "</div>");
	if (!source.len)
		return;
	mk_row_source(c->out, source);
	mk_put(c->out, "</details>");
}

static void put_row(struct mk_core *c, size_t number, const struct symcache_unwind_frame *f,
		    const struct sc_frame *in)
{
	const bool own = in && is_own(c, f->owner, in);
	const struct sc_str source = in ? source_of(c, f->owner, in) : (struct sc_str){ NULL, 0 };
	struct mk_out *o = c->out;

	mk_put(o, "<li class=f>");
	begin_row(c, own && c->stacks == 1, own ? " o" : in ? "" : " x", source);
	mk_put(o, "<i>#", number, "</i> ");
	if (in) {
		const struct sc_frame shown = shown_frame(in);

		mk_row_code(o, &shown);
		if (f->owner) {
			mk_put(o, "<small>&nbsp;(");
			put_module(o, f);
			mk_put(o, ") <s>", mk_addr(f->pc), "</s></small>");
		} else {
			mk_put(o, "<small>&nbsp;<s>", mk_addr(f->pc), "</s></small>");
		}
		end_row(c, source);
		return;
	}
	mk_put(o, "<b>");
	if (f->signal)
		mk_put(o, "&lt;signal&gt;");
	else if (f->owner)
		put_module(o, f);
	else
		mk_put(o, mk_addr(f->pc));
	mk_put(o, f->signal ? "</b>" : f->owner ? "</b> <cite class=bad>no symbols</cite>"
						: "</b> <cite class=bad>is not in any module</cite>",
	       "<small>&nbsp;<s>", mk_addr(f->pc), "</s></small></div>");
}

static void put_inlined(struct mk_core *c, const struct symcache_unwind_frame *f,
			const struct symcache_code_place *place)
{
	const struct sc_frame last = shown_frame(&place->frames[place->num_frames - 1]);
	struct mk_out row = { 0 }, *o = c->out;

	mk_row_code(&row, &last);
	mk_put(o, "<details class=in><summary>inlined into ");
	mk_row_brief(o, row.buf, row.len, place->num_frames - 2);
	mk_put(o, "</summary>");
	for (size_t i = 1; i < place->num_frames; i++) {
		const struct sc_frame shown = shown_frame(&place->frames[i]);
		const struct sc_str source = source_of(c, f->owner, &shown);

		begin_row(c, false, is_own(c, f->owner, &shown) ? " o" : "", source);
		mk_row_code(o, &shown);
		end_row(c, source);
	}
	mk_put(o, "</details>");
	if (row.error)
		o->error = row.error;
	mk_out_deinit(&row);
}

static void put_registers(struct mk_core *c, const struct symcache_registers *r)
{
	char name[8];

	mk_put(c->out, "<details class=in><summary>registers</summary><div class=\"regs mono\">");
	for (uint64_t left = r->known; left; left &= left - 1) {
		const unsigned n = (unsigned)__builtin_ctzll(left);

		mk_out_printf(c->out, "<span>%4s %0*" PRIx64 "</span> ",
			      symcache_register_name(c->core->machine, n, name), 2 * c->core->word,
			      r->value[n]);
	}
	mk_put(c->out, "</div></details>");
}

static void put_frame(struct mk_core *c, const struct symcache_stack *stack, size_t number,
		      size_t i, const struct symcache_registers *registers)
{
	const struct symcache_unwind_frame *f = &stack->frames[i];
	const struct symcache_code_place *place = mk_core_place(c, f);

	put_row(c, number, f, place->num_frames ? place->frames : NULL);
	if (place->num_frames > 1)
		put_inlined(c, f, place);
	if (f->signal && place->num_frames)
		mk_put(c->out, "<span class=ms>[signal]</span>");
	if (f->trust > SYMCACHE_TRUST_CFI)
		mk_put(c->out, "<span class=ms>[", symcache_trust_text(f->trust), "]</span>");
	if (registers && registers->known)
		put_registers(c, registers);
	mk_put(c->out, "\n");
}

/* ---- stacks ------------------------------------------------------------------------ */

/* What threads do that wait, by the name of the innermost function; NULL: unknown. */
static const char *waits_in(struct mk_core *c, const struct symcache_stack *stack)
{
	static const char *const words[] = {
		"futex", "epoll_wait", "poll", "select", "nanosleep", "pause", "accept", "recv", "send",
		"connect", "sigsuspend", "sigtimedwait", "wait4", "waitpid", "waitid", "read", "write",
		"msgrcv", "semop", "io_getevents", "flock",
	};
	const struct symcache_code_place *place;

	if (!stack->num_frames)
		return NULL;
	place = mk_core_place(c, &stack->frames[0]);
	if (!place->num_frames || is_own(c, stack->frames[0].owner, &place->frames[0]))
		return NULL;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (size_t k = 0; k < place->num_frames; k++)
			if (place->frames[k].function.ptr &&
			    strstr(place->frames[k].function.ptr, words[i]))
				return words[i];
	return NULL;
}

static void put_signal(struct mk_out *o, const struct symcache_core *core)
{
	const char *name = sigabbrev_np(core->signal);

	if (name)
		mk_put(o, "<b class=bad>SIG", name, "</b>");
	else
		mk_put(o, "<b class=bad>signal ", (int64_t)core->signal, "</b>");
}

/* "SIGSEGV thread 25761", "38 threads wait in futex" */
static void put_title(struct mk_out *o, struct mk_core *c, const struct symcache_stack *stack,
		      const size_t *threads, size_t n)
{
	const struct symcache_core_thread *first = &c->core->threads[threads[0]];
	const char *word = waits_in(c, stack);
	const bool died = !threads[0] && c->core->died;

	if (died && c->core->signal) {
		put_signal(o, c->core);
		mk_put(o, " ");
	}
	if (n > 1)
		mk_put(o, "<b>", n, " threads</b>");
	else
		mk_put(o, "thread ", first->tid, *first->name ? " " : "", mk_escaped_text(first->name));
	if (word && !died)
		mk_put(o, n > 1 ? " wait in " : " waits in ", word);
}

/* The head of the page is that of the first stack. */
static void put_crash(struct mk_core *c, const char *row, size_t len, const size_t *threads)
{
	const struct symcache_core *core = c->core;
	struct mk_out *o = &c->head;

	mk_put(o, "<p class=why>");
	if (core->signal)
		put_signal(o, core);
	else
		mk_put(o, core->died ? "no signal" : "a snapshot");
	if (core->has_signal_address)
		mk_put(o, " at ", mk_hex(core->signal_address));
	mk_put(o, "</p>\n<h1>");
	mk_row_whole(o, row, len, false);
	mk_put(o, "</h1>\n<p>");
	if (memmem(row, len, "<cite>", 6)) {
		mk_put(o, "<cite>");
		mk_row_whole(o, row, len, true);
		mk_put(o, "</cite> · ");
	}
	mk_put(o, "<a href=\"#T", core->threads[threads[0]].tid, "\">thread ",
	       core->threads[threads[0]].tid, "</a></p>\n");
}

static void put_outline(struct mk_core *c, const struct symcache_stack *stack, const char *row,
			size_t len, const size_t *threads, size_t n)
{
	struct mk_out *o = &c->outline;

	mk_put(o, "<li><a href=\"#T", c->core->threads[threads[0]].tid, "\"><span>");
	put_title(o, c, stack, threads, n);
	mk_put(o, "</span><small></small><b class=mono>");
	mk_row_part(o, row, len, false);
	mk_put(o, "</b><cite>");
	mk_row_part(o, row, len, true);
	mk_put(o, "</cite></a>\n");
}

static void put_heading(struct mk_core *c, const struct symcache_stack *stack, size_t frames,
			struct sc_str row, const size_t *threads, size_t n)
{
	const struct symcache_core_thread *all = c->core->threads;
	const uint32_t tid = all[threads[0]].tid;
	struct mk_out *o = c->out;

	mk_put(o, "<details class=t id=T", tid, " data-l=T", tid, c->stacks == 1 ? " open" : "",
	       "><summary><h2><span>");
	put_title(o, c, stack, threads, n);
	mk_put(o, " · <b class=fn>");
	mk_row_part(o, row.ptr, row.len, false);
	mk_put(o, "</b> ");
	mk_row_part(o, row.ptr, row.len, true);
	mk_put(o, "</span><small>");
	mk_page_count(o, frames, "frame");
	mk_put(o, "</small><button data-k=c aria-label=\"Copy the stack as text\">Copy</button></h2>"
		  "</summary>");
	if (n > 1) {
		mk_put(o, "<p class=\"ids mono\">");
		for (size_t i = 0; i < n && i < IDS_MAX; i++)
			mk_put(o, i ? " " : "", all[threads[i]].tid);
		mk_put(o, n > IDS_MAX ? " …</p>" : "</p>");
	}
}

void mk_core_html_begin(struct mk_core *c, const struct mk_page_links *links)
{
	const struct sc_str name = sc_basename(sc_str_of(c->path));

	mk_page_begin(c->out, MK_PAGE_CORE, mk_escaped(name), links);
	mk_page_bar(c->out, MK_PAGE_CORE, c->path, "Threads");
	mk_put(c->out, "<div class=page>\n<main>\n<div id=log tabindex=-1>\n");
}

void mk_core_html_stack(struct mk_core *c, const struct symcache_stack *stack, size_t left_out,
			const size_t *threads, size_t num_threads)
{
	const struct symcache_image *lacking = stack->lacks;
	const size_t n = stack->num_frames;
	struct mk_out row = { 0 }, *o = c->out;

	c->stacks++;
	c->shown += num_threads;
	put_main_row(c, stack, &row);
	if (c->stacks == 1)
		put_crash(c, row.buf, row.len, threads);
	put_outline(c, stack, row.buf, row.len, threads, num_threads);
	put_heading(c, stack, n + left_out, (struct sc_str){ row.buf, row.len }, threads,
		    num_threads);
	mk_put(o, "<ol class=b>");
	for (size_t i = 0; i < n; i++) {
		const bool behind = left_out && i >= n - MK_CORE_LAST;

		if (behind && i == n - MK_CORE_LAST)
			mk_put(o, "<li class=f><span class=ms>", left_out,
			       " frames more (--format json has all)</span>\n");
		put_frame(c, stack, behind ? i + left_out : i, i, i ? stack->registers ?
			  &stack->registers[i] : NULL : &c->core->threads[threads[0]].registers);
	}
	mk_put(o, "</ol><p class=\"ids dim\">");
	mk_put(o, symcache_stop_text(stack->stop));
	if (stack->stop == SYMCACHE_STOP_MEMORY)
		mk_put(o, " at ", mk_hex(stack->address));
	if (lacking)
		mk_put(o, ": ", mk_escaped_text(lacking->name));
	mk_put(o, "</p></details>\n");
	if (row.error)
		o->error = row.error;
	mk_out_deinit(&row);
}

/* ---- the end ------------------------------------------------------------------------ */

static const char *lacks(const struct symcache_image *m)
{
	return !m->asked ? NULL : !m->cache ? "not in the store" :
	       !m->cache->unwind.facts ? "no unwind information" :
	       !m->cache->header->num_functions ? "no symbols" : NULL;
}

static void put_modules(struct mk_core *c)
{
	char id[SYMCACHE_BUILD_ID_TEXT];
	struct mk_out *o = c->out;
	size_t n = 0;

	for (size_t i = 0; i < c->core->num_modules; i++)
		n += lacks(c->core->modules[i]) != NULL;
	mk_put(o, "<details class=need id=modules><summary>");
	if (n)
		mk_put(o, "<span class=bad>", n, " of ");
	mk_page_count(o, c->core->num_modules, "module");
	mk_put(o, n == 1 ? " lacks something</span>" : n ? " lack something</span>" : "",
	       "</summary>\n<div class=wrap><table><thead><tr><th class=num>frames<th>module"
	       "<th>build ID<th class=wide>start</thead><tbody>\n");
	for (size_t i = 0; i < c->core->num_modules; i++) {
		const struct symcache_image *m = c->core->modules[i];

		symcache_build_id_text(id, m->build_id, m->build_id_len);
		mk_put(o, "<tr><td class=num>", m->frames, "<td><code>",
		       mk_escaped_text(*m->path ? m->path : m->name), "</code>");
		if (lacks(m))
			mk_put(o, " <span class=bad>", lacks(m), "</span>");
		mk_put(o, "<td><code>", *id ? id : "unknown", "</code><td class=wide><code>",
		       mk_addr(m->start), "</code>\n");
	}
	mk_put(o, "</table></div>\n</details>\n");
}

void mk_core_html_end(struct mk_core *c)
{
	const struct symcache_core *core = c->core;
	struct mk_out *o = c->out;

	mk_put(o, "</div>\n<section class=head id=head aria-label=\"What crashed\">\n");
	mk_out_put(o, c->head.buf, c->head.len);
	mk_put(o, "<dl class=facts>\n<div><dt>program<dd>",
	       mk_escaped_text(*core->arguments ? core->arguments :
			       *core->command ? core->command : "unknown"), "</div>\n");
	mk_put(o, "<div><dt>process<dd>");
	if (core->pid)
		mk_put(o, core->pid, ", ");
	mk_put(o, mk_machine_name(core->machine), "</div>\n<div><dt>threads<dd>", c->shown, " in ");
	mk_page_count(o, c->stacks, "stack");
	mk_put(o, "</div>\n</dl>\n");
	put_modules(c);
	mk_put(o, "</section>\n</main>\n<nav popover id=o aria-label=Threads><h2>");
	mk_page_count(o, c->shown, "thread");
	mk_put(o, ", ");
	mk_page_count(o, c->stacks, "stack");
	mk_put(o, "</h2><ol>\n");
	mk_out_put(o, c->outline.buf, c->outline.len);
	mk_put(o, "</ol></nav>\n</div>\n");
	mk_page_end(o, MK_PAGE_CORE);
}
