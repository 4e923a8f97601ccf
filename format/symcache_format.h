/*
 * The bytes of a SymCache file, versions 7, 8 and 9, and of our extension
 * area after it. The prose is in symcache.md next to this file.
 *
 *   0         80
 *   +---------+-------+-----------+-----------------+--------+---------+
 *   | header  | files | functions | sourcelocations | ranges | strings |  base
 *   +---------+-------+-----------+-----------------+--------+---------+
 *   | ext. sections …                     | section table | footer     |  extension
 *   +-------------------------------------+---------------+------------+
 *                                                          end of file
 *
 * Base sections and extension sections start at multiples of 8. Integers are
 * in the writer's byte order. All structs have natural alignment, no padding.
 */
#ifndef SYMCACHE_FORMAT_H
#define SYMCACHE_FORMAT_H

#include <stdint.h>

#define SYMCACHE_MAGIC         0x434d5953u /* "SYMC" on a little-endian writer */
#define SYMCACHE_MAGIC_FLIPPED 0x53594d43u
#define SYMCACHE_VERSION_MIN 7u
#define SYMCACHE_VERSION_MAX 9u

/* Absent: string offsets, file_idx, inlined_into_idx, entry_pc. */
#define SYMCACHE_NONE 0xffffffffu

/* Length prefix of strings: u32 up to this version, ULEB128 from the next. */
#define SYMCACHE_LAST_VERSION_WITH_U32_STRINGS 7u
/* Files grew their three source-server fields in this version. */
#define SYMCACHE_FIRST_VERSION_WITH_SRCSRV 9u

struct symcache_header {
	uint32_t magic;
	uint32_t version;
	uint8_t  debug_uuid[16];  /* UUID in text (big-endian) order */
	uint32_t debug_age;       /* 0 for ELF */
	uint8_t  debug_zero[11];
	uint8_t  debug_type;      /* 0: UUID, 1: PDB 2.0 */
	uint32_t arch;            /* enum symcache_arch */
	uint32_t num_files;
	uint32_t num_functions;
	uint32_t num_source_locations;
	uint32_t num_ranges;
	uint32_t string_bytes;
	uint8_t  reserved[16];    /* zero */
};
_Static_assert(sizeof(struct symcache_header) == 80, "header");

struct symcache_file_v7 {
	uint32_t comp_dir, directory, name; /* string offsets */
};
_Static_assert(sizeof(struct symcache_file_v7) == 12, "file 7, 8");

struct symcache_file_v9 {
	uint32_t comp_dir, directory, name;
	uint32_t srcsrv_name, srcsrv_dir, srcsrv_revision;
};
_Static_assert(sizeof(struct symcache_file_v9) == 24, "file 9");

struct symcache_function {
	uint32_t name;     /* string offset, linkage name */
	uint32_t comp_dir; /* unused: SYMCACHE_NONE */
	uint32_t entry_pc; /* relative; SYMCACHE_NONE: exists only inlined */
	uint32_t lang;     /* enum symcache_lang */
};
_Static_assert(sizeof(struct symcache_function) == 16, "function");

/* All four SYMCACHE_NONE: "no source location", the end of a covered area. */
struct symcache_source_location {
	uint32_t file_idx;
	uint32_t line;             /* 0: unknown */
	uint32_t function_idx;
	uint32_t inlined_into_idx; /* a call location; SYMCACHE_NONE: outermost */
};
_Static_assert(sizeof(struct symcache_source_location) == 16, "source location");

enum symcache_lang {
	SYMCACHE_LANG_UNKNOWN = 0,
	SYMCACHE_LANG_C = 1,
	SYMCACHE_LANG_CPP = 2,
	SYMCACHE_LANG_D = 3,
	SYMCACHE_LANG_GO = 4,
	SYMCACHE_LANG_OBJC = 5,
	SYMCACHE_LANG_OBJCPP = 6,
	SYMCACHE_LANG_RUST = 7,
	SYMCACHE_LANG_SWIFT = 8,
	SYMCACHE_LANG_CSHARP = 9,
	SYMCACHE_LANG_VB = 10,
	SYMCACHE_LANG_FSHARP = 11,
};
/* Functions known only from the symbol table. */
#define SYMCACHE_LANG_SYMTAB 0xffffffffu

