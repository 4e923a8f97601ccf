/* Tables of modules and addresses: see tables.h. */
#include "libmarkup/resolve/tables.h"

#include <endian.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"
#include "libsymcache/base/error.h"

#define LINES_BETWEEN 64u         /* of a table, at most */
#define TABLES_TRIED  64u         /* before a frame, and behind it */
#define UNSORTED_MAX  1024u       /* rows of a line */
#define BLOCK         (256u << 10) /* bytes of a line, at most */
#define TOO_LONG      (BLOCK + 1)  /* the length of a beginning that is */

struct mk_table {
	char key[DEMUX_KEY_MAX];  /* of its process */
	size_t key_len;
	uint64_t first, last;     /* lines */
	uint64_t end;             /* no address that is higher came */
	struct sc_str name;       /* of its last line, with its offset, and where the first
	                           * page of that file is mapped; 0: unknown */
	uint64_t offset, first_page;
	VEC(struct mk_table_row) rows; /* ascending */
};

void mk_tables_init(struct mk_tables *t, const struct mk_input *const *inputs,
		    const struct mk_demux *demux)
{
	pthread_mutex_init(&t->lock, NULL);
	t->inputs = inputs;
	t->demux = demux;
	for (; *inputs; inputs++)
		for (const char *const *w = (*inputs)->table_words; w && *w; w++)
			mk_words_add(&t->words, *w);
}

void mk_tables_reset(struct mk_tables *t)
{
	for (size_t i = 0; i < t->tables.len; i++) {
		vec_deinit(&t->tables.data[i]->rows);
		free(t->tables.data[i]);
	}
	if (t->texts)
		tdestroy(t->texts, free);
	t->texts = NULL;
	t->tables.len = t->num_rows = t->text_bytes = t->tail_len = t->num_missed = 0;
	t->all = false;
	t->again = NULL;
	t->given = NULL;
	mk_out_deinit(&t->kept);
}

void mk_tables_deinit(struct mk_tables *t)
{
	mk_tables_reset(t);
	vec_deinit(&t->tables);
	free(t->tail);
	pthread_mutex_destroy(&t->lock);
}

/* ---- rows → tables ------------------------------------------------------------------- */

struct text {
	size_t len;
	char bytes[];
};

static int compare_texts(const void *a, const void *b)
{
	const struct text *x = a, *y = b;

	return x->len != y->len ? (x->len > y->len ? 1 : -1) : memcmp(x->bytes, y->bytes, x->len);
}

/* The text as it is kept; ptr NULL: no room. Equal ones are kept once. */
static struct sc_str keep(struct mk_tables *t, struct sc_str s)
{
	const struct sc_str none = { NULL, 0 };
	struct text *new, **found;

	if (!s.len || s.len > MARKUP_NAMES_MAX - t->text_bytes)
		return none;
	new = malloc(sizeof(*new) + s.len);
	if (new) {
		new->len = s.len;
		memcpy(new->bytes, s.ptr, s.len);
	}
	found = new ? tsearch(new, &t->texts, compare_texts) : NULL;
	if (!found)
		sc_memory_refused();
	if (!found || *found != new)
		free(new);
	else
		t->text_bytes += s.len;
	return found ? (struct sc_str){ (*found)->bytes, s.len } : none;
}

/* The table of the process that goes on with this line, or a new one; NULL: no memory. */
static struct mk_table *table_of(struct mk_tables *t, struct sc_str key, uint64_t line,
				 const struct mk_row *row)
{
	struct mk_table *table;

	if (key.len > DEMUX_KEY_MAX)
		key.len = DEMUX_KEY_MAX;
	for (size_t i = t->tables.len, tried = 0; i-- && tried < TABLES_TRIED; tried++) {
		table = t->tables.data[i];
		if (!sc_str_same((struct sc_str){ table->key, table->key_len }, key))
			continue;
		if (row->end ? row->start >= table->end && line - table->last <= LINES_BETWEEN
			     : line - table->last <= row->listed && table->end == UINT64_MAX)
			return table;
		break;
	}
	if (!vec_reserve(&t->tables, 1) || !(table = calloc(1, sizeof(*table)))) {
		sc_memory_refused();
		return NULL;
	}
	if (key.len) /* its ptr may be NULL then */
		memcpy(table->key, key.ptr, key.len);
	table->key_len = key.len;
	table->first = line;
	return t->tables.data[t->tables.len++] = table;
}

