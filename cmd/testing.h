/* For tests: what the code under test writes to stdout or stderr. */
#ifndef CMD_TESTING_H
#define CMD_TESTING_H

#include <stdio.h>
#include <unistd.h>

struct capture {
	FILE *stream, *file;
	int saved;
	char text[4096];
};

static inline void capture_begin(struct capture *c, FILE *stream)
{
	fflush(stream);
	c->stream = stream;
	c->file = tmpfile();
	c->saved = dup(fileno(stream));
	dup2(fileno(c->file), fileno(stream));
}

/* The text since capture_begin(), valid as long as *c. */
static inline const char *capture_end(struct capture *c)
{
	fflush(c->stream);
	dup2(c->saved, fileno(c->stream));
	close(c->saved);
	rewind(c->file);
	c->text[fread(c->text, 1, sizeof(c->text) - 1, c->file)] = 0;
	fclose(c->file);
	return c->text;
}

#endif
