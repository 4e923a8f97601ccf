/* Paths and names as answers show them: see parts.h. */
#include "libsymcache/answers/parts.h"

#include <errno.h>

struct sc_str mk_shown_path(struct mk_worker *w, const struct symcache_file *file)
{
	size_t len;
	char *path;

	if (!file->name.ptr)
		return (struct sc_str){ NULL, 0 };
	w->path.len = 0;
	len = symcache_path(file, SYMCACHE_PATH_RAW, NULL, 0);
	path = mk_out_room(&w->path, len + 1);
	if (path)
		symcache_path(file, SYMCACHE_PATH_RAW, path, len + 1);
	else
		w->out.error = -ENOMEM;
	return (struct sc_str){ path, path ? len : 0 };
}

struct sc_str mk_shown_name(struct mk_worker *w, struct sc_str name, uint32_t lang)
{
	struct sc_str shown;

	if (!name.len)
		return (struct sc_str){ NULL, 0 };
	shown = symcache_show_name(w->symbolizer, name, lang);
	return shown.ptr ? shown : name;
}
