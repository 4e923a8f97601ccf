/*
 * group.h: stacks on their way from the filter to the table of groups.
 *
 *   frames of any thread → group.c: records, in the order of the log → groups.c: stacks,
 *   equal ones counted → groups_write.c
 *
 * The filter puts its output into the order of the log whatever thread it comes from, and
 * may cut the log anywhere. So it writes a record for each frame, and what belongs to one
 * stack is only decided where the records have come together again.
 */
#ifndef MARKUP_GROUP_H
#define MARKUP_GROUP_H

#include "libmarkup/output/output.h"

#define GROUPS_MAX       65536u
#define GROUP_BYTES_MAX  (64u << 20) /* of the functions of all groups */
#define GROUP_FRAMES_MAX 256u        /* what is below counts for nothing */
#define GROUP_STACK_MAX  (32u << 10) /* bytes of the functions of a stack */

/* A frame; the texts follow it in this order: name of the input, format, process,
 * functions with a newline behind each, innermost first, and in front of each whether it is the
 * program's own. */
enum { GROUP_OWN = 'o', GROUP_OTHER = '-' };

struct mk_group_record {
	uint64_t line;   /* from 1 */
	uint64_t number;
	uint32_t reach;  /* of the event */
	uint32_t begins; /* a stack */
	uint32_t input_len, format_len, process_len, functions_len;
};

struct group_place {
	uint32_t input; /* index into markup_groups.inputs */
	uint64_t line;
};

struct group {
	uint64_t signature, count;
	struct group_place first, last;
	uint32_t own; /* the number of its first function of the program's own; UINT32_MAX: none */
	size_t len;
	char functions[]; /* a newline behind each */
};

struct group_stack;

struct markup_groups {
	VEC(struct group *) groups;
	size_t bytes;             /* of their functions */
	uint32_t *index;          /* signature → group + 1; power of two slots */
	size_t slots;
	struct group_stack *open; /* the stacks whose end has not come */
	size_t num_open;
	VEC(char *) inputs;       /* names of those that had frames */
	struct mk_out pending;    /* a record that has not come as a whole */
	uint64_t stacks;          /* all of them */
	uint64_t nameless;        /* stacks in no group: of no frame is anything known */
	uint64_t left_out;        /* stacks for whose group there was no room */
	bool no_memory, color;
};

/* Writes a function's name as it counts for a group: without what compilers put behind the
 * names of parts and copies (".cold", ".constprop.0" …), versions, and hashes of Rust. */
void mk_group_fold(struct mk_out *o, struct sc_str name);

/* Writes the groups in their order; and the same by enum markup_format (forms.c). */
void mk_groups_text(struct mk_out *o, const struct markup_groups *g);
void mk_groups_json(struct mk_out *o, const struct markup_groups *g);
void mk_groups_html(struct mk_out *o, const struct markup_groups *g);
/* What all of them show: "3 stacks in 2 groups", the signature, the name of an input, the next
 * function of a group, which *p moves behind. */
void mk_groups_totals(struct mk_out *o, const struct markup_groups *g);
void mk_groups_signature(struct mk_out *o, uint64_t v);
struct sc_str mk_groups_input(const struct markup_groups *g, const struct group_place *place);
bool mk_groups_function(const struct group *group, const char **p, struct sc_str *ret);

extern void (*const mk_groups_put[])(struct mk_out *o, const struct markup_groups *g);

#endif
