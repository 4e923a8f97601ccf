/*
 * The ELF files in an archive → jobs: see run.h.
 *
 *   walk 1   each file is unpacked, and worked on with some others; those that need
 *            others of the archive wait, unpacked while there is room (members.h)
 *   then     what waits is worked on. Where there was no room:
 *   walk 2   unpacks supplementary files that are needed, as many as there is room for
 *   walk 3   unpacks and works on those that need them; and so on
 *
 * A package needs walk 1 alone, a large one of debug files with dwz all three. What
 * came of the members is remembered, so that an archive of which all is known is not
 * read again (known.c).
 */
#include "libsymcache/index/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/process.h"
#include "libsymcache/index/content.h"
#include "libsymcache/index/members.h"

enum { READY_BYTES = 64 << 20 };

struct unpacking {
	struct sc_run *run;
	const struct sc_found *file;
	struct sc_work work;            /* with files */
	struct symcache_files files;
	char *real;                     /* the archive's absolute path */
	int fd;
	struct sc_members members;
	size_t at;                      /* walks 2 and 3: the member that comes next */
	bool failed;                    /* something was; it is not remembered as a whole */
	bool stopped;                   /* sc_run_take() returned an error */
	struct sc_member *ready[SC_GROUP_MAX];
	size_t num_ready;
	uint64_t ready_bytes;
};

static void unpacking_deinit(struct unpacking *u)
{
	sc_members_deinit(&u->members);
	free(u->real);
	if (u->fd >= 0)
		close(u->fd);
}

static void failed(void *ctx, const char *name, const char *reason)
{
	struct unpacking *u = ctx;

	u->failed = true;
	sc_run_failed(u->run, name, reason);
}

static void at_member(const struct unpacking *u, const char *path)
{
	sc_run_progress(u->run, SYMCACHE_INDEX_INDEXING, u->run->done, u->run->total, path);
}

/* ---- work ------------------------------------------------------------------------- */

/* What the store will remember. */
static void keep_outcome(struct unpacking *u, struct sc_member *m, const struct sc_job *job)
{
	m->done = true;
	m->outcome.time = u->work.options->time;
	switch (job->result) {
	case SYMCACHE_INDEX_BUILT:
	case SYMCACHE_INDEX_UNCHANGED:
		m->outcome.build_id_len = job->entry.build_id_len;
		memcpy(m->outcome.build_id, job->entry.build_id, sizeof(m->outcome.build_id));
		break;
	case SYMCACHE_INDEX_NO_SYMBOLS:
		m->outcome.code = SC_ENOSYMBOLS;
		m->outcome.build_id_len = m->facts.build_id_len;
		memcpy(m->outcome.build_id, m->facts.build_id, sizeof(m->outcome.build_id));
		break;
	case SYMCACHE_INDEX_UNSUPPORTED:
		m->outcome.code = SC_EUNSUPPORTED;
		break;
	case SYMCACHE_INDEX_FAILED:
		u->failed = true;
	}
}

/* What was worked on is kept if it may serve another one. */
static void let_go(struct unpacking *u, struct sc_member *m)
{
	if (!m->wanted && (!m->facts.dwarf || !sc_members_room(&u->members)))
		sc_member_release(&u->members, m);
}

static int work(struct unpacking *u, struct sc_error *err)
{
	struct sc_found files[SC_GROUP_MAX];
	struct sc_job *jobs[SC_GROUP_MAX];
	size_t n = u->num_ready, group;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		files[i] = (struct sc_found){
			.path = u->ready[i]->path, .size = u->ready[i]->size, .is_open = true,
			.fd = u->ready[i]->fd, .unpacked = true, .real = u->real, .archive_len = strlen(u->file->path),
		};
	for (size_t i = 0; i < n && !rc; i += group) {
		group = sc_job_group(&files[i], n - i, u->work.memory);
		at_member(u, files[i].path);
		sc_jobs_create(&files[i], group, &u->work, jobs);
		for (size_t k = 0; k < group; k++) {
			if (jobs[k])
				keep_outcome(u, u->ready[i + k], jobs[k]);
			if (rc)
				sc_job_destroy(jobs[k]);
			else
				rc = sc_run_take(u->run, jobs[k], err);
			u->stopped |= rc != 0;
		}
	}
	for (size_t i = 0; i < n; i++)
		let_go(u, u->ready[i]);
	u->num_ready = 0;
	u->ready_bytes = 0;
	return rc;
}

static int add_ready(struct unpacking *u, struct sc_member *m, struct sc_error *err)
{
	u->ready[u->num_ready++] = m;
	u->ready_bytes += m->size;
	return u->num_ready == SC_GROUP_MAX || u->ready_bytes > READY_BYTES ? work(u, err) : 0;
}

/* ---- walks -------------------------------------------------------------------------- */

