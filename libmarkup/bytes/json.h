/*
 * json.h: strings and members of objects as JSON.
 */
#ifndef MARKUP_JSON_H
#define MARKUP_JSON_H

#include <string.h>

#include "libmarkup/bytes/out.h"

/* `s` in quotes. Bytes that are not UTF-8 become U+FFFD, one for each. */
void mk_json_string(struct mk_out *o, struct markup_str s);

/* The same without quotes. */
void mk_json_escaped(struct mk_out *o, struct markup_str s);

/* Members of an object, but for its first: ",\"name\":" and a value. */
static inline void mk_json_key(struct mk_out *o, const char *name)
{
	mk_out_lit(o, ",\"");
	mk_out_put(o, name, strlen(name));
	mk_out_lit(o, "\":");
}

static inline void mk_json_str(struct mk_out *o, const char *name, struct markup_str s)
{
	mk_json_key(o, name);
	mk_json_string(o, s);
}

static inline void mk_json_number(struct mk_out *o, const char *name, uint64_t v)
{
	mk_json_key(o, name);
	mk_out_dec(o, v);
}

/* As a string: "0x1f". */
static inline void mk_json_hex(struct mk_out *o, const char *name, uint64_t v)
{
	mk_json_key(o, name);
	mk_out_char(o, '"');
	mk_out_hex(o, v);
	mk_out_char(o, '"');
}

/* Length of the UTF-8 character at p (not overlong, no surrogate); 0: bad. */
size_t mk_utf8_len(const char *p, const char *end);

#endif
