/* For the fuzz targets of profiles: a profile in all forms, and what must hold of them. */
#ifndef SC_PROFILE_TESTING_FUZZ_H
#define SC_PROFILE_TESTING_FUZZ_H

#include "libsymcache/profile/packing.h"
#include "libsymcache/profile/perf_file.h"
#include "libsymcache/profile/testing.h"

/* What a profiler makes of a profile, on the heap; NULL: an error. */
static inline char *prof_run(struct symprofiler *p, const void *data, size_t size, size_t *len)
{
	struct symprofile_output out;
	struct sc_error err;

	if (symprofiler_run(p, data, size, &out, &err))
		return NULL;
	*len = out.size;
	return prof_joined(&out);
}

/* Does a sample of perf.data have registers to unwind by? Its stack is another one without caches. */
static inline bool prof_is_unwound(struct prof_input in)
{
	struct perf_file f = { 0 };
	struct perf_sample sample;
	struct sc_error err;
	bool ret = false;

	if (perf_file_read(&f, &in, &err))
		abort();
	for (size_t i = 0; i < f.records.len && !ret; i++) {
		size_t size;
		const uint8_t *bytes = perf_bytes(&f, f.records.data[i].at, &size);

		ret = *bytes == PERF_SAMPLE && perf_read_sample(&f, bytes, size, &sample) &&
		      sample.regs;
	}
	perf_file_deinit(&f);
	return ret;
}

/* What became pprof comes out of a second run as it came in, and is what it is without symbols,
 * but for those. */
static inline void prof_check_pprof(struct symprofiler *p, enum prof_kind kind, struct prof_input in,
				    const char *bytes, size_t len)
{
	static struct symprofiler *bare;
	struct prof_packing packings[2] = { 0 };
	enum symcache_packing was;
	struct sc_error err;
	size_t lens[2] = { 0, len }, again_len;
	const uint8_t *plain[2];
	char *without, *again = prof_run(p, bytes, len, &again_len);

	if (!again || again_len != len || memcmp(again, bytes, len))
		abort();
	free(again);
	if (kind == PROF_PERF && prof_is_unwound(in))
		return;
	if (!bare) {
		prof_fixture.num_modules = 0;
		bare = prof_profiler((struct symprofile_options){ .form = SYMPROFILE_PPROF });
		prof_fixture.num_modules = 1;
	}
	without = prof_run(bare, in.bytes, in.size, &lens[0]);
	plain[0] = (const uint8_t *)without;
	plain[1] = (const uint8_t *)bytes;
	for (unsigned i = 0; i < 2; i++)
		if (!plain[i] || prof_unpack(&packings[i], &plain[i], &lens[i], &was, &err))
			abort();
	if (!prof_only_added(&prof_pprof_changes, prof_wire_of(plain[0], lens[0]),
			     prof_wire_of(plain[1], lens[1])))
		abort();
	for (unsigned i = 0; i < 2; i++)
		prof_packing_deinit(&packings[i]);
	free(without);
}

/* Symbolizes data[0, size), if it is of this kind, in all forms; `check` gets the input and an
 * output that has it in it: in its own form, or of heap texts and CPU profiles in jeprof's. perf.data
 * comes out in none: `check` is NULL. */
static inline void prof_fuzz(enum prof_kind kind, const uint8_t *data, size_t size,
			     void (*check)(const uint8_t *in, size_t in_size, const uint8_t *out,
					   size_t out_size))
{
	static struct symprofiler *p[SYMPROFILE_HTML + 1];
	const char *what;

	if (prof_kind_of(data, size, &what) != kind)
		return;
	if (!prof_fixture.caches && prof_set_up(NULL))
		abort();
	for (unsigned form = SYMPROFILE_OWN; form <= SYMPROFILE_HTML; form++) {
		size_t len;
		char *bytes;

		if (!p[form])
			p[form] = prof_profiler((struct symprofile_options){
				.form = form, .count = form % 2, .return_addresses = form == 2 });
		bytes = prof_run(p[form], data, size, &len);
		if (bytes && check && form == (kind == PROF_HEAP || kind == PROF_CPU ?
					       SYMPROFILE_JEPROF : SYMPROFILE_OWN))
			check(data, size, (const uint8_t *)bytes, len);
		if (bytes && form == SYMPROFILE_PPROF)
			prof_check_pprof(p[form], kind, (struct prof_input){ data, size }, bytes, len);
		free(bytes);
	}
}

#endif
