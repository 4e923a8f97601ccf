/*
 * What systemd-coredump writes to the journal:
 *
 *   Module libdepot.so with build-id dfe7f702…             the name stands for it from now on
 *   #1  0x00007f067030c1fa n/a (libdepot.so + 0x11fa)      return address, but for frame 0
 *
 * Offsets count from the first address of the module.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

/* A longer line is not a frame. */
#define FRAME_MAX 4096

static bool read_frame(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start + 1, *name, *plus, *open, *after;
	uint64_t number, address, rel;
	struct mk_event *e;

	if (!mk_take_decimal(&p, end, &number) || p == end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	if (!mk_take_hex(&p, end, &address) || p == end || *p != ' ')
		return false;
	name = p + 1;
	plus = mk_find_back(p, end, " + 0x");
	open = plus ? mk_find_back(p, plus, " (") : NULL;
	after = plus ? plus + 3 : NULL;
	if (!open || open <= name || !mk_take_hex(&after, end, &rel) || after == end || *after != ')')
		return false;
	e = mk_add_frame(l, "systemd", start, after + 1);
	if (!e)
		return false;
	e->name = (struct markup_str){ open + 2, (size_t)(plus - open - 2) };
	e->hole = (struct markup_str){ name, (size_t)(open - name) };
	e->number = number;
	e->address = address;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = rel;
	e->returns = number != 0;
	return true;
}

/* "Module NAME with build-id HEX", "Found module NAME with build-id: HEX" or "Module NAME,
 * build-id=HEX", whose "build-id" is at `id`. */
static void read_module(struct mk_line *l, const char *id, const char *end)
{
	const char *name, *p = id + strlen("build-id"), *hex, *stop = NULL;

	if (id - l->p >= 6 && !memcmp(id - 6, " with ", 6))
		stop = id - 6;
	else if (id - l->p >= 2 && !memcmp(id - 2, ", ", 2))
		stop = id - 2;
	name = stop ? mk_find_back(l->p, stop, "odule ") : NULL;
	if (!name)
		return;
	name += strlen("odule ");
	for (; p < end && (*p == ':' || *p == '=' || *p == ' '); p++)
		;
	for (hex = p; p < end && ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'));)
		p++;
	const struct markup_str digits = { hex, (size_t)(p - hex) };
	if (stop > name && digits.len >= 16 && digits.len % 2 == 0 &&
	    mk_field_build_id(digits, NULL))
		mk_add_binding(l, name, p,
			       (struct markup_str){ name, (size_t)(stop - name) }, digits);
}

static const char *find_id(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), "build-id", strlen("build-id"));
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + (l->len < FRAME_MAX ? l->len : FRAME_MAX), *hash = l->p;
	const char *id = find_id(l->p, end);

	(void)dialect;
	if (id) {
		read_module(l, id, end);
		return;
	}
	for (; (hash = memchr(hash, '#', (size_t)(end - hash))); hash++)
		if (mk_begins_word(l->p, hash) && read_frame(l, hash, end))
			return;
}

const struct mk_input mk_systemd_input = {
	.name = "systemd",
	.words = (const char *const[]){ "+ 0x", "d-id", NULL },
	.find_context = find_id,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
