/* XXH3 of many bytes, by the widest vectors that the processor has: in place of <xxhash.h>. */
#ifndef SC_XXH3_H
#define SC_XXH3_H

#define XXH_STATIC_LINKING_ONLY /* for states on the stack */
#include <xxhash.h>
#if !defined(SC_PORTABLE) && __x86_64__ && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* AVX2: 590 MB in 0.10 s instead of 0.16 s */
#endif

#endif
