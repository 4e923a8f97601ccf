/*
 * trace.h: read GDB trace files, what `tsave` writes and `target tfile` reads; the
 * format is described in format/tfile.md.
 *
 *   struct symtrace t;
 *   if (symtrace_open("run.tf", &target, SYMTRACE_ORDER_AUTO, &t, &err))
 *           …
 *   struct symtrace_frames walk = symtrace_frames(&t);
 *   while (symtrace_next_frame(&walk, &frame, &error) > 0)
 *           pc = symtrace_frame_pc(&t, &frame);
 *   symtrace_close(&t);
 *
 * What is decoded (names, sources, the layout of the registers) belongs to the struct
 * symtrace until symtrace_close(); frames and blocks point into the bytes of the file.
 * Walking allocates nothing and costs one read of the frames' heads, so that a file
 * larger than memory can be read.
 *
 * The bytes may be hostile: every length is checked, time and memory are n log n in
 * the size of the definitions, and a walk over all blocks of all frames is linear in
 * the size of the file. A file that breaks off gives what came before.
 *
 * Not here: whom the addresses belong to.
 */
#ifndef SYMCACHE_TRACE_H
#define SYMCACHE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"
#include "libsymcache/base/str.h"

/* What is wrong within a file, in GDB's words, and where. */
struct symtrace_error {
	uint64_t offset; /* in the file */
	char msg[256];   /* "": no error */
};

/* A remark on a line that was skipped or repaired; GDB's warnings. */
struct symtrace_notice {
	uint64_t offset;
	const char *msg; /* may hold any bytes of the file */
};
#define SYMTRACE_NOTICES_MAX 100u /* those after are only counted */

enum symtrace_stop {
	SYMTRACE_STOP_UNKNOWN,
	SYMTRACE_STOP_NOT_RUN,
	SYMTRACE_STOP_COMMAND,      /* stop_text: what the user gave with tstop */
	SYMTRACE_STOP_FULL,
	SYMTRACE_STOP_DISCONNECTED,
	SYMTRACE_STOP_PASSCOUNT,    /* stop_tracepoint */
	SYMTRACE_STOP_ERROR,        /* stop_text, stop_tracepoint */
};

#define SYMTRACE_UNKNOWN UINT64_MAX /* a number that the status does not have */

struct symtrace_status {
	bool known;   /* there is a status line */
	bool running;
	enum symtrace_stop stop;
	uint64_t stop_tracepoint;
	uint64_t frames, created;      /* in the buffer; ever; or SYMTRACE_UNKNOWN */
	uint64_t free_bytes, size;     /* of the buffer; or SYMTRACE_UNKNOWN */
	uint64_t start_us, stop_us;    /* microseconds on the target's clock; 0: unknown */
	bool disconnected;             /* goes on without GDB */
	bool circular;
	struct sc_str stop_text, notes, user;       /* decoded; NUL-terminated */
};

enum symtrace_tp_kind { SYMTRACE_TP_TRAP, SYMTRACE_TP_FAST, SYMTRACE_TP_STATIC };

/* One location of a tracepoint: several may share the number. */
struct symtrace_tracepoint {
	uint64_t number, address;
	bool defined;                /* a T piece was seen; else only what follows */
	char state;                  /* 'E'nabled, 'D'isabled or 0: unknown */
	enum symtrace_tp_kind kind;
	uint64_t fast_len;           /* bytes of the replaced instruction; 0: unknown */
	uint64_t step, pass;
	struct sc_str condition;        /* bytecode in hex; ptr NULL: none */
	bool takes_registers;        /* an action collects registers */
	bool has_hits;
	uint64_t hits, usage;        /* usage: bytes of the buffer */
	uint64_t offset;             /* of its first line in the file */
	size_t first_piece, num_pieces; /* in file->pieces, in the order of the file */
};

