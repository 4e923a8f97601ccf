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
	MK_ROW_LOW12,     /* the same, but where the printer has subtracted: the offset ends, in 12
			   * bits, as the address of the process less one */
	MK_ROW_LEAD,      /* a frame with a return address, but where the line before had none */
	MK_ROW_HEADER,    /* frames follow */
	MK_ROW_SIGNAL,    /* a signal interrupted the next frame */
	MK_ROW_CARRIES,   /* no frame, but parts of those that follow */
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
	MK_ROW_FIRMWARE = 128, /* the module is "firmware", which only --module names */
	MK_ROW_ARROW    = 256, /* "> " stands before it, and the offset is one in the file */
	MK_ROW_LOW      = 512, /* an address below 2^32 is one of the file */
	MK_ROW_TITLED   = 1024, /* a title of the program may stand in place of its name */
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
};

extern const struct mk_frame_row mk_frame_rows[];
extern const size_t mk_num_frame_rows;

#define MK_FRAME_ROWS_MAX 128u /* bits of mk_formats.rows */

#endif
