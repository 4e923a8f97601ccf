/*
 * Android's tombstones and logcat:
 *
 *   #00 pc 00000000000350ae  /apex/…/libc.so (tolower+14) (BuildId: 93ac61ec…)
 *   #02 pc 00000000000011f3  /data/app/…/base.apk!libdepot.so (offset 0x2f4000) (BuildId: …)
 *
 * The number is an address of the file, of the call. Frames without a build ID are Java's,
 * or of systems that had none; they stay.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

/* A longer line is not a frame. */
#define FRAME_MAX 8192

/* `id`: the first build ID behind it. */
static bool read_frame(struct mk_line *l, const char **pos, const char *id, const char *end)
{
	const char *p = *pos, *path, *close;
	struct sc_str hex;
	uint64_t number, pc;
	struct mk_event *e;

	if (!mk_match(&p, end, "#%d pc %x  ", &number, &pc) || id <= p)
		return false;
	path = p;
	close = id;
	if (!mk_match(&close, end, " (BuildId: %b)", &hex))
		return false;
	e = mk_add_frame(l, "android", *pos, close);
	e->form = MK_FORM_NDK;
	e->number = number;
	e->name = sc_span(path, memchr(path, ' ', (size_t)(id + 1 - path)));
	e->build_id = hex;
	e->lookup = pc;
	*pos = close;
	return true;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *p = l->p, *stop, *escape = NULL, *id = NULL;

	for (; (p = memchr(p, '#', (size_t)(end - p))); p++) {
		stop = mk_find_next(&escape, p, end, "\\n");
		stop = stop - p > FRAME_MAX ? p + FRAME_MAX : stop;
		if (mk_find_next(&id, p, end, " (BuildId: ") < stop && mk_begins_word(l->p, p) &&
		    read_frame(l, &p, id, stop))
			p--;
	}
}

const struct mk_input mk_android_input = {
	.name = "android",
	.words = (const char *const[]){ "pc ", NULL },
	.read = read_line,
	.cuttable = true,
};
