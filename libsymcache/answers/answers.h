/*
 * answers.h: reads lines with addresses and writes their functions, files and lines, in the forms
 * of symcache lookup, llvm-symbolizer, llvm-addr2line and binutils' addr2line.
 *
 *   struct symcache_answer_options o = { .demangle = true, .inlines = true,
 *           .functions = MARKUP_FUNCTIONS_LINKAGE, .out = print };
 *   symcache_answerer_create(&o, caches, &a, &err);
 *   symcache_answerer_read(a, STDIN_FILENO, &err);
 *   symcache_answerer_destroy(a);
 *
 * A program may send a line and wait for its answer before it sends the next: all answers are
 * handed out before more input is waited for, and no snapshot of the store is held meanwhile.
 * Input that is there already is answered in large pieces, on several threads, in order.
 *
 * A struct symcache_answerer is for one thread at a time. It prints nothing: answers and messages
 * go to functions of the caller, of which one is called at a time.
 */
#ifndef SYMCACHE_ANSWERS_H
#define SYMCACHE_ANSWERS_H

#include "libsymcache/symbolize/debug_files.h"

/* Whose lines are read, and how faults are reported. */
enum markup_protocol {
	MARKUP_PROTOCOL_LOOKUP,   /* symcache lookup's: the lines of llvm-symbolizer, and addresses as
				   * a kernel prints them; faults are messages, and change the result */
	MARKUP_PROTOCOL_LLVM,     /* llvm-symbolizer's */
	MARKUP_PROTOCOL_BINUTILS, /* addr2line's: [0x]HEX or SYMBOL[+HEX], of one module; answers are in
				   * MARKUP_STYLE_GNU, and without DWARF as binutils gives them */
};

enum markup_answer_style { MARKUP_STYLE_LLVM, MARKUP_STYLE_GNU, MARKUP_STYLE_JSON };
enum markup_functions { MARKUP_FUNCTIONS_NONE, MARKUP_FUNCTIONS_SHORT, MARKUP_FUNCTIONS_LINKAGE };

/* How --output-style and --functions call them; end with NULL. */
extern const char *const markup_answer_styles[], *const markup_functions[];

/* All zero, but for `out`, is fine. Strings and lists are borrowed. */
struct symcache_answer_options {
	enum markup_protocol protocol;
	bool hex;              /* addresses are in hex, also without 0x: llvm-addr2line's */
	/* The module of all lines; name NULL: each line names its own. */
	enum symcache_module_kind kind;
	const char *name;
	const char *tool;      /* in front of messages */

	/* How answers are written: enum markup_answer_style, enum markup_functions. */
	int style, functions;
	bool demangle;
	bool inlines;          /* all frames of an address; false: only the innermost place */
	bool basenames, relative_names; /* of files: the last part, or without the
				* compilation directory */
	bool raw;              /* names as they are in the ELF file, byte for byte; else what a
				* terminal may not show is escaped */
	bool addresses, pretty, verbose;
	bool reasons;          /* MARKUP_PROTOCOL_LOOKUP: why a module has no lines is a message */
	bool color;            /* functions are highlighted, in texts of MARKUP_PROTOCOL_LOOKUP */
	bool also;             /* with `inlines`: the other names of the outermost frame's code */
	bool narrow;           /* MARKUP_PROTOCOL_BINUTILS: addresses have 8 digits */
	uint64_t source_lines; /* lines of the source around each frame */
	bool explain;          /* write where an answer comes from, instead of the answer */

	/* What addresses mean. */
	uint64_t adjust_vma;   /* subtracted from them */
	bool relative_address; /* they count from the load base */
	bool keep_tags;        /* keep the tags in values of symbols (HWASan), so that no address is at
				* such a symbol */

	/* Where debug files and sources are. search.files is not used. */
	const char *const *debug_dirs; /* as in struct symcache_build_options */
	const char *package;           /* likewise */
	struct symcache_source_search search;

	void *ctx;             /* of the functions */
	/* Gets answers, in whole lines. */
	void (*out)(void *ctx, const char *text, size_t len);
	/* Gets messages about faults, in whole lines; may be NULL. */
	void (*messages)(void *ctx, const char *text, size_t len);
	/* Gets one line, without newline, about input that cannot be read; may be NULL. */
	void (*complain)(void *ctx, const char *message);
	/* Called before waiting for input: must flush what `out` got. May be NULL. */
	void (*wait)(void *ctx);
};

/* How names and paths are shown. */
struct symcache_names_options symcache_answer_names(const struct symcache_answer_options *o);

struct symcache_answerer;

/* `options` are copied, `caches` borrowed. Fails with SC_ENOMEM. */
int symcache_answerer_create(const struct symcache_answer_options *options,
			     struct symcache_caches *caches, struct symcache_answerer **ret,
			   struct sc_error *err);
void symcache_answerer_destroy(struct symcache_answerer *d); /* NULL is fine */

/*
 * Opens the module of all lines, if there is one. 0, or an error; *reported: a message or an answer
 * was written about it already. With MARKUP_PROTOCOL_LOOKUP it is that of symcache_module_cache(),
 * with MARKUP_PROTOCOL_LLVM SC_ENOTFOUND, in llvm-symbolizer's words. SC_ENOMEM.
 */
int symcache_answerer_check(struct symcache_answerer *d, bool *reported, struct sc_error *err);

/*
 * Answers n lines, as one list (in JSON an array). 0, or with MARKUP_PROTOCOL_LOOKUP 1: something
 * was not found, or not understood. SC_ENOMEM.
 */
int symcache_answerer_lines(struct symcache_answerer *d, char *const *lines, size_t n,
			    struct sc_error *err);

/* What to find: functions and variables by name or pattern, or the code of a line, FILE:LINE. */
enum symcache_answer_find { SYMCACHE_FIND_NAME, SYMCACHE_FIND_LINE };

/*
 * Writes the addresses of `text` in the module of all lines, as one list. SC_ENOTFOUND: there are
 * none; SC_EINVAL: not FILE:LINE; SC_ENOMEM.
 */
int symcache_answerer_find(struct symcache_answerer *d, enum symcache_answer_find what,
			   const char *text, struct sc_error *err);

/*
 * Answers the lines of the open file `fd`, which stays open and is called standard input in
 * complaints, as they come, until its end. A line of more than 64 KiB is complained of, and counts
 * as empty. Results as of symcache_answerer_lines(); a complaint counts as not understood.
 */
int symcache_answerer_read(struct symcache_answerer *d, int fd, struct sc_error *err);

#endif