enum symcache_arch {
	SYMCACHE_ARCH_UNKNOWN = 0,
	SYMCACHE_ARCH_X86 = 101,
	SYMCACHE_ARCH_AMD64 = 201,
	SYMCACHE_ARCH_ARM = 301,
	SYMCACHE_ARCH_ARM64 = 401,
	SYMCACHE_ARCH_PPC = 501,
	SYMCACHE_ARCH_PPC64 = 601,
	SYMCACHE_ARCH_MIPS = 701,
	SYMCACHE_ARCH_MIPS64 = 801,
};

/* ---- extension area ----------------------------------------------------- */

#define SYMCACHE_EXT_MAGIC "SYMCEXT" /* 8 bytes with the NUL */
#define SYMCACHE_EXT_VERSION 1u
#define SYMCACHE_EXT_MAX_SECTIONS 64u

/* The last 40 bytes of the file. */
struct symcache_ext_footer {
	uint64_t table_offset; /* of the section table, from the start of the file */
	uint64_t file_size;    /* of the whole file, footer included */
	uint32_t num_sections;
	uint32_t version;      /* SYMCACHE_EXT_VERSION */
	char     magic[8];     /* SYMCACHE_EXT_MAGIC */
	uint64_t hash;         /* XXH3-64 of all bytes before this field */
};
_Static_assert(sizeof(struct symcache_ext_footer) == 40, "footer");

struct symcache_ext_section {
	uint32_t tag;        /* SYMCACHE_EXT_TAG_…; unknown ones are skipped */
	uint32_t entry_size; /* bytes of one record, as a check */
	uint64_t offset;     /* from the start of the file, a multiple of 8 */
	uint64_t size;       /* bytes, a multiple of entry_size */
};
_Static_assert(sizeof(struct symcache_ext_section) == 24, "section");

#define SYMCACHE_EXT_TAG(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/*
 * The sections, in the order in which they are written: name, tag, record, when it is there,
 * how many records. From SEGMENT on they are of the file that is run: a merge of two caches
 * (libsymcache/unwind/merge.h) takes these from either. What is not in the list is skipped.
 */
#define SYMCACHE_EXT_SECTIONS(X) \
	X(IMAGE,          'I', 'M', 'A', 'G', struct symcache_ext_image,   ALWAYS, ONE) \
	X(COLUMN,         'C', 'O', 'L', 'S', uint16_t,                    ALWAYS, LOCATIONS) \
	X(DECL,           'D', 'E', 'C', 'L', struct symcache_ext_decl,    ALWAYS, FUNCTIONS) \
	X(DATA,           'D', 'A', 'T', 'A', struct symcache_ext_data,    ALWAYS, ANY) \
	X(SYMBOL,         'S', 'Y', 'M', 'S', struct symcache_ext_symbol,  ALWAYS, ANY) \
	X(INDEX,          'I', 'N', 'D', 'X', uint32_t,                    ALWAYS, ANY) \
	X(DISCRIMINATOR,  'D', 'I', 'S', 'C', uint8_t,                     FILLED, LOCATIONS) \
	X(DISCRIMINATORS, 'D', 'I', 'S', 'X', struct symcache_ext_detail,  FILLED, ANY) \
	X(INLINED,        'I', 'N', 'L', 'S', uint32_t,                    FILLED, CALLS) \
	X(INLINES,        'I', 'N', 'L', 'X', struct symcache_ext_detail,  FILLED, ANY) \
	X(QUALIFIED,      'Q', 'U', 'A', 'L', struct symcache_ext_qualified, FILLED, ANY) \
	X(LOCAL_RANGES,   'L', 'O', 'C', 'R', struct symcache_ext_local_range, LOCALS, ANY) \
	X(LOCAL_ORDER,    'L', 'O', 'C', 'I', uint32_t,                    LOCALS, ANY) \
	X(LOCALS,         'L', 'O', 'C', 'V', struct symcache_ext_local,   LOCALS, ANY) \
	X(ALIAS,          'A', 'L', 'S', 'O', struct symcache_ext_alias,   FILLED, ANY) \
	X(SEGMENT,        'S', 'E', 'G', 'M', struct symcache_ext_segment, ALWAYS, ANY) \
	X(UNWIND_PAGES,   'U', 'N', 'W', 'P', uint32_t,                    UNWIND, ANY) \
	X(UNWIND_STARTS,  'U', 'N', 'W', 'D', struct symcache_ext_start,   UNWIND, ANY) \
	X(UNWIND_ROWS,    'U', 'N', 'W', 'R', struct symcache_ext_row,     UNWIND, ANY) \
	X(UNWIND_RULES,   'U', 'N', 'W', 'S', struct symcache_ext_rule,    UNWIND, ANY) \
	X(UNWIND_EXPRESSIONS, 'U', 'N', 'W', 'X', uint8_t,                 UNWIND, ANY) \
	X(UNWIND,         'U', 'N', 'W', 'H', struct symcache_ext_unwind,  UNWIND, ANY)

