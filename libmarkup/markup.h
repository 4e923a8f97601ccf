/*
 * markup.h: symbolizer markup in log text → text with functions, files, lines.
 *
 * A filter takes a log in pieces of any size and hands what it prints to a sink. It
 * knows no symbols: it asks a resolver, functions of the caller.
 *
 * One sentence on ownership: every struct sc_str borrows; those from a resolver need to
 * live only until the next call to the same resolver.
 *
 * A filter belongs to one thread at a time, a resolver to one of the filter's; the
 * functions of a sink are called from any of these, but never two at a time. Any number
 * of filters may run side by side. Memory is bounded whatever the log
 * (see the MARKUP_…_MAX below) and does not grow with its length.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/frame.h"
#include "libsymcache/base/str.h"

enum markup_dialect {
	MARKUP_DEFAULT, /* ours */
	MARKUP_LLVM,    /* llvm-symbolizer --filter-markup, to the byte */
	MARKUP_FUCHSIA, /* Fuchsia's symbolizer */
};

/* ---- limits -------------------------------------------------------------- */

#define MARKUP_LINE_MAX    (1u << 20) /* a longer line is handled in pieces; an
                                       * element is never longer than a piece */
#define MARKUP_HEXDICT_MAX (64u << 10) /* bytes of one hexdict, over all its lines */
#define MARKUP_MODULES_MAX 65536u     /* modules and maps known at a time */
#define MARKUP_MMAPS_MAX   65536u
#define MARKUP_NAMES_MAX   (32u << 20) /* bytes of their names and build IDs */

/* ---- resolver ------------------------------------------------------------ */

struct markup_data {
	struct sc_str name;         /* as it is to be shown */
	uint64_t offset;            /* of the address from the start of the symbol */
	struct sc_str file;         /* of the declaration; ptr NULL: unknown */
	uint32_t line;              /* 0: unknown */
};

/* What a line counts an address of a module from. */
enum markup_origin {
	MARKUP_FROM_ZERO,      /* it is that of the ELF file, p_vaddr */
	MARKUP_FROM_LOAD_BASE, /* the first address of the image */
	MARKUP_FROM_FILE,      /* the beginning of the ELF file */
	MARKUP_FROM_VALGRIND,  /* it is of a process of valgrind's, which lays the program to
	                        * 0x108000 if that can be moved */
	MARKUP_FROM_CODE,      /* the page that the only executable segment begins in */
	MARKUP_FROM_SYMBOL,    /* the start of a symbol */
	MARKUP_INSIDE,         /* as MARKUP_FROM_ZERO, if code can be there */
	MARKUP_FIXED,          /* the same in a program that cannot be moved; false for others */
	MARKUP_FROM_SHOWN,     /* as MARKUP_FROM_SYMBOL, which may be named as it is shown, of the
	                        * only one that begins at the place of `address` in its page */
};

struct markup_place {
	enum markup_origin origin;
	uint64_t offset;          /* from there */
	struct sc_str symbol;     /* MARKUP_FROM_SYMBOL, …_SHOWN: its name */
	uint64_t address;         /* MARKUP_FROM_SHOWN: of the process */
	uint64_t symbol_size;     /* as a kernel has it: up to the next symbol; 0: unknown */
	uint64_t size_here;       /* set by the resolver: the bytes that the symbol has here, where it
	                           * cannot be the one that is meant: it is of another build */
	/* MARKUP_FROM_FILE, for files whose offsets are not known: the distance from where the first
	 * page of the file is mapped, if that is known. */
	bool has_page;
	uint64_t from_page;
};

/* A register of a thread, by its name in lower case: "rbx", "x19", or "pc", "sp", "fp" of any
 * machine. */
struct markup_register {
	struct sc_str name;
	uint64_t value;
};

