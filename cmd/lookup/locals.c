/* Local variables: see locals.h. */
#include "cmd/lookup/locals.h"

#include "symcache/debug_files.h"

bool answer_locals(struct worker *w, const struct request *r, uint64_t vaddr)
{
	struct symcache_locals *locals = symcache_debug_files_locals(w->options->files, r->module);
	const struct symcache_local *list = NULL;
	struct sc_error err;
	size_t n = 0;

	if (locals && symcache_locals_at(locals, vaddr, &list, &n, &err))
		n = 0;
	style_begin(w, r);
	for (size_t i = 0; i < n; i++)
		style_local(w, r, &list[i]);
	if (!n)
		style_nothing(w, r, false);
	style_end(w, r);
	symcache_debug_files_end(w->options->files);
	w->partly |= !n;
	return locals;
}
