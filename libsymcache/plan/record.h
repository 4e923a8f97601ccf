/*
 * record.h: what a task leaves when it is done, in OUT/.symcache: done/N.json, and
 * done/N.complaints, what is to be said of its logs. format/plan.md describes them.
 */
#ifndef MARKUP_RECORD_H
#define MARKUP_RECORD_H

#include "libsymcache/plan/plan_file.h"

/* What came of a shard. */
struct mk_result {
	uint64_t shard;
	enum { MK_WHOLE, MK_CUT_OFF } status; /* MK_CUT_OFF: its log is damaged: what could be
	                             * read was filtered */
	uint64_t read, written;     /* bytes of text */
	char hash[SC_HASH_TEXT];       /* XXH3-128 of what was written */
	struct markup_stats stats;
	uint64_t complaints;        /* bytes in N.complaints; those of other shards are before it */
};

/* A module without symbols, or with addresses that found nothing. */
struct mk_missed {
	uint64_t shard;
	struct markup_module module; /* its name and build ID are on the heap */
};

struct mk_misses {
	struct mk_missed *data;
	size_t len, cap;
};

struct mk_record {
	uint64_t version;
	char plan[SC_HASH_TEXT];
	uint64_t task;
	const char *host;           /* NULL in one that was read */
	int64_t begun, ended;       /* milliseconds since 1970; for people alone */
	uint64_t shards;            /* how many results there are */
	uint64_t read, written;     /* bytes of all shards */
	uint64_t complaints;        /* bytes */
	char complaints_hash[SC_HASH_TEXT];
	VEC(struct mk_result) results; /* ascending by shard */
	struct mk_misses missed;       /* the same */
};

/* Files of OUT. */
struct mk_path mk_out_path(const char *out, const char *name); /* of OUT/.symcache */
struct mk_path mk_record_path(const char *out, uint64_t task);
struct mk_path mk_complaints_path(const char *out, uint64_t task);
struct mk_path mk_part_path(const char *out, uint64_t shard);

/* Whose folder OUT is: 1: the plan's; 0: no one's yet; SC_EINVAL: another's, with `advice` behind
 * the message; SC_ESYS. */
int mk_read_claim(const struct mk_plan *plan, const char *out, const char *advice,
		  struct sc_error *err);

/* Sets r->version and r->shards. */
int mk_record_write(struct mk_record *r, const char *out, struct sc_error *err);

/* SC_ENOTFOUND: there is none; SC_EFORMAT: damaged, or of another plan or task; SC_ESYS.
 * `head`: its sums alone, without looking at the rest. */
int mk_record_read(const struct mk_plan *plan, const char *out, uint64_t task, bool head,
		struct mk_record *ret, struct sc_error *err);
void mk_record_deinit(struct mk_record *r); /* all zero is fine */

/* Adds a copy of a module. False: no memory. */
bool mk_misses_add(struct mk_misses *to, uint64_t shard, const struct markup_module *m);
/* Moves all of `from` behind what is there. False: no memory, and they stay. */
bool mk_misses_move(struct mk_misses *to, struct mk_misses *from);
void mk_misses_deinit(struct mk_misses *m);

/* ---- complaints ------------------------------------------------------------------
 * Each is a head, the build ID and name of the module that it warns of, if it does, and the
 * text as standard error shows it. */

struct mk_complaint_head {
	uint32_t len;                  /* of the text, at least 1; little-endian, as all */
	uint16_t build_id_len, name_len;
};
_Static_assert(sizeof(struct mk_complaint_head) == 8, "complaint");

/* The complaint at *p, which moves behind it; false: there is none, or it is damaged. */
bool mk_complaint_next(const char **p, const char *end, struct markup_module *warns_of,
		    struct sc_str *text);
void mk_complaint_put(struct mk_out *to, const struct markup_module *warns_of, const char *text,
		   size_t len);

/* What is to be said of a shard, as mk_complaint_put() writes it: in memory, and from some size
 * on in a file without a name in OUT. */
struct mk_complaints {
	const char *out;
	struct mk_out text;
	int fd;           /* 0: none */
	uint64_t bytes;   /* in both */
	int error;        /* errno */
	struct mk_misses missed;
	uint64_t shard;
};

/* Writes all of it to `fd`, and adds it to the hash. -1: see errno. */
int mk_complaints_copy(struct mk_complaints *s, int fd, XXH3_state_t *hash);

#endif
