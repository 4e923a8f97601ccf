/*
 * Several processes in one log: see demux.h. One context is current; the
 * others are put away by value, and swapped in when a line is theirs.
 */
#include "libmarkup/resolve/demux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmarkup/resolve/resolve.h"

#define PREFIX_LOOKED_AT 512

/* ---- keys ------------------------------------------------------------------- */

/* Digits at *p, at least one; moves *p behind them. */
static bool take_number(const char **p, const char *end)
{
	const char *start = *p;

	while (*p < end && **p >= '0' && **p <= '9')
		++*p;
	return *p > start;
}

/* Seconds, or a date and time, at *p; moves *p behind it. */
static bool take_time(const char **p, const char *end)
{
	const char *start = *p;

	while (*p < end && **p && strchr("0123456789.,:-+ TZ", **p))
		++*p;
	return *p > start;
}

static bool take_char(const char **p, const char *end, char c)
{
	if (*p == end || **p != c)
		return false;
	++*p;
	return true;
}

/* "[00169.291005][1234][5678]", also with a date, or "[00012.345] 1234.5678>" */
static struct sc_str fuchsia_key(const char *p, const char *end)
{
	const struct sc_str none = { NULL, 0 };
	const char *key;
	bool brackets;

	if (!take_char(&p, end, '[') || !take_time(&p, end) || !take_char(&p, end, ']'))
		return none;
	brackets = take_char(&p, end, '[');
	while (!brackets && p < end && *p == ' ')
		p++;
	key = p;
	if (!take_number(&p, end))
		return none;
	const struct sc_str found = { key, (size_t)(p - key) };
	if (brackets)
		return take_char(&p, end, ']') && take_char(&p, end, '[') &&
		       take_number(&p, end) && take_char(&p, end, ']') ? found : none;
	return take_char(&p, end, '.') && take_number(&p, end) &&
	       take_char(&p, end, '>') ? found : none;
}

/* "name[1234]:" with the name behind a blank or at the beginning */
static struct sc_str syslog_key(const char *p, const char *end)
{
	for (const char *open = p; (open = memchr(open, '[', (size_t)(end - open))); open++) {
		const char *pos = open + 1, *name = open;
		while (name > p && name[-1] != ' ')
			name--;
		if (name == open || !take_number(&pos, end))
			continue;
		const struct sc_str found = { open + 1, (size_t)(pos - open - 1) };
		if (take_char(&pos, end, ']') && take_char(&pos, end, ':'))
			return found;
	}
	return (struct sc_str){ NULL, 0 };
}

struct sc_str mk_demux_key(const char *p, const char *end)
{
	struct sc_str key;

	if (end - p > PREFIX_LOOKED_AT)
		end = p + PREFIX_LOOKED_AT;
	key = fuchsia_key(p, end);
	return key.len ? key : syslog_key(p, end);
}

struct sc_str mk_demux_key_of(const struct mk_demux *d, const char *p, const char *end,
			      char buf[DEMUX_REGEX_MAX])
{
	const size_t room = DEMUX_REGEX_MAX - 1;
	const size_t len = (size_t)(end - p) < room ? (size_t)(end - p) : room;
	regmatch_t match[2];

	if (!d->has_regex)
		return mk_demux_key(p, end);
	memcpy(buf, p, len);
	buf[len] = 0;
	if (regexec(&d->regex, buf, 2, match, 0))
		return (struct sc_str){ NULL, 0 };
	if (match[1].rm_so < 0)
		match[1] = match[0];
	return (struct sc_str){ buf + match[1].rm_so,
				    (size_t)(match[1].rm_eo - match[1].rm_so) };
}

/* ---- processes -------------------------------------------------------------- */

static void new_context(struct mk_resolve *r, struct mk_context *c)
{
	mk_context_init(c, r->dialect, &r->generations);
	c->fixes_base = r->fixes_base;
}

/* A count of repetitions makes as many copies of what it counts, and of the counts in
 * that; a reference to an earlier group takes exponential time. */
static bool is_moderate(const char *how)
{
	enum { MAX_BYTES = 1000, MAX_COPIES = 1000 };
	unsigned long copies = 1, n;
	const char *p = how;
	char *end;

	for (; *p; p++) {
		if (*p == '\\' && p[1]) {
			if (*++p >= '1' && *p <= '9')
				return false;
		} else if (*p == '{') {
			n = strtoul(p + 1, &end, 10);
			if (*end == ',' && end[1] != '}')
				n = strtoul(end + 1, &end, 10);
			if (n > MAX_COPIES || (copies *= n ? n : 1) > MAX_COPIES)
				return false;
		}
	}
	return p - how <= MAX_BYTES;
}

bool markup_demux_valid(const char *how)
{
	regex_t regex;

	if (!is_moderate(how) || regcomp(&regex, how, REG_EXTENDED))
		return false;
	regfree(&regex);
	return true;
}

int mk_demux_init(struct mk_resolve *r, const char *how)
{
	struct mk_demux *d = &r->demux;

	new_context(r, &d->other);
	d->shared = true;
	if (!how)
		return 0;
	d->on = true;
	if (*how) {
		if (!is_moderate(how) || regcomp(&d->regex, how, REG_EXTENDED))
			return -EINVAL;
		d->has_regex = true;
	}
	return 0;
}