/* What a log has of a stack. */
struct markup_stack {
	const struct markup_register *registers;
	size_t num_registers;
	const uint8_t *bytes; /* from the stack pointer on */
	size_t len;
	/* The module whose code is at an address of the process: a handle of the resolver, or
	 * NULL if that has none; and the address in its ELF file. False: no code is there. */
	bool (*find)(void *ctx, uint64_t address, void **module, uint64_t *vaddr);
	void *find_ctx;
};

struct markup_caller {
	uint64_t pc;
	bool exact;      /* else it is a return address */
	const char *how; /* it was found, if that is not sure; or NULL. Static */
};

#define MARKUP_AHEAD 16

struct markup_module;

/* What may be NULL is not known then, or not wanted. */
struct markup_resolver {
	void *ctx;

	/*
	 * The symbols of a module, of which name, build ID, kernel and release are set, as far as
	 * the log has them: a handle that stays valid as long as the resolver, and `symbols` and
	 * `table_only` of the module; or NULL, then *why may be set to a reason (static, or alive
	 * until the next call). Without a build ID the name is a path or the last part of one.
	 * Asked when the first address of the module turns up, and again after each reset. May be
	 * NULL: there are none.
	 */
	void *(*module)(void *ctx, struct markup_module *m, const char **why);

	/* The address of the ELF file that is meant; false: there is none, or more than one, or
	 * place->size_here is set. May be NULL: only MARKUP_FROM_ZERO is known. */
	bool (*place)(void *ctx, void *module, struct markup_place *place, uint64_t *vaddr);

	/*
	 * The frames at a precise code address of the ELF file (its p_vaddr),
	 * innermost first: sets *frames and returns how many there are, 0 if
	 * nothing is known. `named`: the module is named on the frame's line; the names of the
	 * symbol table count then, too.
	 */
	size_t (*code)(void *ctx, void *module, uint64_t vaddr, bool named,
		       const struct sc_frame **frames);

	/* Lines of the source around the place of a frame of this module, whole ones, as they are
	 * to be shown below it; ptr NULL: they are not there. May be NULL: none are wanted. */
	struct sc_str (*source)(void *ctx, void *module, const struct sc_frame *frame);

	/*
	 * Announces n addresses, at most MARKUP_AHEAD, which code() will most
	 * likely be asked for next, in this order, for it to look them up
	 * together. May be NULL.
	 */
	void (*prepare)(void *ctx, void *const modules[], const uint64_t vaddrs[], size_t n);

	/* The data symbol that covers `vaddr`; false if there is none. May be NULL. */
	bool (*data)(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret);

	/*
	 * Walks a stack: sets *callers, which are good until the next stack, and returns how
	 * many there are, the frame of the registers first; 0: it cannot be walked. *end: why
	 * there are no more, if the last one is not the outermost. May be NULL: stacks are not
	 * walked.
	 */
	size_t (*unwind)(void *ctx, const struct markup_stack *stack,
			 const struct markup_caller **callers, const char **end);

	/* A linkage name as it is to be shown; may be NULL: names stay as they are. */
	struct sc_str (*demangle)(void *ctx, struct sc_str name);
};

/* ---- filter -------------------------------------------------------------- */

struct markup_tally;

struct markup_sink {
	void *ctx;
	/* Takes output; nonzero: it failed, nothing more will be written. NULL: none is
	 * wanted; no address is looked up, only modules and maps are followed, and, for
	 * options->keep_modules, the names that frames have. */
	int (*write)(void *ctx, const char *data, size_t len);
	/* Takes one complaint: a line, or several of LLVM's, newlines included. Names in it are
	 * as the log has them, whatever their bytes. NULL: none wanted. */
	void (*complain)(void *ctx, const char *data, size_t len);
	/* Takes those that warn of a module without symbols, once for each; NULL: complain()
	 * does. The module is valid during the call. */
	void (*warn)(void *ctx, const struct markup_module *m, const char *data, size_t len);
	/* What other filters warned of is not warned of again, and the other way round; must
	 * outlive the filter. NULL: each filter warns for itself. */
	struct markup_tally *tally;
};