enum symtrace_piece_kind {
	SYMTRACE_PIECE_DEFINITION, SYMTRACE_PIECE_STATUS, /* folded into the tracepoint */
	SYMTRACE_PIECE_ACTION, SYMTRACE_PIECE_STEP_ACTION,/* see symtrace_next_action() */
	SYMTRACE_PIECE_AT, SYMTRACE_PIECE_COND, SYMTRACE_PIECE_CMD, /* source, NUL-terminated */
	SYMTRACE_PIECE_REPEAT,     /* the rest of a source string: already joined */
};

struct symtrace_piece {
	uint64_t number, address;
	uint64_t offset;
	enum symtrace_piece_kind kind;
	uint32_t start;         /* of a source chunk */
	struct sc_str text;
};

struct symtrace_variable {
	int64_t number;
	int64_t initial;
	bool builtin;
	struct sc_str name;        /* without the $; NUL-terminated */
	uint64_t offset;
};

struct symtrace_register {
	char name[24];    /* a longer one is cut off */
	uint64_t number;
	uint32_t offset;  /* in the block */
	uint32_t size;    /* bytes */
};

/* Where the registers lie in an R block: by the target description in the file, else
 * as GDB supposes for the architecture. */
struct symtrace_layout {
	char architecture[64]; /* GDB's name, "i386:x86-64"; "": unknown */
	struct symtrace_register *registers; /* ascending by offset */
	size_t num_registers;
};

/* Where the program counter lies in an R block; size 0: unknown. */
struct symtrace_pc_slot {
	uint32_t offset, size;
};

/* An opened file. Fields are read-only but for big_endian and pc_slot. */
struct symtrace {
	const uint8_t *data;
	size_t size;
	bool big_endian;        /* of the frames */
	uint64_t frames_offset; /* 0: the definitions broke off, no frames */
	uint64_t regblock_size; /* bytes of an R block */
	struct symtrace_layout layout;
	struct symtrace_pc_slot pc_slot;
	struct symtrace_status status;
	struct symtrace_tracepoint *tracepoints; /* ascending by number, address */
	size_t num_tracepoints;
	struct symtrace_piece *pieces;           /* ascending by number, address, offset */
	size_t num_pieces;
	struct symtrace_variable *variables;     /* ascending by number */
	size_t num_variables;
	struct sc_str tdesc;       /* target description, NUL-terminated; ptr NULL: none */
	uint64_t tdesc_offset;  /* of its first line */
	struct symtrace_notice notices[SYMTRACE_NOTICES_MAX];
	size_t num_notices;     /* may be more than SYMTRACE_NOTICES_MAX */
	struct symtrace_error fault; /* where the definitions broke off; msg "": they did not */

	/* Private. */
	char *text;             /* decoded strings and tdesc */
	size_t text_len, cap_pieces, cap_variables;
	void *map;              /* of symtrace_open() */
	uint64_t released;      /* its pages before this offset were given back */
};

/* What is known of the traced program, by its ELF file. */
struct symtrace_target {
	uint16_t machine;       /* e_machine; 0: nothing is known */
	bool is64, big_endian;
};

enum symtrace_order { SYMTRACE_ORDER_AUTO, SYMTRACE_ORDER_LITTLE, SYMTRACE_ORDER_BIG };

/*
 * Maps the file at `path`, reads its definitions, and decides what it does not say: the
 * layout of the registers and the byte order of the frames (`order`; if that is AUTO, by
 * `target`, by the architecture of the target description, by what makes sense).
 * Reading stops where GDB's does: ret->fault; what GDB only warns of is in the notices.
 * SC_ESYS; SC_EINVAL: not a regular file; SC_EFORMAT: not a trace file; SC_ENOMEM. After
 * an error *ret is empty.
 */
int symtrace_open(const char *path, const struct symtrace_target *target,
		  enum symtrace_order order, struct symtrace *ret, struct sc_error *err);

/* An empty one (all zero) is fine. */
void symtrace_close(struct symtrace *file);

/* Gives pages far before `offset` back to the system, for walks through large files. */
void symtrace_release(struct symtrace *file, uint64_t offset);

