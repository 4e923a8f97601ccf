/* Lines of input: see lines.h. */
#include "cmd/lookup/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"

enum { MAX_LINE = 1 << 16 };

struct lines {
	int fd;
	void (*wait)(void *ctx);
	void *ctx;
	size_t at, len;  /* what is still to be taken, and its end */
	bool too_long;   /* the current line; its beginning is gone */
	bool end, faults;
	char buf[MAX_LINE];
};

struct lines *lines_create(int fd, void (*wait)(void *ctx), void *ctx)
{
	struct lines *in = must_calloc(1, sizeof(*in));

	in->fd = fd;
	in->wait = wait;
	in->ctx = ctx;
	return in;
}

bool lines_destroy(struct lines *in)
{
	const bool faults = in->faults;

	free(in);
	return faults;
}

static char *find_end(struct lines *in)
{
	return memchr(in->buf + in->at, '\n', in->len - in->at);
}

bool lines_ready(struct lines *in)
{
	return find_end(in);
}

static void read_more(struct lines *in)
{
	ssize_t n;

	memmove(in->buf, in->buf + in->at, in->len -= in->at);
	in->at = 0;
	if (in->len == MAX_LINE - 1) {
		in->too_long = true;
		in->len = 0;
	}
	in->wait(in->ctx);
	while ((n = read(in->fd, in->buf + in->len, MAX_LINE - 1 - in->len)) < 0 &&
	       errno == EINTR)
		;
	if (n < 0) {
		cmd_error("cannot read standard input: %s", strerror(errno));
		in->faults = true;
	}
	in->end = n <= 0;
	in->len += n > 0 ? (size_t)n : 0;
}

char *lines_next(struct lines *in)
{
	char *line, *newline;

	while (!(newline = find_end(in)) && !in->end)
		read_more(in);
	if (!newline && in->at == in->len && !in->too_long)
		return NULL;
	line = in->buf + in->at;
	in->at = newline ? (size_t)(newline + 1 - in->buf) : in->len;
	*(newline ? newline : in->buf + in->len) = 0;
	if (in->too_long) {
		cmd_error("a line of input is longer than %d bytes", MAX_LINE);
		in->faults = true;
		*line = 0;
	}
	in->too_long = false;
	line[strcspn(line, "\r")] = 0;
	return line;
}

/* Does this operand go on in the next one? */
static bool goes_on(const char *operand)
{
	return !strcmp(operand, "CODE") || !strcmp(operand, "DATA") || !strcmp(operand, "FRAME") ||
	       ((!strncmp(operand, "FILE:", 5) || !strncmp(operand, "BUILDID:", 8)) &&
		!strchr(operand, ' '));
}

size_t lines_of_operands(char **operands, size_t n)
{
	size_t lines = 0;

	for (size_t i = 0; i < n; i++) {
		char *line = operands[i];

		while (i + 1 < n && goes_on(operands[i])) {
			char *longer = must_asprintf("%s %s", line, operands[i + 1]);

			if (line != operands[i])
				free(line);
			line = longer;
			i++;
		}
		operands[lines++] = line;
	}
	return lines;
}
