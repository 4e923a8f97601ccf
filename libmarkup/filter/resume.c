/* A log in parts: see markup.h. Chunks begin where the input may be cut (filter.h), so the
 * last of them does, and behind the others is what the caller's stream knows. */
#include <errno.h>

#include "libmarkup/filter/filter.h"
#include "libmarkup/resolve/saved.h"

bool markup_filter_cut(struct markup_filter *p, struct markup_cut *ret)
{
	const struct mk_stream *s = p->workers[0].s;

	*ret = (struct markup_cut){ p->added - p->filling->len, p->line_no };
	return p->clean && !s->whole && !s->output.renderer->whole;
}

int markup_filter_save(struct markup_filter *p, char **ret, size_t *len)
{
	struct mk_out o;
	int rc = mk_out_init(&o, 4096, NULL, NULL);

	if (!rc) {
		mk_filter_work(p, 0);
		mk_contexts_save(&p->workers[0].s->resolve, &o);
		rc = p->error ? p->error : o.error;
	}
	*ret = rc ? NULL : o.buf;
	*len = o.len;
	if (rc)
		mk_out_deinit(&o);
	return rc;
}

int markup_filter_keep_tables(struct markup_filter *p)
{
	struct mk_words *scan = &p->workers[0].s->resolve.ahead.words;
	const struct mk_words *tables = &p->tables.words;

	/* Plain text is looked through once, for both. */
	p->tables.found = tables->num && scan->num + tables->num <= MK_WORDS_MAX;
	for (unsigned i = 0; i < tables->num && p->tables.found; i++) {
		char word[MK_WORD_LEN + 1] = "";

		memcpy(word, &tables->words[i], MK_WORD_LEN);
		mk_words_add(scan, word);
	}
	return mk_out_init(&p->tables.kept, 256, NULL, NULL);
}

int markup_filter_tables(struct markup_filter *p, struct sc_str *ret)
{
	const int rc = markup_filter_flush(p);

	return rc ? rc :
		    mk_tables_kept(&p->tables, p->filling->data, p->filling->len, p->line_no, ret);
}

void markup_filter_give_tables(struct markup_filter *p, const void *tables, size_t len)
{
	p->tables.given = len ? tables : "";
	p->tables.given_len = len;
}

int markup_filter_resume(struct markup_filter *p, uint64_t lines, const void *saved, size_t len)
{
	if (p->started || p->added)
		return -EINVAL;
	p->line_no = lines;
	return mk_contexts_load(&p->workers[0].s->resolve, saved, len);
}
