/* json_text.h: JSON texts by yajl, which does not survive that memory runs out. */
#ifndef SC_JSON_TEXT_H
#define SC_JSON_TEXT_H

#include <stddef.h>
#include <yajl/yajl_parse.h>

/*
 * Calls `callbacks` with `ctx` for what `text` holds; they must not keep what they got. 0;
 * SC_EFORMAT: it is no JSON text, or a callback ended it, at byte *end (end may be NULL);
 * SC_ENOMEM: for the parser; callbacks say themselves what they lack.
 */
int sc_json_parse(const yajl_callbacks *callbacks, void *ctx, const char *text, size_t size,
		  size_t *end);

#endif
