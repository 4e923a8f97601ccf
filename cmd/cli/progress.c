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

enum { BAR = 24, INTERVAL_MS = 100, LINE_BYTES = 512 };

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
	if (p.verb == verb)
		return;
	progress_erase();
	p.shown = !quiet && isatty(STDERR_FILENO);
	p.verb = verb;
	p.unit = unit;
	p.begun = now_ms();
	p.next_draw = 0;
}

/* "12", "3.4 GB"; returns its length, far below `size`. */
static int put_amount(char *to, size_t size, uint64_t n, const char *before)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
	double value = (double)n;
	size_t unit = 0;

	if (p.unit == PROGRESS_ITEMS)
		return snprintf(to, size, "%s%" PRIu64, before, n);
	for (; value >= 1000 && unit < 5; unit++)
		value /= 1000;
	return snprintf(to, size, "%s%.*f %s", before, unit && value < 100 ? 1 : 0, value,
			units[unit]);
}

/* ", 340/s, 12 s left" */
static int put_pace(char *to, size_t size, uint64_t ms, uint64_t done, uint64_t total)
{
	uint64_t left;
	int len;

	if (ms < 1000 || !done)
		return 0;
	len = put_amount(to, size, done * 1000 / ms, ", ");
	len += snprintf(to + len, size - (size_t)len, "/s");
	if (done >= total)
		return len;
	left = (uint64_t)((double)(total - done) / (double)done * (double)ms / 1000) + 1;
	return len + (left < 120 ?
			      snprintf(to + len, size - (size_t)len, ", %" PRIu64 " s left", left) :
			      snprintf(to + len, size - (size_t)len, ", %" PRIu64 " min left",
				       left / 60));
}

void progress_update(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	struct winsize size = { 0 };
	char line[LINE_BYTES], clean[4 * LINE_BYTES], bar[BAR + 1];
	size_t columns, filled;
	uint64_t now;
	int len;

	(void)ctx;
	if (!p.shown || (now = now_ms()) < p.next_draw)
		return;
	p.next_draw = now + INTERVAL_MS;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20)
		size.ws_col = 80;
	columns = size.ws_col - 1u < sizeof(line) - 1 ? size.ws_col - 1u : sizeof(line) - 1;
	if (done > total)
		done = total ? total : done;
	filled = total ? (size_t)((double)done / (double)total * BAR) : 0;
	memset(bar, '.', BAR);
	memset(bar, '#', filled);
	bar[BAR] = 0;
	len = snprintf(line, sizeof(line), "%s ", p.verb);
	if (total)
		len += snprintf(line + len, sizeof(line) - (size_t)len, "[%s] ", bar);
	len += put_amount(line + len, sizeof(line) - (size_t)len, done, "");
	if (total)
		len += put_amount(line + len, sizeof(line) - (size_t)len, total, "/");
	len += put_pace(line + len, sizeof(line) - (size_t)len, now - p.begun, done, total);
	len += snprintf(line + len, sizeof(line) - (size_t)len, " %s", item ? item : "");
	if (len > 0 && (size_t)len > columns)
		line[columns] = 0;
	/* A name may hold anything. */
	fprintf(stderr, "\r%.*s\033[K", (int)sc_make_printable(line, strlen(line), clean), clean);
	p.drawn = true;
}

void progress_erase(void)
{
	if (atomic_exchange(&p.drawn, false))
		fputs("\r\033[K", stderr);
}
