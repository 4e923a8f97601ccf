/* What is known at the end of a log, and shown first: what crashed, counts, modules, the list of
 * backtraces: see compose.h. */
#include "libmarkup/output/html/compose.h"

static void put_facts(struct mk_page *p, const struct markup_stats *stats)
{
	struct mk_out *o = &p->out;
	const uint64_t missing = stats->frames - stats->frames_resolved;

	if (p->crash.len)
		mk_out_put(o, p->crash.buf, p->crash.len);
	else
		mk_out_lit(o, "<h1>No backtraces</h1>\n<dl class=facts>\n");
	mk_put(o, "<div><dt>backtraces<dd>", p->traces, "</div>\n<div><dt>lines<dd>", p->lines,
	       "</div>\n<div><dt>addresses<dd>", stats->frames);
	if (stats->frames)
		mk_put(o, ": ", stats->frames_resolved, " resolved");
	if (missing)
		mk_put(o, ", <span class=bad>", missing, " without symbols</span>");
	mk_out_lit(o, "</div>\n</dl>\n");
}

static void put_module(struct mk_out *o, const struct markup_module *m,
		       const struct markup_module *missing)
{
	mk_put(o, "<tr><td class=num>", missing ? missing->frames : 0, "<td><code>",
	       mk_escaped(m->name), "</code><td><code>");
	if (m->build_id_len)
		mk_out_bytes(o, m->build_id, m->build_id_len);
	else
		mk_put(o, "not in the log: --module=", mk_escaped(sc_basename(m->name)), "=FILE");
	mk_out_lit(o, "</code><td>");
	if (missing && missing->no_symbols)
		mk_out_lit(o, "<span class=bad>no symbols</span>");
	else
		mk_put(o, m->symbols ? m->symbols : "<span class=dim>not needed</span>");
	mk_out_lit(o, "\n");
}

/* A command with the build IDs that are missing. */
static void put_command(struct mk_out *o, const struct mk_modules *missing, const char *why,
			const char *command)
{
	mk_page_command(o, why);
	mk_put(o, command);
	for (uint32_t i = 0; i < missing->len; i++) {
		const struct markup_module *m = missing->entries[i];

		if (!m->no_symbols || !m->build_id_len)
			continue;
		mk_out_lit(o, " ");
		mk_out_bytes(o, m->build_id, m->build_id_len);
	}
	mk_page_command_end(o);
}

static void put_modules(struct mk_out *o, const struct mk_modules *seen,
			const struct mk_modules *missing)
{
	size_t none = 0, with_id = 0;

	for (uint32_t i = 0; i < missing->len; i++) {
		none += missing->entries[i]->no_symbols;
		with_id += missing->entries[i]->no_symbols && missing->entries[i]->build_id_len;
	}
	if (!seen->len)
		return;
	mk_out_lit(o, "<details class=need id=modules><summary>");
	if (none)
		mk_put(o, "<span class=bad>", none, " of ");
	mk_page_count(o, seen->len, "module");
	mk_put(o, none == 1 ? " lacks symbols</span>" : none ? " lack symbols</span>" : "",
	       "</summary>\n<div class=wrap><table><thead><tr><th class=num>not found<th>module"
	       "<th>build ID<th>symbols</thead><tbody>\n");
	for (int wanted = 1; wanted >= 0; wanted--) {
		for (uint32_t i = 0; i < seen->len; i++) {
			const struct markup_module *m = seen->entries[i];
			const struct markup_module *lacks = mk_modules_find(missing, m->name,
									    m->build_id, m->build_id_len);

			if ((lacks && lacks->no_symbols) == wanted)
				put_module(o, m, lacks);
		}
	}
	mk_out_lit(o, "</table></div>\n");
	if (with_id) {
		put_command(o, missing, "What the store lacks, from the servers in DEBUGINFOD_URLS:",
			    "symcache index --debuginfod");
		put_command(o, missing, "Or on a machine whose store has them; then <code>symcache "
			    "import</code> here:", "symcache export -o missing.tar.zst");
	}
	mk_out_lit(o, "</details>\n");
}

void mk_page_head(struct mk_page *p, const struct mk_modules *seen,
		  const struct mk_modules *missing, const struct markup_stats *stats)
{
	struct mk_out *o = &p->out;

	mk_out_lit(o, "<section class=head id=head aria-label=\"What crashed\">\n");
	put_facts(p, stats);
	put_modules(o, seen, missing);
	mk_out_lit(o, "</section>\n</main>\n<nav popover id=o aria-label=Backtraces><h2>");
	mk_page_count(o, p->traces, "backtrace");
	mk_out_lit(o, "</h2><ol>\n");
	mk_out_put(o, p->outline.buf, p->outline.len);
	if (p->traces > OUTLINE_MAX)
		mk_put(o, "<li class=more>and ", p->traces - OUTLINE_MAX, " more");
	mk_out_lit(o, "</ol></nav>\n</div>\n");
}
