/*
 * stacks.h: the stacks of a profile as one tree, for forms that show them as a whole.
 *
 * Node 0 is the root; each other one is a frame under its caller, and has the sums of the values
 * of the samples that end in it: those of one sample type, or of all. Inlined calls are nodes of
 * their own. Parents have smaller numbers than their children, and those are in the order in which
 * they came. Memory: 24 bytes a node and 8 for each further value, and 24 a frame that differs.
 */
#ifndef SC_PROFILE_STACKS_H
#define SC_PROFILE_STACKS_H

#include "libsymcache/profile/tables.h"

/* What a frame shows; equal ones are one. Texts are those of s->places: prof_text_of(). */
struct prof_frame {
	uint32_t name;       /* of the function; if nothing is known, of the place */
	uint32_t file;       /* "": unknown */
	uint32_t module;     /* path of the mapping's file; "": unknown */
	uint32_t start_line; /* of the function; 0: unknown */
	uint32_t inlined;    /* 1: into the frame above */
	uint32_t unknown;    /* 1: nothing is known; 2: its module is not in the store */
};

struct prof_node {
	uint32_t frame, parent; /* of the root: PROF_NONE */
};

/* What the values of samples are, texts: "cpu", "nanoseconds". */
struct prof_value_type {
	uint32_t type, unit;
};

enum { PROF_TYPES_MAX = 64 };

struct prof_stacks {
	struct prof_places *places;
	bool whole;             /* set before: all sample types, and one frame for all that is
	                         * unknown of a module, instead of one for each address */
	VEC(struct prof_value_type) types;
	size_t chosen;          /* of these: what was asked for, or the profile's own choice */
	VEC(struct prof_node) nodes;
	VEC(int64_t) sums;      /* types.len of each node */
	VEC(struct prof_frame) frames;
	struct sc_intern node_set, frame_set;
	VEC(uint32_t) stack;    /* to be added: frames, innermost first */
	VEC(int64_t) values;    /* to be added: one of each type */
};

/* Empties it. */
void prof_stacks_begin(struct prof_stacks *s, struct prof_places *p);
void prof_stacks_deinit(struct prof_stacks *s);

/* One more type of values; all are there before the first sample. SC_ELIMIT, SC_ENOMEM. */
int prof_stacks_type(struct prof_stacks *s, struct sc_str type, struct sc_str unit,
		     struct sc_error *err);

/* Adds a sample whose stack is s->stack, with s->values. False: out of memory. */
bool prof_stacks_add(struct prof_stacks *s);

/* Of a node, of the i-th type: the sum of samples that end in it. */
static inline int64_t prof_stacks_value(const struct prof_stacks *s, size_t node, size_t i)
{
	return s->sums.data[node * s->types.len + i];
}

/* ---- tables of a profile ------------------------------------------------------------------ */

/* The functions that a profile has, and the frames of all of its locations, those that were looked
 * up and those that have lines: of pprof and of OTLP. All zero but for what is borrowed. */
struct prof_reader {
	struct prof_stacks *stacks;
	const struct prof_input *in;
	const struct prof_tables *tables;
	const struct prof_shape *shape;
	struct prof_ids ids;              /* of functions, if shape->id */
	VEC(struct prof_frame) functions;
	VEC(uint32_t) frames;             /* numbers in stacks->frames, innermost first */
	VEC(uint32_t) first;              /* of location i; those of the last end at the end */
};

void prof_reader_deinit(struct prof_reader *r);

/* A function. SC_EFORMAT, SC_ENOMEM. */
int prof_reader_function(struct prof_reader *r, const struct prof_field *field,
			 struct sc_error *err);

/* What was looked up of a location. */
struct prof_asked {
	uint64_t address;
	uint32_t mapping, place; /* PROF_NONE: in none; not looked up */
	bool has_lines;
};

/* The next location: its frames, or what is known of its address. SC_EFORMAT, SC_ENOMEM. */
int prof_reader_location(struct prof_reader *r, const struct prof_field *field,
			 const struct prof_asked *asked, struct sc_error *err);

/* The next location is a frame of this name. False: out of memory. */
bool prof_reader_name(struct prof_reader *r, struct sc_str name);

/* There are no more. SC_ENOMEM. */
int prof_reader_end(struct prof_reader *r, struct sc_error *err);

/* Adds the frames of a location to stacks->stack. False: out of memory. */
bool prof_reader_push(struct prof_reader *r, size_t location);

#endif
