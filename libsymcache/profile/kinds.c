/* What the bytes of a profile are: see kinds.h and format/profiles.md. */
#include "libsymcache/profile/kinds.h"

#include "libsymcache/profile/legacy.h"
#include "libsymcache/profile/wire.h"

static bool begins(const uint8_t *bytes, size_t size, const char *with)
{
	const size_t len = strlen(with);

	return size >= len && !memcmp(bytes, with, len);
}

/* ---- protobuf ------------------------------------------------------------------------------- */

/* A dictionary of OTLP: the first of its strings is empty. */
static bool is_dictionary(const struct prof_field *f)
{
	struct prof_wire w = prof_wire_in(f);
	struct prof_field of;

	return prof_wire_find(&w, 5, &of) && !of.len;
}

enum {
	PIECES_MAX = 16, /* of a dictionary */
	ENOUGH = 4096,
};

/* *like: it begins as protobuf of such a kind, but is cut off or damaged. */
static enum prof_kind protobuf_kind(const uint8_t *bytes, size_t size, bool *like)
{
	struct prof_wire w = prof_wire_of(bytes, size);
	struct prof_field f;
	size_t fields = 0, seconds = 0;

	*like = false;
	while (prof_wire_next(&w, &f)) {
		if (f.number == 6 && f.type == PROF_BYTES)
			return f.len ? PROF_UNKNOWN : PROF_PPROF;
		if (f.number == 2 && f.type == PROF_BYTES && seconds++ < PIECES_MAX &&
		    is_dictionary(&f))
			return PROF_OTLP;
		if (f.number > 15)
			return PROF_UNKNOWN;
		if (fields++ == ENOUGH) /* so many samples have nothing else */
			return PROF_PPROF;
	}
	*like = w.bad && fields > 1;
	return PROF_UNKNOWN;
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < 4096; i++)
		if (bytes[i] < ' ' && !strchr("\t\n\r", bytes[i]))
			return false;
		else if (!bytes[i])
			return false;
	return true;
}

const char *prof_stack_end(struct sc_str line)
{
	const char *end = line.ptr + line.len, *p;

	while (end > line.ptr && end[-1] == '\r')
		end--;
	for (p = end; p > line.ptr && p[-1] >= '0' && p[-1] <= '9'; p--)
		;
	return p < end && p - line.ptr > 1 && p[-1] == ' ' ? p - 1 : NULL;
}

/* All of the first lines are stacks. */
static bool is_folded(const uint8_t *bytes, size_t size)
{
	const char *p = (const char *)bytes, *end = p + size;
	struct sc_str line;

	for (unsigned lines = 0; lines < 16 && prof_next_line(&p, end, &line); lines++)
		if (!prof_stack_end(line))
			return false;
	return size;
}

static const char *looks_like_what(const uint8_t *bytes, size_t size)
{
	static const struct { const char *begin, *what; } known[] = {
		{ "\x7f" "ELF", "is an ELF file" },
		{ "2ELIFREP", "is perf.data of a big-endian machine, which is not read" },
		{ "--- symbol", "has symbols in it already: it is what jeprof and pprof call raw" },
		{ "--- contention", "is a contention profile, which is not read" },
		{ "goroutine profile:", "is a text of Go's, which is not read" },
		{ "heap profile", "looks like a heap profile, but its first line is not one's" },
		{ "{", "looks like JSON" },
		{ "JAVA PROFILE", "is a heap dump of Java" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (begins(bytes, size, known[i].begin))
			return known[i].what;
	return !size ? "is empty" : is_text(bytes, size) ?
		"is a text, but not of stacks: its lines do not end in numbers" :
		"is not a known kind of profile";
}

enum prof_kind prof_kind_of(const uint8_t *bytes, size_t size, const char **looks_like)
{
	enum prof_kind kind;
	bool like;

	if (begins(bytes, size, "PERFILE2"))
		return PROF_PERF;
	if (begins(bytes, size, "heap_v2/") || begins(bytes, size, "heap profile:"))
		return PROF_HEAP;
	if (legacy_is_cpu(bytes, size))
		return PROF_CPU;
	kind = protobuf_kind(bytes, size, &like);
	if (kind)
		return kind;
	if (is_text(bytes, size) && is_folded(bytes, size))
		return PROF_FOLDED;
	if (like && !is_text(bytes, size))
		return PROF_PPROF; /* whose reader says what is wrong */
	*looks_like = looks_like_what(bytes, size);
	return PROF_UNKNOWN;
}
