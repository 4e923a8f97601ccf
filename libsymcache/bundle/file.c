/* Files of bundles: see file.h. */
#include "libsymcache/bundle/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/vec.h"

int bundle_read_file(const char *path, size_t max, struct bundle_file *f, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	vec_clear(f);
	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "cannot open");
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EINVAL, "not a regular file");
	if ((uint64_t)st.st_size > max)
		return sc_error_set(err, SC_EFORMAT, "it is above %zu bytes", max);
	if (!vec_reserve(f, (size_t)st.st_size + 1))
		return sc_no_memory(err);
	while (f->len < f->cap && (n = read(fd, f->data + f->len, f->cap - f->len))) {
		if (n < 0 && errno != EINTR)
			return sc_error_sys(err, "cannot read");
		f->len += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
