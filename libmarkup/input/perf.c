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
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

#define LINE_BYTES 8192

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
	const char *p = start, *open;
	uint64_t offset;
	struct mk_event *e;

	end = mk_trimmed(p, end);
	if (!mk_take_digits(&p, end, &offset) || p == end || *p != ' ' || end[-1] != ')')
		return;
	open = mk_find_back(p, end, " (/");
	if (open && memmem(open, (size_t)(end - open), "+0x", 3))
		open = NULL; /* that is another address */
	if (!open) {
		/* The kernel's frames come before the program's first; these are others. */
		open = mk_find_back(p, end, " ([");
		if (open && !mk_take_text(&open, end, " ([kernel") &&
		    (e = mk_add_event(l, MK_UNKNOWN))) {
			e->text = (struct markup_str){ start, (size_t)(end - start) };
			e->in_trace = e->quiet = true;
		}
		return;
	}
	e = mk_add_frame(l, "perf", start, end);
	if (!e)
		return;
	e->name = (struct markup_str){ open + 2, (size_t)(end - 1 - open - 2) };
	e->reach = 1;
	e->origin = MARKUP_FROM_FILE;
	e->lookup = offset;
	e->returns = e->lead_exact = true;
}

static const char *find_map(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), "PERF_RECORD_MMAP2", strlen("PERF_RECORD_MMAP2"));
}

static void read_map(struct mk_line *l, const char *p, const char *end)
{
	const char *id = memchr(p, '<', (size_t)(end - p)), *close, *path;

	close = id ? memchr(id, '>', (size_t)(end - id)) : NULL;
	path = close ? memmem(close, (size_t)(end - close), " /", 2) : NULL;
	if (!path)
		return;
	end = mk_trimmed(path, end);
	const struct markup_str hex = { id + 1, (size_t)(close - id - 1) };
	const struct markup_str name = { path + 1, (size_t)(end - path - 1) };
	if (hex.len % 2 == 0 && mk_field_build_id(hex, NULL))
		mk_add_binding(l, id, end, name, hex);
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + (l->len < LINE_BYTES ? l->len : LINE_BYTES);
	const char *map = find_map(l->p, end), *address;

	(void)dialect;
	if (map)
		read_map(l, map, end);
	else if ((address = find_address(l->p, end)))
		read_frame(l, address, end);
}

const struct mk_input mk_perf_input = {
	.name = "perf",
	.words = (const char *const[]){ " (/", " ([", "MMAP", NULL },
	.find_context = find_map,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
