/* --debuginfod: see fetch.h. */
#include "cmd/index/fetch.h"

#include "cmd/store/select.h"

int fetch_create(const struct fetch_options *options, struct symcache_debuginfod **ret,
		 struct sc_error *err)
{
	int64_t retry = 0;
	int rc;

	*ret = NULL;
	if (!options->on)
		return 0;
	rc = parse_age(options->retry ? options->retry : "1d", &retry, err);
	if (rc)
		return rc;
	rc = symcache_debuginfod_create(retry, ret, err);
	if (rc)
		sc_error_prefix(err, "--");
	return rc;
}
