/*
 * tfile.h: read GDB trace files, what `tsave` writes and `target tfile` reads.
 *
 * The format is told in format/tfile.md. Ownership: the bytes are borrowed and
 * must outlive the struct tfile; what tfile_open() decodes (names, sources) it
 * owns until tfile_close(). Frames and blocks point into the borrowed bytes, so
 * a file larger than memory can be walked through a map: walking allocates
 * nothing and costs one read of the frame heads.
 *
 * The bytes may be hostile: every length is checked, time and memory are linear
 * in the size of the definitions, and a walk over all blocks of all frames is
 * linear in the size of the file.
 *
 * Not here: registers (tdesc.h), and who the addresses belong to.
 */
#ifndef TFILE_H
#define TFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text, not NUL-terminated unless it says so. ptr NULL: absent. */
struct tfile_str {
	const char *ptr;
	size_t len;
};

/* What is wrong, in GDB's words, and where. */
struct tfile_error {
	uint64_t offset; /* in the file */
	char msg[256];   /* "": no error */
};

/* A remark on a line that was skipped or repaired; GDB's warnings. */
struct tfile_notice {
	uint64_t offset;
	const char *msg; /* owned by the tfile; may hold bytes of the file */
};
#define TFILE_NOTICES_MAX 100u /* those after are only counted */

enum tfile_stop {
	TFILE_STOP_UNKNOWN,
	TFILE_STOP_NOT_RUN,
	TFILE_STOP_COMMAND,      /* stop_text: what the user gave with tstop */
	TFILE_STOP_FULL,
	TFILE_STOP_DISCONNECTED,
	TFILE_STOP_PASSCOUNT,    /* stop_tracepoint */
	TFILE_STOP_ERROR,        /* stop_text, stop_tracepoint */
};

#define TFILE_UNKNOWN UINT64_MAX /* a number the status does not tell */

struct tfile_status {
	bool known;   /* there is a status line */
	bool running;
	enum tfile_stop stop;
	uint64_t stop_tracepoint;
	uint64_t frames, created;      /* in the buffer; ever; or TFILE_UNKNOWN */
	uint64_t free_bytes, size;     /* of the buffer; or TFILE_UNKNOWN */
	uint64_t start_us, stop_us;    /* microseconds on the target's clock; 0: unknown */
	bool disconnected;             /* goes on without GDB */
	bool circular;
	struct tfile_str stop_text, notes, user; /* decoded; NUL-terminated */
};

enum tfile_tp_kind { TFILE_TP_TRAP, TFILE_TP_FAST, TFILE_TP_STATIC };

/* One location of a tracepoint: several may share the number. */
struct tfile_tracepoint {
	uint64_t number, address;
	bool defined;                /* a T piece was seen; else only what follows */
	char state;                  /* 'E', 'D' or 0: not told */
	enum tfile_tp_kind kind;
	uint64_t fast_len;           /* bytes of the replaced instruction; 0: not told */
	uint64_t step, pass;
	struct tfile_str condition;  /* bytecode in hex; ptr NULL: none */
	bool takes_registers;        /* an action collects registers */
	bool has_hits;
	uint64_t hits, usage;        /* usage: bytes of the buffer */
	uint64_t offset;             /* of its first line in the file */
	size_t first_piece, num_pieces; /* in file->pieces, in the order of the file */
};

enum tfile_piece_kind {
	TFILE_PIECE_DEFINITION, TFILE_PIECE_STATUS, /* folded into the tracepoint */
	TFILE_PIECE_ACTION, TFILE_PIECE_STEP_ACTION,/* see tfile_next_action() */
	TFILE_PIECE_AT, TFILE_PIECE_COND, TFILE_PIECE_CMD, /* source, NUL-terminated */
	TFILE_PIECE_REPEAT,     /* the rest of a source string: already joined */
};

struct tfile_piece {
	uint64_t number, address;
	uint64_t offset;
	enum tfile_piece_kind kind;
	uint32_t start;         /* of a source chunk */
	struct tfile_str text;
};

struct tfile_variable {
	int64_t number;
	int64_t initial;
	bool builtin;
	struct tfile_str name;  /* without the $; NUL-terminated */
	uint64_t offset;
};

/* An opened file. Fields are read-only but for big_endian. */
struct tfile {
	const uint8_t *data;
	size_t size;
	bool big_endian;        /* of the frames: to be set by the caller (false) */
	uint64_t frames_offset; /* 0: the definitions broke off, no frames */
	uint64_t regblock_size; /* bytes of an R block */
	struct tfile_status status;
	struct tfile_tracepoint *tracepoints; /* ascending by number, address */
	size_t num_tracepoints;
	struct tfile_piece *pieces;           /* ascending by number, address, offset */
	size_t num_pieces;
	struct tfile_variable *variables;     /* ascending by number */
	size_t num_variables;
	struct tfile_str tdesc; /* NUL-terminated; ptr NULL: none */
	uint64_t tdesc_offset;  /* of its first line */
	struct tfile_notice notices[TFILE_NOTICES_MAX];
	size_t num_notices;     /* may be more than TFILE_NOTICES_MAX */

