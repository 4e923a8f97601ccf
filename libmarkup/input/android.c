/*
 * Android's tombstones and logcat:
 *
 *   #00 pc 00000000000350ae  /apex/…/libc.so (tolower+14) (BuildId: 93ac61ec…)
 *   #02 pc 00000000000011f3  /data/app/…/base.apk!libdepot.so (offset 0x2f4000) (BuildId: …)
 *
 * The number is an address of the file, of the call. Frames without a build ID are Java's,
 * or of systems that had none; they stay.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

/* A longer line is not a frame. */
#define FRAME_MAX 8192

static const char begin_id[] = " (BuildId: ";

/* `id`: the first build ID behind it. */
static bool read_frame(struct mk_line *l, const char **pos, const char *id, const char *end)
{
	const char *start = *pos, *p = start + 1, *path, *close;
	uint64_t number, pc;
	struct mk_event *e;

	if (!mk_take_decimal(&p, end, &number) || !mk_take_text(&p, end, " pc ") ||
	    !mk_take_digits(&p, end, &pc) || !mk_take_text(&p, end, "  "))
		return false;
	path = p;
	if (id <= path)
		return false;
	close = memchr(id, ')', (size_t)(end - id));
	const struct markup_str hex = { id + strlen(begin_id), (size_t)((close ? close : end) -
								 id) - strlen(begin_id) };
	if (!close || hex.len % 2 || !mk_field_build_id(hex, NULL) ||
	    !(e = mk_add_event(l, MK_FRAME)))
		return false;
	while (p < id && *p != ' ')
		p++;
	e->text = (struct markup_str){ start, (size_t)(close + 1 - start) };
	e->tag = (struct markup_str){ "android", strlen("android") };
	e->form = MK_FORM_NDK;
	e->number = number;
	e->name = (struct markup_str){ path, (size_t)(p - path) };
	e->build_id = hex;
	e->in_module = true;
	e->lookup = pc;
	*pos = close + 1;
	return true;
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *p = l->p, *end = p + l->len, *stop, *escape = NULL, *id = NULL;

	(void)dialect;
	for (; (p = memchr(p, '#', (size_t)(end - p))); p++) {
		stop = mk_find_next(&escape, p, end, "\\n");
		stop = stop - p > FRAME_MAX ? p + FRAME_MAX : stop;
		if (mk_find_next(&id, p, end, begin_id) < stop && mk_begins_word(l->p, p) &&
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
