/*
 * What systemd-coredump writes to the journal:
 *
 *   Module libdepot.so with build-id dfe7f702…             the name stands for it from now on
 *   #1  0x00007f067030c1fa n/a (libdepot.so + 0x11fa)      return address, but for frame 0
 *
 * Offsets count from the first address of the module.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static const char id_word[] = "build-id";

static bool read_frame(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start, *plus, *open, *after;
	uint64_t number, address, rel;
	struct mk_event *e;

	if (!mk_match(&p, end, "#%d %_0x%x ", &number, &address))
		return false;
	plus = after = mk_find_back(p, end, " + 0x");
	open = plus ? mk_find_back(p, plus, " (") : NULL;
	if (!open || open == p || !mk_match(&after, end, " + 0x%x)", &rel))
		return false;
	e = mk_add_frame(l, "systemd", start, after);
	e->name = sc_span(open + 2, plus);
	e->hole = sc_span(p, open);
	if (!sc_str_is(e->hole, "n/a"))
		e->function = e->hole;
	e->number = number;
	e->address = address;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = rel;
	e->returns = number ? MK_RETURN : MK_EXACT;
	return true;
}

/* "Module NAME with build-id HEX", "Found module NAME with build-id: HEX" or "Module NAME,
 * build-id=HEX", whose "build-id" is at `id`. */
static void read_module(struct mk_line *l, const char *id, const char *end)
{
	const char *name, *p = id + strlen(id_word), *hex, *stop = NULL;

	if (mk_ends_with(l->p, id, " with "))
		stop = id - 6;
	else if (mk_ends_with(l->p, id, ", "))
		stop = id - 2;
	name = stop ? mk_find_back(l->p, stop, "odule ") : NULL;
	if (!name)
		return;
	name += strlen("odule ");
	for (; p < end && (*p == ':' || *p == '=' || *p == ' '); p++)
		;
	for (hex = p; p < end && ((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'));)
		p++;
	if (stop > name && p - hex >= 16 && mk_is_build_id(sc_span(hex, p)))
		mk_add_binding(l, name, p, sc_span(name, stop), sc_span(hex, p));
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *hash = l->p, *id = mk_find(l->p, end, id_word);

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
	.context_words = (const char *const[]){ id_word, NULL },
	.longest = 4096,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