	char *text;             /* decoded strings and tdesc */
	size_t text_len;
};

/*
 * Reads the definitions of the trace file in data[0, size). 0, or −1 with *err
 * filled: then *ret holds everything that came before the error, and no frames.
 * Always to be followed by tfile_close(). Reading stops where GDB's does; what
 * GDB only warns of is in the notices.
 */
int tfile_open(struct tfile *ret, const void *data, size_t size, struct tfile_error *err);
void tfile_close(struct tfile *file);

/* The locations of tracepoint `number`: how many, the first one in *first. */
size_t tfile_find_tracepoint(const struct tfile *file, int64_t number,
			     const struct tfile_tracepoint **first);

/* The trace state variable `number`, or NULL. */
const struct tfile_variable *tfile_find_variable(const struct tfile *file, int64_t number);

/* One thing collected by an action line. */
struct tfile_action {
	char kind;              /* 'R', 'M', 'X', 'L' or 0: not understood */
	int64_t base;           /* M: register the offset counts from; −1: none */
	uint64_t offset, len;   /* M: address or offset, and bytes. X: bytes */
	struct tfile_str text;  /* R: mask in hex. X: bytecode in hex. 0: the rest */
};

/* Takes the next action off *rest (an action piece's text); false: no more. */
bool tfile_next_action(struct tfile_str *rest, struct tfile_action *ret);

/* ---- frames ---------------------------------------------------------------- */

struct tfile_frame {
	uint64_t number;        /* counted from 0 */
	uint64_t offset;        /* of its head in the file */
	int16_t tracepoint;
	uint32_t size;          /* bytes of its blocks; from 2^31: it has none */
	uint64_t blocks_offset;
};

struct tfile_block {
	char kind;              /* 'R', 'M', 'V' or 'S' */
	uint64_t offset;        /* of the block in the file */
	uint64_t address;       /* M */
	int32_t variable;       /* V */
	int64_t value;          /* V */
	const uint8_t *bytes;   /* R, M, S */
	size_t len;
};

/* A walk over the frames; to be filled by tfile_frames(). */
struct tfile_frames {
	const struct tfile *file;
	uint64_t next, number;
};

/* A walk over the blocks of a frame; to be filled by tfile_blocks(). */
struct tfile_blocks {
	const struct tfile *file;
	uint64_t next, end;
};

struct tfile_frames tfile_frames(const struct tfile *file);

/* 1: *ret is the next frame. 0: the end mark. −1: broken off, *err says why. */
int tfile_next_frame(struct tfile_frames *frames, struct tfile_frame *ret,
		     struct tfile_error *err);

struct tfile_blocks tfile_blocks(const struct tfile *file, const struct tfile_frame *frame);

/* 1: *ret is the next block. 0: no more. −1: damaged, *err says why; the frames
 * after this one can still be read. As in GDB a block may reach beyond the frame. */
int tfile_next_block(struct tfile_blocks *blocks, struct tfile_block *ret,
		     struct tfile_error *err);

/* ---- the program counter ---------------------------------------------------- */

/* Where the program counter lies in an R block; size 0: not known. */
struct tfile_pc_slot {
	uint32_t offset, size;
};

enum tfile_pc_kind {
	TFILE_PC_REGISTERS,  /* known, from the R block */
	TFILE_PC_TRACEPOINT, /* known, the tracepoint's address */
	/* unavailable, because … */
	TFILE_PC_NO_LAYOUT,  /* there is an R block but nobody knows its layout */
	TFILE_PC_CUT,        /* the R block ends before it */
	TFILE_PC_LOCATIONS,  /* the tracepoint has several addresses */
	TFILE_PC_STEPPING,   /* the tracepoint does while-stepping */
	TFILE_PC_UNDEFINED,  /* the tracepoint is not defined */
	TFILE_PC_DAMAGED,    /* the frame breaks off before an R block */
};

struct tfile_pc {
	enum tfile_pc_kind kind;
	uint64_t address;    /* 0 if unavailable */
};

/* The program counter of a frame. It is exact: nothing is subtracted. */
struct tfile_pc tfile_frame_pc(const struct tfile *file, const struct tfile_frame *frame,
			       struct tfile_pc_slot slot);
static inline bool tfile_pc_known(struct tfile_pc pc)
{
	return pc.kind <= TFILE_PC_TRACEPOINT;
}

/* Was the frame, whose program counter is `pc`, collected while stepping? Sure only
 * as far as the file tells: GDB's rule (the program counter is at none of the
 * tracepoint's addresses), and where it is unavailable, that registers are missing
 * which a direct hit would have collected. */
bool tfile_frame_stepping(const struct tfile *file, const struct tfile_frame *frame,
			  struct tfile_pc pc);

/* An unsigned number of len ≤ 8 bytes in the file's byte order. */
uint64_t tfile_number(const struct tfile *file, const uint8_t *p, size_t len);

/*
 * Guesses the byte order from the frames: the one in which the first of them
 * have defined tracepoints and lie inside the file. 1 big, 0 little, −1 both or
 * neither do.
 */
int tfile_guess_big_endian(const struct tfile *file);

#endif
