/*
 * json.h: text that may be anything, as JSON strings. JSON is UTF-8; names and
 * paths in binaries need not be.
 */
#ifndef CMD_JSON_H
#define CMD_JSON_H

#include <stddef.h>

struct json_object;

/* A string object of text[0, len), in which U+FFFD stands for each byte that is no
 * UTF-8. NULL text is the empty string. */
struct json_object *json_text(const char *text, size_t len);

#endif