static void add_row(struct mk_tables *t, struct sc_str key, uint64_t line,
		    const struct mk_row *row)
{
	struct mk_table *table = t->num_rows < TABLE_ROWS_MAX
					 ? table_of(t, key, line, row) : NULL;
	struct mk_table_row *rows;
	bool same;

	if (!table)
		return;
	t->num_rows++; /* also of a table without code */
	table->last = line;
	table->end = row->end ? row->end : UINT64_MAX; /* no other line goes on with it */
	same = table->name.len && sc_str_same(table->name, row->name);
	/* Several rows of offset 0 are one image: linkers put the headers and the first code into
	 * one page of the file. */
	if (!same || (!row->offset && table->offset))
		table->first_page = row->offset ? 0 : row->start;
	table->offset = row->offset;
	table->name = keep(t, row->name);
	if (!row->code || !table->name.len || (!row->end && table->rows.len == UNSORTED_MAX))
		return;
	if (!vec_push(&table->rows))
		return;
	rows = &table->rows.data[table->rows.len - 1];
	for (; !row->end && rows > table->rows.data && rows[-1].start > row->start; rows--)
		*rows = rows[-1];
	*rows = (struct mk_table_row){
		.start = row->start, .end = row->end, .line = line, .name = table->name,
		.build_id = keep(t, row->build_id),
		.from = row->from_code ? 0 : row->offset, .first_page = row->whole ? 0 : table->first_page,
		.origin = row->from_code ? MARKUP_FROM_CODE :
			  row->whole ? MARKUP_FROM_LOAD_BASE : MARKUP_FROM_FILE,
	};
}

static void take_line(struct mk_tables *t, const char *p, const char *end, uint64_t line_no)
{
	char buf[DEMUX_REGEX_MAX];
	struct sc_str key = { NULL, 0 };
	struct mk_row row;

	for (const struct mk_input *const *in = t->inputs; *in; in++) {
		const char *pos = p;

		row = (struct mk_row){ 0 };
		while ((*in)->read_row && (*in)->read_row(&pos, end, &row)) {
			if (!key.ptr)
				key = mk_demux_key_of(t->demux, p, row.at, buf);
			if (!key.ptr) /* none, for all rows */
				key.ptr = p;
			add_row(t, key, line_no, &row);
			row = (struct mk_row){ .at = pos };
		}
	}
}

/* Puts down a line of a table for other filters. */
static void keep_line(struct mk_tables *t, const char *p, const char *end, uint64_t line_no)
{
	const struct mk_table_line head = { htole64(line_no), htole32((uint32_t)(end - p)) };

	if (t->kept.len > TABLE_BYTES_MAX)
		return;
	mk_out_put(&t->kept, (const char *)&head, sizeof(head));
	mk_out_put(&t->kept, p, (size_t)(end - p));
}

/* Whole lines; *line_no goes on. One that is too long has no table. */
static void take_lines(struct mk_tables *t, const char *p, const char *end, uint64_t *line_no)
{
	const char *hit, *bol, *eol;
	size_t rows;

	while (p < end && (hit = mk_words_find(&t->words, p, end, line_no))) {
		bol = memrchr(p, '\n', (size_t)(hit - p));
		bol = bol ? bol + 1 : p;
		eol = memchr(hit, '\n', (size_t)(end - hit));
		p = eol ? eol : end;
		rows = t->num_rows;
		if ((size_t)(p - bol) < BLOCK)
			take_line(t, bol, p, *line_no);
		if (t->num_rows != rows && t->kept.buf)
			keep_line(t, bol, p, *line_no);
		p += eol != NULL;
		*line_no += eol != NULL;
	}
}

/* Keeps the beginning of a line. */
static void keep_tail(struct mk_tables *t, const char *p, const char *end)
{
	const size_t len = (size_t)(end - p);

	if (!t->tail)
		t->tail = malloc(BLOCK + 1);
	if (!t->tail || len > BLOCK - t->tail_len)
		t->tail_len = TOO_LONG;
	else if (t->tail_len != TOO_LONG)
		t->tail_len = (size_t)((char *)mempcpy(t->tail + t->tail_len, p, len) - t->tail);
}

/* The next bytes, where *line_no lines are before them; it goes on. */
static void take_bytes(struct mk_tables *t, const char *p, size_t len, uint64_t *line_no)
{
	const char *end = p + len, *eol = t->tail_len ? memchr(p, '\n', len) : NULL;

	if (eol) {
		keep_tail(t, p, eol + 1);
		if (t->tail_len != TOO_LONG)
			take_lines(t, t->tail, t->tail + t->tail_len, line_no);
		else
			++*line_no;
		t->tail_len = 0;
		p = eol + 1;
	}
	eol = t->tail_len ? NULL : memrchr(p, '\n', (size_t)(end - p));
	if (eol) {
		take_lines(t, p, eol + 1, line_no);
		p = eol + 1;
	}
	if (p < end)
		keep_tail(t, p, end);
}

