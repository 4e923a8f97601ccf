/* page.h: the options of the pages that several subcommands write. */
#ifndef CMD_PAGE_H
#define CMD_PAGE_H

#include "libsymcache/base/error.h"

#define OPTS_PAGE(link, own) \
	{ "link", 0, OPT_STRING, (link), "PATTERN", \
	  "with --format html: what a click on a place opens, an editor or a repository, with " \
	  "{path}, {line} " \
	  "and {column} in it: vscode://file{path}:{line}:{column}; --map-path applies to the " \
	  "paths" }, \
	{ "own", 0, OPT_LIST, (own), "PATTERN", \
	  "with --format html: files and modules with such a path are the program's own, and no " \
	  "others; a shell pattern, in which * is also /, or how paths begin; may be repeated " \
	  "(default: what is not of the system, by its folders)" }

/* Can it be --link? Pages open these schemes alone. */
int page_link_check(const char *link, struct sc_error *err);

#endif
