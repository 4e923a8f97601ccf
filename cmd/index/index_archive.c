/*
 * The ELF files in an archive → jobs: see index.h.
 *
 *   walk 1   each file is unpacked, and worked on with some others; those that need
 *            others of the archive wait, unpacked while there is room (members.h)
 *   then     what waits is worked on. Where there was no room:
 *   walk 2   unpacks supplementary files that are needed, as many as there is room for
 *   walk 3   unpacks and works on those that need them; and so on
 *
 * A package needs walk 1 alone, a large one of debug files with dwz all three. What
 * came of the members is remembered, so that an archive of which all is known is not
 * read again (index_known.c).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "libsymcache/index/content.h"
#include "cmd/index/index.h"
#include "cmd/index/members.h"

enum { READY_BYTES = 64 << 20 };

struct unpacking {
	const struct scan_file *file;
	struct symstore *store;
	struct index_options options;   /* with files */
	struct symcache_files files;
	uint64_t memory;
	const struct index_sink *sink;
	char *real;                     /* the archive's absolute path */
	int fd;
	struct members members;
	size_t at;                      /* walks 2 and 3: the member that comes next */
	bool failed;                    /* something was; it is not remembered as a whole */
	bool stopped;                   /* take() returned an error */
	struct member *ready[INDEX_GROUP_MAX];
	size_t num_ready;
	uint64_t ready_bytes;
};

static void unpacking_deinit(struct unpacking *u)
{
	members_deinit(&u->members);
	free(u->real);
	if (u->fd >= 0)
		close(u->fd);
}

static void failed(void *ctx, const char *name, const char *reason)
{
	struct unpacking *u = ctx;

	u->failed = true;
	u->sink->failed(u->sink->ctx, name, without_path(reason, name));
}

/* ---- work ------------------------------------------------------------------------- */

/* What the store will remember. */
static void keep_outcome(struct unpacking *u, struct member *m, const struct index_job *job)
{
	m->done = true;
	m->outcome.time = u->options.time;
	switch (job->result) {
	case INDEX_BUILT:
	case INDEX_UNCHANGED:
		m->outcome.build_id_len = job->entry.build_id_len;
		memcpy(m->outcome.build_id, job->entry.build_id, sizeof(m->outcome.build_id));
		break;
	case INDEX_NO_SYMBOLS:
		m->outcome.code = SC_ENOSYMBOLS;
		break;
	case INDEX_UNSUPPORTED:
		m->outcome.code = SC_EUNSUPPORTED;
		break;
	default:
		u->failed = true;
	}
}

/* What was worked on is kept if it may serve another one. */
static void let_go(struct unpacking *u, struct member *m)
{
	if (!m->wanted && (!m->facts.dwarf || !members_room(&u->members)))
		member_release(&u->members, m);
}

static int work(struct unpacking *u, struct sc_error *err)
{
	struct scan_file files[INDEX_GROUP_MAX];
	struct index_job *jobs[INDEX_GROUP_MAX];
	size_t n = u->num_ready, group;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		files[i] = (struct scan_file){
			.path = u->ready[i]->path, .size = u->ready[i]->size, .unpacked = true,
			.fd = u->ready[i]->fd, .real = u->real, .archive_len = strlen(u->file->path),
		};
	for (size_t i = 0; i < n && !rc; i += group) {
		group = index_group(&files[i], n - i, u->memory);
		u->sink->found(u->sink->ctx, files[i].path);
		index_jobs_create(&files[i], group, u->store, &u->options, jobs);
		for (size_t k = 0; k < group; k++) {
			keep_outcome(u, u->ready[i + k], jobs[k]);
			if (rc)
				index_job_destroy(jobs[k]);
			else
				rc = u->sink->take(u->sink->ctx, jobs[k], err);
			u->stopped |= rc != 0;
		}
	}
	for (size_t i = 0; i < n; i++)
		let_go(u, u->ready[i]);
	u->num_ready = 0;
	u->ready_bytes = 0;
	return rc;
}

