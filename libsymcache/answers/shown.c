/* Paths and names as answers show them: see answer.h. */
#include "libsymcache/answers/answer.h"

#include <errno.h>

struct markup_str mk_shown_path(struct mk_worker *w, const struct symcache_file *file)
{
	size_t len;
	char *path;

	if (!file->name.ptr)
		return (struct markup_str){ NULL, 0 };
	w->path.len = 0;
	len = symcache_path(file, SYMCACHE_PATH_RAW, NULL, 0);
	path = mk_out_room(&w->path, len + 1);
	if (path)
		symcache_path(file, SYMCACHE_PATH_RAW, path, len + 1);
	else
		w->out.error = -ENOMEM;
	return (struct markup_str){ path, path ? len : 0 };
}

struct markup_str mk_shown_name(struct mk_worker *w, struct symcache_str name, uint32_t lang)
{
	struct symcache_str shown;

	if (!name.len)
		return (struct markup_str){ NULL, 0 };
	shown = symcache_show_name(w->symbolizer, name, lang);
	return mk_str_of(shown.ptr ? shown : name);
}
