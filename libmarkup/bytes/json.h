/*
 * json.h: JSON: strings and members, and a generator that keeps track of maps, arrays and
 * commas. Errors are those of the buffer.
 */
#ifndef MARKUP_JSON_H
#define MARKUP_JSON_H

#include <string.h>

#include "libmarkup/bytes/out.h"

/* `s` in quotes. What is not UTF-8 becomes U+FFFD, one for each maximal part of a sequence, as the
 * Unicode standard recommends; control characters, DEL too, are escaped. */
void mk_json_string(struct mk_out *o, struct sc_str s);

/* The same without quotes. */
void mk_json_escaped(struct mk_out *o, struct sc_str s);

/* Members of an object, but for its first: ",\"name\":" and a value. */
static inline void mk_json_key(struct mk_out *o, const char *name)
{
	mk_out_lit(o, ",\"");
	mk_out_put(o, name, strlen(name));
	mk_out_lit(o, "\":");
}

static inline void mk_json_str(struct mk_out *o, const char *name, struct sc_str s)
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
	mk_put(o, "\"", mk_hex(v), "\"");
}

/*
 * The generator: { .to = buffer } writes compactly, each value that mk_gen_end() ends on a line
 * of its own; { .pretty = true } indents by two, as yajl does. With { .depth = 1, .any = 2 } it
 * goes on in an object that has members already.
 *
 * Where a function takes a key, NULL stands for a value without one: in an array, or by itself.
 * A key is plain text; strings are those of mk_json_string().
 */
struct mk_gen {
	struct mk_out *to;  /* borrowed */
	bool pretty;
	bool after_key;
	unsigned depth;     /* MK_GEN_DEPTH at most */
	uint64_t any;       /* bit d: what is open at depth d holds something */
};

#define MK_GEN_DEPTH 63u

/* `text` NULL: "". */
void mk_gen_string(struct mk_gen *g, const char *key, const char *text, size_t len);
void mk_gen_text(struct mk_gen *g, const char *key, const char *text);
void mk_gen_number(struct mk_gen *g, const char *key, uint64_t number);
void mk_gen_signed(struct mk_gen *g, const char *key, int64_t number);
void mk_gen_hex(struct mk_gen *g, const char *key, uint64_t number);   /* "0x1f" */
void mk_gen_bytes(struct mk_gen *g, const char *key, const uint8_t *bytes, size_t len); /* "00ff" */
void mk_gen_bool(struct mk_gen *g, const char *key, bool value);
void mk_gen_raw(struct mk_gen *g, const char *key, const char *json);  /* JSON as it is */

void mk_gen_open_map(struct mk_gen *g, const char *key);
void mk_gen_close_map(struct mk_gen *g);
void mk_gen_open_array(struct mk_gen *g, const char *key);
void mk_gen_close_array(struct mk_gen *g);
void mk_gen_empty_array(struct mk_gen *g, const char *key);

/* The value is complete: ends its line, and makes ready for another. */
void mk_gen_end(struct mk_gen *g);

/*
 * For inner loops: what a compact generator appends to, into which its user may put all members of
 * a map by itself, or all behind the first one; NULL: it is pretty.
 */
static inline struct mk_out *mk_gen_compact(const struct mk_gen *g)
{
	return g->pretty ? NULL : g->to;
}

#endif
