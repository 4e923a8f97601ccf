/* LMDB's errors as ours: see store.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "libsymcache/store/store.h"

static int fail_code(int rc)
{
	switch (rc) {
	case ENOMEM:
		return SC_ENOMEM;
	case ENOSPC: case EDQUOT: case EFBIG: case MDB_MAP_FULL: case MDB_TXN_FULL:
		return SC_EFULL;
	case MDB_CORRUPTED: case MDB_PAGE_NOTFOUND: case MDB_INVALID: case MDB_CURSOR_FULL:
	case MDB_INCOMPATIBLE: case MDB_BAD_VALSIZE:
		return SC_EFORMAT;
	case MDB_VERSION_MISMATCH:
		return SC_EUNSUPPORTED;
	case MDB_NOTFOUND:
		return SC_ENOTFOUND;
	case MDB_READERS_FULL:
		return SC_ELIMIT;
	}
	return SC_ESYS;
}

int symstore_fail(const struct symstore *store, int rc, struct sc_error *err,
		  const char *fmt, ...)
{
	char what[128];
	va_list ap;

	if (rc == EIO && symstore_no_space(store))
		rc = ENOSPC;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return sc_error_set(err, fail_code(rc), "store %s: %s: %s", store->path, what,
			    mdb_strerror(rc));
}