static int add_ready(struct unpacking *u, struct member *m, struct sc_error *err)
{
	u->ready[u->num_ready++] = m;
	u->ready_bytes += m->size;
	return u->num_ready == INDEX_GROUP_MAX || u->ready_bytes > READY_BYTES ? work(u, err) : 0;
}

/* ---- walks -------------------------------------------------------------------------- */

/* A member that cannot be unpacked is lost; what stops all is returned. */
static int unpack(struct unpacking *u, struct member *m, const struct archive_file *file,
		  struct sc_error *err)
{
	int rc = member_unpack(&u->members, m, file, u->memory / 2, err);

	if (!rc)
		return 0;
	m->done = true;
	u->failed = true;
	m->lost = true;
	if (rc == SC_ELIMIT || rc == SC_ENOMEM)
		return rc;
	failed(u, m->path, err->msg);
	return 0;
}

static int first_walk(void *ctx, const struct archive_file *file, struct sc_error *err)
{
	struct unpacking *u = ctx;
	struct member *m = members_add(&u->members, file->name);
	int rc = unpack(u, m, file, err);

	u->sink->found(u->sink->ctx, m->path);
	if (rc || m->done)
		return rc;
	/* A broken one is the job's to tell. */
	if (symcache_elf_facts(m->fd, m->path, &m->facts, NULL) ||
	    (m->facts.dwarf && !m->facts.alt_id_len))
		return add_ready(u, m, err);
	/* What went to the disk does not wait there. */
	if (!members_room(&u->members) || m->size > u->memory / 2)
		member_release(&u->members, m);
	return 0;
}

/* The member that the walk stands at. NULL: it is not the archive that it was. */
static struct member *next_member(struct unpacking *u, const struct archive_file *file,
				  struct sc_error *err)
{
	struct member *m = u->at < u->members.num ? u->members.all[u->at++] : NULL;

	if (m && !strcmp(m->path, file->name))
		return m;
	sc_error_set(err, SC_ELIMIT, "it changed while it was read");
	return NULL;
}

static int alt_walk(void *ctx, const struct archive_file *file, struct sc_error *err)
{
	struct unpacking *u = ctx;
	struct member *m = next_member(u, file, err);

	if (!m)
		return err->code;
	return m->wanted && m->fd < 0 ? unpack(u, m, file, err) : 0;
}

static bool can_be_done(const struct unpacking *u, const struct member *m)
{
	const struct member *alt = members_alt(&u->members, m);

	return !m->done && (!alt || alt->fd >= 0);
}

static int rest_walk(void *ctx, const struct archive_file *file, struct sc_error *err)
{
	struct unpacking *u = ctx;
	struct member *m = next_member(u, file, err);
	int rc;

	if (!m)
		return err->code;
	if (m->fd >= 0 || !can_be_done(u, m))
		return 0;
	rc = unpack(u, m, file, err);
	return rc || m->done ? rc : add_ready(u, m, err);
}

static int walk(struct unpacking *u, int (*elf)(void *, const struct archive_file *,
						struct sc_error *), struct sc_error *err)
{
	struct archive_walk w = { .elf = elf, .failed = failed, .ctx = u };
	int rc;

	u->at = 0;
	rc = archive_walk(&w, u->fd, u->file->size, u->file->path, err);
	return rc ? rc : work(u, err);
}

/* ---- what waits ------------------------------------------------------------------------ */

/* Works on what is unpacked and has all it needs. Programs come last, so that what is
 * made of both, which knows more, takes the place of what is made of their debug file. */
static int work_on_held(struct unpacking *u, struct sc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * u->members.num && !rc; i++) {
		struct member *m = u->members.all[i % u->members.num];
		bool program = i >= u->members.num;

		if (m->fd >= 0 && m->facts.dwarf != program && can_be_done(u, m))
			rc = add_ready(u, m, err);
	}
	return rc ? rc : work(u, err);
}

