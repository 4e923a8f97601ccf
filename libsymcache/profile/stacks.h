/*
 * stacks.h: the stacks of a profile as one tree, for forms that show them as a whole.
 *
 * Node 0 is the root; each other one is a frame under its caller, and has the sum of the values
 * of the samples that end in it. Inlined calls are nodes of their own. Parents have smaller
 * numbers than their children, and those are in the order in which they came. Memory: 24 bytes
 * a node, and 24 a frame that differs.
 */
#ifndef SC_PROFILE_STACKS_H
#define SC_PROFILE_STACKS_H

#include "libsymcache/profile/places.h"

/* What a frame shows; equal ones are one. Texts are those of s->places: prof_text_of(). */
struct prof_frame {
	uint32_t name;       /* of the function; if nothing is known, of the place */
	uint32_t file;       /* "": unknown */
	uint32_t module;     /* path of the mapping's file; "": unknown */
	uint32_t start_line; /* of the function; 0: unknown */
	uint32_t inlined;    /* 1: into the frame above */
	uint32_t unknown;    /* 1: nothing is known */
};

struct prof_node {
	uint32_t frame, parent; /* of the root: PROF_NONE */
	int64_t value;          /* of samples that end here */
};

struct prof_stacks {
	struct prof_places *places;
	VEC(struct prof_node) nodes;
	VEC(struct prof_frame) frames;
	struct sc_intern node_set, frame_set;
	VEC(uint32_t) stack;    /* to be added: frames, innermost first */
	uint32_t type, unit;    /* texts: of the values, "cpu", "nanoseconds" */
};

/* Empties it: the root alone is left. False: out of memory. */
bool prof_stacks_begin(struct prof_stacks *s, struct prof_places *p);
void prof_stacks_deinit(struct prof_stacks *s);

/* Adds a sample whose stack is s->stack. False: out of memory. */
bool prof_stacks_add(struct prof_stacks *s, int64_t value);

struct prof_frame_list {
	VEC(uint32_t) frames; /* numbers in s->frames, innermost first */
};

/* Adds a frame to the list. False: out of memory. */
bool prof_stacks_put(struct prof_stacks *s, const struct prof_frame *f, struct prof_frame_list *to);

/* Adds the frames of the place of a location, or what is known of its address. False: out of
 * memory. */
bool prof_stacks_location(struct prof_stacks *s, uint32_t mapping, uint32_t place,
			  uint64_t address, struct prof_frame_list *to);

#endif