/* The locations of tracepoint `number`: how many, the first one in *first. */
size_t symtrace_find_tracepoint(const struct symtrace *file, int64_t number,
			     const struct symtrace_tracepoint **first);

/* The trace state variable `number`, or NULL. */
const struct symtrace_variable *symtrace_find_variable(const struct symtrace *file, int64_t number);

/* One thing collected by an action line. */
struct symtrace_action {
	char kind;              /* 'R', 'M', 'X', 'L' or 0: not understood */
	int64_t base;           /* M: register the offset counts from; −1: none */
	uint64_t offset, len;   /* M: address or offset, and bytes. X: bytes */
	struct sc_str text;        /* R: mask in hex. X: bytecode in hex. 0: the rest */
};

/* Takes the next action off *rest (an action piece's text); false: no more. */
bool symtrace_next_action(struct sc_str *rest, struct symtrace_action *ret);

/* ---- frames ---------------------------------------------------------------- */

struct symtrace_frame {
	uint64_t number;        /* counted from 0 */
	uint64_t offset;        /* of its head in the file */
	int16_t tracepoint;
	uint32_t size;          /* bytes of its blocks; from 2^31: it has none */
	uint64_t blocks_offset;
};

struct symtrace_block {
	char kind;              /* 'R', 'M', 'V' or 'S' */
	uint64_t offset;        /* of the block in the file */
	uint64_t address;       /* M */
	int32_t variable;       /* V */
	int64_t value;          /* V */
	const uint8_t *bytes;   /* R, M, S */
	size_t len;
};

/* A walk over the frames; to be filled by symtrace_frames(). */
struct symtrace_frames {
	const struct symtrace *file;
	uint64_t next, number;
};

/* A walk over the blocks of a frame; to be filled by symtrace_blocks(). */
struct symtrace_blocks {
	const struct symtrace *file;
	uint64_t next, end;
};

struct symtrace_frames symtrace_frames(const struct symtrace *file);

/* 1: *ret is the next frame. 0: the end mark. SC_EFORMAT: broken off, *err says why. */
int symtrace_next_frame(struct symtrace_frames *frames, struct symtrace_frame *ret,
		     struct symtrace_error *err);

struct symtrace_blocks symtrace_blocks(const struct symtrace *file,
				       const struct symtrace_frame *frame);

/* 1: *ret is the next block. 0: no more. SC_EFORMAT: damaged, *err says why; the
 * frames after this one can still be read. As in GDB a block may reach beyond the frame. */
int symtrace_next_block(struct symtrace_blocks *blocks, struct symtrace_block *ret,
		     struct symtrace_error *err);

/* ---- the program counter ---------------------------------------------------- */

enum symtrace_pc_kind {
	SYMTRACE_PC_REGISTERS,  /* known, from the R block */
	SYMTRACE_PC_TRACEPOINT, /* known, the tracepoint's address */
	/* unavailable, because … */
	SYMTRACE_PC_NO_LAYOUT,  /* the layout of the R block is unknown */
	SYMTRACE_PC_CUT,        /* the R block ends before it */
	SYMTRACE_PC_LOCATIONS,  /* the tracepoint has several addresses */
	SYMTRACE_PC_STEPPING,   /* the tracepoint does while-stepping */
	SYMTRACE_PC_UNDEFINED,  /* the tracepoint is not defined */
	SYMTRACE_PC_DAMAGED,    /* the frame breaks off before an R block */
};

struct symtrace_pc {
	enum symtrace_pc_kind kind;
	uint64_t address;    /* 0 if unavailable */
};

/* The program counter of a frame. It is exact: nothing is subtracted. */
struct symtrace_pc symtrace_frame_pc(const struct symtrace *file,
				     const struct symtrace_frame *frame);
static inline bool symtrace_pc_known(struct symtrace_pc pc)
{
	return pc.kind <= SYMTRACE_PC_TRACEPOINT;
}

