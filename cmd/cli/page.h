/* page.h: the options of the pages that several subcommands write. */
#ifndef CMD_PAGE_H
#define CMD_PAGE_H

#include "libsymcache/base/error.h"

#define OPTS_PAGE(link, own) \
	OPT_SECTION("Pages of HTML"), \
	{ "link", 0, OPT_STRING, (link), "PATTERN", \
	  "with --format html: the URL that a click on a place opens, of an editor or a repository, " \
	  "such as vscode://file{path}:{line}:{column}; --map-path applies to the paths" }, \
	{ "own", 0, OPT_LIST, (own), "PATTERN", \
	  "with --format html: only files and modules with such a path are the program's own; a " \
	  "shell pattern, in which * also matches /, or the beginning of paths; may be repeated " \
	  "(default: all outside of the system's folders)" }

/* Can it be --link? Pages open these schemes alone. */
int page_link_check(const char *link, struct sc_error *err);

#endif