/* The last line, which does not end. */
static void take_tail(struct mk_tables *t, uint64_t line_no)
{
	if (t->tail_len && t->tail_len != TOO_LONG)
		take_lines(t, t->tail, t->tail + t->tail_len, &line_no);
	t->tail_len = 0;
}

void mk_tables_take(struct mk_tables *t, const char *p, size_t len, uint64_t line_no, bool plain)
{
	if (t->again || t->given || !t->words.num || (plain && t->found && !t->tail_len))
		return;
	pthread_mutex_lock(&t->lock);
	take_bytes(t, p, len, &line_no);
	pthread_mutex_unlock(&t->lock);
}

int mk_tables_kept(struct mk_tables *t, const char *p, size_t len, uint64_t line_no,
		   struct sc_str *ret)
{
	take_bytes(t, p, len, &line_no);
	take_tail(t, line_no);
	*ret = (struct sc_str){ t->kept.buf, t->kept.len };
	return t->kept.error ? t->kept.error : t->kept.len > TABLE_BYTES_MAX ? -E2BIG : 0;
}

/* Reads the whole input for its tables. */
static void read_all(struct mk_tables *t)
{
	char *buf = malloc(BLOCK);
	uint64_t line_no = 0;
	size_t got;

	while (buf && (got = t->again(t->again_ctx, buf, BLOCK)))
		take_bytes(t, buf, got, &line_no);
	take_tail(t, line_no);
	free(buf);
}

/* Takes the lines that another filter kept; what is damaged ends them. */
static void take_given(struct mk_tables *t)
{
	const char *p = t->given, *end = p + t->given_len;
	struct mk_table_line head;
	uint64_t last = 0;

	while ((size_t)(end - p) >= sizeof(head)) {
		memcpy(&head, p, sizeof(head));
		p += sizeof(head);
		if (le32toh(head.len) > (size_t)(end - p) || le64toh(head.line) < last)
			return;
		last = le64toh(head.line);
		take_line(t, p, p + le32toh(head.len), last);
		p += le32toh(head.len);
	}
}

/* ---- look-up ------------------------------------------------------------------------- */

struct wanted_row {
	struct sc_str key;
	uint64_t line, address;
	bool before; /* lines before it alone count */
};

/* The row of a table that is wanted, or NULL. */
static const struct mk_table_row *row_in(const struct mk_table *table, const struct wanted_row *w)
{
	const struct mk_table_row *row;
	size_t low = 0, high = table->rows.len, mid;

	if (!sc_str_same((struct sc_str){ table->key, table->key_len }, w->key))
		return NULL;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (table->rows.data[mid].start <= w->address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	row = &table->rows.data[low - 1];
	return (row->end && w->address >= row->end) || (w->before && row->line > w->line) ? NULL :
											    row;
}

static const struct mk_table_row *find(const struct mk_tables *t, const struct wanted_row *w)
{
	const struct mk_table_row *before = NULL, *behind = NULL;
	size_t low = 0, high = t->tables.len, mid;
	uint64_t distance = 0;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (t->tables.data[mid]->first <= w->line)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low, tried = 0; !before && i-- && tried < TABLES_TRIED; tried++) {
		before = row_in(t->tables.data[i], w);
		distance = w->line > t->tables.data[i]->last ? w->line - t->tables.data[i]->last : 0;
	}
	if (w->before)
		return before;
	for (size_t i = low; !behind && i < t->tables.len && i - low < TABLES_TRIED; i++) {
		behind = row_in(t->tables.data[i], w);
		if (behind && (!before || t->tables.data[i]->first - w->line < distance))
			return behind;
	}
	return before;
}

bool mk_tables_find(struct mk_tables *t, struct sc_str key, uint64_t line_no,
		    uint64_t address, struct mk_table_row *ret)
{
	struct wanted_row w = { key, line_no, address, !t->again && !t->given };
	const struct mk_table_row *row;

	if (w.key.len > DEMUX_KEY_MAX)
		w.key.len = DEMUX_KEY_MAX;
	pthread_mutex_lock(&t->lock);
	if (!t->all && t->given)
		take_given(t);
	else if (!t->all && t->again)
		read_all(t);
	t->all = true;
	row = find(t, &w);
	if (row)
		*ret = *row;
	else if (w.before && !key.len && t->num_missed < sizeof(t->missed) / sizeof(*t->missed)) {
		t->missed[t->num_missed].line = line_no;
		t->missed[t->num_missed++].address = address;
	}
	pthread_mutex_unlock(&t->lock);
	return row;
}

size_t mk_tables_late(struct mk_tables *t)
{
	size_t late = 0;

	for (size_t i = 0; i < t->num_missed && t->tables.len; i++) {
		const struct wanted_row w = { .line = t->missed[i].line,
					      .address = t->missed[i].address };

		late += find(t, &w) != NULL;
	}
	return late;
}
