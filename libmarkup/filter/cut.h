/*
 * cut.h: where a log may be cut so that its parts can be filtered one by one.
 *
 * Behind a line that is not contextual nothing is left open: no module line,
 * no colour if the line has none, and no hexdict if the last "{{{" is closed. All
 * that the part behind such a cut needs to know of the part before is what its
 * contextual lines announced.
 */
#ifndef MARKUP_CUT_H
#define MARKUP_CUT_H

#include "libmarkup/input/input.h"

/*
 * The length of the longest part of p[0, len) that ends with a line after which
 * nothing is open; 0: there is none, or it is not among the last lines.
 * `f`: the formats of the log. `colors`: SGR codes matter. `clean`: nothing was open at p.
 */
size_t mk_clean_cut(const struct mk_formats *f, const char *p, size_t len, bool colors,
		    bool clean);

#endif
