/* shown.h: names and paths for text output; they may hold any bytes. */
#ifndef CMD_SHOWN_H
#define CMD_SHOWN_H

#include <stddef.h>
#include <stdint.h>

/* The row of --raw. */
#define OPT_RAW(where) \
	{ "raw", 0, OPT_FLAG, (where), NULL, \
	  "print names and paths unchanged; otherwise control characters and bytes that are not " \
	  "UTF-8 are escaped" }

/* `text`, or a copy in which each byte that may not reach a terminal is "\x1b"; until the
 * eighth call from now. One thread. Out of memory ends the program. */
const char *shown(const char *text);

/* A build ID in hex, in the same way. */
const char *shown_id(const uint8_t *build_id, size_t len);

#endif
