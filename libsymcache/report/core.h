/*
 * core.h: what the files of a core's report share; the core itself is read by
 * libsymcache/core/core.h.
 *
 *   core.c                    the walk over the threads
 *   core_place.c              what is at a frame
 *   core_text.c, core_json.c, core_html.c  the output
 */
#ifndef MARKUP_REPORT_CORE_H
#define MARKUP_REPORT_CORE_H

#include "libmarkup/output/html/page.h"
#include "libsymcache/report/report.h"
#include "libsymcache/report/stack.h"

/* A core that is shown. */
struct mk_core {
	const char *path;
	struct symcache_core *core;
	struct mk_out *out;
	struct mk_places places;        /* owners: struct symcache_image */
	const char *const *own;         /* as of the options */
	bool color, brief;              /* likewise */
	struct mk_out head, outline;    /* of the page, until its end */
	struct symcache_source_files sources; /* of the page, */
	uint64_t source_lines;          /* so many around each place */
	size_t stacks, shown;           /* of the page: so far; threads that they are of */
	struct symcache_code_place jitted; /* the last place of code made at run time */
	struct sc_frame jitted_frame;
};

/* What is at a frame, until the next one. */
struct symcache_code_place *mk_core_place(struct mk_core *c, const struct symcache_unwind_frame *f);

void mk_core_text_head(struct mk_core *c);
/* Of a stack of which not all is shown: so many outermost frames are. */
enum { MK_CORE_LAST = 50 };

/* Copies what mk_core_text_stack() shows of a stack, which may be long; *left_out: the number of
 * frames that are not in the copy. False: out of memory. */
bool mk_core_shown_part(const struct symcache_stack *stack, struct symcache_stack *ret,
			size_t *left_out);
/* The heading of `threads`, indices of all that have this stack, and its frames. */
void mk_core_text_stack(struct mk_core *c, const struct symcache_stack *stack, size_t left_out,
			const size_t *threads, size_t num_threads);
void mk_core_json_stack(struct mk_core *c, const struct symcache_stack *stack, size_t thread);

/* The page: its beginning, the same for each stack, its end. */
void mk_core_html_begin(struct mk_core *c, const struct mk_page_links *links);
void mk_core_html_stack(struct mk_core *c, const struct symcache_stack *stack, size_t left_out,
			const size_t *threads, size_t num_threads);
void mk_core_html_end(struct mk_core *c);

const char *mk_machine_name(uint16_t machine);

/* The modules, and what they lack. */
void mk_core_text_summary(struct mk_core *c);
void mk_core_json_summary(struct mk_core *c);

/* Bytes from the beginning of its image in memory to the frame's pc; the frame has an owner. */
static inline uint64_t mk_core_offset(const struct symcache_unwind_frame *f)
{
	const struct symcache_image *image = f->owner;

	return f->pc - (image->cache ? f->base : image->start);
}

#endif
