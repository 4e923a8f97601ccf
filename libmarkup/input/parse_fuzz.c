/*
 * Fuzzing of the parser, of the values in fields and of hexdict's pairs, under all
 * three syntaxes. Besides not crashing:
 *   - elements lie in the line, one behind the other;
 *   - an element's tag and fields lie in it, in order, with a ':' before each;
 *   - a number that is read is the number that strtoull() reads.
 */
#include <stdlib.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/bytes/hexdict.h"
#include "libmarkup/input/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static bool starts(struct sc_str s, const char *with)
{
	return s.len >= 3 && !memcmp(s.ptr, with, 3);
}

/* As strtoull() reads it, where it can be asked: digits of that base alone. */
static void check_number(struct sc_str s, uint64_t v)
{
	char text[64];
	int base = 10;

	if (s.len >= sizeof(text))
		return;
	memcpy(text, s.ptr, s.len);
	text[s.len] = 0;
	if (text[0] == '0' && strchr("xX", text[1]) && text[1])
		base = 16;
	else if (text[0] == '0' && strchr("bBo", text[1]) && text[1])
		return;
	else if (text[0] == '0' && text[1])
		base = 8;
	check(strtoull(text, NULL, base) == v);
}

static void check_fields(const struct mk_node *n)
{
	const char *pos = n->tag.ptr + n->tag.len;
	struct sc_str id, name, build_id;
	uint8_t bytes[512];
	uint64_t v;
	char mode[4];

	for (size_t i = 0; i < n->num_fields && i < MK_NUM_FIELDS; i++) {
		const struct sc_str s = n->fields[i];
		check(s.ptr == pos + 1 && *pos == ':' && !memchr(s.ptr, ':', s.len));
		pos = s.ptr + s.len;
		if (mk_field_number(s, &v))
			check_number(s, v);
		if (mk_field_decimal(s, &v))
			check(s.len && s.ptr[0] >= '0' && s.ptr[0] <= '9');
		if (mk_field_address(s, &v) && s.len > 2)
			check_number(s, v);
		if (mk_field_mode(s, mode))
			check(s.len == strlen(mode) && s.len <= 3);
		if (s.len / 2 < sizeof(bytes) && mk_field_build_id(s, bytes))
			check(mk_field_build_id_is(s, bytes, (s.len + 1) / 2));
	}
	if (n->num_fields <= MK_NUM_FIELDS)
		check(pos == n->text.ptr + n->text.len - 3);
	if (n->num_fields)
		check(n->rest.ptr == n->fields[0].ptr &&
		      n->rest.ptr + n->rest.len == n->text.ptr + n->text.len - 3);
	if (mk_split_module(n, &id, &name, &build_id))
		check(name.ptr == id.ptr + id.len + 1 && build_id.ptr == name.ptr + name.len + 5);
}

static void check_hexdict(struct sc_str s)
{
	const char *pos = s.ptr, *end = s.ptr + s.len;
	struct mk_pair pair;

	while (mk_next_pair(&pos, end, &pair)) {
		check(pair.key.len && pair.key.ptr >= s.ptr && pair.value.len);
		check(pair.value.ptr > pair.key.ptr + pair.key.len);
		check(pair.value.ptr + pair.value.len == pos && pos <= end);
	}
}

static void check_line(const char *p, size_t len, enum mk_syntax syntax)
{
	struct mk_parser parser;
	struct mk_node n;
	const char *at = p;

	mk_parse_line(&parser, p, len, syntax);
	while (mk_next_element(&parser, &n)) {
		check(n.text.ptr >= at && n.text.len && n.text.ptr + n.text.len <= p + len);
		at = n.text.ptr + n.text.len;
		check(starts(n.text, "{{{") && n.tag.ptr == n.text.ptr + 3);
		if (n.kind == MK_OPEN) {
			check(syntax == MK_SYNTAX && at == p + len);
			check_hexdict(n.rest);
			continue;
		}
		check(!memcmp(n.text.ptr + n.text.len - 3, "}}}", 3));
		check_fields(&n);
		if (n.rest.ptr)
			check_hexdict(n.rest);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;

	check_line(p, size, MK_SYNTAX);
	check_line(p, size, MK_SYNTAX_LLVM);
	check_line(p, size, MK_SYNTAX_FUCHSIA);
	return 0;
}
