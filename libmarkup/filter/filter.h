/*
 * pool.h: the pool from inside: what its parts share.
 *
 *   pool.c         bytes of an input → chunks in their order; the interface
 *   pool_events.c  what the chunks of others do to the state of a filter
 *   pool_work.c    the workers
 *   pool_output.c  what came of the chunks → the sink, in their order
 *
 *   input → chunks, cut where nothing is open (cut.h)
 *             |
 *             +→ thread 1: its filter →\
 *             +→ the caller's: its own →+→ written in the order of the chunks
 *             +→ plain text ───────────/
 *
 * Each worker has a whole filter of its own. The filters agree on modules and
 * maps because each of them sees every contextual line of the log: those of the
 * chunks of others it is fed silently, as `events`, before the next chunk of its
 * own. Where the input could not be cut cleanly the whole chunk is such an
 * event. So every filter is in the state it would be in had it seen everything,
 * and the output does not depend on who filtered what.
 *
 * The caller's thread is one of the workers: it filters a chunk whenever enough
 * are in flight, so that with n workers n threads are busy.
 *
 * Memory: a bounded number of chunks; the output of one that is not yet its turn
 * is kept up to OUT_MAX, then its thread waits.
 */
#ifndef MARKUP_POOL_H
#define MARKUP_POOL_H

#include <pthread.h>

#include "libmarkup/state.h"

#define CHUNK     (64u << 10)
#define OUT_MAX   (8u << 20)
#define IN_FLIGHT 4u /* chunks for each worker */

/* Output that waits for its turn; `buf` has MARKUP_OUT_BUFFER bytes, or `len` if
 * they are more. */
struct piece {
	char *buf;
	size_t len;
};

struct chunk {
	struct chunk *next;
	uint64_t seq;
	uint64_t line_no;  /* lines before it */
	char *data;        /* CHUNK bytes */
	size_t len;
	bool plain;        /* comes out as it is */
	bool last;         /* of its input */
	bool done;
	/* What came of it and was not written yet. */
	struct piece *pieces;
	size_t num_pieces, cap_pieces, kept; /* bytes in all pieces */
	struct markup_out complaints; /* of struct complaint, each with its text */
	struct markup_out dumpfiles;
	struct missing_table missing;
};

/* What a chunk does to the state of a filter. */
struct event {
	uint64_t seq; /* of the chunk */
	bool whole;   /* all of it; else its contextual lines */
	bool last;    /* the input ends behind it */
	size_t len;
	char bytes[];
};

struct worker {
	struct markup_pool *pool;
	struct markup_filter *f;
	pthread_t thread;     /* of all but the first, who is the caller */
	struct chunk *chunk;  /* at hand; NULL: an event, to be silent about */
	uint64_t next_event;  /* number of the next one to see */
};

struct markup_pool {
	struct markup_sink sink;
	unsigned n;                    /* workers */
	unsigned running;              /* those at work: the caller and the threads */
	bool started;                  /* the threads were */
	struct worker *workers;
	const char *input;
	uint64_t input_number;
	bool begun;                    /* the head of the output is written */
	enum markup_scan_for scan_for;
	bool every_line;

	/* The input. */
	struct chunk *filling;
	uint64_t line_no;     /* lines before it */
	bool clean;           /* nothing is open where it begins */

	/* Shared, under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop, writing;
	_Atomic int error;
	struct chunk *first, *last;    /* in flight, in order */
	struct chunk *untaken;         /* the first that nobody has taken */
	struct chunk *unused;
	char **buffers;                /* for pieces, unused */
	size_t num_buffers, cap_buffers;
	unsigned in_flight;
	uint64_t next_seq;             /* of the next chunk */
	struct event **events;         /* ring: number i is at i % cap_events */
	uint64_t first_event, num_events, cap_events; /* numbers of all there were */

	/* The sum of what the chunks gave, in their order. */
	struct markup_stats stats;
	struct missing_table missing;
	struct markup_out dumpfiles;
};

/* ---- pool_output.c -------------------------------------------------------- */

/* The sink of a worker's filter. */
int mk_pool_take_output(void *worker, const char *data, size_t len);
void mk_pool_take_complaint(void *worker, const char *data, size_t len);

/* Writes all chunks whose turn has come, and wakes who waits. Called and returns
 * with the lock held. */
void mk_pool_advance(struct markup_pool *p);

/* Writes the head of the output or, if `end`, what closes it. Nothing is in
 * flight. */
void mk_pool_write_frame(struct markup_pool *p, bool end);

void mk_pool_free_chunks(struct markup_pool *p, struct chunk *c); /* with what follows */

/* ---- pool_events.c -------------------------------------------------------- */

/* What the chunk does to the state; NULL in *ret: nothing. False: no memory. */
bool mk_pool_make_event(const struct chunk *c, bool whole, struct event **ret);

/* Puts an event behind the others, and forgets those that all have seen. Under the
 * lock. False: no memory. */
bool mk_pool_push_event(struct markup_pool *p, struct event *e);

/* Lets the filter see what was announced in the chunks before `seq` that were
 * not its own. Called and returns with the lock held. */
void mk_pool_catch_up(struct worker *w, uint64_t seq);

void mk_pool_free_events(struct markup_pool *p);

/* ---- pool_work.c ---------------------------------------------------------- */

/* Starts the threads; their filters take over the state of the first, which is
 * clean. False: no memory. */
bool mk_pool_start(struct markup_pool *p);
void mk_pool_stop(struct markup_pool *p);

/* Filters the chunks in flight, with the threads, until at most `most` are left. */
void mk_pool_work(struct markup_pool *p, unsigned most);

#endif
