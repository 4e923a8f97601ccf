/* Bytes of a profile → bytes of a profile: see profile.h. */
#include "libsymcache/profile/profile.h"

#include "libsymcache/base/process.h"
#include "libsymcache/profile/folded.h"
#include "libsymcache/profile/kinds.h"
#include "libsymcache/profile/legacy.h"
#include "libsymcache/profile/otlp.h"
#include "libsymcache/profile/packing.h"
#include "libsymcache/profile/page.h"
#include "libsymcache/profile/perf.h"
#include "libsymcache/profile/pprof.h"
#include "libsymcache/profile/pprof_stacks.h"

#define LARGE (512u << 10) /* bytes of a profile that takes megabytes in small pieces */

struct symprofiler {
	struct symprofile_options options;
	const char *name;
	struct prof_places places;
	struct prof_packing packing;
	struct prof_pprof pprof;
	struct prof_otlp otlp;
	struct prof_stacks stacks;
	struct legacy_profile legacy;
	struct perf_profile perf;
	struct prof_builder builder;
	struct prof_bytes built;  /* pprof, without symbols */
	struct prof_out out;
	VEC(struct symprofile_missing) missing;
};

int symprofiler_create(const struct symprofile_options *options, struct symprofiler **ret,
		       struct sc_error *err)
{
	struct symprofiler *p = *ret = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return sc_no_memory(err);
	p->options = *options;
	p->pprof.places = p->otlp.places = &p->places;
	rc = prof_places_init(&p->places, &p->options, err);
	if (!rc)
		return 0;
	symprofiler_destroy(p);
	*ret = NULL;
	return rc;
}

void symprofiler_destroy(struct symprofiler *p)
{
	if (!p)
		return;
	pprof_deinit(&p->pprof);
	otlp_deinit(&p->otlp);
	prof_stacks_deinit(&p->stacks);
	legacy_deinit(&p->legacy);
	perf_deinit(&p->perf);
	prof_build_deinit(&p->builder);
	prof_bytes_deinit(&p->built);
	prof_places_deinit(&p->places);
	prof_packing_deinit(&p->packing);
	prof_out_deinit(&p->out);
	vec_deinit(&p->missing);
	free(p);
}

void symprofiler_name(struct symprofiler *p, const char *name)
{
	p->name = name;
}

/* ---- a run ------------------------------------------------------------------------------- */

/* What a run knows of its profile. */
struct run {
	struct prof_input in;      /* unpacked */
	enum prof_kind kind;
	enum symprofile_form form; /* SYMPROFILE_OWN: OTLP's */
	bool unchanged;            /* what came in comes out */
	bool packed;               /* what comes out is to be compressed */
};

static const char *const kind_names[] = {
	[PROF_UNKNOWN] = "", [PROF_PPROF] = "pprof", [PROF_OTLP] = "OTLP",
	[PROF_FOLDED] = "folded stacks", [PROF_HEAP] = "a heap profile",
	[PROF_CPU] = "a CPU profile of gperftools", [PROF_PERF] = "perf.data",
};

/* Chooses the form, and refuses those that the kind does not have. */
static int choose_form(const struct symprofiler *p, struct run *r, struct sc_error *err)
{
	r->form = p->options.form;
	if (r->form == SYMPROFILE_OWN)
		r->form = r->kind == PROF_FOLDED ? SYMPROFILE_FOLDED :
			  r->kind != PROF_OTLP ? SYMPROFILE_PPROF : SYMPROFILE_OWN;
	else if (r->kind == PROF_OTLP && r->form == SYMPROFILE_PPROF)
		return sc_error_set(err, SC_EUNSUPPORTED, "OTLP has no form but its own, folded and html");
	if (r->kind == PROF_FOLDED && r->form != SYMPROFILE_FOLDED && r->form != SYMPROFILE_HTML)
		return sc_error_set(err, SC_EUNSUPPORTED, "folded stacks have no form but their own and html");
	if (r->form == SYMPROFILE_JEPROF && r->kind != PROF_HEAP && r->kind != PROF_CPU)
		return sc_error_set(err, SC_EUNSUPPORTED, "the form jeprof is for heap texts and CPU "
				    "profiles of gperftools");
	return 0;
}

/* A form that shows stacks. */
static int write_stacks(struct symprofiler *p, const struct run *r, struct sc_error *err)
{
	prof_out_begin(&p->out, r->in.size);
	return r->form == SYMPROFILE_HTML ?
		page_write(&p->stacks, p->name ? p->name : "profile", &p->out, err) :
		folded_write(&p->stacks, &p->out, err);
}

/* Symbolizes a profile in pprof's protobuf. */
static int run_pprof(struct symprofiler *p, struct run *r, const struct prof_input *in,
		     struct sc_error *err)
{
	int rc;

	p->pprof.with_leaves = p->options.return_addresses && r->kind == PROF_PPROF;
	p->pprof.with_ids = p->pprof.with_leaves || p->options.count ||
			    r->form == SYMPROFILE_FOLDED || r->form == SYMPROFILE_HTML;
	rc = pprof_read(&p->pprof, in->bytes, in->size, err);
	if (!rc && p->options.count)
		rc = pprof_count(&p->pprof, err);
	if (rc)
		return rc;
	if (r->form == SYMPROFILE_PPROF) {
		r->unchanged = !p->pprof.changed && r->kind == PROF_PPROF;
		return r->unchanged ? 0 : pprof_write(&p->pprof, &p->out, err);
	}
	rc = pprof_stacks(&p->pprof, &p->stacks, err);
	return rc ? rc : write_stacks(p, r, err);
}