/* Their numbers in the list, and their tags. */
#define SYMCACHE_NUMBER_(name, ...) SYMCACHE_SECTION_##name,
enum { SYMCACHE_EXT_SECTIONS(SYMCACHE_NUMBER_) SYMCACHE_SECTIONS };
#define SYMCACHE_TAG_(name, a, b, c, d, ...) SYMCACHE_EXT_TAG_##name = SYMCACHE_EXT_TAG(a, b, c, d),
enum { SYMCACHE_EXT_SECTIONS(SYMCACHE_TAG_) };

#define SYMCACHE_BUILD_ID_MAX 64u

/* What the functions, lines and symbols came from, and what else there is. */
enum symcache_source {
	SYMCACHE_FROM_DWARF = 1,         /* .debug_info */
	SYMCACHE_FROM_SYMTAB = 2,        /* .symtab */
	SYMCACHE_FROM_DYNSYM = 4,        /* .dynsym */
	SYMCACHE_FROM_MINIDEBUGINFO = 8, /* .gnu_debugdata */
	SYMCACHE_FROM_CFI = 16,          /* .eh_frame, .debug_frame: sections UNW… */
	SYMCACHE_FROM_LOCALS = 32,       /* local variables of .debug_info: sections LOC… */
	SYMCACHE_FROM_NAMES = 64,        /* of the symbols the outermost functions and their ranges alone */
	SYMCACHE_FROM_GO = 128,          /* .gopclntab of Go: functions, files, lines */
};

/* IMAG: exactly one record. */
struct symcache_ext_image {
	uint64_t load_base;       /* p_vaddr of the first PT_LOAD; 0 if none */
	uint64_t image_size;      /* end of the highest PT_LOAD − load_base */
	uint16_t machine;         /* e_machine */
	uint16_t elf_type;        /* e_type */
	uint8_t  elf_class;       /* 32 or 64 */
	uint8_t  big_endian;      /* 1: the image is big-endian */
	uint8_t  build_id_derived;/* 1: no build ID; the id is folded from .text */
	uint8_t  build_id_len;    /* bytes used of build_id */
	uint32_t sources;         /* or of enum symcache_source */
	uint32_t soname;          /* string offset or SYMCACHE_NONE */
	uint32_t writer;          /* string offset: name and version of the writer */
	uint32_t broken_units;    /* compilation units that are left out; 0 also: not counted */
	uint8_t  build_id[SYMCACHE_BUILD_ID_MAX];
};
_Static_assert(sizeof(struct symcache_ext_image) == 104, "image facts");

/* COLS: uint16_t per source location, same order; 0: unknown. */

/* DECL: per function, same order: where it is declared (DW_AT_decl_file). */
struct symcache_ext_decl {
	uint32_t file_idx; /* SYMCACHE_NONE: unknown */
	uint32_t line;     /* 0: unknown */
};
_Static_assert(sizeof(struct symcache_ext_decl) == 8, "declaration");

/* QUAL: functions whose name lacks its scopes, ascending by function. */
struct symcache_ext_qualified {
	uint32_t function; /* index */
	uint32_t name;     /* string offset: with its scopes */
};
_Static_assert(sizeof(struct symcache_ext_qualified) == 8, "qualified name");

/* DATA: data symbols, ascending by address, then by size. */
struct symcache_ext_data {
	uint32_t address;  /* relative */
	uint32_t size;     /* bytes; 0: unknown */
	uint32_t name;     /* string offset, linkage name */
	uint32_t file_idx; /* of the declaration; SYMCACHE_NONE: unknown */
	uint32_t line;     /* 0: unknown */
};
_Static_assert(sizeof(struct symcache_ext_data) == 20, "data symbol");

/* SYMS: the symbol table, code and data, one symbol for each address: the
 * largest, of equals the last of the table; ascending by address. */