/* Was the frame, whose program counter is `pc`, collected while stepping? Sure only
 * as far as the file says: GDB's rule (the program counter is at none of the
 * tracepoint's addresses), and where it is unavailable, that registers are missing
 * which a direct hit would have collected. */
bool symtrace_frame_stepping(const struct symtrace *file, const struct symtrace_frame *frame,
			  struct symtrace_pc pc);

/* An unsigned number of len ≤ 8 bytes in the file's byte order. */
uint64_t symtrace_number(const struct symtrace *file, const uint8_t *p, size_t len);

/* ---- selection --------------------------------------------------------------- */

enum symtrace_by {
	SYMTRACE_BY_TRACEPOINT, /* "3" */
	SYMTRACE_BY_FRAME,      /* "7" */
	SYMTRACE_BY_PC,         /* "401279" or "0x401279" */
	SYMTRACE_BY_RANGE,      /* "401180,401182": the first and the last address */
	SYMTRACE_BY_LINE,       /* "prog1.c:50", in the innermost function */
};
#define SYMTRACE_BYS (SYMTRACE_BY_LINE + 1)

struct symtrace_range {
	uint64_t first, last;
	struct sc_str file;       /* of a line; borrowed */
};

/*
 * Which frames are wanted, as GDB's tfind has it; all zero: all. Of one kind any value
 * will do, of several kinds each must agree. Unlike tfind, which compares addresses with
 * the tracepoint's, PC, RANGE and LINE are about the program counter of the frame: of a
 * stepping tracepoint they find the steps, too.
 */
struct symtrace_select {
	struct symtrace_range *list[SYMTRACE_BYS];
	size_t len[SYMTRACE_BYS];
	uint64_t last_frame;      /* the highest one of BY_FRAME */
};

/* Adds one value, which must outlive *s. SC_EINVAL: not of the form above; SC_ENOMEM. */
int symtrace_select_add(struct symtrace_select *s, enum symtrace_by by, const char *text,
			struct sc_error *err);
void symtrace_select_deinit(struct symtrace_select *s);

/* Is there anything but "all frames"? */
bool symtrace_select_any(const struct symtrace_select *s);

/* Is the frame wanted by all but BY_LINE? If there are lines, its program counter is
 * known. */
bool symtrace_select_frame(const struct symtrace_select *s, const struct symtrace_frame *frame,
			   struct symtrace_pc pc);

/* Is one of the lines wanted `line` of the file `path`, or of a file whose path ends so? */
bool symtrace_select_line(const struct symtrace_select *s, const char *path, uint32_t line);

/* ---- summary ------------------------------------------------------------------ */

#define SYMTRACE_TRACEPOINTS (1u << 16) /* by the number as uint16_t */

struct symtrace_line {
	char *function, *path;
	uint32_t line;
	uint64_t frames;
};

/* How often what was hit. Memory grows with the source lines, not with the frames. */
struct symtrace_summary {
	uint64_t frames;
	uint64_t by_tracepoint[SYMTRACE_TRACEPOINTS];
	uint64_t by_pc[SYMTRACE_PC_DAMAGED + 1];
	struct symtrace_line **lines;
	size_t num_lines;

	void *tree; /* private: the lines by place */
};

/* NULL: out of memory. */
struct symtrace_summary *symtrace_summary_create(void);
void symtrace_summary_destroy(struct symtrace_summary *s); /* NULL is fine */

/* The line of that place, which is added if it is new; it lives as long as the summary.
 * NULL: out of memory. */
struct symtrace_line *symtrace_summary_line(struct symtrace_summary *s, const char *function,
					    const char *path, uint32_t line);

/* Counts a frame; `line` is where its program counter is, if that is known, else unused. */
void symtrace_summary_add(struct symtrace_summary *s, const struct symtrace_frame *frame,
			  struct symtrace_pc pc, struct symtrace_line *line);

/* Sorts the lines, those with the most frames first. */
void symtrace_summary_sort(struct symtrace_summary *s);

#endif
