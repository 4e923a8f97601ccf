/*
 * stream.h: one thread's part of a filter: bytes → lines → events → output.
 */
#ifndef MARKUP_STREAM_H
#define MARKUP_STREAM_H

#include "libmarkup/bytes/hexdict.h"
#include "libmarkup/output/output.h"

struct mk_stream {
	struct mk_where where;
	struct mk_resolve resolve;
	struct mk_output output;
	struct mk_formats formats; /* that are looked for */
	struct mk_line line;       /* the current one */
	struct mk_out walked;      /* lines in place of one with a stack */
	struct mk_out tail;        /* bytes of a line whose end has not come */
	bool plain;                /* no input's words are in the current line */
	bool mid_line;             /* pieces of the current line were handled */
	struct mk_hexdict hexdict;
	bool mute;                 /* nothing is written: modules and maps are followed */
	struct mk_words uncuttable;/* mute: of formats that are not mk_input.cuttable */
	bool whole;                /* one of them was there: the input is not to be cut */
	int error;                 /* sticky */
};

/* The options are copied, their texts are not. Returns as markup_filter_create(). */
int mk_stream_create(const struct markup_options *options,
		     const struct markup_resolver *resolver, const struct markup_sink *sink,
		     struct mk_stream **ret);
void mk_stream_destroy(struct mk_stream *s); /* NULL is fine */

/* Takes the next bytes; output is kept in a buffer until that is full. Returns 0, -EIO
 * (the sink failed) or -ENOMEM; after a failure nothing is done any more. */
int mk_stream_feed(struct mk_stream *s, const char *data, size_t len);

/* Hands all output so far to the sink. */
int mk_stream_flush(struct mk_stream *s);

/* The end of an input: a last line without newline; what is open is closed, modules and
 * maps are forgotten; and flushes. */
int mk_stream_finish(struct mk_stream *s);

/* Whole lines that are another stream's to write: the context follows them. */
void mk_stream_follow(struct mk_stream *s, const char *p, const char *end);

#endif
