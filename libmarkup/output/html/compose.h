/* compose.h: the page of a log while it is written: see html.h. */
#ifndef MARKUP_COMPOSE_H
#define MARKUP_COMPOSE_H

#include "libmarkup/output/html/html.h"
#include "libmarkup/output/html/title.h"

#define BLOCK_LINES 64u          /* of a list, which the browser lays out when it is in sight */
#define PLAIN_LINES 4096u        /* of a page; what follows is in parts */
#define PART_LINES  512u         /* of a part, which the script makes when it comes near */
#define LOOSE_MAX   3u           /* lines without a frame between two of a backtrace */
#define TRACE_LINES 2048u        /* of a backtrace; a longer one goes on as another */
#define TRACE_BYTES (1u << 20)
#define OUTLINE_MAX 1000u        /* backtraces that are listed */

/* The mark of a line with a frame. */
struct mk_mark {
	bool begins;
	uint32_t reach;  /* 0: frames have numbers */
	uint64_t number;
};

/* The backtrace that is being collected. */
struct mk_backtrace {
	struct mk_out rows;       /* with marks in it */
	size_t kept;              /* of these bytes, those up to the last line with a frame */
	uint64_t first_line, line; /* the first; the last with a frame */
	uint64_t number, frames, missing, lines;
	uint32_t reach, loose;    /* lines without a frame behind the last */
	struct mk_out title, next_title, module;
	int severity;             /* of the title: see mk_html_title() */
};

struct mk_page {
	struct mk_out out;        /* to the sink */
	struct markup_options options;
	struct mk_out pending;    /* a mark that has not come as a whole */
	enum { AT_NOTHING, AT_LINES, AT_MODULES, AT_TRACE } at;
	bool begun;
	bool begins;              /* the next frame begins a backtrace */
	uint64_t line;            /* the current one, of its input */
	uint64_t lines;           /* of all inputs */
	uint64_t input;           /* number; 0: they have no names */
	unsigned in_block;        /* lines */
	bool in_part;
	uint64_t part_line;       /* its first */
	struct { uint64_t first, modules, maps; } fold;
	struct mk_recent recent;  /* lines without frames since the last backtrace */
	struct mk_backtrace trace;
	uint64_t traces;
	struct mk_out outline;    /* a list */
	struct mk_out crash;      /* the head of the page, of the first that matters most */
	int crash_severity;       /* −1: no backtrace yet */
};

/* ---- lists.c --------------------------------------------------------------------- */

/* A line begins, of this kind of mark; its text follows. Not in a backtrace. */
void mk_list_line(struct mk_page *p, char kind);
void mk_list_close(struct mk_page *p);
/* A list or a backtrace begins here, with this line: so may a part of the page. */
void mk_part_begin(struct mk_page *p, uint64_t line);
void mk_part_end(struct mk_page *p);
/* L48, or L2.48 in the second of several inputs. */
void mk_page_line_id(const struct mk_page *p, struct mk_out *o, uint64_t line);

/* ---- backtrace.c ------------------------------------------------------------------ */

/* Does a frame go on with the backtrace? */
bool mk_trace_goes_on(const struct mk_page *p, const struct mk_mark *f);
/* It begins, with the current line. */
void mk_trace_begin(struct mk_page *p, const struct mk_mark *f);
/* The current line has frames of it, the next one in this module, whose name is escaped. */
void mk_trace_line(struct mk_page *p, const struct mk_mark *f);
void mk_trace_frame(struct mk_page *p, struct sc_str module);
/* Writes it; the lines behind its last frame are lines again. */
void mk_trace_end(struct mk_page *p);

/* ---- head.c ----------------------------------------------------------------------- */

/* What is known at the end, and shown first. */
void mk_page_head(struct mk_page *p, const struct mk_modules *seen,
		  const struct mk_modules *missing, const struct markup_stats *stats);

#endif
