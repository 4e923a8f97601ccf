/*
 * When entries were last used: a small file next to the store, NAME-used.
 *
 * Those who look up only read the store, and many at once, so this is not in it. The
 * file is a table without locks: a build ID's hash says which bucket, one line of the
 * cache, has its slot; a slot is 8 bytes, written at once, when the day in it is not
 * today. Where the file cannot be written nothing happens; what is lost in a race is a
 * day in one slot; a full bucket loses its oldest. format/store.md has the layout.
 */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "libsymcache/store/parts.h"

enum { DAY = 86400, SLOTS = 8, BUCKETS = 1 << 17 };

static const char magic[8] = { 'S', 'Y', 'M', 'U', 'S', 'E', 'D', '1' };

struct slot {
	uint32_t tag; /* the hash's upper half; 0: free */
	uint32_t day; /* since 1970 */
};
_Static_assert(sizeof(struct slot[SLOTS]) == 64, "bucket");

/* Empty is fine: it was just made. */
static bool is_table(int fd)
{
	char head[sizeof(magic)];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return !n || (n == sizeof(head) && !memcmp(head, magic, sizeof(magic)));
}

static int open_table(const struct symstore *store, int flags)
{
	int fd = symstore_open_next(store->path, "-used", flags, is_table);
	char first;

	if (fd >= 0 && flags & O_CREAT && !pread(fd, &first, 1, 0) &&
	    pwrite(fd, magic, sizeof(magic), 0) != sizeof(magic)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Reads the bucket of a build ID; returns where it lies. What is not there is zero. */
static off_t read_bucket(int fd, const uint8_t *build_id, size_t len, uint32_t *tag,
			 struct slot bucket[SLOTS])
{
	const uint64_t hash = XXH3_64bits(build_id, len);
	const off_t at = (off_t)(1 + hash % BUCKETS) * 64;

	*tag = (uint32_t)(hash >> 32);
	*tag += !*tag;
	memset(bucket, 0, 64);
	if (pread(fd, bucket, 64, at) < 0)
		return -1;
	for (int i = 0; i < SLOTS; i++)
		bucket[i] = (struct slot){ le32toh(bucket[i].tag), le32toh(bucket[i].day) };
	return at;
}

void symstore_mark_used(struct symstore *store, const uint8_t *build_id, size_t len,
			uint32_t *marked)
{
	const uint32_t today = (uint32_t)(time(NULL) / DAY);
	struct slot bucket[SLOTS], fresh;
	int fd, best = 0;
	uint32_t tag;
	off_t at;

	if (store->frozen || *marked == today ||
	    (fd = open_table(store, O_RDWR | O_CREAT)) < 0)
		return;
	*marked = today;
	at = read_bucket(fd, build_id, len, &tag, bucket);
	for (int i = 0; i < SLOTS; i++) {
		if (bucket[i].tag == tag) {
			best = i;
			break;
		}
		if (bucket[i].day < bucket[best].day)
			best = i;
	}
	fresh = (struct slot){ htole32(tag), htole32(today) };
	if (at > 0 && (bucket[best].tag != tag || bucket[best].day != today))
		(void)!pwrite(fd, &fresh, sizeof(fresh), at + best * (off_t)sizeof(fresh));
	close(fd);
}

int64_t symstore_last_used(const struct symstore *store, const uint8_t *build_id, size_t len)
{
	const int fd = open_table(store, O_RDONLY);
	struct slot bucket[SLOTS];
	int64_t day = 0;
	uint32_t tag;

	if (fd < 0)
		return 0;
	if (read_bucket(fd, build_id, len, &tag, bucket) > 0)
		for (int i = 0; i < SLOTS; i++)
			if (bucket[i].tag == tag)
				day = bucket[i].day;
	close(fd);
	return day * DAY;
}
