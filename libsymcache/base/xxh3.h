/*
 * XXH3 of many bytes, by the widest vectors that the processor has: in place of <xxhash.h>, by threads
 * that do little else. It leaves the upper halves of registers in use, after which the SSE code of
 * the same thread takes up to half as long again (look-ups as JSON did).
 */
#ifndef SC_XXH3_H
#define SC_XXH3_H

#define XXH_STATIC_LINKING_ONLY /* for states on the stack */
#include <xxhash.h>
#if !defined(SC_PORTABLE) && __x86_64__ && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* AVX2: 590 MB in 0.10 s instead of 0.16 s */
#endif

#endif