struct symcache_ext_symbol {
	uint32_t address; /* relative */
	uint32_t size;    /* st_size; 0: up to the next symbol */
	uint32_t name;    /* string offset */
	uint32_t file;    /* string offset: STT_FILE of a local symbol; SYMCACHE_NONE */
};
_Static_assert(sizeof(struct symcache_ext_symbol) == 16, "symbol");

/* ALSO: what else is called so, that begins where a symbol or function does: aliases, and functions
 * that the linker folded into that one; ascending by address, of one address by name. */
struct symcache_ext_alias {
	uint32_t address; /* relative */
	uint32_t name;    /* string offset */
};
_Static_assert(sizeof(struct symcache_ext_alias) == 8, "alias");

enum symcache_segment_flag {
	SYMCACHE_SEGMENT_ASSUMED = 1, /* not all bytes are in the file: it is a debug file, which
				       * may have lost the offset */
};

#define SYMCACHE_SEGMENTS_MAX 256u

/* SEGM: the executable PT_LOADs, ascending by address; SYMCACHE_SEGMENTS_MAX at most. */
struct symcache_ext_segment {
	uint64_t offset; /* p_offset */
	uint64_t vaddr;  /* p_vaddr */
	uint64_t size;   /* bytes */
	uint32_t flags;  /* or of enum symcache_segment_flag */
	uint32_t zero;
};
_Static_assert(sizeof(struct symcache_ext_segment) == 32, "segment");

/* INDX: uint32_t shift, then a range index per bucket of 2^shift bytes and one
 * more; symcache_index.h computes them. */

/* DISC: uint8_t per source location, same order; 0: unknown; MORE: see DISX. */
#define SYMCACHE_DISCRIMINATOR_MORE 255u

/* INLS: uint32_t per call location, same order: where the function inlined there begins,
 * relative; SYMCACHE_NONE: unknown; MORE: see INLX. */
#define SYMCACHE_START_MORE 0xfffffffeu

/* DISX, INLX: ascending by location, then by `from`. */
struct symcache_ext_detail {
	uint32_t location; /* index */
	uint32_t from;     /* relative address: the value from there on */
	uint32_t value;
};
_Static_assert(sizeof(struct symcache_ext_detail) == 12, "detail");

/* ---- local variables: LOCR, LOCI, LOCV; all of them or none ---------------------------- */

/* LOCR: ascending by start; up to the start of the next one, code has the variables that
 * LOCI[first, first + count) are the numbers of, uint32_t each. */
struct symcache_ext_local_range {
	uint32_t start; /* relative */
	uint32_t first, count;
};
_Static_assert(sizeof(struct symcache_ext_local_range) == 12, "range of local variables");

enum symcache_local_flag {
	SYMCACHE_LOCAL_OFFSET = 1, /* it has an offset, a size, a tag */
	SYMCACHE_LOCAL_SIZE = 2,
	SYMCACHE_LOCAL_TAG = 4,
};

/* LOCV: local variables and parameters. */
struct symcache_ext_local {
	uint32_t function, name; /* string offsets, as in the source; SYMCACHE_NONE: unknown */
	uint32_t file_idx;       /* of the declaration; SYMCACHE_NONE: unknown */
	uint32_t line;           /* 0: unknown */
	int64_t  offset;         /* bytes from the frame base */
	uint64_t size;           /* bytes */
	uint32_t tag;            /* DW_AT_LLVM_tag_offset */
	uint32_t flags;          /* or of enum symcache_local_flag */
};
_Static_assert(sizeof(struct symcache_ext_local) == 40, "local variable");

/* ---- unwind information: UNWP, UNWD, UNWR, UNWS, UNWX, UNWH; all of them or none --- */

#define SYMCACHE_UNWIND_PAGE_SHIFT 16
#define SYMCACHE_UNWIND_RETURN 255 /* the return address, where a register's number stands */

/* UNWH: exactly one record. Registers have their numbers in DWARF, ppc64's link register
 * is 32. */
struct symcache_ext_unwind {
	uint8_t stack_pointer, frame_pointer;
	uint8_t link;           /* has the return address of a call; 255: the stack */
	uint8_t word;           /* bytes: 4, 8 */
	uint32_t sources;       /* or of enum symcache_cfi_source */
	uint32_t broken;        /* entries left out, in part or whole */
	uint32_t preserved;     /* bit n: register n stays as it is without a rule */
};
_Static_assert(sizeof(struct symcache_ext_unwind) == 16, "unwind facts");

