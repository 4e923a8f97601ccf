/*
 * name.h: a demangled name of a function in parts: what people call it by, and what stands in
 * the way of that.
 *
 *   bool std::find_if<char*>(char*)::{lambda(char)#1}::operator()(char) const
 *   RETURNS   KEPT   ARGUMENTS PARAMETERS KEPT PARAMETERS KEPT    PARAMETERS
 *
 * For C++ as libiberty and LLVM write it, Rust of both manglings, D, and whatever has no such
 * parts: Go, Objective-C, C. The parts, one behind the other, are the name, whatever it is:
 * a name that is not understood is all KEPT. Cost: linear in the length.
 */
#ifndef MARKUP_NAME_H
#define MARKUP_NAME_H

#include "libmarkup/bytes/out.h"

enum mk_name_kind {
	MK_NAME_KEPT,
	MK_NAME_RETURNS,    /* the return type, with the blank behind it */
	MK_NAME_ARGUMENTS,  /* of a template: "<int>", "!(int)" */
	MK_NAME_PARAMETERS, /* with what belongs to them: "(int) const" */
};

struct mk_name_part {
	enum mk_name_kind kind;
	const char *ptr;
	size_t len;
};

#define MK_NAME_PARTS 64u /* of a name with more, the last one is the rest, KEPT */

/* The parts of [p, p + len), which they borrow; returns how many there are, at least one. */
size_t mk_name_parts(const char *p, size_t len, struct mk_name_part parts[MK_NAME_PARTS]);

/* The short name: without return type and parameters, "<…>" for arguments of templates:
 * std::map<…>::find. */
void mk_name_short(struct mk_out *o, const char *p, size_t len);

#endif
