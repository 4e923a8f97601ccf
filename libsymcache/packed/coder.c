/* Memory and faults of packing and unpacking: see coder.h. */
#include "libsymcache/packed/coder.h"

#include <stdlib.h>

#include "libsymcache/base/bigmem.h"

static const char *const names[] = {
#define STREAM_NAME_(name) #name,
	PACKED_STREAMS(STREAM_NAME_)
#undef STREAM_NAME_
};

const char *coder_name(enum stream_id s)
{
	return names[s];
}

void coder_fail(struct coder *k, enum stream_id s, const char *what)
{
	if (!k->bad)
		sc_error_set(k->err, SC_EFORMAT, "stream %s at %td: %s", names[s],
			     k->streams[s].at - k->streams[s].base, what);
	k->bad = true;
}

static void *refuse(struct coder *k, size_t bytes)
{
	if (!k->bad && bytes > k->left)
		sc_error_set(k->err, SC_EFORMAT, "it needs too much memory");
	else if (!k->bad)
		sc_no_memory(k->err);
	k->bad = true;
	return NULL;
}

void *coder_take(struct coder *k, size_t n, size_t size)
{
	const size_t bytes = n * size + 1;
	int i = 0;
	void *block;

	while (i < CODER_BLOCKS && k->blocks[i].at)
		i++;
	if (i == CODER_BLOCKS || bytes > k->left || !(block = calloc(bytes, 1)))
		return refuse(k, bytes);
	sc_big_advise(block, bytes);
	k->blocks[i].at = block;
	k->blocks[i].size = bytes;
	k->left -= bytes;
	return block;
}

void *coder_enlarge(struct coder *k, void *block, size_t bytes)
{
	size_t more;
	void *larger;
	int i = 0;

	if (!block)
		return coder_take(k, bytes, 1);
	while (k->blocks[i].at != block)
		i++;
	more = bytes - k->blocks[i].size;
	if (more > k->left || !(larger = realloc(block, bytes)))
		return refuse(k, more);
	k->blocks[i].at = larger;
	k->blocks[i].size = bytes;
	k->left -= more;
	return larger;
}

void coder_drop(struct coder *k, void *block)
{
	for (int i = 0; i < CODER_BLOCKS && block; i++)
		if (k->blocks[i].at == block) {
			free(block);
			k->left += k->blocks[i].size;
			k->blocks[i].at = NULL;
			return;
		}
}

void coder_deinit(struct coder *k)
{
	for (int i = 0; i < CODER_BLOCKS; i++)
		free(k->blocks[i].at);
	for (int s = 0; s < NUM_STREAMS; s++)
		free(k->streams[s].base);
}

bool coder_grow(struct coder *k, enum stream_id s, size_t more)
{
	struct stream *t = &k->streams[s];
	const size_t len = (size_t)(t->at - t->base);
	const size_t room = 2 * (size_t)(t->end - t->base) + more + 64;
	uint8_t *base = realloc(t->base, room);

	if (!base) {
		sc_no_memory(k->err);
		k->bad = true;
		return false;
	}
	*t = (struct stream){ base + len, base + room, base };
	return true;
}