enum markup_format {
	MARKUP_TEXT_OUT,
	MARKUP_JSON,     /* an object for each line of the log: output/json.md */
	MARKUP_HTML,     /* one page, complete after markup_filter_end() */
};

/* Names of the formats of logs that are understood; NULL at the end. */
extern const char *const markup_input_names[];

/* Names of the formats, and what files of theirs end with; NULL at the end. */
extern const char *const markup_format_names[], *const markup_format_suffixes[];

enum markup_color {
	MARKUP_COLOR_NONE,  /* nothing is highlighted; SGR codes of the log stay
	                     * (MARKUP_LLVM: are taken out) */
	MARKUP_COLOR_STRIP, /* nothing is highlighted; SGR codes are taken out */
	MARKUP_COLOR_ON,    /* elements are highlighted, the log's state restored */
};

/* What is true of a form of output: of a dialect, a format of the default one, or groups. */
struct markup_form {
	bool whole_page;    /* each log is a page of its own: a filter makes one, no log is cut */
	bool escapes;       /* it escapes what it cannot show; names may be any bytes */
	bool wants_symbols; /* it says of each module which symbols were used */
	bool sources;       /* it shows lines of sources, if there is a resolver of them */
};

struct markup_options {
	enum markup_dialect dialect;
	enum markup_format format; /* of MARKUP_DEFAULT; the others know text only */
	enum markup_color color;
	bool name_inputs;          /* MARKUP_JSON: each object names its input;
	                            * MARKUP_HTML: each input has a heading */
	const char *title;         /* MARKUP_HTML; copied; NULL: none */
	const char *link;          /* MARKUP_HTML: what places link to; NULL: nothing. This and the
	                            * next two are borrowed by the filter */
	const char *const *path_maps; /* FROM=TO, of the paths in links; ends with NULL, or NULL */
	const char *const *own;    /* patterns of the program's own files and modules: the same */
	/* Several processes in one log, known by what stands before the markup:
	 * NULL: no; "": Fuchsia's and syslog's prefixes; else a POSIX extended
	 * regular expression whose first group (or all of it) tells them apart. */
	const char *demux;
	/* MARKUP_DEFAULT: the formats of logs that are looked for, with commas between their
	 * names; NULL: all. The other dialects know markup alone. */
	const char *inputs;
	/* MARKUP_DEFAULT: frames alone are written, for markup_groups_take(). */
	bool group;
	bool omit_module_lines; /* MARKUP_FUCHSIA only */
	bool pc_innermost;      /* MARKUP_LLVM: {{{pc}}} names the innermost function, whose line it
	                         * has, not the outermost one */
	bool collect_dumpfiles; /* for markup_filter_dumpfiles() */
	bool keep_modules;      /* for markup_filter_modules() */
};

const struct markup_form *markup_form_of(const struct markup_options *options);

struct markup_filter;

/* Can it be options->inputs? */
bool markup_inputs_valid(const char *inputs);

/* Can it be options->demux? Not what takes exponential memory or time: back references,
 * counts of repetitions that come to more than 1,000 together, above 1,000 bytes. */
bool markup_demux_valid(const char *how);

/*
 * Creates a filter on n > 0 threads, with a resolver for each; options, resolvers and sink
 * are copied, their ctx must outlive the filter, as must options->demux; options->inputs is
 * valid. What comes out
 * does not depend on the number of threads, which are started only when an input turns
 * out to be large. Returns 0, -ENOMEM or -EINVAL (options->demux is not a regular
 * expression).
 */
int markup_filter_create(const struct markup_options *options,
			 const struct markup_resolver resolvers[], unsigned n,
			 const struct markup_sink *sink, struct markup_filter **ret);
void markup_filter_destroy(struct markup_filter *f); /* NULL is fine */

/* Names the input that comes next, for complaints (NULL: no name), and counts its lines
 * from 1; between inputs only. `name` must live until the next call or the end. */
void markup_filter_input(struct markup_filter *f, const char *name);

