/*
 * json.h: JSON on standard output, made by yajl, value by value.
 *
 * Names and texts from binaries may hold any bytes; JSON is UTF-8, so what is not
 * becomes U+FFFD, one for each maximal part of a sequence, as the Unicode standard
 * recommends. Numbers of 64 bits that are addresses are strings of hex digits:
 * many readers of JSON hold numbers in 53 bits.
 */
#ifndef CMD_JSON_H
#define CMD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yajl/yajl_gen.h>

struct json {
	yajl_gen gen;
	bool list, pretty;
	char *clean;      /* room for text that had to be mended */
	size_t clean_cap;
};

/* `list`: all values are elements of one array; else each is a line of its own, or
 * with `pretty` several. Not to standard output: json_memory(). */
struct json *json_create(bool pretty, bool list);
void json_destroy(struct json *j); /* finishes the array; NULL is fine */

/* Behind each value that is no element of anything. */
void json_end(struct json *j);

void json_string(struct json *j, const char *text, size_t len);

/* "key": … within an object. */
void json_key(struct json *j, const char *key);
void json_text(struct json *j, const char *key, const char *text); /* NULL: "" */
void json_number(struct json *j, const char *key, uint64_t number);
void json_signed(struct json *j, const char *key, int64_t number);
void json_hex(struct json *j, const char *key, uint64_t number);
void json_bool(struct json *j, const char *key, bool value);
void json_open(struct json *j, const char *key); /* an object */
void json_close(struct json *j);
void json_open_list(struct json *j, const char *key);
void json_close_list(struct json *j);

/* Makes a value beside the output: what is written between the two goes to memory.
 * json_take() returns it, on the heap and NUL-terminated, to be put in wherever it
 * is needed with json_put(). */
struct json *json_memory(void);
char *json_take(struct json *j);
void json_put(struct json *j, const char *key, const char *value);

#endif
