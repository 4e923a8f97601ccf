/* color.h: the option --color of subcommands that highlight. */
#ifndef CMD_COLOR_H
#define CMD_COLOR_H

#include <stdbool.h>

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
extern const char *const color_names[];

#define OPT_COLOR(when) \
	{ "color", 0, OPT_ENUM, (when), "WHEN", \
	  "highlight functions: always, never or auto (default): on a terminal, unless NO_COLOR is " \
	  "set", .choices = color_names, .implied = "always" }

/* Is standard output highlighted? */
bool color_wanted(int when);

#endif
