/*
 * Tags of entries: a set of words such as "release=1.4.2", kept sorted in one
 * string with a newline between them, so that a record holds them as any other
 * string. A key may stand there several times with several values: one library
 * is part of many releases.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/utf8.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/store.h"

bool symstore_tag_valid(const char *tag)
{
	size_t len = strlen(tag);

	for (const char *c = tag; *c; c++)
		if (sc_is_control(*c))
			return false;
	return len && len <= SYMSTORE_TAG_MAX && *tag != '=';
}

int symstore_tags_make(const char *const *words, size_t num, bool pinned, char **ret,
		       struct sc_error *err)
{
	size_t size = sizeof(SYMSTORE_PINNED);
	char *end;

	*ret = NULL;
	for (size_t i = 0; i < num; i++) {
		size += strlen(words[i]) + 1;
		if (!symstore_tag_valid(words[i]))
			return sc_error_set(err, SC_EINVAL,
					    "'%.60s' is not a tag: it is KEY=VALUE or a "
					    "word, up to %d bytes without control characters",
					    words[i], SYMSTORE_TAG_MAX);
	}
	if (!num && !pinned)
		return 0;
	*ret = end = malloc(size);
	if (!end)
		return sc_no_memory(err);
	end = stpcpy(end, pinned ? SYMSTORE_PINNED : "");
	for (size_t i = 0; i < num; i++)
		end = stpcpy(stpcpy(end, "\n"), words[i]);
	return 0;
}

size_t symstore_tags_next(const char **at, const char **tag)
{
	size_t len;

	while (*at && **at == '\n')
		(*at)++;
	len = *at ? strcspn(*at, "\n") : 0;
	*tag = *at;
	*at = len ? *at + len : *at;
	return len;
}

bool symstore_tags_have(const char *tags, const char *want)
{
	size_t want_len = strlen(want), len;
	const char *tag;

	while ((len = symstore_tags_next(&tags, &tag)))
		if (len >= want_len && !memcmp(tag, want, want_len) &&
		    (len == want_len || (tag[want_len] == '=' && !strchr(want, '='))))
			return true;
	return false;
}

char *symstore_tags_without(const char *tags, const char *word)
{
	char *left = malloc(tags ? strlen(tags) + 1 : 1), *end = left;
	const char *tag;
	size_t len;

	while (left && (len = symstore_tags_next(&tags, &tag))) {
		if (len == strlen(word) && !memcmp(tag, word, len))
			continue;
		if (end != left)
			*end++ = '\n';
		end = mempcpy(end, tag, len);
	}
	if (left)
		*end = 0;
	return left;
}

struct word {
	const char *ptr;
	size_t len;
};

static int compare(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

char *symstore_tags_unite(const char *a, const char *b)
{
	VEC(struct word) words = { 0 };
	const char *from[] = { a, b }, *tag;
	size_t size = 1, len;
	char *all, *end;

	for (int i = 0; i < 2; i++)
		while ((len = symstore_tags_next(&from[i], &tag))) {
			struct word *w = vec_push(&words);

			if (!w) {
				vec_deinit(&words);
				return NULL;
			}
			*w = (struct word){ tag, len };
			size += len + 1;
		}
	if (words.len)
		qsort(words.data, words.len, sizeof(*words.data), compare);
	end = all = malloc(size);
	for (size_t i = 0; all && i < words.len; i++) {
		const struct word *w = &words.data[i];

		if (i && !compare(w, w - 1))
			continue;
		if (end != all)
			*end++ = '\n';
		end = mempcpy(end, w->ptr, w->len);
	}
	if (all)
		*end = 0;
	vec_deinit(&words);
	return all;
}
