/* Errors: see error.h. */
#include "libsymcache/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/base/account.h"

/* The message, and what stands behind it. */
static void set_message(struct sc_error *err, int code, const char *behind, const char *fmt,
			va_list ap)
{
	size_t len;

	err->code = code;
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, "%s", behind);
}

int sc_error_set(struct sc_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (err)
		set_message(err, code, "", fmt, ap);
	va_end(ap);
	return code;
}

int sc_error_sys(struct sc_error *err, const char *fmt, ...)
{
	const int code = errno == ENOMEM ? SC_ENOMEM :
		errno == ENOSPC || errno == EDQUOT ? SC_EFULL : SC_ESYS;
	char behind[100];
	va_list ap;

	snprintf(behind, sizeof(behind), ": %s", strerror(errno));
	va_start(ap, fmt);
	if (err)
		set_message(err, code, behind, fmt, ap);
	va_end(ap);
	if (code == SC_ENOMEM)
		sc_memory_refused();
	return code;
}

static atomic_ulong refusals;

unsigned long sc_memory_refusals(void)
{
	return atomic_load_explicit(&refusals, memory_order_relaxed);
}

void sc_memory_refused(void)
{
	if (!sc_account || !atomic_load_explicit(&sc_account->refused, memory_order_relaxed))
		atomic_fetch_add_explicit(&refusals, 1, memory_order_relaxed);
}

int sc_no_memory(struct sc_error *err)
{
	sc_memory_refused();
	return sc_error_set(err, SC_ENOMEM, "out of memory");
}

int sc_error_prefix(struct sc_error *err, const char *fmt, ...)
{
	char old[sizeof(err->msg)];
	va_list ap;

	if (!err)
		return SC_EINVAL;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	set_message(err, err->code, old, fmt, ap);
	va_end(ap);
	return err->code;
}

const char *sc_error_behind(const char *message, const char *path)
{
	const size_t len = strlen(path);

	return !strncmp(message, path, len) && !strncmp(message + len, ": ", 2) ?
		message + len + 2 : message;
}
