/* The account of each thread: see account.h. */
#include "libsymcache/base/account.h"

_Thread_local struct sc_account *sc_account;
