/*
 * How much memory a piece of work takes, and may take: the threads of the work share an
 * account, and what vectors, sets, sorts and inflated sections take is charged to it; the
 * rest is little. Beyond the limit there is no memory, as if the machine had none.
 */
#ifndef SC_ACCOUNT_H
#define SC_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_account {
	atomic_size_t used; /* bytes */
	size_t limit;
	atomic_bool refused; /* something was beyond the limit */
};

/* That of this thread; NULL: memory is not counted. sc_parallel() hands it on. */
extern _Thread_local struct sc_account *sc_account;

/* Before memory is taken, and after it is given back. False: beyond the limit. */
static inline bool sc_charge(size_t size)
{
	struct sc_account *a = sc_account;

	if (!a || atomic_fetch_add(&a->used, size) + size <= a->limit)
		return true;
	atomic_fetch_sub(&a->used, size);
	atomic_store(&a->refused, true);
	return false;
}

static inline void sc_discharge(size_t size)
{
	if (sc_account)
		atomic_fetch_sub(&sc_account->used, size);
}

#endif
