/* A log as a stream of bytes: see log_input.h. */
#include "cmd/log_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int log_input_open(struct log_input *in, const char *path, struct sc_error *err)
{
	const bool standard = !strcmp(path, "-");
	struct stat st;

	*in = (struct log_input){
		.name = standard ? "standard input" : path,
		.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
		.close = !standard,
	};
	if (in->fd < 0 || fstat(in->fd, &st)) {
		int rc = sc_error_sys(err, "%s", in->name);
		log_input_close(in);
		return rc;
	}
	if (S_ISDIR(st.st_mode)) {
		log_input_close(in);
		return sc_error_set(err, SC_EINVAL, "%s: is a directory", in->name);
	}
	in->live = !S_ISREG(st.st_mode);
	if (!in->live)
		posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return 0;
}

void log_input_close(struct log_input *in)
{
	if (in->close && in->fd >= 0)
		close(in->fd);
	in->fd = -1;
}

int log_input_read(struct log_input *in, char *buf, size_t size, size_t *len,
		   struct sc_error *err)
{
	ssize_t n;

	*len = 0;
	do {
		n = read(in->fd, buf, size);
		if (n < 0 && errno == EAGAIN)
			log_input_wait(in, -1);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return sc_error_sys(err, "%s", in->name);
	*len = (size_t)n;
	return 0;
}

bool log_input_wait(const struct log_input *in, int milliseconds)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };
	return !in->live || poll(&p, 1, milliseconds) != 0;
}
