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

#include "libmarkup/output/html/title.h"
#include "libmarkup/output/output.h"
#include "libmarkup/output/when.h"

#define GROUPS_MAX       65536u
#define GROUP_BYTES_MAX  (64u << 20) /* of the functions of all groups */
#define GROUP_FRAMES_MAX 256u        /* what is below counts for nothing */
#define GROUP_STACK_MAX  (32u << 10) /* bytes of the functions of a stack */

/* A frame; the texts follow it in this order: name of the input, format, process,
 * functions with a newline behind each, innermost first, and in front of each whether it is the
 * program's own. Or, for a page, a line, before its frames: the name of the input, and the
 * beginning of the line as `functions`; its `reach` is GROUP_LINE. */
#define GROUP_LINE UINT32_MAX
#define GROUP_LINE_MAX 512u /* bytes of it */
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
	char when[MK_WHEN_MAX]; /* of a page; "": unknown */
};

struct group {
	uint64_t signature, count;
	struct group_place first, last;
	uint32_t own; /* the number of its first function of the program's own; UINT32_MAX: none */
	char *kind;   /* of a page: the signal or report before the first stack that had one; HTML */
	size_t len;
	char functions[]; /* a newline behind each */
};

struct group_stack;

/* The lines of a log on their way, for a page. */
struct group_lines {
	struct mk_recent recent; /* without frames, since the last stack */
	struct mk_out line, scratch; /* the last line, escaped, if it had no frames so far */
	char when[MK_WHEN_MAX];  /* the last one that a line had */
};

struct markup_groups {
	VEC(struct group *) groups;
	size_t bytes;             /* of their functions */
	uint32_t *index;          /* signature → group + 1; power of two slots */
	size_t slots;
	struct group_stack *open; /* the stacks whose end has not come */
	size_t num_open;
	VEC(char *) inputs;       /* names of those that had records */
	struct mk_out pending;    /* a record that has not come as a whole */
	struct group_lines lines;
	const struct markup_page *pages;
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
