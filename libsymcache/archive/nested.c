/*
 * Walks archives, and archives in archives: see nested.h.
 *
 * Everything is a stream: an inner archive is read from the outer one as it comes.
 * The first bytes of a file say what it is. Depth, number and bytes are bounded, so that
 * a bomb costs a second, not the night.
 */
#include "libsymcache/archive/nested.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"

enum {
	MAX_DEPTH = 6,            /* a .deb in a tar in a zip, and a compressed file in it: 5 */
	MAX_MEMBERS = 4 << 20,
	MAX_NAME = 4096,
};

bool sc_archive_name(const char *path)
{
	static const char *const ends[] = {
		".deb", ".udeb", ".ddeb", ".rpm", ".apk", ".tar", ".tgz", ".tbz2", ".txz", ".tzst",
		".zip", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".ko.gz", ".ko.xz", ".ko.zst",
	};
	size_t len = strlen(path), n;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		n = strlen(ends[i]);
		if (len > n && !strcasecmp(path + len - n, ends[i]))
			return true;
	}
	return false;
}

static void close_archive(struct symarchive **a)
{
	symarchive_close(*a);
}

/* "outer!name", with '?' for what would do something to a terminal. NULL: out of memory. */
static char *member_name(const char *outer, const char *name)
{
	char *text = sc_text("%s%s%.*s", outer, *name ? "!" : "", MAX_NAME, name);

	for (char *c = text ? text + strlen(outer) : ""; *c; c++)
		if (sc_is_control(*c))
			*c = '?';
	return text;
}

bool sc_begins_elf(const uint8_t *data, size_t len)
{
	return len >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG) &&
	       (len < EI_NIDENT + 2 ||
		data[EI_NIDENT + (data[EI_DATA] == ELFDATA2MSB)] != ET_CORE);
}

static int read_head(struct symarchive *a, uint8_t head[SYMARCHIVE_HEAD], size_t *len,
		     struct sc_error *err)
{
	size_t n;
	int rc;

	*len = 0;
	do {
		rc = symarchive_read(a, head + *len, SYMARCHIVE_HEAD - *len, &n, err);
		*len += n;
	} while (!rc && n && *len < SYMARCHIVE_HEAD);
	return rc;
}

/* What stops the walk is returned; else `name` is lost, which is reported if it is `named`. */
static int lose(struct sc_archive_walk *w, const char *name, bool named, int rc,
		const struct sc_error *err)
{
	if (rc == SC_ELIMIT || rc == SC_ENOMEM)
		return rc;
	if (named)
		w->failed(w->ctx, name, err->msg);
	return 0;
}

static int walk(struct sc_archive_walk *w, struct symarchive *a, const char *name, unsigned depth,
		bool named, struct sc_error *err);

/* The archive that `file` is. */
static int walk_inner(struct sc_archive_walk *w, const struct sc_archive_file *file,
		      unsigned depth, bool named, struct sc_error *err)
{
	struct symarchive *a __attribute__((cleanup(close_archive))) = NULL;
	int rc;

	if (depth >= MAX_DEPTH) {
		w->failed(w->ctx, file->name, "archives in archives, too deep");
		return 0;
	}
	rc = symarchive_open_inner(file->archive, file->head, file->head_len, &a, err);
	/* Many things begin like a compressed file. */
	return rc ? lose(w, file->name, named, rc, err) :
		    walk(w, a, file->name, depth + 1, named, err);
}

/* An archive that is walked. */
struct level {
	struct symarchive *a;
	const char *name;
	unsigned depth;
	bool deb; /* a Debian package */
};

/* The file that the archive stands at. */
static int visit(struct sc_archive_walk *w, struct level *in, const char *member,
		 struct sc_error *err)
{
	char *name __attribute__((cleanup(sc_free_text))) = member_name(in->name, member);
	uint8_t head[SYMARCHIVE_HEAD];
	struct sc_archive_file file = { name, head, 0, in->a };
	int rc = name ? read_head(in->a, head, &file.head_len, err) :
			sc_no_memory(err);
	bool data;

	if (++w->members > MAX_MEMBERS)
		return sc_error_set(err, SC_ELIMIT, "more than %d files in it", MAX_MEMBERS);
	if (rc)
		return lose(w, name, true, rc, err);
	if (sc_begins_elf(head, file.head_len))
		return w->elf(w->ctx, &file, err);
	if (!strcmp(member, "debian-binary"))
		in->deb = true;
	if (!symarchive_begins(head, file.head_len) ||
	    (in->deb && !strncmp(member, "control.tar", 11)))
		return 0;
	data = in->deb && !strncmp(member, "data.tar", 8);
	if (data)
		file.name = in->name;
	return walk_inner(w, &file, in->depth, data || sc_archive_name(member), err);
}

/* `named`: it must be an archive, else that is reported. */
static int walk(struct sc_archive_walk *w, struct symarchive *a, const char *name, unsigned depth,
		bool named, struct sc_error *err)
{
	struct level in = { a, name, depth, false };
	const char *member;
	int rc;

	while (!(rc = symarchive_next(a, &member, err))) {
		rc = visit(w, &in, member, err);
		if (rc)
			return rc;
		named |= *member != 0;
	}
	return rc == SC_ENOTFOUND ? 0 : lose(w, name, named, rc, err);
}

int sc_archive_walk(struct sc_archive_walk *w, int fd, uint64_t size, const char *name,
		    struct sc_error *err)
{
	struct symarchive *a __attribute__((cleanup(close_archive))) = NULL;
	int rc;

	w->budget = symarchive_budget(size);
	w->members = 0;
	rc = lseek(fd, 0, SEEK_SET) ? sc_error_sys(err, "cannot read") :
		symarchive_open_any(fd, &w->budget, &a, err);
	return rc ? lose(w, name, true, rc, err) : walk(w, a, name, 1, true, err);
}
