/*
 * Sources, found and kept: see debug_files.h. Where memory is out, there is none. The
 * lines around a place cost a look through the file up to it; control characters but tabs, and what is
 * not UTF-8, are left out, so that none reaches a terminal.
 *
 * Debug information may come from others, and name any file. So what is at the path that it names is
 * shown only if it has the name of a source; what is below a folder that the user named, always.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/debug_files.h"

enum { TEXT_MAX = 1 << 20 }; /* bytes of lines, about */

static void drop(struct symcache_source_files *s, struct symcache_source_file *f)
{
	s->bytes -= f->size;
	free(f->path);
	free(f->bytes);
	*f = (struct symcache_source_file){ .path = NULL };
}

void symcache_source_files_deinit(struct symcache_source_files *s)
{
	for (size_t i = 0; i < SYMCACHE_SOURCES_KEPT; i++)
		drop(s, &s->kept[i]);
	vec_deinit(&s->text);
}

/* Is it the name of a source, or of a header of C++'s library, which has no suffix? */
static bool is_source(const char *path)
{
	static const char suffixes[] =
		" C F F03 F08 F77 F90 F95 H M S ada adb ads asm bas c c++ cbl cc clj cob cobol cpp cr cs "
		"cu cuh cxx d def di dpr el erl ex f f03 f08 f77 f90 f95 for frag fs gen go groovy h h++ "
		"hh hpp hrl hs hxx i ii inc inl ipp ixx java jl js kt l ll lua m mm ml mli mod nim p pas "
		"pl pm pp py pyx r rb rs s scala sv swift tbl tcc td tpp ts txx v vala vb vert vhd y yy "
		"zig ";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	char word[16];

	if (!dot)
		return strstr(path, "/include/");
	return snprintf(word, sizeof(word), " %s ", dot + 1) < (int)sizeof(word) &&
	       strstr(suffixes, word);
}

/* Is what is open as `fd` a source, by its last name, links resolved? */
static bool is_open_source(int fd)
{
	char link[32], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	return is_source(path);
}

/* False: there is no such regular file, or, unless it is `trusted`, it is no source. */
static bool read_file(struct symcache_source_file *f, const char *path, bool trusted)
{
	const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd __attribute__((cleanup(sc_close_fd))) = open(path, how);
	const size_t len = strlen(path);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0) { /* of a folder whose name is not UTF-8 */
		char *original = calloc(len + 1, 1);

		if (original)
			sc_utf8_unescape(path, len, original);
		fd = original ? open(original, how) : -1;
		free(original);
	}
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	f->refused = !trusted && !is_open_source(fd);
	if (!f->refused && st.st_size <= SYMCACHE_SOURCE_MAX) {
		f->bytes = malloc((size_t)st.st_size + 1);
		n = f->bytes ? read(fd, f->bytes, (size_t)st.st_size) : -1;
	}
	f->size = n > 0 ? (size_t)n : 0;
	return f->bytes;
}

/* Where --map-path says. */
static bool read_mapped(struct symcache_source_file *f, const struct symcache_transforms *maps)
{
	struct symcache_place place = { .name = f->path };
	struct symcache_file file;
	bool changed = false, found;
	size_t len;
	char *path;

	for (size_t i = 0; i < maps->n; i++)
		if (maps->list[i].place)
			changed |= maps->list[i].place(maps->list[i].ctx, &place);
	if (!changed || !place.name)
		return false;
	file = (struct symcache_file){ sc_str_of(place.comp_dir), sc_str_of(place.dir),
					sc_str_of(place.name) };
	len = symcache_path(&file, SYMCACHE_PATH_RAW, NULL, 0);
	path = malloc(len + 1);
	if (path)
		symcache_path(&file, SYMCACHE_PATH_RAW, path, len + 1);
	found = path && read_file(f, path, true);
	free(path);
	return found;
}

/* The longest end of the path that is in the folder; none of it leads out of there. */
static bool read_below(struct symcache_source_file *f, const char *folder)
{
	bool found = false;

	for (const char *end = f->path; end && !found; end = strchr(end, '/')) {
		char *path;

		end += strspn(end, "/");
		if (!*end || strstr(end, ".."))
			continue;
		path = sc_text("%s/%s", folder, end);
		found = path && read_file(f, path, true);
		free(path);
	}
	return found;
}