/* Makes room, and chooses the supplementary files to unpack: one at least. */
static bool choose_alts(struct unpacking *u)
{
	uint64_t bytes = 0;
	bool any = false;

	for (size_t i = 0; i < u->members.num; i++) {
		u->members.all[i]->wanted = false;
		member_release(&u->members, u->members.all[i]);
	}
	for (size_t i = 0; i < u->members.num; i++) {
		struct member *m = u->members.all[i];
		struct member *alt = m->done ? NULL : members_alt(&u->members, m);

		if (!alt || alt->wanted || (bytes && bytes + alt->size > HOLD_BYTES))
			continue;
		alt->wanted = any = true;
		bytes += alt->size;
	}
	return any;
}

static size_t count_waiting(const struct unpacking *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->members.num; i++)
		n += !u->members.all[i]->done;
	return n;
}

static int work_on_waiting(struct unpacking *u, struct sc_error *err)
{
	size_t before, now;
	int rc;

	/* Those of which the supplementary file is at hand: it is kept, if there was room. */
	rc = work_on_held(u, err);
	for (now = count_waiting(u); !rc && now; ) {
		before = now;
		if (choose_alts(u))
			rc = walk(u, alt_walk, err);
		if (!rc)
			rc = walk(u, rest_walk, err);
		now = count_waiting(u);
		if (!rc && now == before)
			return sc_error_set(err, SC_EFORMAT, "it changed while it was read");
	}
	return rc;
}

/* ---- the archive ------------------------------------------------------------------------ */

static int remember(struct unpacking *u, const struct symstore_hash *content, struct sc_error *err)
{
	struct index_job *job = must_calloc(1, sizeof(*job));

	job->file = u->file;
	job->result = INDEX_ARCHIVE;
	job->content = *content;
	job->num_outcomes = u->members.num;
	job->outcomes = must_calloc(u->members.num + 1, sizeof(*job->outcomes));
	for (size_t i = 0; i < u->members.num; i++)
		job->outcomes[i] = u->members.all[i]->outcome;
	return u->sink->take(u->sink->ctx, job, err);
}

static int read_archive(struct unpacking *u, const struct symstore_hash *content,
			const struct stat *before, struct sc_error *err)
{
	int rc = walk(u, first_walk, err);

	members_sort(&u->members);
	if (!rc)
		rc = work_on_waiting(u, err);
	/* A bomb, or one that changes: it costs this archive alone. */
	if (rc && rc != SC_ENOMEM && !u->stopped) {
		failed(u, u->file->path, err->msg);
		rc = 0;
	}
	if (rc)
		return rc;
	if (sc_content_changed(u->fd, before))
		failed(u, u->file->path, "it changed while it was read");
	else if (!u->members.num && !u->failed && u->file->named)
		failed(u, u->file->path, "no ELF file in it");
	return u->failed ? 0 : remember(u, content, err);
}

/* What is unpacked takes a descriptor each. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < 4096) {
		limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int index_archive(const struct scan_file *file, struct symstore *store,
		  const struct index_options *options, uint64_t memory,
		  const struct index_sink *sink, bool *unchanged, struct sc_error *err)
{
	struct unpacking u __attribute__((cleanup(unpacking_deinit))) = {
		.file = file, .store = store, .options = *options, .memory = memory, .sink = sink,
		.fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
	};
	struct symstore_hash content;
	struct sc_error why;
	struct stat before;

	*unchanged = false;
	allow_descriptors();
	u.files = members_files(&u.members);
	u.options.build.files = &u.files;
	if (u.fd < 0 || fstat(u.fd, &before) || !(u.real = realpath(file->path, NULL)) ||
	    sc_content_hash(u.fd, (size_t)before.st_size, &content)) {
		sc_error_sys(&why, "cannot read");
		failed(&u, file->path, why.msg);
		return 0;
	}
	*unchanged = !options->again && index_archive_known(store, options, &content);
	return *unchanged ? index_archive_recall(file, store, options, &content, sink, err) :
			    read_archive(&u, &content, &before, err);
}
