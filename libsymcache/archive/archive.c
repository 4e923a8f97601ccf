/*
 * Archives through libarchive: see archive.h.
 *
 * The formats are named one by one: "all" would bring in XML and ciphers, and
 * with the static library only what is named here becomes part of the program.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/archive/nested.h"

enum { BLOCK = 256 << 10 };

struct symarchive {
	struct archive *read;
	uint64_t *budget;         /* bytes that may still be inflated; NULL: any number */
	bool in_file;             /* symarchive_next() found one */
	/* In another archive: */
	struct symarchive *outer;
	const uint8_t *head;      /* what has been read of the file already */
	size_t head_len;
	uint8_t *block;
	struct sc_error outer_error; /* why `outer` could not be read; its code 0: it could */
};

struct symarchive_writer {
	struct archive *write;
};

static int fail(struct archive *a, int code, struct sc_error *err)
{
	const char *why = archive_error_string(a);
	int number = archive_errno(a);

	/* Some of its parts do not say that memory ran out. */
	if (!why && errno == ENOMEM)
		number = ENOMEM;
	if (why && (strstr(why, "not enough memory") || !strncmp(why, "Can't allocate", 14)))
		number = ENOMEM;

	/* Its own texts say neither what failed nor why. */
	if (why && !strncmp(why, "Error reading fd", 16))
		return sc_error_set(err, number == ENOMEM ? SC_ENOMEM : SC_ESYS, "cannot read: %s", strerror(number));
	if (why && !strcmp(why, "Write error"))
		why = strerror(number);
	if (number == ENOSPC || number == EDQUOT || number == EFBIG)
		code = SC_EFULL;
	else if (number == ENOMEM)
		return sc_no_memory(err);
	else if (number == EILSEQ && !archive_format(a)) /* no reader knows it */
		return sc_error_set(err, SC_EUNSUPPORTED, "unknown archive format");
	return sc_error_set(err, code, "%s", why ? why : "libarchive gives no reason");
}

static int create(uint64_t *budget, struct symarchive **ret, struct sc_error *err)
{
	struct symarchive *a = calloc(1, sizeof(*a));

	*ret = NULL;
	if (a)
		a->read = archive_read_new();
	if (!a || !a->read) {
		free(a);
		return sc_no_memory(err);
	}
	a->budget = budget;
	archive_read_support_filter_gzip(a->read);
	archive_read_support_filter_bzip2(a->read);
	archive_read_support_filter_xz(a->read);
	archive_read_support_filter_lz4(a->read);
	archive_read_support_filter_zstd(a->read);
	archive_read_support_filter_rpm(a->read);
	archive_read_support_format_tar(a->read);
	archive_read_support_format_cpio(a->read);
	archive_read_support_format_ar(a->read);
	archive_read_support_format_zip(a->read);
	*ret = a;
	return 0;
}

/* Where the outer archive could not be read, libarchive says that this one is cut off. */
static int read_failed(struct symarchive *a, struct sc_error *err)
{
	if (!a->outer_error.code)
		return fail(a->read, SC_EFORMAT, err);
	*err = a->outer_error;
	return err->code;
}

/* `rc` is what opening gave. */
static int opened(int rc, struct symarchive **a, struct sc_error *err)
{
	if (rc == ARCHIVE_OK)
		return 0;
	rc = read_failed(*a, err);
	symarchive_close(*a);
	*a = NULL;
	return rc;
}

int symarchive_open(int fd, uint64_t *budget, struct symarchive **ret, struct sc_error *err)
{
	int rc = create(budget, ret, err);

	return rc ? rc : opened(archive_read_open_fd((*ret)->read, fd, BLOCK), ret, err);
}

uint64_t symarchive_budget(uint64_t size)
{
	enum { MAX_RATIO = 256 };
	const uint64_t free_bytes = 256 << 20;

	return free_bytes + (size < UINT64_MAX / MAX_RATIO / 2 ? size * MAX_RATIO : 0);
}