/* Debug information has the source that was compiled; a file may have changed. */
static void find_file(const struct symcache_source_search *search, struct symcache_module *m,
		      struct symcache_source_file *f)
{
	if (search->files && m)
		f->bytes = symcache_debug_files_source(search->files, m, sc_str_of(f->path), &f->size);
	if (f->bytes || read_mapped(f, &search->maps) || read_file(f, f->path, false))
		return;
	for (const char *const *folder = search->folders; folder && *folder; folder++)
		if (read_below(f, *folder))
			return;
}

const struct symcache_source_file *symcache_source_files_get(struct symcache_source_files *s,
							     struct symcache_module *m,
							     struct sc_str path)
{
	struct symcache_source_file *f;

	for (size_t i = 0; i < SYMCACHE_SOURCES_KEPT; i++) {
		f = &s->kept[i];
		if (f->path && f->module == m && strlen(f->path) == path.len &&
		    !memcmp(f->path, path.ptr, path.len))
			return f;
	}
	f = &s->kept[s->next];
	s->next = (s->next + 1) % SYMCACHE_SOURCES_KEPT;
	drop(s, f);
	f->module = m;
	f->path = sc_text("%.*s", (int)path.len, path.ptr);
	if (f->path)
		find_file(s->search, m, f);
	if (f->bytes)
		f->bytes[f->size] = '\0';
	s->bytes += f->size;
	for (size_t i = s->next; s->bytes > SYMCACHE_SOURCES_KEPT_MAX && &s->kept[i] != f;
	     i = (i + 1) % SYMCACHE_SOURCES_KEPT)
		drop(s, &s->kept[i]);
	return f;
}

/* ---- lines ------------------------------------------------------------------------------ */

static int digits_of(uint64_t number)
{
	int n = 1;

	while (number /= 10)
		n++;
	return n;
}

/* False: out of memory. */
static bool put_line(struct symcache_source_files *s, uint64_t number, int width, bool here,
		     const char *line, size_t len)
{
	const size_t room = len + 32;
	char *to;

	if (!vec_reserve(&s->text, room))
		return false;
	to = s->text.data + s->text.len;
	to += snprintf(to, 32, "%-*llu %s: ", width, (unsigned long long)number, here ? ">" : " ");
	for (size_t i = 0; i < len;) {
		const int n = line[i] == '\t' ? 1 : sc_printable_len(line + i, len - i);

		if (n > 0)
			to = mempcpy(to, line + i, (size_t)n);
		i += (size_t)(n > 0 ? n : -n);
	}
	*to++ = '\n';
	s->text.len = (size_t)(to - s->text.data);
	return true;
}

/* Why there are no lines. */
static struct sc_str refusal(struct symcache_source_files *s, const struct symcache_source_file *f)
{
	static const char before[] = "not shown: ";
	static const char behind[] = " does not have the name of a source file, and is below no "
				     "--source-directory\n";
	const size_t len = strlen(f->path);
	char *to;

	if (!vec_reserve(&s->text, sizeof(before) + 4 * len + sizeof(behind)))
		return (struct sc_str){ NULL, 0 };
	to = stpcpy(s->text.data, before);
	to += sc_make_printable(f->path, len, to);
	to = stpcpy(to, behind);
	s->text.len = (size_t)(to - s->text.data);
	return (struct sc_str){ s->text.data, s->text.len };
}

struct sc_str symcache_source_lines(struct symcache_source_files *s,
				    struct symcache_module *m, struct sc_str path,
				    uint32_t line, uint64_t n)
{
	const uint64_t first = line > n / 2 ? line - n / 2 : 1;
	const int width = digits_of(first + n - 2); /* as LLVM counts them */
	const struct symcache_source_file *f;
	const char *at, *end, *newline;
	bool ok = true;

	vec_clear(&s->text);
	if (!path.ptr || !line || !n || n > UINT32_MAX)
		return (struct sc_str){ NULL, 0 };
	f = symcache_source_files_get(s, m, path);
	if (!f->bytes && f->refused)
		return refusal(s, f);
	at = f->bytes;
	end = f->bytes + f->size;
	for (uint64_t i = 1; ok && f->bytes && at < end && i < first + n && s->text.len < TEXT_MAX;
	     i++, at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		if (i >= first)
			ok = put_line(s, i, width, i == line, at, (size_t)(newline - at));
	}
	return (struct sc_str){ s->text.data, s->text.len };
}
