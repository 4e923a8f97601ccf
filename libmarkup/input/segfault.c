/*
 * The kernel's line about a program that crashed:
 *
 *   depotd[77]: segfault at 10 ip 000055… sp 0000… error 6 in depotd[1233,55f466dfa000+1000]
 *   traps: depotd[77] general protection fault ip:55… sp:7f… error:0 in depotd[55f466dfa000+1000]
 *
 * In brackets the offset in the file, if the kernel says it, and the mapping of the code. The
 * address is that of the instruction.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

/* The address behind "segfault … ip " or " ip:", and where that ends; NULL: there is none. */
static const char *find_ip(const char *p, const char *end, uint64_t *ip)
{
	const char *segfault = mk_find(p, end, "segfault");

	for (p = segfault ? segfault : p; (p = mk_find(p, end, " ip"));) {
		p += 3;
		if (p < end && (*p == ':' || (segfault && *p == ' ')) &&
		    (p++, mk_match(&p, end, "%x", ip)))
			return p;
	}
	return NULL;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *p, *in, *open;
	uint64_t ip, offset, start, size;
	bool has_offset;
	struct mk_event *e;

	p = find_ip(l->p, end, &ip);
	in = p ? mk_find(p, end, " in ") : NULL;
	open = in ? memchr(in, '[', (size_t)(end - in)) : NULL;
	if (!open || open == in + 4)
		return;
	p = open + 1;
	has_offset = mk_match(&p, end, "%x,", &offset);
	if (!mk_match(&p, end, "%x+%x]", &start, &size) || ip - start >= size)
		return;
	e = mk_add_frame(l, "segfault", in + 4, p);
	e->name = sc_span(in + 4, open);
	e->form = MK_FORM_CALLS;
	e->origin = has_offset ? MARKUP_FROM_FILE : MARKUP_FROM_CODE;
	e->lookup = has_offset ? offset : ip - start;
}

const struct mk_input mk_segfault_input = {
	.name = "segfault",
	.words = (const char *const[]){ "egfa", " ip:", NULL },
	.longest = 4096,
	.read = read_line,
	.cuttable = true,
};
