/*
 * input.h: the formats of logs that are understood: bytes of a line → events.
 *
 * To add one: its name in the list below, and a row in rows.c if a pattern describes its frames;
 * else a file here with a struct mk_input. An input looks at one line at a time and knows nothing
 * of modules, symbols or output.
 *
 * The different words of all formats, and ESC, are looked for together: at most MK_WORDS_MAX of
 * them, which mk_words_add() asserts. A plan looks for the table_words in the same pass if they
 * fit as well; if not, it takes a second pass (filter/resume.c), and resume_test.c fails.
 */
#ifndef MARKUP_INPUT_H
#define MARKUP_INPUT_H

#include "libmarkup/bytes/words.h"
#include "libmarkup/event.h"

/* An address that a line will ask for, as far as its first bytes say. */
struct mk_peek {
	uint64_t address;    /* to be looked up */
	uint32_t number;     /* of the frame */
	uint32_t len;        /* of a frame of the usual form, see markup.c; 0: it is another */
	bool return_address;
};

/* A line of a table of modules: a part of a file in the memory of a process. */
struct mk_row {
	const char *at;      /* where in the line it begins */
	uint64_t start, end; /* addresses; end 0: up to the next of the line, in any order */
	uint64_t offset;     /* in the file */
	bool whole;          /* it is all of the image: there is no offset */
	bool code;           /* it may hold code */
	bool path;           /* the name is one, see maps.h */
	bool from_code;      /* `start` is where the file's only code is, `offset` means nothing */
	bool listed;         /* with end 0: more of the table are on other lines */
	struct sc_str name, build_id;
	char id[64];         /* may hold its digits */
};

struct mk_input {
	const char *name; /* for --input; NULL: the rows of frames.h have theirs */

	/* Words, one of which is in each line that read() finds something in; NULL at the
	 * end. Best are three or four bytes that plain text rarely has: see bytes/words.h. */
	const char *const *words;

	/* Words, one of which is in each line that may change modules or maps; NULL at the end.
	 * Behind such a line nothing is cut (filter/cut.h), and every thread follows it. NULL:
	 * the format has no such lines. */
	const char *const *context_words;

	/* How a frame is written depends on the line before it: behind its lines nothing is
	 * cut, either. */
	bool chained;

	/* All that its lines leave to later ones is in the modules and maps of the context, or
	 * ends where a log may be cut: parts of such a log can be filtered on other machines
	 * (format/plan.md). A log with a word of a format that does not say so stays whole. */
	bool cuttable;

	/* Adds the events of the line, in their order. `end` is its end, or, in a longer line,
	 * `longest` bytes behind its beginning (0: lines are read whole). May be NULL: the format
	 * has tables alone. */
	void (*read)(struct mk_line *l, const char *end);
	size_t longest;

	/* Words of lines of tables, and what reads the next row of such a line, [*p, end) without
	 * its newline, and moves *p behind it; false: there is none. ret->at is NULL before the
	 * first. May be NULL: the format has no tables. */
	const char *const *table_words;
	bool (*read_row)(const char **p, const char *end, struct mk_row *ret);

	/* A word that was found may begin a frame: reads the address that will be looked up.
	 * May be NULL. */
	bool (*peek)(const char *p, const char *end, struct mk_peek *ret);
};

static inline void mk_read_line(const struct mk_input *in, struct mk_line *l)
{
	if (in->read)
		in->read(l, l->p + (in->longest && l->len > in->longest ? in->longest : l->len));
}

/* All of them, NULL at the end; the first that finds an event takes the line. */
extern const struct mk_input *const mk_inputs[];

/* The inputs, in the order in which they are tried; each NAME is a mk_NAME_input, whose `name`
 * it is, but for `frames`. */
#define FOR_EACH_READER(X) X(kernel) X(segfault) X(mongodb) X(maps) X(any)
#define FOR_EACH_INPUT(X) X(markup) X(frames) FOR_EACH_READER(X)

/* The formats of `frames`, which are rows of rows.c, in the order of their names. */
#define FOR_EACH_ROW_FORMAT(X) \
	X(abrt) X(addr2line) X(android) X(backward) X(boost) X(bpf) X(clickhouse) X(cuda) X(dart) \
	X(easylogging) X(envoy) X(esp32) X(eustack) X(forrtl) X(frr) X(gdb) X(gfortran) X(glibc) \
	X(glog) X(haproxy) X(heap) X(heaptrace) X(java) X(julia) X(lldb) X(llvm) X(minidump) X(mono) \
	X(mozilla) X(musl) X(node) X(openj9) X(openmpi) X(perf) X(python) X(pytorch) X(rust) \
	X(sanitizer) X(seastar) X(systemd) X(unity) X(unreal) X(valgrind) X(vmware) X(wine) X(xorg) \
	X(zig)

#define DECLARE_INPUT(name) extern const struct mk_input mk_##name##_input;
FOR_EACH_INPUT(DECLARE_INPUT)
#undef DECLARE_INPUT

/* The formats of a log. */
struct mk_formats {
	const struct mk_input **inputs; /* NULL at the end; on the heap */
	uint64_t rows[3];               /* bit i: row i of frames.h */
	struct mk_words context;        /* how their context_words begin */
};

static inline bool mk_format_has_row(const struct mk_formats *f, size_t i)
{
	return f->rows[i / 64] >> i % 64 & 1;
}

/* Those of mk_inputs that `names` has, with commas between them (NULL: all). False: no
 * memory. */
bool mk_formats_init(struct mk_formats *f, const char *names);
void mk_formats_deinit(struct mk_formats *f); /* all zero is fine */

/* The next line of [p, end) that may change modules or maps, in one of the formats; NULL: no
 * more. *line_end: the end of it, behind its newline. */
const char *mk_context_line(const struct mk_formats *f, const char *p, const char *end,
			    const char **line_end);

#endif
