/* The ELF files in an archive: see members.h. */
#include "cmd/index/members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory.h"

struct member *members_add(struct members *m, const char *path)
{
	struct member *member = must_calloc(1, sizeof(*member));

	member->path = must_asprintf("%s", path);
	member->fd = -1;
	m->all = must_grow(m->all, m->num, &m->cap, sizeof(*m->all));
	return m->all[m->num++] = member;
}

void member_release(struct members *m, struct member *member)
{
	size_t i = 0;

	if (member->fd < 0)
		return;
	while (m->held[i] != member)
		i++;
	m->num_held--;
	memmove(&m->held[i], &m->held[i + 1], (m->num_held - i) * sizeof(*m->held));
	m->held_bytes -= member->size;
	close(member->fd);
	member->fd = -1;
}

void members_deinit(struct members *m)
{
	while (m->num_held)
		member_release(m, m->held[m->num_held - 1]);
	for (size_t i = 0; i < m->num; i++) {
		free(m->all[i]->path);
		free(m->all[i]);
	}
	free(m->all);
	free(m->by_id);
	free(m->held);
}

int member_unpack(struct members *m, struct member *member, const struct archive_file *file,
		  uint64_t memory, struct sc_error *err)
{
	int rc = archive_file_unpack(file, memory, &member->fd, &member->size, err);

	if (rc)
		return rc;
	m->held = must_grow(m->held, m->num_held, &m->cap_held, sizeof(*m->held));
	m->held[m->num_held++] = member;
	m->held_bytes += member->size;
	return 0;
}

bool members_room(const struct members *m)
{
	return m->num_held <= HOLD_FILES && m->held_bytes <= HOLD_BYTES;
}

static bool is_debug_file(const struct member *member, const uint8_t *id, size_t len)
{
	return member->facts.dwarf && !member->lost && member->facts.build_id_len == len &&
	       !memcmp(member->facts.build_id, id, len);
}

/* Build IDs are zero behind their end. */
static int compare_ids(const void *a, const void *b)
{
	const struct member *const *x = a, *const *y = b;

	return memcmp((*x)->facts.build_id, (*y)->facts.build_id, sizeof((*x)->facts.build_id));
}

void members_sort(struct members *m)
{
	m->by_id = must_realloc(m->by_id, (m->num + 1) * sizeof(*m->by_id));
	m->num_by_id = 0;
	for (size_t i = 0; i < m->num; i++)
		if (m->all[i]->facts.dwarf && m->all[i]->facts.build_id_len)
			m->by_id[m->num_by_id++] = m->all[i];
	qsort(m->by_id, m->num_by_id, sizeof(*m->by_id), compare_ids);
}

struct member *members_alt(const struct members *m, const struct member *member)
{
	struct member key = { 0 }, *key_at = &key, **found;

	if (!member->facts.alt_id_len)
		return NULL;
	memcpy(key.facts.build_id, member->facts.alt_id, sizeof(key.facts.build_id));
	found = bsearch(&key_at, m->by_id, m->num_by_id, sizeof(*m->by_id), compare_ids);
	return found && *found != member &&
	       is_debug_file(*found, member->facts.alt_id, member->facts.alt_id_len) ? *found : NULL;
}

static int open_member(void *ctx, const char *path)
{
	const struct members *m = ctx;

	for (size_t i = 0; i < m->num_held; i++)
		if (m->held[i]->path == path)
			return fcntl(m->held[i]->fd, F_DUPFD_CLOEXEC, 0);
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
	const struct members *m = ctx;

	for (size_t i = 0; i < m->num_held; i++) {
		const struct member *member = m->held[i];

		if ((wanted->build_id ?
		     is_debug_file(member, wanted->build_id, wanted->build_id_len) :
		     member->facts.dwarf && has_name(member->path, wanted->name)) && !n--)
			return member->path;
	}
	return NULL;
}

struct symcache_files members_files(struct members *m)
{
	return (struct symcache_files){ open_member, find_member, m };
}
