/* maps.h: rows of /proc/PID/maps, in logs and in profiles. */
#ifndef MARKUP_MAPS_H
#define MARKUP_MAPS_H

#include "libmarkup/input/input.h"

/* The row in the line [line, end), behind whatever else is in front of it: start, end, offset,
 * code, and the name, as it stands but for " (deleted)", "" if there is none; row->path: it is
 * one of a file. False: there is no row. */
bool mk_read_maps_row(const char *line, const char *end, struct mk_row *row);

#endif
