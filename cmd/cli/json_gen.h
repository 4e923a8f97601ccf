/*
 * json_gen.h: JSON, as it is said, to standard output or into a text.
 *
 * Names may hold any bytes; JSON is UTF-8, so what is not becomes U+FFFD, one
 * for each maximal part of a sequence, as the Unicode standard recommends.
 * Where a function takes a key, NULL stands for a value without one: in an
 * array, or by itself.
 */
#ifndef CMD_JSON_GEN_H
#define CMD_JSON_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_gen;
struct text;

/* `pretty`: indented by two; else each value that json_gen_end() ends is a line. */
struct json_gen *json_gen_create(bool pretty);
/* The same, appended to `to`, which is borrowed. */
struct json_gen *json_gen_create_text(bool pretty, struct text *to);
void json_gen_destroy(struct json_gen *j); /* NULL is fine */

/* `text` NULL: "". */
void json_gen_string(struct json_gen *j, const char *key, const char *text, size_t len);
void json_gen_text(struct json_gen *j, const char *key, const char *text);
void json_gen_number(struct json_gen *j, const char *key, uint64_t number);
void json_gen_signed(struct json_gen *j, const char *key, int64_t number);
void json_gen_hex(struct json_gen *j, const char *key, uint64_t number);   /* "0x1f" */
void json_gen_bool(struct json_gen *j, const char *key, bool value);

void json_gen_open_map(struct json_gen *j, const char *key);
void json_gen_close_map(struct json_gen *j);
void json_gen_open_array(struct json_gen *j, const char *key);
void json_gen_close_array(struct json_gen *j);
void json_gen_empty_array(struct json_gen *j, const char *key);

/* For a value that is needed often: makes it next to the output, of a generator of
 * its own. json_gen_take() ends that and returns the text, on the heap; put it in
 * with json_gen_raw(). */
struct json_gen *json_gen_create_memory(void);
char *json_gen_take(struct json_gen *j);
void json_gen_raw(struct json_gen *j, const char *key, const char *json);

/*
 * For inner loops: the text that a compact generator appends to, into which its user may put
 * members behind the first one of a map by itself; NULL: it is pretty. And a string there.
 */
struct text *json_gen_compact(struct json_gen *j);
void json_gen_put_string(struct json_gen *j, const char *text, size_t len);

/* The value is complete: ends its line, and makes ready for another. */
void json_gen_end(struct json_gen *j);

/* For one object that is all there is: opens it; and completes it, with its generator. */
struct json_gen *json_gen_begin_report(bool pretty);
void json_gen_end_report(struct json_gen *j);

#endif
