/* The rows of /proc/PID/maps, for address spaces: see <symcache-process.h>. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <symcache-process.h>

#include "libmarkup/input/maps.h"
#include "libsymcache/api/space.h"
#include "libsymcache/base/cleanup.h"

static bool is_deleted(const char *line, const char *end)
{
	static const char mark[] = " (deleted)";
	const size_t len = sizeof(mark) - 1;

	return (size_t)(end - line) > len && !memcmp(end - len, mark, len);
}

struct text {
	VEC(char) bytes;
};

/* Remembers where a file of the process begins in memory. */
static bool note_first(struct symcache_space *s, const struct mk_row *row, bool deleted)
{
	const size_t n = s->rows.len;
	struct api_first_row *first;

	if (n && sc_str_is(row->name, s->rows.data[n - 1].path))
		return true;
	first = vec_push(&s->rows);
	if (!first)
		return false;
	*first = (struct api_first_row){ strndup(row->name.ptr, row->name.len), row->start, deleted };
	s->rows.len -= !first->path;
	return s->rows.len > n;
}

static int add_row(struct symcache_space *s, const char *line, const char *end, int *n,
		   struct symcache_error *err)
{
	struct mk_row row = { 0 };

	if (!mk_read_maps_row(line, end, &row))
		return 0;
	++*n;
	if (!row.path)
		return 0;
	if (s->pid && !note_first(s, &row, is_deleted(line, end)))
		return api_error(err, SC_ENOMEM, "out of memory");
	if (!row.code && row.offset)
		return 0;
	return api_space_map(s, &(struct symcache_file_id){ .path = row.name },
			     (struct symcache_mapping){ .start = row.start, .end = row.end,
				     .offset = row.offset, .origin = SYMCACHE_FROM_FILE }, err);
}

int symcache_space_add_maps(struct symcache_space *s, const char *text, size_t len,
			    struct symcache_error *err)
{
	const char *const end = text + len;
	int n = 0;

	for (const char *line = text, *newline; line < end; line = newline + 1) {
		int rc;

		newline = memchr(line, '\n', (size_t)(end - line));
		newline = newline ? newline : end;
		rc = add_row(s, line, newline, &n, err);
		if (rc)
			return rc;
	}
	return n;
}

/* The whole of a file whose size is not known beforehand. */
static int read_all(const char *path, struct text *ret, struct symcache_error *err)
{
	__attribute__((cleanup(sc_close_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		if (!vec_reserve(&ret->bytes, 64 << 10))
			return api_error(err, SC_ENOMEM, "out of memory");
		n = read(fd, ret->bytes.data + ret->bytes.len, 64 << 10);
		ret->bytes.len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? api_error(err, SC_ESYS, "%s: %s", path, strerrordesc_np(errno)) : 0;
}

int symcache_space_add_process(struct symcache_space *s, uint32_t pid, struct symcache_error *err)
{
	struct text text = { { 0 } };
	char path[40];
	int rc;

	pid = pid ? pid : (uint32_t)getpid();
	if (s->pid && s->pid != pid)
		return api_error(err, SC_EINVAL, "the space is that of process %u", s->pid);
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	rc = read_all(path, &text, err);
	if (!rc) {
		s->pid = pid;
		rc = symcache_space_add_maps(s, text.bytes.data, text.bytes.len, err);
	}
	vec_deinit(&text.bytes);
	return rc < 0 ? rc : 0;
}
