/*
 * tables.h: what a log says of where modules are mapped, in tables of many lines: maps of
 * /proc, mappings of gdb. A table may stand before the frames that need it, or behind them.
 *
 *   lines → rows → tables, in the order of the log, each of one process
 *
 * A frame gets the row that covers its address, from the nearest table of its process. Where
 * an input can be read once more, all of its tables are known from the first such frame on;
 * else those that came before it.
 *
 * A table goes on while its lines are near each other and addresses ascend. Memory is bounded:
 * what comes when TABLE_ROWS_MAX are known is left out.
 */
#ifndef MARKUP_TABLES_H
#define MARKUP_TABLES_H

#include <pthread.h>

#include "libmarkup/bytes/out.h"
#include "libmarkup/bytes/words.h"
#include "libmarkup/input/input.h"
#include "libmarkup/resolve/demux.h"

#define TABLE_ROWS_MAX  (1u << 19)
#define TABLE_BYTES_MAX (64u << 20) /* of lines that are kept for other filters */

/* Where a log is cut, its lines of tables are kept for the filters of its parts, behind each
 * other, so that none of these has to read the log: each takes them as it would in the log. */
struct mk_table_line {
	uint64_t line;             /* little-endian, as all */
	uint32_t len;              /* bytes that follow, without a newline */
} __attribute__((packed));
_Static_assert(sizeof(struct mk_table_line) == 12, "line of a table");

/* A part of a file in the memory of a process. */
struct mk_table_row {
	uint64_t start, end;       /* addresses */
	uint64_t line;
	uint64_t from;             /* what `start` is in the file, from `origin` on */
	enum markup_origin origin; /* MARKUP_FROM_FILE, or MARKUP_FROM_LOAD_BASE */
	uint64_t first_page;       /* where that of the file is mapped; 0: unknown */
	struct sc_str name, build_id;     /* of hex digits, len 0: unknown */
};

struct mk_tables {
	pthread_mutex_t lock;
	const struct mk_input *const *inputs;
	struct mk_words words;     /* that lines of tables have */
	VEC(struct mk_table *) tables; /* by their first line */
	size_t num_rows;
	void *texts;               /* tree of names and build IDs */
	size_t text_bytes;
	char *tail;                /* beginning of a line whose end has not come */
	size_t tail_len;
	/* Reads the input once more, from its beginning: the next bytes; 0: the end, or it cannot
	 * be read. NULL: it cannot be. */
	size_t (*again)(void *ctx, char *buf, size_t size);
	void *again_ctx;
	const char *given;         /* what mk_tables_kept() gave elsewhere, or NULL */
	size_t given_len;
	bool all;                  /* that was done */
	/* The first addresses without a process that were in no table before them, where tables behind
	 * them cannot be read. */
	struct {
		uint64_t line, address;
	} missed[256];
	size_t num_missed;
	struct mk_out kept;        /* all zero: lines are not kept */
	bool found;                /* plain text is known to have none of the words */
	const struct mk_demux *demux; /* for the keys of processes */
};

void mk_tables_init(struct mk_tables *t, const struct mk_input *const *inputs,
		    const struct mk_demux *demux);
void mk_tables_deinit(struct mk_tables *t);

/* Another input begins. */
void mk_tables_reset(struct mk_tables *t);

/* Takes the tables in the next bytes of an input that cannot be read again; `line_no` lines are
 * before them. `plain`: they are whole lines without a word of a format. */
void mk_tables_take(struct mk_tables *t, const char *p, size_t len, uint64_t line_no, bool plain);

/* The rest of the input, and all lines of its tables, if t->kept was made for them; *ret is
 * t's. -E2BIG: more than TABLE_BYTES_MAX; -ENOMEM. */
int mk_tables_kept(struct mk_tables *t, const char *p, size_t len, uint64_t line_no,
		   struct sc_str *ret);

/* At the end of the input: how many addresses, of the first ones at least, were not found because
 * their tables stand behind them, and the input cannot be read again. */
size_t mk_tables_late(struct mk_tables *t);

/* The row that a frame in line `line_no` needs, whose process is `key`. Its texts stay until the
 * next input. Thread-safe. */
bool mk_tables_find(struct mk_tables *t, struct sc_str key, uint64_t line_no,
		    uint64_t address, struct mk_table_row *ret);

#endif
