/*
 * Tables of what is mapped where, which stand before or behind frames:
 *
 *   5634f116a000-5634f116c000 r-xp 00002000 fe:00 1254163     /opt/depot/depot-boost
 *       0x7f3970b2a000  0x7f3970b2b000  0x1000  0x1000  r-xp  /opt/depot/libdepot.so
 *   0x7f1719b6e000+0x5000 dfe7f702…@0x7f1719b6e238 /opt/depot/libdepot.so - libdepot.so
 *   [  0] 506674B2-311D-71EC-6B8B-9E9D085EA301-3024B074 0x000055b496116000 /opt/depot/depot
 *   Address mapping: 55b496117000-55b496118000 /opt/depot/depot
 *
 * as of /proc/PID/maps (glibc, gperftools, programs of their own), of gdb's "info proc
 * mappings", of eu-unstrip -n, of lldb's "image list", and of Envoy, which has the first mapping
 * of code. The lines themselves stay.
 */
#include "libmarkup/input/maps.h"

#include "libmarkup/input/match.h"

/* What [p, end) begins with has a name: a path, up to the end of the text. */
static bool read_name(const char *p, const char *end, struct mk_row *row)
{
	static const char deleted[] = " (deleted)";

	mk_match(&p, end, "%_");
	for (const char *at = end = mk_end_of_text(p, end); at > p; at--)
		if (at[-1] == '"' || at[-1] == '\033') /* of JSON, a colour */
			end = at - 1;
	end = mk_trimmed(p, end);
	if (mk_ends_with(p, end, deleted))
		end -= strlen(deleted);
	row->name = sc_span(p, end);
	return p < end && *p == '/';
}

static bool is_mode(const char *p)
{
	return (p[0] == 'r' || p[0] == '-') && (p[1] == 'w' || p[1] == '-') &&
	       (p[2] == 'x' || p[2] == '-') && (p[3] == 'p' || p[3] == 's');
}

/* The line of maps whose mode, behind a blank, is at `mode`. */
static bool read_proc(const char *line, const char *mode, const char *end, struct mk_row *row)
{
	const char *p = mode - 1;
	uint64_t number;

	while (p > line && ((p[-1] >= '0' && p[-1] <= '9') || (p[-1] >= 'a' && p[-1] <= 'f') ||
			    p[-1] == '-'))
		p--;
	row->at = p;
	if (!mk_match(&p, end, "%x-%x", &row->start, &row->end) || p != mode - 1)
		return false;
	p = mode + 4;
	row->code = mode[2] == 'x';
	if (!mk_match(&p, end, " %x %x:%x ", &row->offset, &number, &number) ||
	    row->start >= row->end || p == end || *p < '0' || *p > '9')
		return false;
	while (p < end && *p >= '0' && *p <= '9') /* the inode, of up to 20 digits */
		p++;
	row->path = read_name(p, end, row);
	return true;
}

bool mk_read_maps_row(const char *line, const char *end, struct mk_row *row)
{
	const char *mode = line;

	while ((mode = memchr(mode, ' ', (size_t)(end - mode))) && end - mode > 6) {
		mode++;
		if (mode - line > 8 && mode[4] == ' ' && is_mode(mode) &&
		    read_proc(line, mode, end, row))
			return true;
	}
	return false;
}

/* gdb's, with a mode or without. */
static bool read_gdb(const char *p, const char *end, struct mk_row *row)
{
	uint64_t size;

	row->at = p;
	if (!mk_match(&p, end, "0x%x %_0x%x %_0x%x %_0x%x %_", &row->start, &row->end, &size,
		      &row->offset) || row->start >= row->end || row->end - row->start != size)
		return false;
	row->code = true;
	if (end - p > 5 && is_mode(p) && p[4] == ' ') {
		row->code = p[2] == 'x';
		p += 4;
	}
	return read_name(p, end, row);
}

/* eu-unstrip's: the whole image, with its build ID. */
static bool read_unstrip(const char *p, const char *end, struct mk_row *row)
{
	struct sc_str place;
	const char *stop;
	uint64_t size;

	row->at = p;
	if (!mk_match(&p, end, "0x%x+0x%x %b@%s ", &row->start, &size, &row->build_id, &place) ||
	    !size || size > UINT64_MAX - row->start)
		return false;
	row->end = row->start + size;
	row->code = row->whole = true;
	end = mk_end_of_text(row->build_id.ptr, end);
	if (p > end)
		return false;
	stop = memchr(p, ' ', (size_t)(end - p));
	return read_name(p, stop ? stop : end, row);
}

/* lldb's: build ID in groups, address of the image. */
static bool read_lldb(const char *open, const char *end, struct mk_row *row)
{
	const char *p = open;
	uint64_t number;
	size_t n = 0;

	row->at = open;
	if (!mk_match(&p, end, "[%_%d] ", &number))
		return false;
	for (; p < end && (*p == '-' || mk_digit(*p) < 16) && n < sizeof(row->id); p++)
		if (*p != '-')
			row->id[n++] = *p;
	if (n < 16 || n % 2 || !mk_match(&p, end, " 0x%x ", &row->start) || !read_name(p, end, row))
		return false;
	row->build_id = (struct sc_str){ row->id, n };
	row->end = 0;
	return row->code = row->listed = row->whole = true;
}

static bool read_envoy(const char *p, const char *end, struct mk_row *row)
{
	row->at = p;
	if (!mk_match(&p, end, "Address mapping: %x-%x ", &row->start, &row->end) ||
	    row->start >= row->end || !read_name(p, end, row))
		return false;
	return row->code = row->from_code = true;
}

static bool read_row(const char **pos, const char *end, struct mk_row *row)
{
	const char *p = *pos, *hex, *open, *envoy;

	if (row->at) /* one in a line */
		return false;
	if (mk_read_maps_row(p, end, row) && row->path)
		return true;
	envoy = mk_find(p, end, "Address mapping: ");
	if (envoy && read_envoy(envoy, end, row))
		return true;
	hex = memmem(p, (size_t)(end - p), "0x", 2);
	open = hex ? memrchr(p, '[', (size_t)(hex - p)) : NULL;
	if (open && read_lldb(open, end, row))
		return true;
	return hex && (read_gdb(hex, end, row) || read_unstrip(hex, end, row));
}

const struct mk_input mk_maps_input = {
	.name = "maps",
	.cuttable = true,
	.words = (const char *const[]){ NULL },
	.table_words = (const char *const[]){ "-xp ", "wxp ", "--p ", "  0x", "@0x", " 0x0", "s ma",
					     NULL },
	.read_row = read_row,
};
