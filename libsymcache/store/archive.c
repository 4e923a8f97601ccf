/*
 * Archives through libarchive: see symcache_archive.h.
 *
 * The formats are named one by one: "all" would bring in XML and ciphers, and
 * with the static library only what is named here becomes part of the program.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "libsymcache/symcache_archive.h"

enum { BLOCK = 256 << 10 };

struct symarchive {
	struct archive *read;
};

struct symarchive_writer {
	struct archive *write;
};

static int fail(struct archive *a, int code, struct sc_error *err)
{
	const char *why = archive_error_string(a);
	int number = archive_errno(a);

	if (number == ENOSPC || number == EDQUOT || number == EFBIG)
		code = SC_EFULL;
	else if (number == ENOMEM)
		code = SC_ENOMEM;
	return sc_error_set(err, code, "%s", why ? why : "libarchive gives no reason");
}

int symarchive_open(int fd, struct symarchive **ret, struct sc_error *err)
{
	struct symarchive *a = calloc(1, sizeof(*a));
	int rc = 0;

	*ret = NULL;
	if (a)
		a->read = archive_read_new();
	if (!a || !a->read) {
		free(a);
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	}
	archive_read_support_filter_gzip(a->read);
	archive_read_support_filter_bzip2(a->read);
	archive_read_support_filter_xz(a->read);
	archive_read_support_filter_zstd(a->read);
	archive_read_support_filter_rpm(a->read);
	archive_read_support_format_tar(a->read);
	archive_read_support_format_cpio(a->read);
	archive_read_support_format_ar(a->read);
	archive_read_support_format_zip(a->read);
	if (archive_read_open_fd(a->read, fd, BLOCK) != ARCHIVE_OK)
		rc = fail(a->read, SC_EFORMAT, err);
	if (rc)
		symarchive_close(a);
	else
		*ret = a;
	return rc;
}

void symarchive_close(struct symarchive *a)
{
	if (!a)
		return;
	archive_read_free(a->read);
	free(a);
}

int symarchive_next(struct symarchive *a, const char **name, struct sc_error *err)
{
	struct archive_entry *entry;
	int rc;

	do {
		while ((rc = archive_read_next_header(a->read, &entry)) == ARCHIVE_RETRY)
			;
		if (rc == ARCHIVE_EOF)
			return sc_error_set(err, SC_ENOTFOUND, "the archive has no more files");
		if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN)
			return fail(a->read, SC_EFORMAT, err);
	} while (archive_entry_filetype(entry) != S_IFREG || archive_entry_hardlink(entry));
	*name = archive_entry_pathname(entry);
	if (!*name)
		*name = "?"; /* not to be had in this locale */
	return 0;
}

int symarchive_read(struct symarchive *a, void *buf, size_t size, size_t *len,
		    struct sc_error *err)
{
	la_ssize_t n;

	while ((n = archive_read_data(a->read, buf, size)) == ARCHIVE_RETRY)
		;
	*len = n > 0 ? (size_t)n : 0;
	return n < 0 ? fail(a->read, SC_EFORMAT, err) : 0;
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
		return sc_error_set(err, SC_ENOMEM, "out of memory");
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
		return sc_error_set(err, SC_ENOMEM, "out of memory");
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
	archive_write_fail(w->write);
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
