/* JSON through yajl: see json.h. */
#include "cmd/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

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

void json_string(struct json *j, const char *text, size_t len)
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

void json_key(struct json *j, const char *key)
{
	yajl_gen_string(j->gen, (const unsigned char *)key, strlen(key));
}

void json_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_string(j, text ? text : "", text ? strlen(text) : 0);
}

void json_number(struct json *j, const char *key, uint64_t number)
{
	char text[20], *p = format_number(text + sizeof(text), number, 10);

	json_key(j, key);
	yajl_gen_number(j->gen, p, (size_t)(text + sizeof(text) - p));
}

void json_signed(struct json *j, const char *key, int64_t number)
{
	char text[21], *p = format_number(text + sizeof(text),
					  number < 0 ? -(uint64_t)number : (uint64_t)number, 10);

	if (number < 0)
		*--p = '-';
	json_key(j, key);
	yajl_gen_number(j->gen, p, (size_t)(text + sizeof(text) - p));
}

void json_hex(struct json *j, const char *key, uint64_t number)
{
	char text[20], *p = format_number(text + sizeof(text), number, 16);

	*--p = 'x';
	*--p = '0';
	json_key(j, key);
	yajl_gen_string(j->gen, (unsigned char *)p, (size_t)(text + sizeof(text) - p));
}

void json_bool(struct json *j, const char *key, bool value)
{
	json_key(j, key);
	yajl_gen_bool(j->gen, value);
}

void json_open(struct json *j, const char *key)
{
	json_key(j, key);
	yajl_gen_map_open(j->gen);
}

void json_close(struct json *j)
{
	yajl_gen_map_close(j->gen);
}

void json_open_list(struct json *j, const char *key)
{
	json_key(j, key);
	yajl_gen_array_open(j->gen);
}

void json_close_list(struct json *j)
{
	yajl_gen_array_close(j->gen);
}

struct json *json_memory(void)
{
	struct json *j = must_calloc(1, sizeof(*j));

	j->gen = yajl_gen_alloc(NULL);
	if (!j->gen) {
		cmd_error("out of memory");
		exit(STATUS_ERROR);
	}
	return j;
}

struct json *json_create(bool pretty, bool list)
{
	struct json *j = json_memory();

	j->list = list;
	j->pretty = pretty;
	yajl_gen_config(j->gen, yajl_gen_beautify, pretty);
	yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
	if (list)
		yajl_gen_array_open(j->gen);
	return j;
}

void json_end(struct json *j)
{
	const unsigned char *text;
	size_t len;

	yajl_gen_get_buf(j->gen, &text, &len);
	fwrite(text, 1, len, stdout);
	yajl_gen_clear(j->gen);
	if (j->list)
		return;
	yajl_gen_reset(j->gen, NULL);
	if (!j->pretty) /* else yajl has done so */
		putchar('\n');
}

void json_destroy(struct json *j)
{
	if (!j)
		return;
	if (j->list) {
		yajl_gen_array_close(j->gen);
		j->list = false;
		json_end(j);
	}
	yajl_gen_free(j->gen);
	free(j->clean);
	free(j);
}

char *json_take(struct json *j)
{
	const unsigned char *text;
	size_t len;
	char *copy;

	yajl_gen_get_buf(j->gen, &text, &len);
	copy = must_asprintf("%.*s", (int)len, (const char *)text);
	json_destroy(j);
	return copy;
}

void json_put(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	/* yajl copies a number as it is. */
	yajl_gen_number(j->gen, value, strlen(value));
}
