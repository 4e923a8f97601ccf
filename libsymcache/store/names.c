/* The names of files that have a build ID: see store.h. */
#include <string.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/store/store.h"

enum { NAME_MAX_BYTES = 255, ID_DIGITS = 16 };

/* Not the digits of a build ID, as debug files are called by. */
static bool is_name(struct sc_str s)
{
	bool hex = s.len >= ID_DIGITS;

	for (size_t i = 0; i < s.len; i++) {
		if (sc_is_control(s.ptr[i]))
			return false;
		hex &= strchr("0123456789abcdef", s.ptr[i]) != NULL;
	}
	return s.len && s.len <= NAME_MAX_BYTES && !hex;
}

char *symstore_names_of(const char *path, const char *soname, const char *debug_link)
{
	const char *from[] = { path, soname, debug_link };
	char all[3 * (NAME_MAX_BYTES + 1) + 1] = "", *end = all;

	for (size_t i = 0; i < 3; i++) {
		const struct sc_str name = sc_name_without_debug(sc_str_of(from[i]));

		if (!is_name(name))
			continue;
		end = mempcpy(end, name.ptr, name.len);
		*end++ = '\n';
		*end = 0;
	}
	return symstore_tags_unite(all, NULL);
}

char *symstore_names_unite(const char *a, const char *b)
{
	char *both = symstore_tags_unite(a, b);

	if (!both || strlen(both) <= SYMSTORE_NAMES_MAX)
		return both;
	free(both);
	return strdup(a && strlen(a) <= SYMSTORE_NAMES_MAX ? a : "");
}

bool symstore_names_have(const char *names, const char *want)
{
	const char *one;
	size_t len;

	while ((len = symstore_tags_next(&want, &one))) {
		const char *at = names, *name;
		size_t n;

		while ((n = symstore_tags_next(&at, &name)) && (n != len || memcmp(name, one, n)))
			;
		if (!n)
			return false;
	}
	return true;
}
