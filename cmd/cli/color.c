/* Colours or none: see color.h. */
#include "cmd/cli/color.h"

#include <stdlib.h>
#include <unistd.h>

const char *const color_names[] = { "auto", "always", "never", NULL };

bool color_wanted(int when)
{
	const char *no_color = getenv("NO_COLOR");

	return when == COLOR_ALWAYS ||
	       (when == COLOR_AUTO && isatty(STDOUT_FILENO) && !(no_color && *no_color));
}
