/* The progress line: see cmd.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli/progress.h"

enum { BAR = 24, INTERVAL_MS = 100 };

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void progress_init(struct progress *p, const char *verb, bool quiet)
{
	*p = (struct progress){ .shown = !quiet && isatty(STDERR_FILENO), .verb = verb };
}

void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *item)
{
	struct winsize size = { 0 };
	char line[512], bar[BAR + 1];
	size_t columns, filled;
	uint64_t now;
	int len;

	if (!p->shown || (now = now_ms()) < p->next_draw)
		return;
	p->next_draw = now + INTERVAL_MS;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20)
		size.ws_col = 80;
	columns = size.ws_col - 1u < sizeof(line) - 1 ? size.ws_col - 1u : sizeof(line) - 1;
	if (done > total)
		done = total ? total : done;
	filled = total ? (size_t)((double)done / (double)total * BAR) : 0;
	memset(bar, '.', BAR);
	memset(bar, '#', filled);
	bar[BAR] = 0;
	if (total)
		len = snprintf(line, sizeof(line), "%s [%s] %" PRIu64 "/%" PRIu64 " %s", p->verb,
			       bar, done, total, item ? item : "");
	else
		len = snprintf(line, sizeof(line), "%s %" PRIu64 " %s", p->verb, done,
			       item ? item : "");
	if (len > 0 && (size_t)len > columns)
		line[columns] = 0;
	/* A name may hold anything: nothing of it may move the cursor. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	fprintf(stderr, "\r%s\033[K", line);
	p->drawn = true;
}

void progress_erase(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
