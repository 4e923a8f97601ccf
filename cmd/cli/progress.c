/* The progress line: see progress.h. */
#include "cmd/cli/progress.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/base/utf8.h"

enum {
	BAR = 24,
	INTERVAL_MS = 100,
	LINE_BYTES = 512,
	/* No time left is shown before a 50th of the work, or half a minute. */
	GUESS_PART = 50, GUESS_MS = 30000,
};

static struct {
	bool shown;                /* a terminal, and not quiet */
	atomic_bool drawn;         /* there is a line to erase */
	const char *verb;
	enum progress_unit unit;
	uint64_t begun, next_draw; /* monotonic milliseconds */
} p;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void progress_begin(const char *verb, enum progress_unit unit, bool quiet)
{
	if (p.verb == verb && p.unit == unit)
		return;
	progress_erase();
	p.shown = !quiet && isatty(STDERR_FILENO);
	p.verb = verb;
	p.unit = unit;
	p.begun = now_ms();
	p.next_draw = 0;
}

/* "12", "3.4 GB" */
static void put_amount(FILE *to, uint64_t n)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
	double value = (double)n;
	size_t unit = 0;

	for (; value >= 1000 && unit < 5; unit++)
		value /= 1000;
	if (p.unit == PROGRESS_ITEMS)
		fprintf(to, "%" PRIu64, n);
	else
		fprintf(to, "%.*f %s", unit && value < 100 ? 1 : 0, value, units[unit]);
}

/* "indexing [###.....] 12/34, 340/s, 12 s left libc.so.6" */
static void put_line(FILE *to, uint64_t ms, uint64_t done, uint64_t total)
{
	static const char full[BAR + 1] = "########################",
			  empty[BAR + 1] = "........................";
	const double part = total ? (double)done / (double)total : 0;
	const int filled = (int)(part * BAR);
	const uint64_t left = part > 0 ? (uint64_t)((1 - part) / part * (double)ms / 1000) + 1 : 0;

	fprintf(to, "%s ", p.verb);
	if (total)
		fprintf(to, "[%.*s%.*s] ", filled, full, BAR - filled, empty);
	put_amount(to, done);
	if (total)
		fputc('/', to);
	if (total)
		put_amount(to, total);
	if (ms >= 1000 && done) {
		fputs(", ", to);
		put_amount(to, done * 1000 / ms);
		fputs("/s", to);
		if (done < total && (done >= total / GUESS_PART || ms >= GUESS_MS))
			fprintf(to, ", %" PRIu64 " %s left", left < 120 ? left : left / 60,
				left < 120 ? "s" : "min");
	}
	fputc(' ', to);
}

/* Puts `item` behind `line`, the end of it if it is longer than the rest of `columns`. */
static void add_item(char *line, size_t columns, const char *item)
{
	const size_t len = strlen(line), room = columns > len ? columns - len : 0;
	const size_t need = strlen(item);

	if (need <= room)
		memcpy(line + len, item, need + 1);
	else if (room > 6)
		sprintf(line + len, "...%s", item + need - (room - 3));
}

void progress_update(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	char line[LINE_BYTES] = "", clean[4 * LINE_BYTES];
	struct winsize size = { 0 };
	size_t columns;
	uint64_t now;
	FILE *to;

	(void)ctx;
	if (!p.shown || (now = now_ms()) < p.next_draw)
		return;
	p.next_draw = now + INTERVAL_MS;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20)
		size.ws_col = 80;
	to = fmemopen(line, sizeof(line), "w");
	if (!to)
		return;
	columns = size.ws_col - 1u < sizeof(line) - 1 ? size.ws_col - 1u : sizeof(line) - 1;
	put_line(to, now - p.begun, total && done > total ? total : done, total);
	fclose(to); /* what does not fit is left out */
	line[columns] = 0;
	if (item)
		add_item(line, columns, item);
	/* A name may hold anything. */
	fprintf(stderr, "\r%.*s\033[K", (int)sc_make_printable(line, strlen(line), clean), clean);
	p.drawn = true;
}

void progress_erase(void)
{
	if (atomic_exchange(&p.drawn, false))
		fputs("\r\033[K", stderr);
}
