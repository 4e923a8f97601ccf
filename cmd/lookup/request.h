/* request.h: a line of input, understood. */
#ifndef CMD_REQUEST_H
#define CMD_REQUEST_H

#include "cmd/lookup/query.h"
#include "symcache/symbolize.h"

/* Whose dialogue it is: what is read, what is said of faults. */
enum protocol {
	PROTOCOL_LOOKUP,   /* ours: llvm-symbolizer's lines; a fault is reported, and counts */
	PROTOCOL_LLVM,     /* llvm-symbolizer's */
	PROTOCOL_BINUTILS, /* addr2line's: [0x]HEX or SYMBOL[+HEX], one module */
};

struct request {
	const char *line;
	const char *wrong;       /* why it is not understood; or NULL */
	struct query query;      /* for code without a symbol if it is not */
	char *name;              /* of its module, as it stands there; NULL: the command line's */
	char *shown;             /* the same as answers call it, if that is another; or NULL */
	struct symcache_module *module; /* NULL: there is none */
};

#endif
