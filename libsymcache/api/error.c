/* Errors and versions: see <symcache.h>. */
#include "libsymcache/api/api.h"

_Static_assert((int)SYMCACHE_ENOTFOUND == (int)SC_ENOTFOUND && (int)SYMCACHE_EINVAL == (int)SC_EINVAL &&
	       (int)SYMCACHE_ESYS == (int)SC_ESYS && (int)SYMCACHE_ENOMEM == (int)SC_ENOMEM &&
	       (int)SYMCACHE_EFORMAT == (int)SC_EFORMAT && (int)SYMCACHE_ELIMIT == (int)SC_ELIMIT &&
	       (int)SYMCACHE_EUNSUPPORTED == (int)SC_EUNSUPPORTED && (int)SYMCACHE_EFULL == (int)SC_EFULL &&
	       (int)SYMCACHE_ENOSYMBOLS == (int)SC_ENOSYMBOLS, "the codes are the same");
_Static_assert(sizeof(struct symcache_error) == 256 && sizeof(struct symcache_ids) == 16 &&
	       (sizeof(void *) < 8 || (sizeof(struct symcache_frame) == 64 &&
				       sizeof(struct symcache_variable) == 64)),
	       "they keep their sizes");

uint32_t symcache_version_number(void)
{
	return SYMCACHE_VERSION_NUMBER;
}

const char *symcache_version_string(void)
{
	return SYMCACHE_VERSION_STRING;
}

const char *symcache_strerror(int code)
{
	static const char *const words[] = {
		"success", "not found", "invalid argument", "system call failed", "out of memory",
		"malformed data", "unsupported", "no symbols", "a limit was reached",
		"no space left on the device",
	};

	return code <= 0 && code > -(int)(sizeof(words) / sizeof(*words)) ? words[-code] :
		"unknown error";
}