/* ---- what anybody made ------------------------------------------------------------ */

bool symarchive_begins(const uint8_t *data, size_t len)
{
	static const struct {
		unsigned at, len;
		const char *magic;
	} kinds[] = {
		{ 0, 8, "!<arch>\n" }, { 0, 4, "\xed\xab\xee\xdb" }, { 0, 4, "PK\3\4" },
		{ 0, 5, "07070" }, { 257, 5, "ustar" }, { 0, 3, "\x1f\x8b\x08" }, { 0, 3, "BZh" },
		{ 0, 6, "\xfd" "7zXZ\0" }, { 0, 4, "\x28\xb5\x2f\xfd" },
		{ 0, 4, "\x04\x22\x4d\x18" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].at + kinds[i].len <= len &&
		    !memcmp(data + kinds[i].at, kinds[i].magic, kinds[i].len))
			return true;
	return false;
}

static int create_any(uint64_t *budget, struct symarchive **ret, struct sc_error *err)
{
	int rc = create(budget, ret, err);

	if (rc)
		return rc;
	archive_read_support_format_raw((*ret)->read);
	/* Alpine's packages are several tar files in a row. */
	archive_read_set_format_option((*ret)->read, "tar", "read_concatenated_archives", "1");
	return 0;
}

int symarchive_open_any(int fd, uint64_t *budget, struct symarchive **ret, struct sc_error *err)
{
	int rc = create_any(budget, ret, err);

	return rc ? rc : opened(archive_read_open_fd((*ret)->read, fd, BLOCK), ret, err);
}

static la_ssize_t read_outer(struct archive *read, void *ctx, const void **data)
{
	struct symarchive *a = ctx;
	size_t len;

	(void)read;
	if (a->head_len) {
		len = a->head_len;
		*data = a->head;
		a->head_len = 0;
		return (la_ssize_t)len;
	}
	*data = a->block;
	if (a->outer_error.code || /* it is asked again, and no longer says why */
	    symarchive_read(a->outer, a->block, BLOCK, &len, &a->outer_error))
		return ARCHIVE_FATAL;
	return (la_ssize_t)len;
}

int symarchive_open_inner(struct symarchive *outer, const uint8_t *head, size_t len,
			  struct symarchive **ret, struct sc_error *err)
{
	int rc = create_any(outer->budget, ret, err);

	if (rc)
		return rc;
	(*ret)->outer = outer;
	(*ret)->head = head;
	(*ret)->head_len = len;
	(*ret)->block = malloc(BLOCK);
	if (!(*ret)->block) {
		symarchive_close(*ret);
		*ret = NULL;
		return sc_no_memory(err);
	}
	return opened(archive_read_open((*ret)->read, *ret, NULL, read_outer, NULL), ret, err);
}

static int spend(struct symarchive *a, size_t n, struct sc_error *err)
{
	if (!a->budget)
		return 0;
	if (*a->budget < n) {
		*a->budget = 0;
		return sc_error_set(err, SC_ELIMIT, "it expands to too many bytes for its size");
	}
	*a->budget -= n;
	return 0;
}

/* Reads what no one asked for: libarchive would inflate any number of bytes to skip it.
 * Without a filter it skips by seeking. */
static int drain(struct symarchive *a, struct sc_error *err)
{
	const void *data;
	la_int64_t at;
	size_t len;
	int rc = ARCHIVE_OK, spent = 0;

	if (!a->budget || !a->in_file || archive_filter_count(a->read) < 2)
		return 0;
	while (!spent && (rc == ARCHIVE_OK || rc == ARCHIVE_RETRY)) {
		len = 0;
		rc = archive_read_data_block(a->read, &data, &len, &at);
		spent = spend(a, len, err);
	}
	return spent;
}

void symarchive_close(struct symarchive *a)
{
	if (!a)
		return;
	archive_read_free(a->read);
	free(a->block);
	free(a);
}

