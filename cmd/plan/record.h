/*
 * record.h: what a task leaves when it is done, in OUT/.symcache: done/N.json, and
 * done/N.complaints, what is to be said of its logs. format/plan.md describes them.
 */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include "cmd/plan/plan_file.h"

#define PLAN_FOLDER ".symcache"

/* What came of a shard. */
struct result {
	uint64_t shard;
	bool cut_off;               /* its log is damaged: what could be read was filtered */
	uint64_t read, written;     /* bytes of text */
	char hash[HASH_TEXT];       /* XXH3-128 of what was written */
	struct markup_stats stats;
	uint64_t complaints;        /* bytes in N.complaints; those of other shards are before it */
};

/* A module without symbols, or with addresses that found nothing. */
struct missed {
	uint64_t shard;
	struct markup_module module; /* its name and build ID are on the heap */
};

struct misses {
	struct missed *data;
	size_t len, cap;
};

struct record {
	char plan[HASH_TEXT];
	uint64_t task;
	char host[256];
	int64_t begun, ended;       /* milliseconds since 1970; for people alone */
	uint64_t read, written;     /* bytes of all shards */
	uint64_t complaints;        /* bytes */
	char complaints_hash[HASH_TEXT];
	struct { struct result *data; size_t len, cap; } results; /* ascending by shard */
	struct misses missed;       /* the same */
};

/* Files of OUT, on the heap. */
char *out_path(const char *out, const char *name); /* of OUT/.symcache */
char *out_record_path(const char *out, uint64_t task);
char *out_complaints_path(const char *out, uint64_t task);
char *out_part_path(const char *out, uint64_t shard);

int record_write(const struct record *r, const char *path, struct sc_error *err);

/* SC_ENOTFOUND: there is none; SC_EFORMAT: damaged, or of another plan or task; SC_ESYS.
 * `head`: its sums alone, without looking at the rest. */
int record_read(const struct plan *plan, const char *out, uint64_t task, bool head,
		struct record *ret, struct sc_error *err);
void record_deinit(struct record *r); /* all zero is fine */

/* Adds a copy of a module. */
void misses_add(struct misses *to, uint64_t shard, const struct markup_module *m);
/* Moves all of `from` behind what is there. */
void misses_move(struct misses *to, struct misses *from);
void misses_deinit(struct misses *m);

/* ---- complaints ------------------------------------------------------------------
 * Each is a head, the build ID and name of the module that it warns of, if it does, and the
 * text as standard error shows it. */

struct complaint_head {
	uint32_t len;                  /* of the text, at least 1; little-endian, as all */
	uint16_t build_id_len, name_len;
};
_Static_assert(sizeof(struct complaint_head) == 8, "complaint");

/* The complaint at *p, which moves behind it; false: there is none, or it is damaged. */
bool complaint_next(const char **p, const char *end, struct markup_module *warns_of,
		    struct markup_str *text);
void complaint_put(struct text *to, const struct markup_module *warns_of, const char *text,
		   size_t len);

#endif