/* A member that cannot be unpacked is lost; what stops all is returned. */
static int unpack(struct unpacking *u, struct sc_member *m, const struct sc_archive_file *file,
		  struct sc_error *err)
{
	int rc = sc_member_unpack(&u->members, m, file, u->work.memory / 2, err);

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

static int first_walk(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	struct unpacking *u = ctx;
	struct sc_member *m = sc_members_add(&u->members, file->name);
	int rc = m ? unpack(u, m, file, err) : sc_no_memory(err);

	at_member(u, file->name);
	if (rc || m->done)
		return rc;
	/* A broken one is reported by its job. */
	if (symcache_elf_facts(m->fd, m->path, &m->facts, NULL) ||
	    (m->facts.dwarf && !m->facts.alt_id_len))
		return add_ready(u, m, err);
	/* What went to the disk does not wait there. */
	if (!sc_members_room(&u->members) || m->size > u->work.memory / 2)
		sc_member_release(&u->members, m);
	return 0;
}

/* The member that the walk stands at. NULL: it is not the archive that it was. */
static struct sc_member *next_member(struct unpacking *u, const struct sc_archive_file *file,
				  struct sc_error *err)
{
	struct sc_member *m = u->at < u->members.all.len ? u->members.all.data[u->at++] : NULL;

	if (m && !strcmp(m->path, file->name))
		return m;
	sc_error_set(err, SC_ELIMIT, "it changed while it was read");
	return NULL;
}

static int alt_walk(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	struct unpacking *u = ctx;
	struct sc_member *m = next_member(u, file, err);

	if (!m)
		return err->code;
	return m->wanted && m->fd < 0 ? unpack(u, m, file, err) : 0;
}

static bool can_be_done(const struct unpacking *u, const struct sc_member *m)
{
	const struct sc_member *alt = sc_members_alt(&u->members, m);

	return !m->done && (!alt || alt->fd >= 0);
}

static int rest_walk(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	struct unpacking *u = ctx;
	struct sc_member *m = next_member(u, file, err);
	int rc;

	if (!m)
		return err->code;
	if (m->fd >= 0 || !can_be_done(u, m))
		return 0;
	rc = unpack(u, m, file, err);
	return rc || m->done ? rc : add_ready(u, m, err);
}

static int walk(struct unpacking *u, int (*elf)(void *, const struct sc_archive_file *,
						struct sc_error *), struct sc_error *err)
{
	struct sc_archive_walk w = { .elf = elf, .failed = failed, .ctx = u };
	int rc;

	u->at = 0;
	rc = sc_archive_walk(&w, u->fd, u->file->size, u->file->path, err);
	return rc ? rc : work(u, err);
}

/* ---- what waits ------------------------------------------------------------------------ */

/* Works on what is unpacked and has all it needs. Programs come last, so that what is
 * made of both, which knows more, takes the place of what is made of their debug file. */
static int work_on_held(struct unpacking *u, struct sc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * u->members.all.len && !rc; i++) {
		struct sc_member *m = u->members.all.data[i % u->members.all.len];
		bool program = i >= u->members.all.len;

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

	for (size_t i = 0; i < u->members.all.len; i++) {
		u->members.all.data[i]->wanted = false;
		sc_member_release(&u->members, u->members.all.data[i]);
	}
	for (size_t i = 0; i < u->members.all.len; i++) {
		struct sc_member *m = u->members.all.data[i];
		struct sc_member *alt = m->done ? NULL : sc_members_alt(&u->members, m);

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

	for (size_t i = 0; i < u->members.all.len; i++)
		n += !u->members.all.data[i]->done;
	return n;
}

static int work_on_waiting(struct unpacking *u, struct sc_error *err)
{
	size_t before, now;
	int rc;

	/* Those of which the supplementary file is unpacked: it is kept, if there was room. */
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

static int remember(struct unpacking *u, const struct sc_hash *content, struct sc_error *err)
{
	struct sc_job *job = calloc(1, sizeof(*job));

	if (job)
		job->outcomes = calloc(u->members.all.len + 1, sizeof(*job->outcomes));
	if (!job || !job->outcomes) {
		sc_job_destroy(job);
		return sc_no_memory(err);
	}
	job->file = u->file;
	job->archive = true;
	job->content = *content;
	job->num_outcomes = u->members.all.len;
	for (size_t i = 0; i < job->num_outcomes; i++)
		job->outcomes[i] = u->members.all.data[i]->outcome;
	return sc_run_take(u->run, job, err);
}

static int read_archive(struct unpacking *u, const struct sc_hash *content,
			const struct stat *before, struct sc_error *err)
{
	int rc = walk(u, first_walk, err);

	if (!sc_members_sort(&u->members) && !rc)
		rc = sc_no_memory(err);
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
	else if (!u->members.all.len && !u->failed && u->file->named)
		failed(u, u->file->path, "no ELF file in it");
	return u->failed ? 0 : remember(u, content, err);
}

int sc_index_archive(struct sc_run *run, const struct sc_found *file, struct sc_error *err)
{
	struct unpacking u __attribute__((cleanup(unpacking_deinit))) = {
		.run = run, .file = file, .work = run->work,
		.fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
	};
	struct sc_hash content;
	struct sc_error why;
	struct stat before;

	run->account->archives++;
	sc_process_descriptors(); /* what is unpacked takes one each */
	u.files = sc_members_files(&u.members);
	u.work.build.files = &u.files;
	if (u.fd < 0 || fstat(u.fd, &before) || !(u.real = realpath(file->path, NULL)) ||
	    sc_content_hash(u.fd, (size_t)before.st_size, &content)) {
		sc_error_sys(&why, "cannot read");
		failed(&u, file->path, why.msg);
		return 0;
	}
	if (!run->work.store || run->work.options->again || !sc_archive_known(&u.work, &content))
		return read_archive(&u, &content, &before, err);
	run->account->archives_unchanged++;
	return sc_archive_recall(run, file, &content, err);
}
