/*
 * path.c: comp_dir, directory and name of a file → one path.
 *
 * Raw is what LLVM's tools print: the parts joined with '/', nothing resolved,
 * and a part wins over those before it if it is absolute on POSIX or Windows.
 *
 * Clean is for people. It also takes `\x` as absolute and `<stdin>` for a name
 * that lies in no directory; a path with a drive or a backslash in it is a
 * Windows path and gets backslashes throughout. Then "." and empty components
 * go and ".." takes the component before it along, by the letters of the path
 * alone: no file system is asked. ".." in front of everything stays in a
 * relative path and goes at the root.
 *
 * Nothing allocates: the components are visited from the last to the first, as
 * whether one stays depends on the ".." behind it. A buffer that is surely large
 * enough is filled from its end and the path moved to the front; for others one
 * walk counts and a second one writes as much of the beginning as there is room
 * for.
 */
#include "libsymcache/read/parts.h"

#include <string.h>

/* The parts that count, outermost first; none is empty. */
struct parts {
	struct sc_str part[3];
	int num;
};

static bool has_drive(struct sc_str s)
{
	return s.len >= 2 && s.ptr[1] == ':' &&
	       ((s.ptr[0] >= 'a' && s.ptr[0] <= 'z') || (s.ptr[0] >= 'A' && s.ptr[0] <= 'Z'));
}

static bool is_in_brackets(struct sc_str s)
{
	return s.len >= 2 && s.ptr[0] == '<' && s.ptr[s.len - 1] == '>';
}

/* Does `s`, which is not empty, replace the parts before it? */
static bool wins(struct sc_str s, enum symcache_path_style style)
{
	if (s.ptr[0] == '/' ||
	    (has_drive(s) && s.len >= 3 && (s.ptr[2] == '\\' || s.ptr[2] == '/')))
		return true;
	if (style == SYMCACHE_PATH_RAW)
		return s.len >= 3 && !memcmp(s.ptr, "\\\\", 2) && s.ptr[2] != '\\';
	return s.ptr[0] == '\\' || is_in_brackets(s);
}

static void add_part(struct parts *p, struct sc_str s, enum symcache_path_style style)
{
	if (!s.len)
		return;
	if (wins(s, style))
		p->num = 0;
	p->part[p->num++] = s;
}

/* Copies s[0, len) to where it stands in the path, as far as there is room for
 * it in buf[0, size) and a NUL behind it. */
static void copy_at(char *buf, size_t size, size_t at, const char *s, size_t len)
{
	if (at + 1 < size)
		memcpy(buf + at, s, len < size - 1 - at ? len : size - 1 - at);
}

static size_t join(const struct parts *p, char *buf, size_t size)
{
	size_t at = 0;

	for (int i = 0; i < p->num; i++) {
		struct sc_str s = p->part[i];

		if (i > 0 && p->part[i - 1].ptr[p->part[i - 1].len - 1] != '/')
			copy_at(buf, size, at++, "/", 1);
		copy_at(buf, size, at, s.ptr, s.len);
		at += s.len;
	}
	return at;
}

/* How a clean path is to be taken apart and put together. */
struct form {
	bool windows;
	char sep;
	char root[3];      /* "/", "\", "\\" or "X:\" */
	size_t root_len;   /* 0: a relative path */
	size_t root_taken; /* bytes of the first part that the root stands for */
};

static bool is_sep(const struct form *f, char c)
{
	return c == '/' || (f->windows && c == '\\');
}

static struct form find_form(const struct parts *p)
{
	struct form f = { .sep = '/' };
	struct sc_str first = p->part[0];

	for (int i = 0; i < p->num; i++)
		f.windows |= has_drive(p->part[i]) ||
			     memchr(p->part[i].ptr, '\\', p->part[i].len) != NULL;
	if (f.windows)
		f.sep = '\\';
	if (f.windows && has_drive(first) && first.len >= 3 && is_sep(&f, first.ptr[2])) {
		memcpy(f.root, (char[]){ first.ptr[0], ':', f.sep }, 3);
		f.root_len = f.root_taken = 3;
	} else if (is_sep(&f, first.ptr[0])) {
		bool share = f.windows && first.len >= 2 && is_sep(&f, first.ptr[1]);

		memset(f.root, f.sep, 2);
		f.root_len = f.root_taken = share ? 2 : 1;
	}
	return f;
}

/* A path that grows at its front. end 0: its bytes are counted, not kept. */
struct front {
	char *buf;
	size_t size, end, len;
};

static void put(struct front *t, const char *s, size_t len)
{
	t->len += len;
	if (t->end)
		copy_at(t->buf, t->size, t->end - t->len, s, len);
}

static void put_component(struct front *t, const struct form *f, const char *s, size_t len)
{
	if (t->len)
		put(t, &f->sep, 1);
	put(t, s, len);
}

static void put_clean(struct front *t, const struct form *f, const struct parts *p)
{
	size_t up = 0; /* ".." that have not found their component yet */

	for (int i = p->num - 1; i >= 0; i--) {
		const char *begin = p->part[i].ptr + (i == 0 ? f->root_taken : 0);
		const char *end = p->part[i].ptr + p->part[i].len;

		while (end > begin) {
			const char *s = end;
			size_t len;

			while (s > begin && !is_sep(f, s[-1]))
				s--;
			len = (size_t)(end - s);
			end = s > begin ? s - 1 : s;
			if (len == 0 || (len == 1 && s[0] == '.'))
				continue;
			if (len == 2 && s[0] == '.' && s[1] == '.')
				up++;
			else if (up)
				up--;
			else
				put_component(t, f, s, len);
		}
	}
	if (f->root_len) {
		put(t, f->root, f->root_len);
		return;
	}
	for (; up; up--)
		put_component(t, f, "..", 2);
	if (!t->len)
		put(t, ".", 1);
}

static size_t clean(const struct parts *p, char *buf, size_t size)
{
	struct form f = find_form(p);
	struct front t = { .buf = buf, .size = size };
	size_t most = 2; /* "." and the separators between the parts */

	for (int i = 0; i < p->num; i++)
		most += p->part[i].len;
	if (most < size) {
		t.end = size - 1;
		put_clean(&t, &f, p);
		memmove(buf, buf + t.end - t.len, t.len);
		return t.len;
	}
	put_clean(&t, &f, p);
	t.end = t.len;
	t.len = 0;
	if (size)
		put_clean(&t, &f, p);
	return t.end;
}

size_t symcache_path(const struct symcache_file *file, enum symcache_path_style style,
		     char *buf, size_t size)
{
	struct parts p = { .num = 0 };
	size_t len = 0;

	add_part(&p, file->comp_dir, style);
	add_part(&p, file->directory, style);
	add_part(&p, file->name, style);
	if (p.num && (style == SYMCACHE_PATH_RAW || is_in_brackets(p.part[0])))
		len = join(&p, buf, size);
	else if (p.num)
		len = clean(&p, buf, size);
	if (size)
		buf[len < size ? len : size - 1] = '\0';
	return len;
}
