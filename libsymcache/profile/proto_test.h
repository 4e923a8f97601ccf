/* For tests: protobuf written as text, for cases of one line. */
#ifndef SC_PROFILE_TESTING_PROTO_H
#define SC_PROFILE_TESTING_PROTO_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/profile/wire.h"

/* The numbers up to a ')', as a packed list. */
static inline const char *proto_list(struct prof_bytes *to, const char *p)
{
	char *end;

	for (; *p != ')'; p = end + strspn(end, " "))
		prof_put_varint(to, strtoull(p, &end, 0));
	return p + 1;
}

/*
 * Appends the fields of `text`, up to its end or a '}', and returns where that is. Each is its number and
 *   :VALUE     a number
 *   "text"     bytes
 *   (1 2 3)    a packed list of numbers
 *   {…}        a message, written alike
 */
static inline const char *proto_put(struct prof_bytes *to, const char *text)
{
	const char *p = text;

	while (*p && *p != '}') {
		struct prof_bytes in = { 0 };
		const char *from;
		char *end;
		const unsigned number = (unsigned)strtoul(p, &end, 10);

		from = p = end + 1;
		if (*end == ':') {
			prof_put_varint(to, number << 3 | PROF_VARINT);
			prof_put_varint(to, strtoull(p, &end, 0));
			p = end;
		} else if (*end == '"') {
			p = strchr(from, '"');
			prof_put_bytes(to, number, from, (size_t)(p++ - from));
		} else if (*end == '{' || *end == '(') {
			p = *end == '(' ? proto_list(&in, from) : proto_put(&in, from) + 1;
			prof_put_bytes(to, number, in.v.data, in.v.len);
		} else {
			fprintf(stderr, "no field begins at: %s\n", text);
			abort();
		}
		prof_bytes_deinit(&in);
		p += strspn(p, " \n");
	}
	return p;
}

#endif
