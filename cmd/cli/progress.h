/*
 * progress.h: one line on standard error, redrawn ten times a second at most;
 * nothing where that is not a terminal. Not for several threads at once.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;         /* a terminal, and not quiet */
	bool drawn;         /* there is a line to erase */
	const char *verb;   /* "indexing" */
	bool bytes;         /* it counts bytes, not items; to be set after progress_init() */
	uint64_t begun, next_draw; /* monotonic milliseconds */
};

void progress_init(struct progress *p, const char *verb, bool quiet);
/* `done` of `total` (0: not known yet) items or bytes; `item` is the current one or NULL.
 * After a second the rate and the time that is left are shown, too. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *item);
/* The same for bytes of which another room reports; `progress`: a struct progress. */
void progress_report(void *progress, uint64_t done, uint64_t total, const char *item);
/* Erases the line: call it before other output, and at the end. */
void progress_erase(struct progress *p);

#endif
