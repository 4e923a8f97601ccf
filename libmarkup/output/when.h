/* when.h: the time at the beginning of a line of a log. */
#ifndef MARKUP_WHEN_H
#define MARKUP_WHEN_H

#include "libmarkup/bytes/out.h"

/*
 * The time that a line begins with, as it stands there, to the second; len 0: none. What is in front
 * of it is at most MK_WHEN_REACH bytes that are no letters. Known are ISO 8601 (also with '/' and with a
 * blank), syslog's ("Nov  8 13:24:05"), glog's ("I1108 13:24:05") and a kernel's seconds ("[   12.345678]").
 */
struct sc_str mk_when(struct sc_str line);

#define MK_WHEN_REACH 8u
#define MK_WHEN_MAX   24u /* bytes of a time, with room for a NUL */

#endif
