/*
 * What the subcommands share: messages, memory, build IDs, the store's place.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"

const char *cmd_name = "symcache";

void cmd_verror(const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", cmd_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void cmd_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_verror(fmt, ap);
	va_end(ap);
}

void out_flush(void)
{
	/* ferror() alone has lost the reason: an earlier write failed. */
	bool failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		return;
	cmd_error("cannot write to standard output%s%s", errno ? ": " : "",
		  errno ? strerror(errno) : "");
	_Exit(STATUS_ERROR);
}

static void *must(void *p)
{
	if (!p) {
		cmd_error("out of memory");
		exit(STATUS_ERROR);
	}
	return p;
}

void *must_calloc(size_t n, size_t size)
{
	return must(calloc(n, size));
}

void *must_realloc(void *p, size_t size)
{
	return must(realloc(p, size));
}

char *must_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&s, fmt, ap);
	va_end(ap);
	return must(len < 0 ? NULL : s);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int parse_build_id(const char *text, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *nibbles,
		   struct sc_error *err)
{
	size_t n;

	memset(id, 0, SYMCACHE_BUILD_ID_MAX);
	for (n = 0; text[n]; n++) {
		int digit = hex_digit(text[n]);

		if (digit < 0)
			return sc_error_set(err, SC_EINVAL, "build ID '%.140s': '%c' is no hex digit",
					    text, text[n]);
		if (n == 2 * SYMCACHE_BUILD_ID_MAX)
			return sc_error_set(err, SC_EINVAL,
					    "build ID '%.140s' is longer than %u bytes", text,
					    SYMCACHE_BUILD_ID_MAX);
		id[n / 2] |= (uint8_t)(n % 2 ? digit : digit << 4);
	}
	if (!n)
		return sc_error_set(err, SC_EINVAL, "the build ID is empty");
	*nibbles = n;
	return 0;
}

void format_build_id(char text[2 * SYMCACHE_BUILD_ID_MAX + 1], const uint8_t *id, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*text++ = digits[id[i] >> 4];
		*text++ = digits[id[i] & 15];
	}
	*text = 0;
}

int store_path(const char *option, char **ret, struct sc_error *err)
{
	static const char tail[] = "symcache/symcache.store";
	const char *env = getenv("SYMCACHE_STORE");
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	*ret = NULL;
	if (option)
		*ret = must_asprintf("%s", option);
	else if (env && *env)
		*ret = must_asprintf("%s", env);
	else if (cache && *cache == '/') /* XDG: ignore what is not absolute */
		*ret = must_asprintf("%s/%s", cache, tail);
	else if (home && *home)
		*ret = must_asprintf("%s/.cache/%s", home, tail);
	else
		return sc_error_set(err, SC_EINVAL, "where is the store? HOME is not set: "
				    "name it with --store FILE or SYMCACHE_STORE");
	return 0;
}

int make_parents(const char *path, struct sc_error *err)
{
	char *copy = must_asprintf("%s", path);
	int rc = 0;

	for (char *slash = strchr(copy + 1, '/'); slash && !rc; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(copy, 0777) && errno != EEXIST && errno != EISDIR && errno != EROFS)
			rc = sc_error_sys(err, "cannot make the directory %s", copy);
		*slash = '/';
	}
	free(copy);
	return rc;
}
