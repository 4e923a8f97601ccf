/*
 * filter.h: the filter from inside: what its parts share.
 *
 *   filter.c   bytes of an input → chunks in their order; the interface
 *   cut.c      where they may be cut
 *   workers.c  the threads, each with a stream (stream.c)
 *   follow.c   what the chunks of others do to the context of a stream
 *   merge.c    what came of the chunks → the sink, in their order
 *   resume.c   a log in parts: where it may be cut, and what is known there
 *   tally.c    counts and modules without symbols, of several filters together
 *
 *   input → chunks, cut where nothing is open (cut.h)
 *             |
 *             +→ thread 1: its stream →\
 *             +→ the caller's: its own →+→ written in the order of the chunks
 *             +→ plain text ───────────/
 *
 * Each worker has a whole stream of its own. They agree on modules and maps because
 * each of them sees every contextual line of the log: those of the chunks of others it
 * follows silently, as `notices`, before the next chunk of its own. Where the input could
 * not be cut cleanly the whole chunk is such a notice. So every stream is in the state it
 * would be in had it seen everything, and the output does not depend on who filtered
 * what.
 *
 * The caller's thread is one of the workers: it filters a chunk whenever enough
 * are in flight, so that with n workers n threads are busy.
 *
 * Memory: a bounded number of chunks; the output of one that is not yet its turn
 * is kept up to OUT_MAX, then its thread waits.
 */
#ifndef MARKUP_FILTER_H
#define MARKUP_FILTER_H

#include <pthread.h>

#include "libmarkup/filter/stream.h"

#define CHUNK     (64u << 10)
#define OUT_MAX   (8u << 20)
#define IN_FLIGHT 4u /* chunks for each worker */

/* Output that waits for its turn; `buf` has OUT_BUFFER bytes, or `len` if
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
	VEC(struct piece) pieces;
	size_t kept;       /* bytes in all pieces */
	struct mk_out complaints; /* of struct complaint, each with its text */
	struct mk_out dumpfiles;
	struct mk_modules missing, lines; /* of the stream */
};

/* What a chunk does to the context. */
struct notice {
	uint64_t seq; /* of the chunk */
	bool whole;   /* all of it; else its contextual lines */
	bool last;    /* the input ends behind it */
	size_t len;
	char bytes[];
};

struct worker {
	struct markup_filter *filter;
	struct mk_stream *s;
	pthread_t thread;     /* of all but the first, who is the caller */
	struct chunk *chunk;  /* the current one; NULL: a notice, to be silent about */
	uint64_t next_notice; /* number of the next one to see */
};

struct markup_filter {
	struct markup_sink sink;
	unsigned n;                    /* workers */
	unsigned running;              /* those at work: the caller and the threads */
	bool started;                  /* the threads were */
	struct worker *workers;
	const char *input;
	const struct mk_whole *whole_kind; /* of the renderer; NULL: its output is none */
	void *whole;
	char *title;                   /* of the options; owned */
	struct markup_options options;
	struct mk_tables tables;       /* of the input */

	/* The input. */
	struct chunk *filling;
	uint64_t line_no;     /* lines before it */
	uint64_t added;       /* bytes of the input that came */
	bool clean;           /* nothing is open where it begins */

	/* Shared, under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop, writing;
	_Atomic int error;
	struct chunk *first, *last;    /* in flight, in order */
	struct chunk *untaken;         /* the first that no thread has taken */
	struct chunk *unused;
	VEC(char *) buffers;           /* for pieces, unused */
	unsigned in_flight;
	uint64_t next_seq;             /* of the next chunk */
	struct notice **notices;         /* ring: number i is at i % cap_notices */
	uint64_t first_notice, num_notices, cap_notices; /* numbers of all there were */

	/* The sum of what the chunks gave, in their order. */
	struct markup_stats stats;
	struct mk_modules missing, lines;
	struct mk_out dumpfiles;
};

/* ---- merge.c -------------------------------------------------------- */

/* The sink of a worker's stream. */
int mk_filter_take_output(void *worker, const char *data, size_t len);
void mk_filter_take_complaint(void *worker, const char *data, size_t len);

/* Writes all chunks whose turn has come, and wakes who waits. Called and returns
 * with the lock held. */
void mk_filter_advance(struct markup_filter *p);

/* Writes what closes the output, if it is a whole. Nothing is in flight. */
void mk_filter_end_whole(struct markup_filter *p);

void mk_filter_free_chunks(struct markup_filter *p, struct chunk *c); /* with what follows */

/* All modules that were announced or named by lines. */
const struct mk_modules *mk_filter_all_modules(struct markup_filter *p);

/* ---- follow.c -------------------------------------------------------- */

/* What the chunk does to the state; NULL in *ret: nothing. False: no memory. */
bool mk_filter_make_notice(const struct mk_formats *f, const struct chunk *c,
			   bool whole, struct notice **ret);

/* Puts a notice behind the others, and forgets those that all have seen. Under the
 * lock. False: no memory. */
bool mk_filter_push_notice(struct markup_filter *p, struct notice *e);

/* Lets the stream follow what was announced in the chunks before `seq` that were
 * not its own. Called and returns with the lock held. */
void mk_filter_catch_up(struct worker *w, uint64_t seq);

void mk_filter_free_notices(struct markup_filter *p);

/* ---- workers.c ---------------------------------------------------------- */

/* Starts the threads; their streams take over the state of the first, which is
 * clean. False: no memory. */
bool mk_filter_start(struct markup_filter *p);
void mk_filter_stop(struct markup_filter *p);

/* Filters the chunks in flight, with the threads, until at most `most` are left. */
void mk_filter_work(struct markup_filter *p, unsigned most);

#endif