void mk_demux_hold(struct mk_resolve *r)
{
	struct mk_demux *d = &r->demux;

	if (d->current) {
		struct mk_process *p = d->current;
		p->context = r->context;
		d->bytes -= p->bytes;
		p->bytes = mk_context_bytes(&p->context);
		d->bytes += p->bytes;
		r->context = d->other;
	} else if (!d->shared) {
		mk_context_deinit(&r->context); /* it was empty */
		r->context = d->other;
	}
	if (d->current || !d->shared)
		new_context(r, &d->other);
	d->current = NULL;
	d->shared = true;
}

static void forget(struct mk_demux *d, size_t i)
{
	struct mk_process *p = d->processes.data[i];

	d->bytes -= p->bytes;
	mk_context_deinit(&p->context);
	free(p);
	d->processes.data[i] = d->processes.data[--d->processes.len];
}

void mk_demux_reset(struct mk_resolve *r)
{
	struct mk_demux *d = &r->demux;

	mk_demux_hold(r);
	while (d->processes.len)
		forget(d, d->processes.len - 1);
}

void mk_demux_deinit(struct mk_resolve *r)
{
	struct mk_demux *d = &r->demux;

	mk_demux_reset(r);
	mk_context_deinit(&d->other);
	vec_deinit(&d->processes);
	if (d->has_regex)
		regfree(&d->regex);
}

static struct mk_process *find(const struct mk_demux *d, struct sc_str key)
{
	for (size_t i = 0; i < d->processes.len; i++) {
		struct mk_process *p = d->processes.data[i];
		if (p->key_len == key.len && !memcmp(p->key, key.ptr, key.len))
			return p;
	}
	return NULL;
}

static void make_room(struct mk_demux *d)
{
	while (d->processes.len == DEMUX_MAX || (d->processes.len && d->bytes > DEMUX_BYTES_MAX)) {
		size_t oldest = 0;
		for (size_t i = 1; i < d->processes.len; i++)
			if (d->processes.data[i]->announced < d->processes.data[oldest]->announced)
				oldest = i;
		forget(d, oldest);
	}
}

struct mk_process *mk_demux_add(struct mk_resolve *r, struct sc_str key)
{
	struct mk_demux *d = &r->demux;
	struct mk_process *p;

	if (!vec_reserve(&d->processes, 1) || !(p = calloc(1, sizeof(*p))))
		return NULL;
	memcpy(p->key, key.ptr, key.len);
	p->key_len = key.len;
	new_context(r, &p->context);
	return d->processes.data[d->processes.len++] = p;
}

void mk_demux_switch(struct mk_resolve *r, const char *line, const char *markup, bool announces)
{
	struct mk_demux *d = &r->demux;
	char buf[DEMUX_REGEX_MAX];
	struct sc_str key = mk_demux_key_of(d, line, markup, buf);
	struct mk_process *p = NULL;

	d->lines += announces;
	if (key.len > DEMUX_KEY_MAX)
		key.len = DEMUX_KEY_MAX;
	if (key.len) {
		p = d->current && d->current->key_len == key.len &&
		    !memcmp(d->current->key, key.ptr, key.len) ? d->current : find(d, key);
		if (p && p == d->current) {
			if (announces)
				p->announced = d->lines;
			return;
		}
	} else if (!d->current && d->shared) {
		return;
	}
	if (d->leaving)
		d->leaving(d->ctx);
	mk_demux_hold(r);
	if (!key.len)
		return;
	if (!p && announces) {
		make_room(d);
		p = mk_demux_add(r, key);
		if (!p)
			r->error = -ENOMEM;
	}
	d->other = r->context;
	d->shared = false;
	d->current = p;
	if (p) {
		r->context = p->context;
		if (announces)
			p->announced = d->lines;
	} else {
		new_context(r, &r->context);
	}
}

bool mk_demux_copy(struct mk_resolve *to, struct mk_resolve *from)
{
	mk_demux_reset(to);
	mk_demux_hold(from);
	if (!mk_context_copy(&to->context, &from->context))
		return false;
	for (size_t i = 0; i < from->demux.processes.len; i++) {
		const struct mk_process *p = from->demux.processes.data[i];
		struct mk_process *copy = mk_demux_add(to,
						       (struct sc_str){ p->key, p->key_len });
		if (!copy || !mk_context_copy(&copy->context, &p->context))
			return false;
		copy->announced = p->announced;
		copy->bytes = p->bytes;
		to->demux.bytes += p->bytes;
	}
	to->demux.lines = from->demux.lines;
	return true;
}

void mk_demux_each(struct mk_resolve *r, void (*fn)(struct mk_context *c))
{
	struct mk_demux *d = &r->demux;

	fn(&r->context);
	if (d->current || !d->shared)
		fn(&d->other);
	for (size_t i = 0; i < d->processes.len; i++)
		if (d->processes.data[i] != d->current)
			fn(&d->processes.data[i]->context);
}
