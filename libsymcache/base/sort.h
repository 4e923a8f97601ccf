/*
 * A sort that is compiled for its type and order:
 *
 *   SC_SORT(sort_rows, struct row, row_before)
 *
 * makes bool sort_rows(struct row *list, size_t n), where row_before(&a, &b) says whether
 * a must stand before b. Equal ones keep their order. False: out of memory, and the order
 * is any; what is sorted already needs none.
 *
 * A merge sort of the runs that are there, ascending or descending; what is not a run is put
 * in order by insertion, a few at a time. Most of what indexing sorts consists of a few
 * long runs; and qsort() spends most of its time calling the comparison, and memcpy().
 * Cost: O(n log r) for r runs.
 */
#ifndef SC_SORT_H
#define SC_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/account.h"

#define SC_SORT_RUN 8 /* no run is shorter, but for the last */

#define SC_SORT(name, type, before)                                                          \
	/* The end of the run that begins at `from`. */                                      \
	static inline size_t name##_run_end(const type *list, size_t from, size_t n)         \
	{                                                                                    \
		while (++from < n && !before(&list[from], &list[from - 1]))                  \
			;                                                                    \
		return from;                                                                 \
	}                                                                                    \
	/* Makes a run that begins at `from`; where it ends. */                              \
	static inline size_t name##_make_run(type *list, size_t from, size_t n)              \
	{                                                                                    \
		size_t end = from + 1, least = n - from < SC_SORT_RUN ? n : from + SC_SORT_RUN; \
		if (end < n && before(&list[end], &list[from])) {                            \
			while (++end < n && before(&list[end], &list[end - 1]))              \
				;                                                            \
			for (size_t a = from, b = end - 1; a < b; a++, b--) {                \
				type other = list[a];                                        \
				list[a] = list[b];                                           \
				list[b] = other;                                             \
			}                                                                    \
		} else {                                                                     \
			end = name##_run_end(list, from, n);                                 \
		}                                                                            \
		for (; end < least; end++) {                                                 \
			type one = list[end];                                                \
			size_t at = end;                                                     \
			for (; at > from && before(&one, &list[at - 1]); at--)               \
				list[at] = list[at - 1];                                     \
			list[at] = one;                                                      \
		}                                                                            \
		return end;                                                                  \
	}                                                                                    \
	/* Merges the runs [0, mid) and [mid, n). */                                         \
	static inline void name##_merge(const type *from, size_t mid, size_t n, type *to)    \
	{                                                                                    \
		size_t a = 0, b = mid;                                                       \
		if (mid < n && !before(&from[mid], &from[mid - 1]))                          \
			b = n, mid = n;                                                      \
		while (a < mid && b < n)                                                     \
			*to++ = before(&from[b], &from[a]) ? from[b++] : from[a++];          \
		memcpy(to, from + a, (mid - a) * sizeof(*to));                               \
		memcpy(to + (mid - a), from + b, (n - b) * sizeof(*to));                     \
	}                                                                                    \
	static bool name(type *list, size_t n)                                               \
	{                                                                                    \
		size_t at = n ? name##_make_run(list, 0, n) : 0, runs = 1, room;             \
		size_t *ends; /* of the runs; behind them, the second list */                \
		type *from = list, *to;                                                      \
		if (at == n)                                                                 \
			return true;                                                         \
		room = (n / SC_SORT_RUN + 1) * sizeof(*ends) + n * sizeof(*to);              \
		if (!sc_charge(room))                                                        \
			return false;                                                        \
		ends = malloc(room);                                                         \
		if (!ends)                                                                   \
			return false;                                                        \
		to = (type *)(ends + n / SC_SORT_RUN + 1);                                   \
		for (*ends = at; at < n; runs++)                                             \
			ends[runs] = at = name##_make_run(list, at, n);                      \
		while (runs > 1) {                                                           \
			type *other = from;                                                  \
			size_t merged = 0;                                                   \
			at = 0;                                                              \
			for (size_t i = 0; i < runs; i += 2) {                               \
				size_t mid = ends[i], end = i + 1 < runs ? ends[i + 1] : mid; \
				name##_merge(from + at, mid - at, end - at, to + at);        \
				ends[merged++] = at = end;                                   \
			}                                                                    \
			runs = merged;                                                       \
			from = to;                                                           \
			to = other;                                                          \
		}                                                                            \
		if (from != list)                                                            \
			memcpy(list, from, n * sizeof(*list));                               \
		sc_discharge(room);                                                          \
		free(ends);                                                                  \
		return true;                                                                 \
	}

#endif
