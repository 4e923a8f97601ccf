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
#include "libmarkup/input/match.h"

static void read_frame(struct mk_line *l, const char *open, const char *end)
{
	const char *kind = open - 3, *plus, *p, *stop;
	uint64_t rel;
	struct mk_event *e;

	if (kind < l->p || (*kind != 'C' && *kind != 'V') || kind[1] != ' ' || kind[2] != ' ' ||
	    (kind > l->p && kind[-1] != ' ' && kind[-1] != '\t'))
		return;
	stop = memchr(open, ']', (size_t)(end - open));
	plus = stop ? mk_find_back(open, stop, "+0x") : NULL;
	p = plus;
	if (!plus || plus == open + 1 || !mk_match(&p, stop + 1, "+0x%x]", &rel))
		return;
	/* The function that the VM knew goes with it. */
	end = mk_trimmed(p, end);
	e = mk_add_frame(l, "java", kind, end);
	e->name = sc_span(open + 1, plus);
	mk_match(&p, end, "%_");
	e->hole = sc_span(p, end);
	plus = mk_find(p, end, "+0x");
	e->function = sc_span(p, plus ? plus : p);
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = rel;
	e->returns = kind < l->p + 2 || kind[-2] != '#' ? MK_RETURN_BUT_FIRST : MK_EXACT;
	e->reach = 64; /* Java's own are between */
}

static void read_line(struct mk_line *l, const char *end)
{
	static const char begin[] = "Native frames:";
	const char *open = mk_find(l->p, end, begin);
	struct mk_event *e;

	if (open) {
		e = mk_add_event(l, MK_UNKNOWN);
		e->text = (struct sc_str){ open, strlen(begin) };
		e->aside = MK_BEGINS_TRACE;
		e->quiet = true;
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
