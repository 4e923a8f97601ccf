/*
 * A large section that is inflated while it is read: see stream.h.
 *
 * libdeflate, which is a little faster, inflates a buffer as a whole; ISA-L stops
 * where it is asked to and goes on, so that units are read while the rest of
 * .debug_info, of ceph-osd one stream of 0.75 s, is still compressed. Pages whose units
 * are read are moved to where the next bytes come: zeroing fresh ones took a quarter of
 * the time. What is used up of the file is given back on the way.
 */
#include "libsymcache/elf/stream.h"

#include <stdlib.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/elf/sections.h"

#if !defined(SC_PORTABLE) && __has_include(<isa-l/igzip_lib.h>)
#include <isa-l/igzip_lib.h>

#define LARGE (64u << 20) /* where pages serve again */

struct sc_elf_stream {
	const uint8_t *in;
	size_t in_size;
	uint8_t *out;
	size_t size;
	size_t at_once; /* bytes of a step */
	size_t ready;   /* bytes inflated */
	size_t moved;   /* of their front, pages that serve elsewhere by now */
	size_t fed;     /* of in: handed to ISA-L */
	size_t dropped; /* of in: given back */
	bool stuck;     /* nothing was left to hand over */
	bool ended, damaged;
	struct inflate_state z;
};

int sc_elf_stream_open(struct sc_elf *e, const char *name, size_t worth,
		       struct sc_elf_stream **ret, const uint8_t **data, size_t *size)
{
	struct sc_elf_stream *s = calloc(1, sizeof(*s));

	*ret = NULL;
	if (!s)
		return SC_ENOMEM;
	s->out = sc_elf_room_for_zlib(e, name, worth, &s->in, &s->in_size, &s->size);
	if (!s->out) {
		free(s);
		return SC_ENOTFOUND;
	}
	s->at_once = s->size < LARGE ? SC_BIG_PAGE / 16 : SC_BIG_PAGE;
	isal_inflate_init(&s->z);
	s->z.crc_flag = ISAL_ZLIB;
	s->z.next_out = s->out;
	*data = s->out;
	*size = s->size;
	*ret = s;
	return 0;
}

/* Inflates up to `room` bytes. False: the data is damaged. */
static bool step(struct sc_elf_stream *s, uint8_t *out, size_t room)
{
	if (!s->z.avail_in) { /* its counters have 32 bits */
		size_t left = s->in_size - s->fed;

		if (!left && s->stuck)
			return false; /* it ends too early */
		s->stuck = !left;
		s->z.next_in = (uint8_t *)(uintptr_t)s->in + s->fed;
		s->z.avail_in = (uint32_t)(left < 1u << 30 ? left : 1u << 30);
		s->fed += s->z.avail_in;
	}
	s->z.next_out = out;
	s->z.avail_out = (uint32_t)room;
	return isal_inflate(&s->z) == ISAL_DECOMP_OK;
}

/* Inflates the next `n` bytes to `out`. */
static void inflate(struct sc_elf_stream *s, uint8_t *out, size_t n)
{
	while (n && !s->damaged) {
		if (s->z.block_state == ISAL_BLOCK_FINISH || !step(s, out, n))
			s->damaged = true;
		out = s->z.next_out;
		s->ready += n - s->z.avail_out;
		n = s->z.avail_out;
	}
	if (s->fed - s->z.avail_in - s->dropped >= SC_BIG_PAGE) {
		sc_big_drop(s->in + s->dropped, s->fed - s->z.avail_in - s->dropped);
		s->dropped = s->fed - s->z.avail_in;
	}
}

/* All is inflated; the checksum is still to come, and wants room, too. */
static bool check_end(struct sc_elf_stream *s)
{
	uint8_t too_much; /* than what was promised */

	while (s->z.block_state != ISAL_BLOCK_FINISH)
		if (!step(s, &too_much, 1) || !s->z.avail_out)
			return false;
	return true;
}

static void note_end(struct sc_elf_stream *s)
{
	if (s->ready == s->size && !s->damaged)
		s->damaged = !check_end(s);
	s->ended = s->damaged || s->ready == s->size;
}

size_t sc_elf_stream_more(struct sc_elf_stream *s, size_t done)
{
	size_t goal = s->ready + s->at_once - s->ready % s->at_once;

	if (s->ended)
		return s->damaged ? 0 : s->size;
	if (goal > s->size)
		goal = s->size;
	if (s->at_once == SC_BIG_PAGE && s->ready % SC_BIG_PAGE == 0 &&
	    s->moved + SC_BIG_PAGE <= done) {
		sc_big_move(s->out + s->ready, s->out + s->moved, SC_BIG_PAGE);
		s->moved += SC_BIG_PAGE;
	}
	inflate(s, s->out + s->ready, goal - s->ready);
	note_end(s);
	/* As a section that is inflated as a whole: all or nothing. */
	return s->damaged ? 0 : s->ready;
}

int sc_elf_stream_finish(struct sc_elf_stream *s, struct sc_error *err)
{
	while (s && !s->ended)
		sc_elf_stream_more(s, 0);
	return s && s->damaged ? sc_error_set(err, SC_EFORMAT, "compressed data is damaged") : 0;
}

int sc_elf_stream_pages(struct sc_elf_stream *s, size_t page_size, const uint8_t *wanted)
{
	uint8_t *window = sc_big_alloc(SC_BIG_PAGE);
	bool goes_on = false; /* the last string of the page before */

	if (!window)
		return SC_ENOMEM;
	if (s->size < SC_BIG_PAGE)
		memset(s->out, 0, s->size); /* as all memory that is not of malloc() */
	sc_big_sparse(s->out, s->size);
	while (!s->ended) {
		const size_t from = s->ready, left = s->size - from;

		inflate(s, window, left < SC_BIG_PAGE ? left : SC_BIG_PAGE);
		for (size_t at = from; at < s->ready; at += page_size) {
			const size_t n = s->ready - at < page_size ? s->ready - at : page_size;
			const uint8_t *page = window + (at - from);

			if (wanted[at / page_size] || goes_on) {
				memcpy(s->out + at, page, n);
				goes_on = page[n - 1];
			}
		}
		note_end(s);
	}
	sc_big_free(window, SC_BIG_PAGE);
	return s->damaged ? SC_EFORMAT : 0;
}

void sc_elf_stream_close(struct sc_elf_stream *s)
{
	free(s);
}

#else

int sc_elf_stream_open(struct sc_elf *e, const char *name, size_t worth,
		       struct sc_elf_stream **ret, const uint8_t **data, size_t *size)
{
	(void)e, (void)name, (void)worth, (void)data, (void)size;
	*ret = NULL;
	return SC_ENOTFOUND;
}

size_t sc_elf_stream_more(struct sc_elf_stream *s, size_t done)
{
	(void)s, (void)done;
	return 0;
}

int sc_elf_stream_finish(struct sc_elf_stream *s, struct sc_error *err)
{
	(void)s, (void)err;
	return 0;
}

int sc_elf_stream_pages(struct sc_elf_stream *s, size_t page_size, const uint8_t *wanted)
{
	(void)s, (void)page_size, (void)wanted;
	return 0;
}

void sc_elf_stream_close(struct sc_elf_stream *s)
{
	(void)s;
}

#endif
