/* Profiles: see <symcache-build.h>. Of the other library, as build.c: they come compressed. */
#include <symcache-build.h>

#include "libsymcache/api/private.h"
#include "libsymcache/profile/profile.h"
#include "libsymcache/write/build.h"

_Static_assert((int)SYMCACHE_PROFILE_OWN == (int)SYMPROFILE_OWN &&
	       (int)SYMCACHE_PROFILE_PPROF == (int)SYMPROFILE_PPROF &&
	       (int)SYMCACHE_PROFILE_FOLDED == (int)SYMPROFILE_FOLDED &&
	       (int)SYMCACHE_PROFILE_JEPROF == (int)SYMPROFILE_JEPROF &&
	       (int)SYMCACHE_PROFILE_HTML == (int)SYMPROFILE_HTML, "they are handed on");

static int run(const struct symprofile_options *how, const void *bytes, size_t size,
	       const struct symcache_profile_options *o, struct symcache_error *err)
{
	struct symprofile_output out;
	struct symprofiler *p;
	struct sc_error e;
	int rc = symprofiler_create(how, &p, &e);

	if (rc)
		return api_fail(err, &e);
	rc = symprofiler_run(p, bytes, size, &out, &e);
	if (rc)
		api_fail(err, &e);
	for (size_t i = 0; i < out.num && !rc; i++)
		if (out.pieces[i].iov_len &&
		    o->write(o->ctx, out.pieces[i].iov_base, out.pieces[i].iov_len))
			rc = api_error(err, SC_ESYS, "the output could not be written");
	symprofiler_destroy(p);
	return rc;
}

int symcache_profile(struct symcache_store *s, const void *bytes, size_t size,
		     const struct symcache_profile_options *o, struct symcache_error *err)
{
	const struct symcache_names_options names = symprofile_names_options();
	struct symcache_caches_options from = { .memory_only = true };
	struct symprofile_options how;
	int rc;

	if (!o || !api_fits(o) || !o->write || o->form > SYMCACHE_PROFILE_HTML ||
	    o->flags & ~(SYMCACHE_PROFILE_FORCE | SYMCACHE_PROFILE_RETURN_ADDRESSES) || !s)
		return api_error(err, SC_EINVAL, "unknown options, no store, or no write()");
	rc = symcache_private_store(s, symcache_version, false, &from.borrowed, err);
	if (rc)
		return rc;
	how = (struct symprofile_options){
		.caches = symcache_caches_create(&from), .names = symcache_names_create(&names),
		.form = (enum symprofile_form)o->form, .value = o->value, .jit_dir = o->jit_dir,
		.force = o->flags & SYMCACHE_PROFILE_FORCE,
		.return_addresses = o->flags & SYMCACHE_PROFILE_RETURN_ADDRESSES,
	};
	rc = how.caches && how.names ? run(&how, bytes, size, o, err) :
		api_error(err, SC_ENOMEM, "out of memory");
	symcache_names_destroy(how.names);
	symcache_caches_destroy(how.caches);
	return rc;
}
