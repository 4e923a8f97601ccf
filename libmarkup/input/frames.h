/* frames.h: a format of frames as a row of a table; the table is in rows.c. */
#ifndef MARKUP_FRAMES_H
#define MARKUP_FRAMES_H

#include "libmarkup/input/input.h"
#include "libmarkup/input/pattern.h"

/* What a line of this form is. */
enum mk_row_kind {
	MK_ROW_EXACT,     /* a frame, whose address is looked up as it is */
	MK_ROW_RETURNS,   /* a frame with a return address */
	MK_ROW_RETURNS_1, /* the same, but for frame 0 */
	MK_ROW_LOW12,     /* the same, but exact where a build ID is there or the printer has
			   * subtracted: 12 bits of offset and address differ */
	MK_ROW_FIRST,     /* a frame with a return address, but for the first of a trace */
	MK_ROW_LEAD,      /* the same, but where the line before had none */
	MK_ROW_STAYS,     /* nothing: it only looks like a row below */
	MK_ROW_BINDS,     /* no frame: the name stands for the build ID from now on */
	MK_ROW_HEADER,    /* frames follow */
	MK_ROW_SIGNAL,    /* a signal interrupted the next frame */
	MK_ROW_CARRIES,   /* no frame, but parts of those that follow */
	MK_ROW_IN_TRACE,  /* no frame, but the line is one of a trace */
};

enum mk_row_flags {
	MK_ROW_VADDR    = 1,   /* the offset is an address of the file; without: it counts from
				* the first address of the image */
	MK_ROW_PATH     = 2,   /* the module is a path */
	MK_ROW_KNOWN    = 4,   /* it is a frame only if the store knows the module by its name */
	MK_ROW_HEADED   = 8,   /* exact, and only behind a header or another */
	MK_ROW_CARRIED  = 16,  /* with what the line before carries */
	MK_ROW_HIGH     = 32,  /* the address is above 2^32 */
	MK_ROW_SO       = 64,  /* the module is named without ".so" */
	MK_ROW_FILE     = 128, /* the offset is one in the file */
	MK_ROW_NULL     = 256, /* an address may be one of the first page */
	MK_ROW_LOW      = 512, /* an address below 2^32 is one of the file */
	MK_ROW_TITLED   = 1024, /* a title of the program may stand in place of its name */
	MK_ROW_TABBED   = 2048, /* a tab stands before it */
	MK_ROW_GUID     = 4096, /* the build ID is written as a GUID */
};

struct mk_frame_row {
	const char *name;  /* of the format */
	const char *word;  /* the anchor: stands where `right` begins, which '^' may mark */
	const char *left;  /* pattern of what ends at the anchor, or "" */
	const char *right; /* pattern from the anchor on */
	uint8_t kind, form; /* enum mk_row_kind; enum mk_form, 0: MK_FORM_BEHIND */
	uint16_t flags;
	const char *each;  /* pattern of further frames behind the first, or NULL */
	const char *tag;   /* in JSON, NULL: name */
	const char *before; /* stands before it, or NULL */
	uint8_t reach;     /* of struct mk_event; 0: as the parts of the line say */
	const char *module; /* the module, also of names that only begin so; or NULL */
};

extern const struct mk_frame_row mk_frame_rows[];
extern const size_t mk_num_frame_rows;

/* Do the parts that a row found make sense? */
bool mk_row_makes_sense(const struct mk_frame_row *row, const struct mk_parts *parts);

/* Adds the frame [start, end) of the line. */
struct mk_event *mk_row_frame(struct mk_line *l, const struct mk_frame_row *row,
			      const struct mk_parts *parts, const char *start, const char *end);

/* Adds what is no frame, but matters to those behind it. */
void mk_row_mark(struct mk_line *l, const struct mk_frame_row *row, const struct mk_parts *parts,
		 const char *start, const char *end);

#define MK_FRAME_ROWS_MAX 192u /* bits of mk_formats.rows */

#endif
