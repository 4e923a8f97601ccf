/*
 * rows.h: files of JSON objects, one on each line. The last line has the number of the
 * others and the XXH3-128 of their bytes, so that a file that was cut off or changed is known
 * as such, whatever came in its place.
 */
#ifndef CMD_ROWS_H
#define CMD_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <xxhash.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/text.h"
#include "libsymcache/base/file.h"
#include "symcache/error.h"

enum { HASH_TEXT = 33 }; /* an XXH3-128 in hex digits, and a NUL */

void hash_text(XXH128_hash_t hash, char ret[HASH_TEXT]);

/* ---- writing ------------------------------------------------------------------ */

struct rows_out {
	struct sc_new_file file;
	struct text text;     /* not written yet */
	struct json_gen *j;
	XXH3_state_t *hash;
	uint64_t num;
};

/* Begins the file; it is there when rows_commit() returns. */
int rows_create(struct rows_out *w, const char *path, struct sc_error *err);

/* Opens and closes the object of a line. */
struct json_gen *rows_open(struct rows_out *w);
int rows_close(struct rows_out *w, struct sc_error *err);

/* `hash` (may be NULL): that of the last line. *w is empty after it in any case. */
int rows_commit(struct rows_out *w, char hash[HASH_TEXT], struct sc_error *err);
void rows_discard(struct rows_out *w); /* an empty *w is fine */

/* A text that may have any bytes: "KEY", or where it is not UTF-8 "KEY_hex". */
void json_gen_bytes(struct json_gen *j, const char *key, const char *bytes, size_t len);

/* ---- reading ------------------------------------------------------------------- */

enum { ROW_FIELDS = 32 };

/* A JSON object of texts, numbers, truths and nulls. A field that is missing or of another
 * type reads as nothing and makes the row bad. */
struct row {
	struct field {
		const char *key, *text; /* NUL-terminated, in `arena` */
		size_t len;
		int64_t number;
		enum { FIELD_NULL, FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL } kind;
	} fields[ROW_FIELDS];
	unsigned num;
	bool bad;
	bool open, ended;  /* its braces were there */
	struct text arena;
	void *parser;
};

/* False: it is not such an object. */
bool row_parse(struct row *row, const char *json, size_t len);
void row_deinit(struct row *row);

bool row_has(const struct row *row, const char *key); /* and it is not null */
/* Owned by the row. */
const char *row_text(struct row *row, const char *key);
uint64_t row_number(struct row *row, const char *key);
int64_t row_signed(struct row *row, const char *key);
bool row_bool(struct row *row, const char *key);
/* The index of a text in a list that ends with NULL. */
int row_choice(struct row *row, const char *key, const char *const *of);
void row_hash(struct row *row, const char *key, char ret[HASH_TEXT]);
/* The bytes of hex digits, and what json_gen_bytes() wrote; on the heap, with a NUL behind. */
char *row_hex(struct row *row, const char *key, size_t *len);
char *row_bytes(struct row *row, const char *key, size_t *len);

struct rows_in {
	const char *path;  /* borrowed */
	FILE *file;
	char *line;
	size_t len, cap;
	uint64_t num;      /* of the current line, from 1 */
	char hash[HASH_TEXT]; /* of the last line, once it was read */
	XXH3_state_t *state;
	struct row row;
};

/* SC_ENOTFOUND: there is no such file; SC_ESYS. */
int rows_read(struct rows_in *r, const char *path, struct sc_error *err);

/* The next line: 1; 0: that was all, and it is sound; SC_EFORMAT: it is damaged; SC_ESYS. */
int rows_next(struct rows_in *r, struct sc_error *err);

/* Parses the line into r->row; SC_EFORMAT. */
int rows_parse(struct rows_in *r, struct sc_error *err);

/* The error of a line whose values make no sense: SC_EFORMAT. */
int rows_damaged(const struct rows_in *r, struct sc_error *err);
void rows_end(struct rows_in *r); /* all zero is fine */

#endif
