/*
 * A binary search: of n things in order, how many stand in front of what is looked for?
 *
 *   const size_t at = SC_SEARCH(i, list.len, list.data[i].start < address);
 *
 * counts those for which the expression, of the index i, holds: they stand before all for
 * which it does not. So `at` is the first one that does not begin before the address, or
 * list.len; at - 1 is the last one that does, if at is not 0.
 */
#ifndef SC_SEARCH_H
#define SC_SEARCH_H

#include <stddef.h>

#define SC_SEARCH(i, n, stands_before)                                                       \
	({                                                                                   \
		size_t low_ = 0, high_ = (n);                                                \
		while (low_ < high_) {                                                       \
			const size_t i = low_ + (high_ - low_) / 2;                          \
			if (stands_before)                                                   \
				low_ = i + 1;                                                \
			else                                                                 \
				high_ = i;                                                   \
		}                                                                            \
		low_;                                                                        \
	})

#endif
