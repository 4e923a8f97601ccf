/* Options of pages: see page.h. */
#include "cmd/cli/page.h"

#include <string.h>

int page_link_check(const char *link, struct sc_error *err)
{
	/* As in the scripts of pages, which also ask whether they may open what they are given. */
	static const char *const schemes[] = { "http:", "https:", "vscode:", "vscodium:", "idea:",
					       "clion:", "zed:", "cursor:", "emacs:" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (!strncmp(link, schemes[i], strlen(schemes[i])))
			return 0;
	return sc_error_set(err, SC_EINVAL, "--link: '%.100s' is neither http(s) nor a known editor: "
			    "vscode, vscodium, idea, clion, zed, cursor, emacs", link);
}
