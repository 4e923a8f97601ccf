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
	MARKUP_PROTOCOL_LOOKUP,   /* ours: llvm-symbolizer's lines, and addresses as a kernel
				   * prints them; a fault is reported, and counts */
	MARKUP_PROTOCOL_LLVM,     /* llvm-symbolizer's */
	MARKUP_PROTOCOL_BINUTILS, /* addr2line's: [0x]HEX or SYMBOL[+HEX], one module; in
				   * MARKUP_STYLE_GNU, with what it says where the DWARF has
				   * nothing */
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

	/* What answers look like. The numbers are enum markup_answer_style and markup_functions. */
	int style, functions;
	bool demangle;
	bool inlines;          /* all frames of an address; else its place alone */
	bool basenames, relative_names; /* of files: the last part, or without the
				* compilation directory */
	bool raw;              /* names as they are in the ELF file, byte for byte; else what a
				* terminal may not show is escaped */
	bool addresses, pretty, verbose;
	bool reasons;          /* MARKUP_PROTOCOL_LOOKUP: why a module has no lines is a message */
	bool color;            /* functions are highlighted, in texts of MARKUP_PROTOCOL_LOOKUP */
	bool also;             /* the other names of the outermost frame's code, with `inlines` */
	bool narrow;           /* MARKUP_PROTOCOL_BINUTILS: addresses have 8 digits */
	uint64_t source_lines; /* of context for each frame */
	bool explain;          /* say why, instead of what */

	/* What addresses mean. */
	uint64_t adjust_vma;   /* subtracted from them */
	bool relative_address; /* they count from the load base */
	bool keep_tags;        /* of the values of symbols (HWASan): then no address has them */

	/* Where debug files and sources are. search.files is not used. */
	const char *const *debug_dirs; /* as in struct symcache_build_options */
	const char *package;           /* likewise */
	struct symcache_source_search search;

	void *ctx;             /* of the functions */
	/* Takes answers, and, if not NULL, what is said of faults: whole lines. */
	void (*out)(void *ctx, const char *text, size_t len);
	void (*messages)(void *ctx, const char *text, size_t len);
	/* Input that cannot be read, as one line without newline; may be NULL. */
	void (*complain)(void *ctx, const char *message);
	/* Before input is waited for: what went out must be there now. May be NULL. */
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
 * Can the module of all lines be asked, if there is one? 0: yes. Else an error, which is
 * *reported if it was reported already: with MARKUP_PROTOCOL_LOOKUP that of
 * symcache_module_cache(), with MARKUP_PROTOCOL_LLVM SC_ENOTFOUND, in its words, as a message
 * or an answer. SC_ENOMEM.
 */
int symcache_answerer_check(struct symcache_answerer *d, bool *reported, struct sc_error *err);

/*
 * Answers n lines, as one list (in JSON an array). 0, or with MARKUP_PROTOCOL_LOOKUP 1: something
 * was not found, or not understood. SC_ENOMEM.
 */
int symcache_answerer_lines(struct symcache_answerer *d, char *const *lines, size_t n,
			    struct sc_error *err);

/* What is looked for: functions and variables by name or pattern; code of a line, FILE:LINE. */
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
