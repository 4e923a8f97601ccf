/*
 * Lines of input: see lines.h.
 *
 * A writer that is faster than its answers fills the buffer; one that waits for each answer
 * has it after one read, as there is nothing more to be had then.
 */
#include "libsymcache/answers/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MAX_LINE = 1 << 16,
	ROOM = 1 << 20,
	PIECE = 1 << 12,
	ENOUGH = 1 << 14, /* bytes: fewer are answered before more are looked for */
};

struct mk_lines {
	int fd;
	void (*wait)(void *ctx);
	void (*complain)(void *ctx, const char *message);
	void *ctx;
	size_t at, len;  /* what is still to be taken, and its end */
	bool too_long;   /* the beginning of the first line is gone */
	bool end, faults;
	struct mk_lines_piece pieces[ROOM / PIECE + 1];
	char buf[ROOM + 1];
};

struct mk_lines *mk_lines_create(int fd, void (*wait)(void *ctx),
				 void (*complain)(void *ctx, const char *message), void *ctx)
{
	struct mk_lines *in = malloc(sizeof(*in));

	if (!in)
		return NULL;
	memset(in, 0, offsetof(struct mk_lines, pieces));
	in->fd = fd;
	in->wait = wait;
	in->complain = complain;
	in->ctx = ctx;
	return in;
}

bool mk_lines_destroy(struct mk_lines *in)
{
	const bool faults = in->faults;

	free(in);
	return faults;
}

static void __attribute__((format(printf, 2, 3))) report(struct mk_lines *in, const char *fmt, ...)
{
	char message[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	in->complain(in->ctx, message);
	in->faults = true;
}

static void read_some(struct mk_lines *in)
{
	ssize_t n;

	while ((n = read(in->fd, in->buf + in->len, ROOM - in->len)) < 0 && errno == EINTR)
		;
	if (n < 0)
		report(in, "cannot read standard input: %s", strerror(errno));
	in->end = n <= 0;
	in->len += n > 0 ? (size_t)n : 0;
}

static bool is_more_there(const struct mk_lines *in)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* Reads until there is a whole line, and then, if that was much, as much as is there. */
static void fill(struct mk_lines *in)
{
	size_t from;

	memmove(in->buf, in->buf + in->at, in->len -= in->at);
	in->at = 0;
	do {
		if (in->len >= MAX_LINE - 1) {
			in->too_long = true;
			in->len = 0;
		}
		from = in->len;
		in->wait(in->ctx);
		read_some(in);
	} while (!in->end && !memchr(in->buf + from, '\n', in->len - from));
	while (!in->end && in->len >= ENOUGH && in->len < ROOM && is_more_there(in))
		read_some(in);
}

/* A line that is too long, or the end of one. */
static void empty_line(struct mk_lines *in, char *line)
{
	report(in, "a line of input is longer than %d bytes", MAX_LINE);
	if (*line != '\n')
		*line = 0;
}

/* The end of a piece of whole lines that begins at `at`. A line that is too long does not fit
 * into a piece, so it is the last one. */
static char *cut(struct mk_lines *in, char *at, char *end)
{
	char *from = end - at > PIECE ? at + PIECE : end - 1;
	char *newline = memchr(from, '\n', (size_t)(end - from)), *start;

	if (newline - from >= MAX_LINE - PIECE) {
		start = memrchr(at, '\n', (size_t)(from - at));
		start = start ? start + 1 : at;
		if (newline - start >= MAX_LINE)
			empty_line(in, start);
	}
	return newline + 1;
}

struct mk_lines_piece *mk_lines_next(struct mk_lines *in, size_t *n)
{
	char *at, *end;

	if (!in->end)
		fill(in);
	if (in->end && (in->at < in->len ? in->buf[in->len - 1] != '\n' : in->too_long))
		in->buf[in->len++] = '\n';
	at = in->buf + in->at;
	end = memrchr(at, '\n', in->len - in->at);
	if (!end)
		return NULL;
	if (in->too_long) { /* nothing of it is looked at again */
		at = memchr(at, '\n', (size_t)(end - at) + 1);
		empty_line(in, at);
	}
	in->too_long = false;
	for (*n = 0, end++; at < end; at = in->pieces[(*n)++].end)
		in->pieces[*n] = (struct mk_lines_piece){ at, cut(in, at, end) };
	in->at = (size_t)(end - in->buf);
	return in->pieces;
}

char *mk_lines_take(struct mk_lines_piece *piece)
{
	char *line = piece->at, *end;
	size_t len;

	if (line == piece->end)
		return NULL;
	end = memchr(line, '\n', (size_t)(piece->end - line));
	len = (size_t)(end - line);
	*end = 0;
	piece->at = end + 1;
	end = memchr(line, '\r', len);
	if (end)
		*end = 0;
	return line;
}
