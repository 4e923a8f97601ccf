/*
 * Native frames of the Java VM, in hs_err files and on standard output:
 *
 *   Native frames: (J=compiled Java code, …)
 *   C  [libdepotjni.so+0x1139]                              where it crashed
 *   C  [libdepot.so+0x12ea]  depot::load_truck(int)+0xba    return addresses from here on
 *   # C  [libdepotjni.so+0x1139]                            "Problematic frame": the first
 *
 * Java's own frames stay.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static void read_frame(struct mk_line *l, const char *open, const char *end)
{
	const char *kind = open - 3, *plus, *p, *stop;
	uint64_t rel;
	struct mk_event *e;

	if (kind < l->p || (*kind != 'C' && *kind != 'V') || kind[1] != ' ' || kind[2] != ' ' ||
	    (kind > l->p && !blank(kind[-1])))
		return;
	stop = memchr(open, ']', (size_t)(end - open));
	plus = stop ? mk_find_back(open, stop, "+0x") : NULL;
	p = plus ? plus + 1 : NULL;
	if (!plus || plus == open + 1 || !mk_take_hex(&p, stop, &rel) || p != stop ||
	    !(e = mk_add_event(l, MK_FRAME)))
		return;
	/* The function that the VM knew goes with it. */
	p = mk_trimmed(stop + 1, end);
	e->text = (struct markup_str){ kind, (size_t)(p - kind) };
	for (stop++; stop < p && *stop == ' ';)
		stop++;
	e->hole = (struct markup_str){ stop, (size_t)(p - stop) };
	e->tag = (struct markup_str){ "java", strlen("java") };
	e->form = MK_FORM_BEHIND;
	e->name = (struct markup_str){ open + 1, (size_t)(plus - open - 1) };
	e->in_module = true;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = rel;
	e->returns = true;
	e->first_exact = true;
	e->reach = 64; /* Java's own are between */
	if (kind >= l->p + 2 && kind[-2] == '#')
		e->returns = false;
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + l->len, *open;
	struct mk_event *e;

	(void)dialect;
	open = memmem(l->p, l->len, "Native frames:", strlen("Native frames:"));
	if (open && (e = mk_add_event(l, MK_UNKNOWN))) {
		e->text = (struct markup_str){ open, strlen("Native frames:") };
		e->begins_trace = e->quiet = true;
		return;
	}
	open = memmem(l->p, l->len < 4096 ? l->len : 4096, "  [", 3);
	if (open)
		read_frame(l, open + 2, end);
}

const struct mk_input mk_java_input = {
	.name = "java",
	.words = (const char *const[]){ "+0x", "Nat", NULL },
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
