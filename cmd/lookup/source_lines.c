/*
 * The lines around a place in the sources: see source_lines.h. Costs a look through the file
 * up to the place; some files that were read last are kept, one of more than 64 MiB is not read.
 * Control characters but tabs are left out, so that none reaches a terminal.
 */
#include "cmd/lookup/source_lines.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/lookup/explain.h"
#include "libsymcache/base/utf8.h"

static void drop(struct source_lines *s, struct source_file *f)
{
	s->bytes -= f->size;
	free(f->path);
	free(f->bytes);
	*f = (struct source_file){ .path = NULL };
}

void source_lines_deinit(struct source_lines *s)
{
	for (size_t i = 0; i < SOURCE_FILES; i++)
		drop(s, &s->kept[i]);
}

/* False: there is no such regular file. */
static bool read_file(struct source_file *f, const char *path)
{
	struct stat st;
	const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	const size_t len = strlen(path);
	int fd = open(path, how);
	ssize_t n = -1;

	if (fd < 0) { /* of a folder whose name is not UTF-8 */
		char *original = must_calloc(len + 1, 1);

		sc_utf8_unescape(path, len, original);
		fd = open(original, how);
		free(original);
	}
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= SOURCE_FILE_MAX) {
		f->bytes = must_realloc(NULL, (size_t)st.st_size + 1);
		n = read(fd, f->bytes, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	f->size = n > 0 ? (size_t)n : 0;
	return f->bytes;
}

static struct symcache_str str(const char *text)
{
	return (struct symcache_str){ text, text ? strlen(text) : 0 };
}

/* Where --map-path says. */
static bool read_mapped(struct source_file *f, const struct symcache_transforms *maps)
{
	struct symcache_place place = { .name = f->path };
	struct symcache_file file;
	bool changed = false, found;
	char *path;

	for (size_t i = 0; i < maps->n; i++)
		if (maps->list[i].place)
			changed |= maps->list[i].place(maps->list[i].ctx, &place);
	if (!changed)
		return false;
	file = (struct symcache_file){ str(place.comp_dir), str(place.dir), str(place.name) };
	path = explain_path(&file);
	found = read_file(f, path);
	free(path);
	return found;
}

/* The longest end of the path that is in the folder; none of it leads out of there. */
static bool read_below(struct source_file *f, const char *folder)
{
	bool found = false;

	for (const char *end = f->path; end && !found; end = strchr(end, '/')) {
		char *path;

		end += strspn(end, "/");
		if (!*end || strstr(end, ".."))
			continue;
		path = must_asprintf("%s/%s", folder, end);
		found = read_file(f, path);
		free(path);
	}
	return found;
}

/* Debug information has the source that was compiled; a file may have changed. */
static void find_file(const struct source_search *search, struct symcache_module *m,
		      struct source_file *f)
{
	if (search->files && m)
		f->bytes = debug_files_source(search->files, m, str(f->path), &f->size);
	if (f->bytes || read_mapped(f, &search->maps) || read_file(f, f->path))
		return;
	for (const char *const *folder = search->folders; folder && *folder; folder++)
		if (read_below(f, *folder))
			return;
}

static const struct source_file *file_at(struct source_lines *s, struct symcache_module *m,
					 struct symcache_str path)
{
	struct source_file *f;

	for (size_t i = 0; i < SOURCE_FILES; i++) {
		f = &s->kept[i];
		if (f->path && f->module == m && strlen(f->path) == path.len &&
		    !memcmp(f->path, path.ptr, path.len))
			return f;
	}
	f = &s->kept[s->next];
	s->next = (s->next + 1) % SOURCE_FILES;
	drop(s, f);
	f->module = m;
	f->path = must_asprintf("%.*s", (int)path.len, path.ptr);
	find_file(s->search, m, f);
	s->bytes += f->size;
	for (size_t i = s->next; s->bytes > SOURCE_KEPT_MAX && &s->kept[i] != f;
	     i = (i + 1) % SOURCE_FILES)
		drop(s, &s->kept[i]);
	return f;
}

static unsigned digits_of(uint64_t number)
{
	unsigned n = 1;

	while (number /= 10)
		n++;
	return n;
}

static void put_line(struct text *to, uint64_t number, unsigned width, bool here, const char *line,
		     size_t len)
{
	text_number(to, number, 10);
	for (unsigned i = digits_of(number); i < width; i++)
		text_char(to, ' ');
	text_put(to, here ? " >: " : "  : ", 4);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] >= ' ' || line[i] == '\t')
			text_char(to, line[i]);
	text_char(to, '\n');
}

void source_lines_put(struct source_lines *s, struct symcache_module *m, struct symcache_str path,
		      uint32_t line, uint64_t n, struct text *to)
{
	const uint64_t first = line > n / 2 ? line - n / 2 : 1;
	const unsigned width = digits_of(first + n - 2); /* as LLVM counts them */
	const struct source_file *f;
	const char *at, *end, *newline;

	if (!path.ptr || !line || !n || n > UINT32_MAX)
		return;
	f = file_at(s, m, path);
	at = f->bytes;
	end = f->bytes + f->size;
	for (uint64_t i = 1; f->bytes && at < end && i < first + n; i++, at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		if (i >= first)
			put_line(to, i, width, i == line, at, (size_t)(newline - at));
	}
}
