/* Errors: see error.h. */
#include "symcache/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sc_error_set(struct sc_error *err, int code, const char *fmt, ...)
{
	if (err) {
		va_list ap;
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
	}
	return code;
}

int sc_error_sys(struct sc_error *err, const char *fmt, ...)
{
	int saved = errno;
	int code = saved == ENOMEM ? SC_ENOMEM :
		   saved == ENOSPC || saved == EDQUOT ? SC_EFULL : SC_ESYS;
	if (err) {
		va_list ap;
		size_t len;
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
		va_end(ap);
		len = strlen(err->msg);
		snprintf(err->msg + len, sizeof(err->msg) - len, ": %s",
			 strerror(saved));
	}
	return code;
}

int sc_error_prefix(struct sc_error *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;
	size_t len;

	if (!err)
		return SC_EINVAL;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, "%s", old);
	return err->code;
}
