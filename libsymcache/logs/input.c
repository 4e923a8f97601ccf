/* A log as a stream of bytes: see input.h. */
#include "libsymcache/logs/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/file.h"

enum { RAW = 64 << 10 }; /* bytes of a compressed file that are read at once */

int symlog_open(struct symlog_input *in, const char *path, struct sc_error *err)
{
	const bool standard = !strcmp(path, "-");
	struct stat st;

	*in = (struct symlog_input){
		.name = standard ? "standard input" : path,
		.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
		.close = !standard,
		.held = -1,
		.left = UINT64_MAX,
	};
	if (in->fd < 0 || fstat(in->fd, &st)) {
		int rc = sc_error_sys(err, "%s", in->name);
		symlog_close(in);
		return rc;
	}
	if (S_ISDIR(st.st_mode)) {
		symlog_close(in);
		return sc_error_set(err, SC_EINVAL, "%s: is a directory", in->name);
	}
	in->live = !S_ISREG(st.st_mode);
	in->start = in->live ? 0 : lseek(in->fd, 0, SEEK_CUR);
	if (!in->live)
		posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

int symlog_range(struct symlog_input *in, uint64_t from, uint64_t to, struct sc_error *err)
{
	if (lseek(in->fd, (off_t)from, SEEK_SET) < 0)
		return sc_error_sys(err, "%s", in->name);
	in->left = to - from;
	in->begun = true;
	in->misnamed = !from && symlog_packed_suffix(in->name, NULL);
	return 0;
}

void symlog_close(struct symlog_input *in)
{
	symlog_ahead_end(in->ahead);
	in->ahead = NULL;
	if (in->close && in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	if (in->held >= 0)
		close(in->held);
	in->held = -1;
	symcache_inflate_destroy(in->inflate);
	in->inflate = NULL;
	free(in->raw);
	in->raw = NULL;
}

/* As read(2), waiting until there is something. */
static int read_raw(struct symlog_input *in, void *buf, size_t size, size_t *len,
		    struct sc_error *err)
{
	ssize_t n;

	if (size > in->left)
		size = in->left;
	do {
		n = read(in->fd, buf, size);
		if (n < 0 && errno == EAGAIN)
			symlog_wait(in, -1);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return sc_error_sys(err, "%s", in->name);
	*len = (size_t)n;
	in->left -= (size_t)n;
	in->taken += (size_t)n;
	if (in->hash)
		XXH3_128bits_update(in->hash, buf, (size_t)n);
	in->end = !n;
	return 0;
}

size_t symlog_packed_suffix(const char *path, enum symcache_packing *ret)
{
	static const char *const packed[] = { "", ".gz", ".xz", ".zst" };
	const size_t len = strlen(path);
	size_t kind = SYMCACHE_ZSTD, n;

	for (; kind; kind--) {
		n = strlen(packed[kind]);
		if (len > n && !strcmp(path + len - n, packed[kind]) && path[len - n - 1] != '/')
			break;
	}
	if (ret)
		*ret = (enum symcache_packing)kind;
	return kind ? n : 0;
}

/* Reads the first bytes and finds out what they are. A live input that begins
 * with fewer than the magic numbers have is not waited for. */
static int begin(struct symlog_input *in, char *buf, size_t size, size_t *len, struct sc_error *err)
{
	int rc = read_raw(in, buf, size, len, err);

	if (rc)
		return rc;
	in->begun = true;
	rc = symcache_inflate_create(buf, *len, in->threads, &in->inflate, err);
	if (rc)
		return rc;
	if (!in->inflate) {
		in->misnamed = symlog_packed_suffix(in->name, NULL);
		return 0;
	}
	in->raw = malloc(RAW);
	if (!in->raw)
		return sc_no_memory(err);
	in->raw_len = *len;
	memcpy(in->raw, buf, in->raw_len);
	*len = 0;
	return 0;
}

static int inflate(struct symlog_input *in, char *buf, size_t size, size_t *len,
		   struct sc_error *err)
{
	int rc;

	while (1) {
		struct symcache_inflate_step step = {
			in->raw + in->raw_pos, buf, in->raw_len - in->raw_pos, size, in->end,
		};

		rc = symcache_inflate_run(in->inflate, &step, err);
		*len = step.out_len;
		if (rc)
			return sc_error_prefix(err, "%s: after %llu bytes: ", in->name,
					       (unsigned long long)in->inflated);
		in->raw_pos += step.in_len;
		in->inflated += step.in_len;
		if (*len)
			return 0;
		if (in->raw_pos < in->raw_len) {
			if (!step.in_len)
				return sc_error_set(err, SC_EFORMAT,
						    "%s: there is more data after the compressed data",
						    in->name);
			continue;
		}
		if (in->end)
			return 0;
		in->raw_pos = 0;
		rc = read_raw(in, in->raw, RAW, &in->raw_len, err);
		if (rc)
			return rc;
	}
}

int symlog_read(struct symlog_input *in, char *buf, size_t size, size_t *len,
		   struct sc_error *err)
{
	ssize_t n;
	int rc;

	*len = 0;
	if (in->held >= 0) {
		n = read(in->held, buf, size);
		*len = n > 0 ? (size_t)n : 0;
		if (*len || in->end)
			return n < 0 ? sc_error_sys(err, "%s", in->name) : 0;
		close(in->held);
		in->held = -1;
	}
	if (!in->begun) {
		/* Not more than fits in->raw: it may be compressed. */
		rc = begin(in, buf, size < RAW ? size : RAW, len, err);
		if (rc || !in->inflate)
			return rc;
		if (in->threads > 1 && !in->live)
			in->ahead = symlog_ahead_start(in, inflate);
	}
	return in->ahead ? symlog_ahead_read(in->ahead, buf, size, len, err) :
	       in->inflate ? inflate(in, buf, size, len, err) :
			     read_raw(in, buf, size, len, err);
}

bool symlog_wait(const struct symlog_input *in, int milliseconds)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };
	return !in->live || in->held >= 0 || in->raw_pos < in->raw_len ||
	       poll(&p, 1, milliseconds) != 0;
}

static bool is_profile(const char *p, size_t len)
{
	static const char *const begins[] = { "heap profile:", "heap_v2/" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (len >= strlen(begins[i]) && !memcmp(p, begins[i], strlen(begins[i])))
			return true;
	return false;
}

bool symlog_hold(struct symlog_input *in, const char *p, size_t len)
{
	char buf[RAW];
	size_t held = len;
	int fd;

	if (!in->live || !is_profile(p, len))
		return false;
	fd = memfd_create("log", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	if (sc_write_all(fd, p, len)) {
		close(fd);
		return false;
	}
	/* An error comes again when the rest is read. */
	while (held < SYMLOG_HELD && !symlog_read(in, buf, sizeof(buf), &len, NULL) && len &&
	       !sc_write_all(fd, buf, len))
		held += len;
	lseek(fd, 0, SEEK_SET);
	in->held = fd;
	return true;
}

/* Opens the file that is open already, whatever has its name by now. */
static bool reopen(struct symlog_again *a)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 a->first->held >= 0 ? a->first->held : a->first->fd);
	a->in = (struct symlog_input){ .name = a->first->name, .fd = open(path, O_RDONLY | O_CLOEXEC),
				    .close = true, .held = -1, .left = UINT64_MAX };
	a->open = true;
	return a->in.fd >= 0 && lseek(a->in.fd, a->first->start, SEEK_SET) == a->first->start;
}

size_t symlog_read_again(void *again, char *buf, size_t size)
{
	struct symlog_again *a = again;
	size_t len = 0;

	if ((!a->open && !reopen(a)) || symlog_read(&a->in, buf, size, &len, NULL))
		return 0;
	return len;
}

void symlog_again_close(struct symlog_again *a)
{
	if (a->open)
		symlog_close(&a->in);
}