/* The input that was named last can be read once more from its beginning, which is done where
 * frames need a table of modules that may stand behind them: `read` gives the next bytes, 0 at
 * the end or if that fails. Any thread calls it. Without it only tables before a frame are
 * known. */
void markup_filter_again(struct markup_filter *f, size_t (*read)(void *ctx, char *buf, size_t size),
			 void *ctx);

/* Where to put the next bytes of the log, and how many there may be (> 0). */
char *markup_filter_room(struct markup_filter *f, size_t *size);

/* `len` bytes were put there. Output is kept in buffers until they are full. Returns 0,
 * -EIO (the sink failed) or -ENOMEM; after a failure nothing is done any more. */
int markup_filter_added(struct markup_filter *f, size_t len);

/* Both in one, for bytes that are elsewhere. */
int markup_filter_feed(struct markup_filter *f, const char *data, size_t len);

/* Filters all complete lines so far and hands the output to the sink: when the input has
 * no more right now. This and the next two wait until everything is written. */
int markup_filter_flush(struct markup_filter *f);

/* The end of an input: filters a last line without newline, closes what is
 * open, forgets modules and maps, and flushes. */
int markup_filter_finish(struct markup_filter *f);

/* The end of all inputs: writes what closes the output, if its form has such. */
int markup_filter_end(struct markup_filter *f);

/* The following hold for what came before the last flush, finish or end. */

/* Counts since the filter was created. */
struct markup_stats {
	uint64_t frames;          /* addresses of code that were asked for */
	uint64_t frames_resolved; /* of these, with a function or a file */
	uint64_t frames_outside;  /* of these, in no module */
	uint64_t understood;      /* elements and frames of any format */
	uint64_t guessed;         /* frames that no format has, of modules that are known: "any" */
	uint64_t bytes;           /* of the logs */
};
const struct markup_stats *markup_filter_stats(const struct markup_filter *f);

/* A module of the log. */
struct markup_module {
	struct sc_str name;
	const uint8_t *build_id;
	size_t build_id_len;
	uint64_t frames;   /* addresses that found nothing */
	bool no_symbols;   /* the resolver has no such module */
	bool table_only;   /* it has no more of it than a symbol table */
	uint64_t unplaced; /* of `frames`: the module has no such symbol or offset */
	bool other_build;  /* a symbol of it has another size than in the log */
	bool warned;       /* one of these was said */
	const char *symbols; /* MARKUP_HTML: the best kind of them in words, static, if they were
	                      * needed; or NULL */
	bool kernel;         /* for struct markup_resolver alone: the name is "vmlinux", or the
	                      * kernel's for one of its modules; and of which kernel; len 0: unknown */
	struct sc_str release;
};

/* Calls `fn` for each in which addresses found nothing, most of them first. Returns 0 or
 * -ENOMEM. */
int markup_filter_missing(const struct markup_filter *f,
			  void (*fn)(void *ctx, const struct markup_module *m), void *ctx);

/* The counts and missing modules so far are forgotten, and may be warned of again; between
 * inputs. */
void markup_filter_forget(struct markup_filter *f);

/* The same for each that was announced, once for each build ID, if
 * options->keep_modules was set; their counts mean nothing. */
int markup_filter_modules(struct markup_filter *f,
			  void (*fn)(void *ctx, const struct markup_module *m), void *ctx);

/* The dumpfile elements seen so far as JSON objects with commas between them, if
 * collect_dumpfiles was set. *ret is owned by the filter. */
void markup_filter_dumpfiles(const struct markup_filter *f, struct sc_str *ret);

/* ---- a log in parts ----------------------------------------------------------------
 * A log can be cut where nothing is open: behind such a place all that counts is the number
 * of lines and the modules and maps that are known. So its parts can be filtered one by
 * one, elsewhere; their outputs, one behind the other, are that of the whole log.
 */

/* The last place in an input where it may be cut, at most some 64 KiB before the end of
 * what came so far, and not before the last flush. */
struct markup_cut {
	uint64_t offset; /* bytes of the input before it */
	uint64_t lines;  /* lines before it */
};

