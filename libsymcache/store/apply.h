/*
 * apply.h: what a commit does, one thing after the other, in LMDB's transaction.
 */
#ifndef STORE_APPLY_H
#define STORE_APPLY_H

#include "libsymcache/base/vec.h"
#include "libsymcache/store/parts.h"

enum symstore_op_kind {
	SYMSTORE_PUT, SYMSTORE_TAG, SYMSTORE_REMOVE, SYMSTORE_REMEMBER, SYMSTORE_NOTED,
	SYMSTORE_REPACK,        /* the same cache in another form */
};

/* One thing to do. */
struct symstore_op {
	enum symstore_op_kind kind;
	uint8_t key[SYMCACHE_BUILD_ID_MAX + sizeof(SYMSTORE_NOTE)];
	size_t key_size;
	uint8_t *record;        /* SYMSTORE_TAG: tags, NUL, names, NUL; SYMSTORE_REMOVE: none */
	size_t record_size;
	void *old;              /* the record that was there, for the commit */
	symstore_fill_fn *fill; /* SYMSTORE_PUT; NULL: ctx is the cache */
	void *ctx;
	size_t cache_size;
	int level;              /* of SYMSTORE_PUT: at which it is packed; 0: it is not */
	struct symstore_form form;
	bool yields;            /* to an entry that is equally good */
	bool keep_files;        /* symstore_keep_files() */
	enum symstore_put_result *result; /* of SYMSTORE_PUT, and */
	bool *removed;          /* of SYMSTORE_REMOVE, set by the commit; may be NULL */
	bool *repacked;         /* the same of SYMSTORE_REPACK: false: it is another cache by now */
};

/* Packs the cache of a SYMSTORE_PUT, before the commit or in it. SC_ENOMEM. */
int symstore_op_pack(const struct symstore *store, struct symstore_op *op);

/* A writer takes it, with its record and form, also on an error. SC_ENOMEM. */
int symstore_push(struct symstore_writer *writer, const struct symstore_op *op,
		  struct sc_error *err);

/* Does all of them. Returns LMDB's code. */
int symstore_apply(struct symstore *store, MDB_txn *txn, struct symstore_op *ops, size_t num);

#endif
