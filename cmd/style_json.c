/*
 * The style JSON: llvm-symbolizer's keys in its order, which is alphabetical.
 *
 * Answers to a list of arguments are one array; answers to standard input are
 * one object a line. The text is made by yajl and goes out answer by answer.
 * Names may hold any bytes; JSON is UTF-8, so what is not becomes U+FFFD, one
 * for each maximal part of a sequence, as the Unicode standard recommends.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "cmd/answer.h"
#include "cmd/cmd.h"

struct json {
	yajl_gen gen;
	bool list, pretty;
	char *clean;      /* room for text that had to be mended */
	size_t clean_cap;
};

/* How many bytes at s form a character? Negative: that many are malformed. */
static int utf8_len(const unsigned char *s, size_t len)
{
	unsigned char low = 0x80, high = 0xbf;
	int want = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	if (!want)
		return -1;
	if (*s == 0xe0)
		low = 0xa0; /* overlong */
	if (*s == 0xed)
		high = 0x9f; /* surrogates */
	if (*s == 0xf0)
		low = 0x90;
	if (*s == 0xf4)
		high = 0x8f; /* beyond U+10FFFF */
	for (int i = 1; i < want; i++) {
		if ((size_t)i >= len || s[i] < low || s[i] > high)
			return -i;
		low = 0x80;
		high = 0xbf;
	}
	return want;
}

static void json_string(struct json *j, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t done = 0, out = 0;
	int n;

	while (done < len && (n = utf8_len(s + done, len - done)) > 0)
		done += (size_t)n;
	if (done < len) {
		if (j->clean_cap < 3 * len) {
			j->clean_cap = 3 * len;
			j->clean = must_realloc(j->clean, j->clean_cap);
		}
		for (done = 0; done < len; done += (size_t)abs(n)) {
			n = utf8_len(s + done, len - done);
			memcpy(j->clean + out, n > 0 ? text + done : "\xef\xbf\xbd",
			       n > 0 ? (size_t)n : 3);
			out += n > 0 ? (size_t)n : 3;
		}
		s = (const unsigned char *)j->clean;
		len = out;
	}
	yajl_gen_string(j->gen, s, len);
}

static void json_text(struct json *j, const char *key, const char *text)
{
	json_string(j, key, strlen(key));
	json_string(j, text ? text : "", text ? strlen(text) : 0);
}

static void json_number(struct json *j, const char *key, uint32_t number)
{
	json_string(j, key, strlen(key));
	yajl_gen_integer(j->gen, number);
}

static void json_hex(struct json *j, const char *key, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, number);
	json_text(j, key, text);
}

static void json_frame(struct json *j, const struct answer *a, const struct answer_frame *f)
{
	yajl_gen_map_open(j->gen);
	json_number(j, "Column", f->column);
	json_number(j, "Discriminator", 0);
	json_text(j, "FileName", answer_text(a, f->file));
	json_text(j, "FunctionName", answer_text(a, f->function));
	json_number(j, "Line", f->line);
	if (f->has_start_address)
		json_hex(j, "StartAddress", f->start_address);
	else
		json_text(j, "StartAddress", NULL);
	json_text(j, "StartFileName", answer_text(a, f->start_file));
	json_number(j, "StartLine", f->start_line);
	yajl_gen_map_close(j->gen);
}

static void json_frames(struct json *j, const char *key, const struct answer *a)
{
	static const struct answer_frame unknown;

	json_string(j, key, strlen(key));
	if (!a->num_frames && (a->symbol.ptr || a->kind == QUERY_FRAME)) {
		/* yajl would break the line between the brackets. */
		yajl_gen_number(j->gen, "[]", 2);
		return;
	}
	yajl_gen_array_open(j->gen);
	if (!a->num_frames)
		json_frame(j, a, &unknown);
	for (size_t i = 0; i < a->num_frames; i++)
		json_frame(j, a, &a->frames[i]);
	yajl_gen_array_close(j->gen);
}

static void json_open(struct json *j, const char *key)
{
	json_string(j, key, strlen(key));
	yajl_gen_map_open(j->gen);
}

static void print(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	fwrite(text, 1, len, stdout);
}

struct json *style_json_begin(bool pretty, bool list)
{
	struct json *j = must_calloc(1, sizeof(*j));

	j->list = list;
	j->pretty = pretty;
	j->gen = yajl_gen_alloc(NULL);
	if (!j->gen) {
		cmd_error("out of memory");
		exit(STATUS_ERROR);
	}
	yajl_gen_config(j->gen, yajl_gen_beautify, pretty);
	yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
	yajl_gen_config(j->gen, yajl_gen_print_callback, print, NULL);
	if (list)
		yajl_gen_array_open(j->gen);
	return j;
}

/* The value is complete: end its line. With beautify, yajl has done so. */
static void json_end(struct json *j)
{
	yajl_gen_reset(j->gen, NULL);
	if (!j->pretty)
		putchar('\n');
}

void style_json_print(struct json *j, const struct answer *a)
{
	yajl_gen_map_open(j->gen);
	if (a->has_address)
		json_hex(j, "Address", a->address);
	if (a->error) {
		json_open(j, "Error");
		json_text(j, "Message", a->error);
		yajl_gen_map_close(j->gen);
	} else if (a->kind == QUERY_DATA) {
		json_open(j, "Data");
		json_text(j, "Name", answer_text(a, a->name));
		json_hex(j, "Size", a->size);
		json_hex(j, "Start", a->start);
		yajl_gen_map_close(j->gen);
	} else if (a->kind == QUERY_FRAME || a->symbol.ptr) {
		json_frames(j, a->kind == QUERY_FRAME ? "Frame" : "Loc", a);
	}
	json_text(j, "ModuleName", a->module);
	if (a->symbol.ptr) {
		json_string(j, "SymName", 7);
		json_string(j, a->symbol.ptr, a->symbol.len);
	}
	if (!a->error && a->kind == QUERY_CODE && !a->symbol.ptr)
		json_frames(j, "Symbol", a);
	yajl_gen_map_close(j->gen);
	if (!j->list)
		json_end(j);
}

void style_json_end(struct json *j)
{
	if (!j)
		return;
	if (j->list) {
		yajl_gen_array_close(j->gen);
		json_end(j);
	}
	yajl_gen_free(j->gen);
	free(j->clean);
	free(j);
}
