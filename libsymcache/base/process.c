/* Whose process this is: see process.h. */
#include "libsymcache/base/process.h"

#include <stddef.h>

const struct sc_process *sc_process;

bool sc_process_is_ours(void)
{
	return sc_process;
}

void sc_process_heap(void)
{
	if (sc_process)
		sc_process->heap();
}

void sc_process_descriptors(void)
{
	if (sc_process)
		sc_process->descriptors();
}
