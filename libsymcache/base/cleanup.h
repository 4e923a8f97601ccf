/* cleanup.h: what __attribute__((cleanup)) calls at the end of a scope. */
#ifndef SC_CLEANUP_H
#define SC_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

static inline void sc_free_text(char **text)
{
	free(*text);
}

static inline void sc_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#endif
