/* The ELF files in an archive: see members.h. */
#include "libsymcache/index/members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sc_member *sc_members_add(struct sc_members *m, const char *path)
{
	struct sc_member *member = calloc(1, sizeof(*member)), **slot = vec_push(&m->all);

	if (member)
		member->path = strdup(path);
	if (!member || !member->path || !slot) {
		m->all.len -= slot != NULL;
		free(member ? member->path : NULL);
		free(member);
		return NULL;
	}
	member->fd = -1;
	return *slot = member;
}

void sc_member_release(struct sc_members *m, struct sc_member *member)
{
	size_t i = 0;

	if (member->fd < 0)
		return;
	while (m->held.data[i] != member)
		i++;
	m->held.len--;
	memmove(&m->held.data[i], &m->held.data[i + 1], (m->held.len - i) * sizeof(*m->held.data));
	m->held_bytes -= member->size;
	close(member->fd);
	member->fd = -1;
}

void sc_members_deinit(struct sc_members *m)
{
	while (m->held.len)
		sc_member_release(m, m->held.data[m->held.len - 1]);
	for (size_t i = 0; i < m->all.len; i++) {
		free(m->all.data[i]->path);
		free(m->all.data[i]);
	}
	vec_deinit(&m->all);
	vec_deinit(&m->by_id);
	vec_deinit(&m->held);
}

int sc_member_unpack(struct sc_members *m, struct sc_member *member,
		     const struct sc_archive_file *file, uint64_t memory, struct sc_error *err)
{
	int rc;

	if (!vec_reserve(&m->held, 1))
		return sc_no_memory(err);
	rc = sc_archive_unpack(file, memory, &member->fd, &member->size, err);
	if (rc)
		return rc;
	m->held.data[m->held.len++] = member;
	m->held_bytes += member->size;
	return 0;
}

bool sc_members_room(const struct sc_members *m)
{
	return m->held.len <= HOLD_FILES && m->held_bytes <= HOLD_BYTES;
}

static bool is_debug_file(const struct sc_member *member, const uint8_t *id, size_t len)
{
	return member->facts.dwarf && !member->lost && member->facts.build_id_len == len &&
	       !memcmp(member->facts.build_id, id, len);
}

/* Build IDs are zero behind their end. */
static int compare_ids(const void *a, const void *b)
{
	const struct sc_member *const *x = a, *const *y = b;

	return memcmp((*x)->facts.build_id, (*y)->facts.build_id, sizeof((*x)->facts.build_id));
}

bool sc_members_sort(struct sc_members *m)
{
	if (!vec_reserve(&m->by_id, m->all.len + 1))
		return false;
	for (size_t i = 0; i < m->all.len; i++)
		if (m->all.data[i]->facts.dwarf && m->all.data[i]->facts.build_id_len)
			m->by_id.data[m->by_id.len++] = m->all.data[i];
	qsort(m->by_id.data, m->by_id.len, sizeof(*m->by_id.data), compare_ids);
	return true;
}

struct sc_member *sc_members_alt(const struct sc_members *m, const struct sc_member *member)
{
	struct sc_member key = { 0 }, *key_at = &key, **found;

	if (!member->facts.alt_id_len)
		return NULL;
	memcpy(key.facts.build_id, member->facts.alt_id, sizeof(key.facts.build_id));
	found = bsearch(&key_at, m->by_id.data, m->by_id.len, sizeof(*m->by_id.data), compare_ids);
	return found && *found != member &&
	       is_debug_file(*found, member->facts.alt_id, member->facts.alt_id_len) ? *found : NULL;
}

static int open_member(void *ctx, const char *path)
{
	const struct sc_members *m = ctx;

	for (size_t i = 0; i < m->held.len; i++)
		if (m->held.data[i]->path == path)
			return fcntl(m->held.data[i]->fd, F_DUPFD_CLOEXEC, 0);
	errno = ENOENT;
	return -1;
}

static bool has_name(const char *path, const char *name)
{
	const char *at = strrchr(path, '!');
	const char *slash = at ? strrchr(at, '/') : NULL;

	return at && !strcmp(slash ? slash + 1 : at + 1, name);
}

static const char *find_member(void *ctx, const struct symcache_wanted *wanted, unsigned n)
{
	const struct sc_members *m = ctx;

	for (size_t i = 0; i < m->held.len; i++) {
		const struct sc_member *member = m->held.data[i];

		if ((wanted->build_id ?
		     is_debug_file(member, wanted->build_id, wanted->build_id_len) :
		     member->facts.dwarf && has_name(member->path, wanted->name)) && !n--)
			return member->path;
	}
	return NULL;
}

struct symcache_files sc_members_files(struct sc_members *m)
{
	return (struct symcache_files){ open_member, find_member, m };
}
