/*
 * A large section that is inflated while it is read: see stream.h.
 *
 * libdeflate, which is a little faster, inflates a buffer as a whole; ISA-L stops
 * where it is told to and goes on, so that half of ceph-osd's units are read by the
 * time its .debug_info, one stream of 0.75 s, is there. What is used up of the file
 * is given back on the way.
 */
#include "libsymcache/elf/stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/elf/sections.h"

#if __has_include(<isa-l/igzip_lib.h>)
#include <isa-l/igzip_lib.h>

#define WORTH_IT (32u << 20) /* inflated bytes */
#define AT_ONCE (2u << 20)   /* bytes between two reports */

struct sc_elf_stream {
	const uint8_t *in;
	size_t in_size;
	uint8_t *out;
	size_t size;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	size_t ready;
	bool ended;
};

static void report(struct sc_elf_stream *s, size_t ready, bool ended)
{
	pthread_mutex_lock(&s->lock);
	s->ready = ready;
	s->ended = ended;
	pthread_cond_broadcast(&s->more);
	pthread_mutex_unlock(&s->lock);
}

static void *run(void *arg)
{
	struct sc_elf_stream *s = arg;
	struct inflate_state *z = malloc(sizeof(*z));
	size_t ready = 0, dropped = 0, fed = 0;
	bool stuck = false;
	int rc = z ? ISAL_DECOMP_OK : -1;

	if (z) {
		isal_inflate_init(z);
		z->crc_flag = ISAL_ZLIB;
		z->next_out = s->out;
		z->avail_in = 0;
	}
	while (rc == ISAL_DECOMP_OK && z->block_state != ISAL_BLOCK_FINISH) {
		size_t room = s->size - ready < AT_ONCE ? s->size - ready : AT_ONCE, got;
		uint8_t too_much; /* than what was promised; the checksum wants room, too */

		if (!z->avail_in) { /* its counters have 32 bits */
			size_t left = s->in_size - fed;
			if (!left && stuck)
				break; /* it ends too early */
			stuck = !left;
			z->next_in = (uint8_t *)(uintptr_t)s->in + fed;
			z->avail_in = (uint32_t)(left < 1u << 30 ? left : 1u << 30);
			fed += z->avail_in;
		}
		if (!room) {
			z->next_out = &too_much;
			z->avail_out = 1;
			rc = isal_inflate(z);
			if (!z->avail_out)
				break;
			continue;
		}
		z->avail_out = (uint32_t)room;
		rc = isal_inflate(z);
		got = room - z->avail_out;
		ready += got;
		/* The last byte is held back until the checksum behind it is right. */
		report(s, ready < s->size ? ready : s->size - 1, false);
		if (fed - z->avail_in - dropped >= AT_ONCE) {
			sc_big_drop(s->in + dropped, fed - z->avail_in - dropped);
			dropped = fed - z->avail_in;
		}
	}
	/* As a section that is inflated as a whole: all or nothing. */
	if (rc != ISAL_DECOMP_OK || ready < s->size || z->block_state != ISAL_BLOCK_FINISH)
		ready = 0;
	free(z);
	report(s, ready, true);
	return NULL;
}

static void stream_free(struct sc_elf_stream *s)
{
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int sc_elf_stream_open(struct sc_elf *e, const char *name, struct sc_elf_stream **ret,
		       const uint8_t **data, size_t *size, struct sc_error *err)
{
	struct sc_elf_stream *s;

	*ret = NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	s->out = sc_elf_room_for_zlib(e, name, WORTH_IT, &s->in, &s->in_size, &s->size);
	if (!s->out || pthread_create(&s->thread, NULL, run, s)) {
		stream_free(s);
		return sc_error_set(err, SC_ENOTFOUND, "section %s: not inflated piecewise", name);
	}
	*data = s->out;
	*size = s->size;
	*ret = s;
	return 0;
}

size_t sc_elf_stream_wait(struct sc_elf_stream *s, size_t want)
{
	size_t ready;

	pthread_mutex_lock(&s->lock);
	while (s->ready < want && !s->ended)
		pthread_cond_wait(&s->more, &s->lock);
	ready = s->ready;
	pthread_mutex_unlock(&s->lock);
	return ready;
}

int sc_elf_stream_close(struct sc_elf_stream *s, struct sc_error *err)
{
	bool whole;

	if (!s)
		return 0;
	pthread_join(s->thread, NULL);
	whole = s->ready == s->size;
	stream_free(s);
	return whole ? 0 : sc_error_set(err, SC_EFORMAT, "compressed data is damaged");
}

#else

int sc_elf_stream_open(struct sc_elf *e, const char *name, struct sc_elf_stream **ret,
		       const uint8_t **data, size_t *size, struct sc_error *err)
{
	(void)e, (void)data, (void)size;
	*ret = NULL;
	return sc_error_set(err, SC_ENOTFOUND, "section %s: not inflated piecewise", name);
}

size_t sc_elf_stream_wait(struct sc_elf_stream *s, size_t want)
{
	(void)s;
	return want;
}

int sc_elf_stream_close(struct sc_elf_stream *s, struct sc_error *err)
{
	(void)s, (void)err;
	return 0;
}

#endif