/* The same of p->built. */
static int run_built(struct symprofiler *p, struct run *r, struct sc_error *err)
{
	return run_pprof(p, r, &(struct prof_input){ p->built.v.data, p->built.v.len }, err);
}

/* A heap text or a CPU profile. */
static int run_legacy(struct symprofiler *p, struct run *r, struct sc_error *err)
{
	int rc = r->kind == PROF_CPU ? legacy_read_cpu(&p->legacy, &r->in, err) :
				       legacy_read_heap(&p->legacy, &r->in, err);

	if (rc)
		return rc;
	if (r->form == SYMPROFILE_JEPROF)
		return jeprof_write(&p->places, &p->legacy, &r->in, &p->out, err);
	prof_bytes_clear(&p->built);
	rc = legacy_to_pprof(&p->legacy, &p->builder, &p->built, err);
	return rc ? rc : run_built(p, r, err);
}

static int run_perf(struct symprofiler *p, struct run *r, struct sc_error *err)
{
	int rc;

	prof_bytes_clear(&p->built);
	p->perf.jit_dir = p->options.jit_dir;
	rc = perf_to_pprof(&p->perf, &r->in, &p->places.finder, &p->builder, &p->built, err);
	return rc ? rc : run_built(p, r, err);
}

static int run_otlp(struct symprofiler *p, struct run *r, struct sc_error *err)
{
	int rc = otlp_read(&p->otlp, r->in.bytes, r->in.size, err);

	if (!rc && p->options.count)
		rc = otlp_count(&p->otlp, err);
	if (rc)
		return rc;
	if (r->form == SYMPROFILE_OWN) {
		r->unchanged = !p->otlp.changed;
		return r->unchanged ? 0 : otlp_write(&p->otlp, &p->out, err);
	}
	rc = otlp_stacks(&p->otlp, &p->stacks, err);
	return rc ? rc : write_stacks(p, r, err);
}

static int run_folded(struct symprofiler *p, struct run *r, struct sc_error *err)
{
	int rc;

	if (r->form == SYMPROFILE_FOLDED)
		return folded_symbolize(&p->places, &r->in, &p->out, err);
	rc = folded_stacks(&p->places, &r->in, &p->stacks, err);
	return rc ? rc : write_stacks(p, r, err);
}

static int run_kind(struct symprofiler *p, struct run *r, struct sc_error *err)
{
	switch (r->kind) {
	case PROF_OTLP:
		return run_otlp(p, r, err);
	case PROF_PERF:
		return run_perf(p, r, err);
	case PROF_HEAP:
	case PROF_CPU:
		return run_legacy(p, r, err);
	case PROF_FOLDED:
		return run_folded(p, r, err);
	default:
		return run_pprof(p, r, &r->in, err);
	}
}

int symprofiler_run(struct symprofiler *p, const void *bytes, size_t size,
		    struct symprofile_output *ret, struct sc_error *err)
{
	const unsigned long refusals = sc_memory_refusals();
	struct run r = { .in = { bytes, size } };
	enum symcache_packing was;
	const char *looks_like = "";
	int rc = prof_unpack(&p->packing, &r.in.bytes, &r.in.size, &was, err);

	*ret = (struct symprofile_output){ 0 };
	if (rc)
		return rc;
	if (p->options.two_threads && r.in.size >= LARGE)
		sc_process_heap();
	r.kind = prof_kind_of(r.in.bytes, r.in.size, &looks_like);
	if (!r.kind)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s", looks_like);
	rc = choose_form(p, &r, err);
	r.packed = r.form <= SYMPROFILE_PPROF && (was || (r.kind != PROF_PPROF && r.kind != PROF_OTLP));
	p->out.in_one = r.packed;
	p->stacks.whole = r.form == SYMPROFILE_HTML;
	rc = rc ? rc : run_kind(p, &r, err);
	if (!rc && sc_memory_refusals() != refusals) /* a name may be lacking */
		return sc_no_memory(err);
	if (rc)
		return rc == SC_EFORMAT ? sc_error_prefix(err, "%s: ", kind_names[r.kind]) : rc;
	ret->text = r.form > SYMPROFILE_PPROF;
	if (r.unchanged) {
		p->out.in_one = false;
		prof_out_begin(&p->out, size);
		prof_out_input(&p->out, bytes, (const uint8_t *)bytes + size);
		rc = prof_out_end(&p->out, err);
	} else if (r.packed) {
		rc = prof_pack(&p->packing, &p->out, err);
		ret->pieces = &p->packing.piece;
		ret->num = 1;
		ret->size = p->packing.piece.iov_len;
		return rc;
	}
	ret->pieces = p->out.vecs.data;
	ret->num = p->out.vecs.len;
	ret->size = p->out.size;
	return rc;
}

/* ---- what was counted ----------------------------------------------------------------------- */

void symprofiler_counts(const struct symprofiler *p, struct symprofile_counts *ret)
{
	*ret = p->places.counts;
}

const struct symprofile_missing *symprofiler_missing(struct symprofiler *p, size_t *n)
{
	const size_t have = p->places.missing.len;

	*n = 0;
	vec_clear(&p->missing);
	if (!have || !vec_reserve(&p->missing, have))
		return NULL;
	for (size_t i = 0; i < have; i++) {
		const struct prof_missing *m = &p->places.missing.data[i];

		const char *name = prof_texts_at(&p->places.missing_texts, (uint32_t)i).ptr;

		p->missing.data[p->missing.len++] = (struct symprofile_missing){
			name, name + strlen(name) + 1, m->samples, m->locations };
	}
	*n = have;
	return p->missing.data;
}