enum symcache_cfi_source {
	SYMCACHE_UNWIND_EH_FRAME = 1,
	SYMCACHE_UNWIND_DEBUG_FRAME = 2,
	SYMCACHE_UNWIND_CODE = 4, /* signal trampolines, by their instructions */
};

/* UNWP: uint32_t: for each page of 64 KiB, and one over, the first range that starts in
 * it or after it. UNWD: a record for each range, up to the start of the next one. */
struct symcache_ext_start {
	uint16_t start; /* in its page */
	uint16_t row;   /* 0: there is no information */
};
_Static_assert(sizeof(struct symcache_ext_start) == 4, "range");

/* The same where there are more than 65,536 rows, row 0 included. */
struct symcache_ext_wide_start {
	uint32_t start; /* relative */
	uint32_t row;
};
_Static_assert(sizeof(struct symcache_ext_wide_start) == 8, "wide range");

enum symcache_cfa {
	SYMCACHE_CFA_NONE,       /* row 0 */
	SYMCACHE_CFA_REGISTER,   /* a register + n */
	SYMCACHE_CFA_EXPRESSION, /* n: offset in UNWX */
};

enum symcache_row_flag {
	SYMCACHE_ROW_SIGNAL_FRAME = 1,
	SYMCACHE_ROW_SIGNED = 2,    /* the return address */
	SYMCACHE_ROW_KEY_B = 4,
	SYMCACHE_ROW_OUTERMOST = 8, /* there is no caller */
	SYMCACHE_ROW_MADE = 16,     /* from instructions, not from CFI */
};

/* UNWR, the most frequent first, after row 0. */
struct symcache_ext_row {
	uint8_t cfa;            /* enum symcache_cfa */
	uint8_t cfa_reg;
	uint8_t flags;          /* or of enum symcache_row_flag */
	uint8_t num_rules;
	int32_t n;
	uint32_t first_rule;
};
_Static_assert(sizeof(struct symcache_ext_row) == 12, "row");

enum symcache_rule_kind {
	SYMCACHE_RULE_AT_CFA = 1,     /* saved at CFA + n */
	SYMCACHE_RULE_VAL_CFA,        /* CFA + n */
	SYMCACHE_RULE_REGISTER,       /* register n */
	SYMCACHE_RULE_EXPRESSION,     /* saved where the expression at n says */
	SYMCACHE_RULE_VAL_EXPRESSION, /* what the expression at n says */
	SYMCACHE_RULE_UNDEFINED,      /* lost */
	SYMCACHE_RULE_SAME,           /* as it is */
};

/* UNWS: rules of a row, ascending by register. */
struct symcache_ext_rule {
	uint8_t reg;
	uint8_t kind; /* enum symcache_rule_kind */
	uint16_t zero;
	int32_t n;
};
_Static_assert(sizeof(struct symcache_ext_rule) == 8, "rule");

/* UNWX: for each expression a uint16_t, its length, and so many bytes of DWARF, in the
 * byte order of the image; DW_OP_addr is relative. */

/* ---- what is true of each section ------------------------------------------ */

struct symcache_section_kind {
	char name[5];
	uint32_t tag, entry_size; /* bytes of a record; UNWIND_STARTS may be wider */
	enum symcache_presence {
		SYMCACHE_ALWAYS,
		SYMCACHE_FILLED,      /* where it has something */
		SYMCACHE_LOCALS,      /* all of these or none */
		SYMCACHE_UNWIND,      /* all of these or none */
	} presence;
	enum symcache_records {
		SYMCACHE_ANY,
		SYMCACHE_ONE,
		SYMCACHE_LOCATIONS,   /* one for each source location */
		SYMCACHE_FUNCTIONS,
		SYMCACHE_CALLS,       /* for each source location of a call: before those of ranges */
	} records;
};

#define SYMCACHE_KIND_(name, a, b, c, d, record, presence, records) { \
	{ a, b, c, d, 0 }, SYMCACHE_EXT_TAG(a, b, c, d), sizeof(record), SYMCACHE_##presence, \
	SYMCACHE_##records },
static const struct symcache_section_kind symcache_section_kinds[SYMCACHE_SECTIONS] = {
	SYMCACHE_EXT_SECTIONS(SYMCACHE_KIND_)
};

#endif
