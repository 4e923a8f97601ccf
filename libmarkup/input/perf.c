/*
 * Call chains of perf script:
 *
 *   depotd 28947  2381.598067:   25000000 cpu-clock:ppp:
 *           	    12d1 [unknown] (/opt/depot/depotd)              exact
 *           	    12ea depot::load_truck+0xba (/opt/libdepot.so)  return address
 *
 * and its events of mappings, if they say a build ID:
 *
 *   … PERF_RECORD_MMAP2 28947/28947: [0x55f3f40e9000(0x1000) @ 0x1000 <dfe7f702…>]: r-xp /opt/…
 *
 * Addresses are offsets in the file. Frames of the kernel and of what is not a file stay.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

/* Where the address of a frame begins: behind a tab and blanks. */
static const char *find_address(const char *p, const char *end)
{
	const char *tab = memchr(p, '\t', (size_t)(end - p));

	for (; tab && tab + 1 < end && (tab[1] == ' ' || tab[1] == '\t');)
		tab++;
	return tab ? tab + 1 : NULL;
}

static void read_frame(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start, *open, *plus;
	uint64_t offset;
	struct mk_event *e;

	end = mk_trimmed(p, end);
	if (!mk_match(&p, end, "%x", &offset) || p == end || *p != ' ' || end[-1] != ')')
		return;
	open = mk_find_back(p, end, " (/");
	if (open && mk_find(open, end, "+0x"))
		open = NULL; /* that is another address */
	if (!open) {
		/* The kernel's frames come before the program's first; these are others. */
		open = mk_find_back(p, end, " ([");
		if (open && !mk_match(&open, end, " ([kernel")) {
			e = mk_add_event(l, MK_UNKNOWN);
			e->text = sc_span(start, end);
			e->aside = MK_IN_TRACE;
			e->quiet = true;
		}
		return;
	}
	e = mk_add_frame(l, "perf", start, end);
	e->name = sc_span(open + 2, end - 1);
	plus = mk_find(p, open, "+0x");
	if (plus && p[1] != '[')
		e->function = sc_span(p + 1, plus);
	e->reach = 1;
	e->origin = MARKUP_FROM_FILE;
	e->lookup = offset;
	e->returns = MK_RETURN_BUT_LEAD;
}

static const char map_word[] = "PERF_RECORD_MMAP2";

static void read_map(struct mk_line *l, const char *p, const char *end)
{
	struct sc_str id;
	const char *start = memchr(p, '<', (size_t)(end - p)), *path = NULL;

	p = start;
	if (p && mk_match(&p, end, "<%b>", &id))
		path = mk_find(p, end, " /");
	if (!path)
		return;
	end = mk_trimmed(path, end);
	mk_add_binding(l, start, end, sc_span(path + 1, end), id);
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *map = mk_find(l->p, end, map_word), *address;

	if (map)
		read_map(l, map, end);
	else if ((address = find_address(l->p, end)))
		read_frame(l, address, end);
}

const struct mk_input mk_perf_input = {
	.name = "perf",
	.words = (const char *const[]){ " (/", " ([", "MMAP", NULL },
	.context_words = (const char *const[]){ map_word, NULL },
	.longest = 8192,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