/* False: there is none; `f` has one page as its output, or the input is of a format whose
 * lines depend on others in ways that cannot be saved (it writes nothing: sink.write is
 * NULL). */
bool markup_filter_cut(struct markup_filter *f, struct markup_cut *ret);

/* What is known at the place that markup_filter_cut() gave: *ret is on the heap. 0 or
 * -ENOMEM. */
int markup_filter_save(struct markup_filter *f, char **ret, size_t *len);

/* Keeps the lines of tables of modules from now on, for the parts: after markup_filter_input(),
 * in a filter that writes nothing. 0 or -ENOMEM. */
int markup_filter_keep_tables(struct markup_filter *f);

/* What was kept, when the whole input has come: *ret is owned by the filter until the next
 * input. -E2BIG: too much for parts to carry; -ENOMEM. */
int markup_filter_tables(struct markup_filter *f, struct sc_str *ret);

/* Tables are those that another filter kept, and those alone: after markup_filter_input(). The
 * bytes are borrowed, and may be anything. */
void markup_filter_give_tables(struct markup_filter *f, const void *tables, size_t len);

/* Begins an input behind a cut, in a filter with the same options that has seen no bytes
 * yet: after markup_filter_input(). The bytes may be anything: 0, -EINVAL (not what
 * markup_filter_save() gave) or -ENOMEM. A part that is not the last ends with
 * markup_filter_flush(), not with markup_filter_finish(). */
int markup_filter_resume(struct markup_filter *f, uint64_t lines, const void *saved, size_t len);

/* ---- tally: what several filters found, together ------------------------------ */

/* Any thread may use it. Returns 0 or -ENOMEM. */
int markup_tally_create(struct markup_tally **ret);
void markup_tally_destroy(struct markup_tally *t); /* NULL is fine */

/* Adds the counts and the missing modules of a filter, which is at its end. 0 or -ENOMEM. */
int markup_tally_add(struct markup_tally *t, const struct markup_filter *f);

/* The same for counts and a module of a filter that is gone: their modules are added in the
 * order in which they were missed first. */
void markup_tally_count(struct markup_tally *t, const struct markup_stats *stats);
void markup_tally_miss(struct markup_tally *t, const struct markup_module *m);

/* Is this the first warning of a module without symbols? */
bool markup_tally_warns(struct markup_tally *t, const struct markup_module *m);

/* The sums, while no thread adds: as those of a filter. */
const struct markup_stats *markup_tally_stats(const struct markup_tally *t);
int markup_tally_missing(const struct markup_tally *t,
			 void (*fn)(void *ctx, const struct markup_module *m), void *ctx);

/* ---- groups: equal stacks, counted ------------------------------------------------ */

/*
 * Stacks are equal if their functions are, by name, inlined ones included, up to 256 of
 * them; format/backtraces.md says what a name and the signature of a group are. Memory is
 * bounded: of groups behind the first 65,536, or 64 MB of names, only the stacks are counted.
 */
struct markup_groups;

/* Returns 0 or -ENOMEM. */
int markup_groups_create(struct markup_groups **ret);
void markup_groups_destroy(struct markup_groups *g); /* NULL is fine */

/* The write function of the sink of a filter with options->group; `groups`: a struct
 * markup_groups. Nonzero: no memory. */
int markup_groups_take(void *groups, const char *data, size_t len);

/* The page of an input, as a relative URL, for the links of a page of groups. */
struct markup_page { const char *input, *url; };

/* The pages of inputs, in the order in which they are filtered; the last one is { NULL, NULL }. Borrowed. */
void markup_groups_pages(struct markup_groups *g, const struct markup_page *pages);

/* Writes all groups, the most frequent first; they are of no more use. `color`: functions are
 * highlighted, in text. Returns 0, -EIO (the sink failed) or -ENOMEM. */
int markup_groups_write(struct markup_groups *g, enum markup_format format, bool color,
			int (*write)(void *ctx, const char *data, size_t len), void *ctx);

#endif