static bool is_raw(const struct symarchive *a)
{
	return archive_format(a->read) == ARCHIVE_FORMAT_RAW;
}

int symarchive_next(struct symarchive *a, const char **name, struct sc_error *err)
{
	struct archive_entry *entry;
	int rc;

	do {
		rc = drain(a, err);
		if (rc)
			return rc;
		while ((rc = archive_read_next_header(a->read, &entry)) == ARCHIVE_RETRY)
			;
		if (rc == ARCHIVE_EOF)
			return sc_error_set(err, SC_ENOTFOUND, "the archive has no more files");
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return read_failed(a, err);
		a->in_file = true;
		if (is_raw(a) && archive_filter_count(a->read) < 2)
			return sc_error_set(err, SC_EFORMAT, "unknown archive format");
		/* In cpio (so rpm) the last of several links has the bytes; ar's members may
		 * have no type. */
	} while ((archive_entry_filetype(entry) && archive_entry_filetype(entry) != S_IFREG) ||
		 (archive_entry_hardlink(entry) && archive_entry_size(entry) <= 0));
	*name = is_raw(a) ? "" : archive_entry_pathname(entry);
	if (!*name)
		*name = "?"; /* unavailable in this locale */
	return 0;
}

int symarchive_read(struct symarchive *a, void *buf, size_t size, size_t *len,
		    struct sc_error *err)
{
	la_ssize_t n;

	while ((n = archive_read_data(a->read, buf, size)) == ARCHIVE_RETRY)
		;
	*len = n > 0 ? (size_t)n : 0;
	return n < 0 ? read_failed(a, err) : spend(a, *len, err);
}

int symarchive_create(int fd, int level, struct symarchive_writer **ret, struct sc_error *err)
{
	struct symarchive_writer *w = calloc(1, sizeof(*w));
	char number[16] = { (char)('0' + level / 10 % 10), (char)('0' + level % 10) };
	int rc = 0;

	*ret = NULL;
	if (w)
		w->write = archive_write_new();
	if (!w || !w->write) {
		free(w);
		return sc_no_memory(err);
	}
	if (archive_write_set_format_pax_restricted(w->write) != ARCHIVE_OK ||
	    archive_write_add_filter_zstd(w->write) != ARCHIVE_OK ||
	    archive_write_set_filter_option(w->write, "zstd", "compression-level", number) !=
	    ARCHIVE_OK || archive_write_open_fd(w->write, fd) != ARCHIVE_OK)
		rc = fail(w->write, SC_ESYS, err);
	if (rc)
		symarchive_abort(w);
	else
		*ret = w;
	return rc;
}

int symarchive_add(struct symarchive_writer *w, const char *name, const void *data, size_t size,
		   int64_t time, struct sc_error *err)
{
	struct archive_entry *entry = archive_entry_new();
	const char *at = data;
	int rc = 0;

	if (!entry)
		return sc_no_memory(err);
	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, S_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_mtime(entry, time, 0);
	archive_entry_set_size(entry, (int64_t)size);
	if (archive_write_header(w->write, entry) != ARCHIVE_OK)
		rc = fail(w->write, SC_ESYS, err);
	while (!rc && size) {
		la_ssize_t n = archive_write_data(w->write, at, size);

		if (n <= 0) {
			rc = fail(w->write, SC_ESYS, err);
			break;
		}
		at += n;
		size -= (size_t)n;
	}
	archive_entry_free(entry);
	return rc;
}

void symarchive_abort(struct symarchive_writer *w)
{
	if (!w)
		return;
	archive_write_close(w->write); /* else libarchive keeps some memory of a writer that failed */
	archive_write_free(w->write);
	free(w);
}

int symarchive_finish(struct symarchive_writer *w, struct sc_error *err)
{
	int rc = archive_write_close(w->write) == ARCHIVE_OK ? 0 : fail(w->write, SC_ESYS, err);

	archive_write_free(w->write);
	free(w);
	return rc;
}
