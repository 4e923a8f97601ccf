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
#include "libsymcache/base/below.h"
#include "libsymcache/base/file.h"
#include "libsymcache/plan/plan.h"

/* A path. One that is too long is longer than any may be, so that every call refuses it. */
struct mk_path {
	char text[PATH_MAX + 1];
};

struct mk_path mk_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- columns ------------------------------------------------------------------ */

/* A field of a row, and the member of a struct that it is written from and read into. A field
 * that is not there, or of another type, makes the row bad. */
struct mk_column {
	const char *key;
	enum {
		MK_NUMBER, /* uint64_t */
		MK_SIGNED, /* int64_t */
		MK_BOOL,   /* bool */
		MK_HASH,   /* char[SC_HASH_TEXT] */
		MK_HASH_OR_NONE, /* the same; "": there is no field */
		MK_CHOICE, /* an enum, by the texts in `of` */
		MK_TEXT,   /* const char *; NULL is written as "" */
		MK_PATH,   /* the same, of any bytes: "KEY", or "KEY_hex" where it is not UTF-8 */
		MK_BYTES,  /* struct sc_str, of any bytes */
		MK_HEX,    /* the same (or pointer and size_t), in hex digits */
	} kind;
	size_t at;             /* of the member in the struct */
	const char *const *of; /* ends with NULL */
};

/* All columns up to one without a key, in their order, behind "{". */
void mk_put_columns(struct mk_out *o, const struct mk_column *columns, const void *from);

/* ---- writing ------------------------------------------------------------------ */

struct mk_rows_out {
	struct sc_new_file file;
	struct mk_out out;    /* hashed and written when it is full */
	XXH3_state_t hash;
	int error;            /* errno */
	uint64_t num;
};

/* Begins the file; it is there when mk_rows_commit() returns 0. `below`: as of
 * sc_new_file_below(); 0: no link is to be feared. */
int mk_rows_create(struct mk_rows_out *w, const char *path, size_t below, struct sc_error *err);

/* Adds a line. Errors are the commit's. */
void mk_rows_put(struct mk_rows_out *w, const struct mk_column *columns, const void *from);

/* `hash` (may be NULL): that of the last line. *w is empty after it in any case. */
int mk_rows_commit(struct mk_rows_out *w, char hash[SC_HASH_TEXT], struct sc_error *err);

/* ---- reading ------------------------------------------------------------------- */

enum { ROW_FIELDS = 32 };

/* A JSON object of texts, numbers, truths and nulls. */
struct mk_object {
	struct mk_field {
		char *key, *text; /* NUL-terminated, in `arena` */
		size_t len;
		int64_t number;
		enum { FIELD_NULL, FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL } kind;
	} fields[ROW_FIELDS];
	unsigned num;
	bool open, ended;  /* its braces were there */
	char *arena;
	size_t used, cap;
};

/* SC_EFORMAT: it is not such an object; SC_ENOMEM. */
int mk_object_parse(struct mk_object *o, const char *json, size_t len);
void mk_object_deinit(struct mk_object *o);

bool mk_object_has(struct mk_object *o, const char *key); /* and it is not null */

/* Reads all columns, whose texts stay the object's until it is parsed again; once for each key.
 * False: one of them is bad, and its member as it was. */
bool mk_object_read(struct mk_object *o, const struct mk_column *columns, void *to);

struct mk_rows_in {
	const char *path;  /* borrowed */
	FILE *file;
	char *line;
	size_t len, cap;
	uint64_t num;      /* of the current line, from 1 */
	char hash[SC_HASH_TEXT]; /* of the last line, once it was read */
	XXH3_state_t state;
	struct mk_object row;
};

/* SC_ENOTFOUND: there is no such file; SC_ESYS. `below`: the same. */
int mk_rows_read(struct mk_rows_in *r, const char *path, size_t below, struct sc_error *err);

/* The next line: 1; 0: that was all, and it is valid; SC_EFORMAT: it is damaged; SC_ESYS. */
int mk_rows_next(struct mk_rows_in *r, struct sc_error *err);

/* Parses the line into r->row, and reads it into *to, unless that is NULL; SC_EFORMAT. */
int mk_rows_parse(struct mk_rows_in *r, const struct mk_column *columns, void *to,
		  struct sc_error *err);

/* The error of a line whose values make no sense: SC_EFORMAT. */
int mk_rows_damaged(const struct mk_rows_in *r, struct sc_error *err);
void mk_rows_end(struct mk_rows_in *r); /* all zero is fine */

#endif
