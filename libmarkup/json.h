/*
 * json.h: strings as JSON.
 */
#ifndef MARKUP_JSON_H
#define MARKUP_JSON_H

#include "libmarkup/out.h"

/* `s` in quotes. Bytes that are not UTF-8 become U+FFFD, one for each. */
void mk_json_string(struct markup_out *o, struct markup_str s);

/* Length of the UTF-8 character at p (not overlong, no surrogate); 0: bad. */
size_t mk_utf8_len(const char *p, const char *end);

#endif
