/* Names that JITs give: see perf_map.h. */
#include "libsymcache/symbolize/perf_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/below.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/base/utf8.h"

enum { MAX_BYTES = 64 << 20, STEPS = 64 };

static bool starts_before(const struct symcache_jitted *a, const struct symcache_jitted *b)
{
	return a->start < b->start;
}

SC_SORT(sort_jitted, struct symcache_jitted, starts_before)

/* A hex number with a blank behind it; where what is behind that begins. NULL: there is none. */
static const char *read_hex(const char *at, const char *end, uint64_t *ret)
{
	const char *const begin = at, *digits;

	*ret = 0;
	if (end - at > 2 && at[0] == '0' && at[1] == 'x')
		at += 2;
	digits = at;
	for (; at < end && at - begin < 18 && *at != ' '; at++) {
		const char c = (char)(*at | 0x20);

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return NULL;
		*ret = *ret << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return at > digits && at < end && *at == ' ' ? at + 1 : NULL;
}

/* False: out of memory. */
static bool add_line(struct symcache_perf_map *m, const char *line, const char *end, uint32_t number)
{
	struct symcache_jitted j = { .number = number, .name = (uint32_t)m->texts.len };
	uint64_t size = 0;
	const char *name = read_hex(line, end, &j.start);
	struct symcache_jitted *added;

	name = name ? read_hex(name, end, &size) : NULL;
	if (!name || name == end || !size || j.start + size < j.start)
		return true;
	j.end = j.start + size;
	if (m->texts.len + 4 * (size_t)(end - name) + 1 > UINT32_MAX ||
	    !vec_reserve(&m->texts, 4 * (size_t)(end - name) + 1) || !(added = vec_push(&m->list)))
		return false;
	*added = j;
	m->texts.len += sc_make_printable(name, (size_t)(end - name), m->texts.data + m->texts.len);
	m->texts.data[m->texts.len++] = 0;
	return true;
}

bool symcache_perf_map_read(const char *text, size_t len, struct symcache_perf_map *ret)
{
	const char *const end = text + len;
	uint32_t number = 0;

	*ret = (struct symcache_perf_map){ { 0 } };
	for (const char *line = text, *newline; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		newline = newline ? newline : end;
		if (!add_line(ret, line, newline, number++))
			break;
		if (newline == end || newline + 1 == end)
			return sort_jitted(ret->list.data, ret->list.len);
	}
	return !len;
}

void symcache_perf_map_deinit(struct symcache_perf_map *m)
{
	vec_deinit(&m->list);
	vec_deinit(&m->texts);
	*m = (struct symcache_perf_map){ { 0 } };
}

const char *symcache_perf_map_name(const struct symcache_perf_map *m, uint64_t address)
{
	const struct symcache_jitted *list = m->list.data, *best = NULL;
	size_t n = SC_SEARCH(i, m->list.len, list[i].start <= address);

	for (unsigned steps = 0; n-- && steps < STEPS; steps++)
		if (address < list[n].end && (!best || list[n].number > best->number))
			best = &list[n];
	return best ? m->texts.data + best->name : NULL;
}

/* ---- of a process -------------------------------------------------------------------------- */

/* What the process is called in its own namespace. */
static uint32_t own_pid(uint32_t pid)
{
	char line[256], path[48];
	unsigned last = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *tab = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && tab)
			sscanf(tab, "%u", &last);
	}
	if (f)
		fclose(f);
	return last;
}

static bool may_be_believed(int fd, uid_t owner, size_t *size)
{
	struct stat file;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || (file.st_uid != owner && file.st_uid) ||
	    file.st_mode & (S_IWGRP | S_IWOTH) || file.st_size <= 0 || file.st_size > MAX_BYTES)
		return false;
	*size = (size_t)file.st_size;
	return true;
}

/* An open file, if it belongs to `owner` or to root. False: out of memory. */
static bool read_map(int fd, uid_t owner, struct symcache_perf_map *ret)
{
	size_t size, have = 0;
	ssize_t n = 1;
	char *text;
	bool ok;

	*ret = (struct symcache_perf_map){ { 0 } };
	if (fd < 0 || !may_be_believed(fd, owner, &size))
		return true;
	text = malloc(size); /* it may grow meanwhile, or be cut: no map of it */
	while (text && have < size && n > 0) {
		n = read(fd, text + have, size - have);
		have += n > 0 ? (size_t)n : 0;
	}
	ok = text && symcache_perf_map_read(text, have, ret);
	free(text);
	return ok;
}

bool symcache_perf_map_of(uint32_t pid, struct symcache_perf_map *ret)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	struct stat process;
	char path[80];
	int root;

	*ret = (struct symcache_perf_map){ { 0 } };
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &process))
		return true;
	root = snprintf(path, sizeof(path), "/proc/%u/root", pid);
	snprintf(path + root, sizeof(path) - (size_t)root, "/tmp/perf-%u.map", own_pid(pid));
	fd = sc_open_below(path, (size_t)root); /* its links would lead out of its root */
	return read_map(fd, process.st_uid, ret);
}

bool symcache_perf_map_in(const char *dir, uint32_t pid, struct symcache_perf_map *ret)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/perf-%u.map", dir, pid) < (int)sizeof(path))
		fd = sc_open_below(path, strlen(dir));
	return read_map(fd, geteuid(), ret);
}
