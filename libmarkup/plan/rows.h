/*
 * rows.h: files of JSON objects, one on each line. The last line has the number of the
 * others and the XXH3-128 of their bytes, so that a file that was cut off or changed is known
 * as such, whatever came in its place.
 */
#ifndef MARKUP_ROWS_H
#define MARKUP_ROWS_H

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include <limits.h>
#include <stdio.h>
#include <xxhash.h>

#include "libmarkup/bytes/json.h"
#include "libmarkup/plan.h"
#include "libsymcache/base/file.h"

void mk_hash_text(XXH128_hash_t hash, char ret[MARKUP_HASH_TEXT]);

/* A path. One that is too long is longer than any may be, so that every call refuses it. */
struct mk_path {
	char text[PATH_MAX + 1];
};

struct mk_path mk_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- writing ------------------------------------------------------------------ */

struct mk_rows_out {
	struct sc_new_file file;
	struct mk_out out;    /* hashed and written when it is full */
	XXH3_state_t hash;
	int error;            /* errno */
	uint64_t num;
};

/* Begins the file; it is there when mk_rows_commit() returns 0. */
int mk_rows_create(struct mk_rows_out *w, const char *path, struct sc_error *err);

/* Opens the object of a line with its first field, and closes it. Errors are the commit's. */
struct mk_out *mk_rows_open(struct mk_rows_out *w, const char *key, uint64_t number);
void mk_rows_close(struct mk_rows_out *w);

/* `hash` (may be NULL): that of the last line. *w is empty after it in any case. */
int mk_rows_commit(struct mk_rows_out *w, char hash[MARKUP_HASH_TEXT], struct sc_error *err);
void mk_rows_discard(struct mk_rows_out *w); /* one that was not created is fine, if all zero */

void mk_json_signed(struct mk_out *o, const char *key, int64_t number);
void mk_json_bool(struct mk_out *o, const char *key, bool value);
void mk_json_text(struct mk_out *o, const char *key, const char *text); /* NULL: "" */
void mk_json_hexes(struct mk_out *o, const char *key, const void *bytes, size_t len);
/* A text that may have any bytes: "KEY", or where it is not UTF-8 "KEY_hex". */
void mk_json_bytes(struct mk_out *o, const char *key, const char *bytes, size_t len);

/* ---- reading ------------------------------------------------------------------- */

enum { ROW_FIELDS = 32 };

/* A JSON object of texts, numbers, truths and nulls. A field that is missing or of another
 * type reads as nothing and makes the row bad. */
struct mk_object {
	struct mk_field {
		char *key, *text; /* NUL-terminated, in `arena` */
		size_t len;
		int64_t number;
		enum { FIELD_NULL, FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL } kind;
	} fields[ROW_FIELDS];
	unsigned num;
	bool bad;
	bool open, ended;  /* its braces were there */
	char *arena;
	size_t used, cap;
	char none[1];      /* "" */
	void *parser;
};

/* SC_EFORMAT: it is not such an object; SC_ENOMEM. */
int mk_object_parse(struct mk_object *o, const char *json, size_t len);
void mk_object_deinit(struct mk_object *o);

bool mk_object_has(const struct mk_object *o, const char *key); /* and it is not null */
/* Owned by the row, until it is parsed again. */
char *mk_object_text(struct mk_object *o, const char *key);
uint64_t mk_object_number(struct mk_object *o, const char *key);
int64_t mk_object_signed(struct mk_object *o, const char *key);
bool mk_object_bool(struct mk_object *o, const char *key);
/* The index of a text in a list that ends with NULL. */
int mk_object_choice(struct mk_object *o, const char *key, const char *const *of);
void mk_object_hash(struct mk_object *o, const char *key, char ret[MARKUP_HASH_TEXT]);
/* The bytes of hex digits, and what mk_json_bytes() wrote; owned by the row, a NUL behind
 * them. Once for each key. */
struct markup_str mk_object_hex(struct mk_object *o, const char *key);
struct markup_str mk_object_bytes(struct mk_object *o, const char *key);

struct mk_rows_in {
	const char *path;  /* borrowed */
	FILE *file;
	char *line;
	size_t len, cap;
	uint64_t num;      /* of the current line, from 1 */
	char hash[MARKUP_HASH_TEXT]; /* of the last line, once it was read */
	XXH3_state_t state;
	struct mk_object row;
};

/* SC_ENOTFOUND: there is no such file; SC_ESYS. */
int mk_rows_read(struct mk_rows_in *r, const char *path, struct sc_error *err);

/* The next line: 1; 0: that was all, and it is sound; SC_EFORMAT: it is damaged; SC_ESYS. */
int mk_rows_next(struct mk_rows_in *r, struct sc_error *err);

/* Parses the line into r->row; SC_EFORMAT. */
int mk_rows_parse(struct mk_rows_in *r, struct sc_error *err);

/* The error of a line whose values make no sense: SC_EFORMAT. */
int mk_rows_damaged(const struct mk_rows_in *r, struct sc_error *err);
void mk_rows_end(struct mk_rows_in *r); /* all zero is fine */

#endif
