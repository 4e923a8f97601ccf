/*
 * Records of frames → stacks → groups of equal ones, the most frequent first: see group.h.
 *
 * A frame goes on with the stack of its process and format, if its number is higher, or, in
 * formats without numbers, if it is near. Memory is bounded by the limits of group.h: of
 * groups that come when the table is full only the number of their stacks is known.
 */
#include "libmarkup/output/group.h"
#include "libmarkup/output/html/page.h"

#include <errno.h>
#include <stdlib.h>

#define OPEN_MAX     64u /* stacks at a time */
#define NUMBERED_FAR 64u /* lines between two frames of a stack */
#define KEY_MAX      (DEMUX_KEY_MAX + 32u)
#define KIND_MAX     96u /* bytes of what a stack is called by */
#define KIND_LENT    12u /* lines */

struct group_stack {
	char key[KEY_MAX]; /* process and format */
	size_t key_len;
	struct group_place first;
	uint64_t line, number; /* of the last frame */
	uint32_t reach, frames;
	uint32_t own; /* as of a group */
	char kind[KIND_MAX];
	struct mk_out functions;
};

int markup_groups_create(struct markup_groups **ret)
{
	struct markup_groups *g = calloc(1, sizeof(*g));

	*ret = NULL;
	if (!g)
		return -ENOMEM;
	g->open = calloc(OPEN_MAX, sizeof(*g->open));
	g->slots = 2u * GROUPS_MAX;
	g->index = calloc(g->slots, sizeof(*g->index));
	if (!g->open || !g->index) {
		markup_groups_destroy(g);
		return -ENOMEM;
	}
	*ret = g;
	return 0;
}

void markup_groups_destroy(struct markup_groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->open && i < OPEN_MAX; i++)
		mk_out_deinit(&g->open[i].functions);
	for (size_t i = 0; i < g->groups.len; i++) {
		free(g->groups.data[i]->kind);
		free(g->groups.data[i]);
	}
	for (size_t i = 0; i < g->inputs.len; i++)
		free(g->inputs.data[i]);
	free(g->open);
	vec_deinit(&g->groups);
	vec_deinit(&g->inputs);
	free(g->index);
	mk_out_deinit(&g->pending);
	mk_out_deinit(&g->lines.recent.text);
	mk_out_deinit(&g->lines.line);
	mk_out_deinit(&g->lines.scratch);
	free(g);
}

/* ---- groups -------------------------------------------------------------------- */

static uint64_t signature_of(const char *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)p[i]) * 0x100000001b3u;
	return h;
}

static bool is_before(const struct group_place *a, const struct group_place *b)
{
	return a->input != b->input ? a->input < b->input : a->line < b->line;
}

/* A new group in its slot; NULL: no room. */
static struct group *add_group(struct markup_groups *g, uint32_t *slot, const struct mk_out *text)
{
	struct group *new;

	if (g->groups.len == GROUPS_MAX || text->len > GROUP_BYTES_MAX - g->bytes)
		return NULL;
	new = vec_reserve(&g->groups, 1) ? malloc(sizeof(*new) + text->len) : NULL;
	if (!new) {
		g->no_memory = true;
		return NULL;
	}
	*new = (struct group){ .len = text->len };
	memcpy(new->functions, text->buf, text->len);
	g->bytes += text->len;
	g->groups.data[g->groups.len++] = new;
	*slot = (uint32_t)g->groups.len;
	return new;
}

/* Has no frame a name or a place? Then it is equal to no other. */
static bool is_nameless(const struct mk_out *functions)
{
	for (size_t i = 0; i < functions->len; i += 3)
		if (functions->len - i < 3 || memcmp(functions->buf + i, "??\n", 3))
			return false;
	return true;
}

static void end_stack(struct markup_groups *g, struct group_stack *s)
{
	const uint64_t signature = signature_of(s->functions.buf, s->functions.len);
	size_t at = signature & (g->slots - 1);
	struct group *found = NULL;

	g->stacks++;
	g->no_memory |= s->functions.error != 0;
	if (is_nameless(&s->functions)) {
		g->nameless++;
		return;
	}
	for (; g->index[at]; at = (at + 1) & (g->slots - 1)) {
		found = g->groups.data[g->index[at] - 1];
		if (found->signature == signature && found->len == s->functions.len &&
		    !memcmp(found->functions, s->functions.buf, found->len))
			break;
		found = NULL;
	}
	if (!found && (found = add_group(g, &g->index[at], &s->functions))) {
		found->signature = signature;
		found->first = found->last = s->first;
		found->own = s->own;
	}
	if (!found) {
		g->left_out++;
	} else {
		found->count++;
		if (is_before(&s->first, &found->first))
			found->first = s->first;
		if (is_before(&found->last, &s->first))
			found->last = s->first;
		if (*s->kind && !found->kind && !(found->kind = strdup(s->kind)))
			g->no_memory = true;
	}
}

/* ---- lines, for a page ----------------------------------------------------------- */

static void forget_lines(struct group_lines *l)
{
	mk_recent_clear(&l->recent);
	l->line.len = 0;
	*l->when = 0;
}

/* Frames of the line before would have come by now. */
static void take_line(struct group_lines *l, struct sc_str text)
{
	const struct sc_str when = mk_when(text);

	if (l->line.len)
		mk_recent_add(&l->recent, l->line.buf, l->line.len);
	l->line.len = 0;
	mk_html_text(&l->line, text);
	mk_out_char(&l->line, '\n');
	if (when.len && when.len < sizeof(l->when)) {
		memcpy(l->when, when.ptr, when.len);
		l->when[when.len] = 0;
	}
}

/* The word in red of a title: the signal or the report. A frame alone, as kernels have it before
 * their traces, lends the next stack its kind. */
static void name_stack(struct group_lines *l, struct group_stack *s, uint64_t line)
{
	static const char red[] = "<b class=bad>";
	const bool lends = s->frames == 1 && line > s->line && line - s->line <= KIND_LENT;
	const char *from, *end;

	l->scratch.len = 0;
	if (mk_html_title(&l->scratch, &l->recent) || !lends)
		*s->kind = 0;
	from = l->scratch.len ? memmem(l->scratch.buf, l->scratch.len, red, sizeof(red) - 1) : NULL;
	from = from ? from + sizeof(red) - 1 : NULL;
	end = from ? memmem(from, (size_t)(l->scratch.buf + l->scratch.len - from), "</b>", 4) : NULL;
	if (end && (size_t)(end - from) < sizeof(s->kind)) {
		memcpy(s->kind, from, (size_t)(end - from));
		s->kind[end - from] = 0;
	}
	mk_recent_clear(&l->recent);
}

/* ---- stacks -------------------------------------------------------------------- */

/* Takes the stacks that are open for ended. */
static void close_all(struct markup_groups *g)
{
	for (size_t i = 0; i < g->num_open; i++)
		end_stack(g, &g->open[i]);
	g->num_open = 0;
}

/* The difference of lines is large if the frame is before the stack. */
static bool goes_on(const struct group_stack *s, const struct mk_group_record *f)
{
	if (f->begins)
		return false;
	if (f->reach)
		return f->line - s->line <= f->reach;
	return f->number > s->number && f->line - s->line <= NUMBERED_FAR;
}

/* The stack of `key`, open or opened now; that of another one is ended if they are too many. */
static struct group_stack *stack_of(struct markup_groups *g, const char *key, size_t len)
{
	struct group_stack *s = g->open;
	size_t i = 0, oldest = 0;

	for (; i < g->num_open; i++) {
		if (s[i].key_len == len && !memcmp(s[i].key, key, len))
			return &s[i];
		if (s[i].line < s[oldest].line)
			oldest = i;
	}
	if (i == OPEN_MAX) {
		end_stack(g, &s[i = oldest]);
	} else {
		g->num_open++;
	}
	if (!s[i].functions.cap && mk_out_init(&s[i].functions, 1024, NULL, NULL)) {
		g->no_memory = true;
		return NULL;
	}
	memcpy(s[i].key, key, len);
	s[i].key_len = len;
	s[i].frames = 0;
	return &s[i];
}

static void add_frame(struct group_stack *s, const char *p, const char *end)
{
	for (const char *eol; p < end && (eol = memchr(p, '\n', (size_t)(end - p))); p = eol + 1) {
		const bool own = *p++ == GROUP_OWN;

		if (s->frames >= GROUP_FRAMES_MAX ||
		    (size_t)(eol + 1 - p) > GROUP_STACK_MAX - s->functions.len)
			continue;
		if (own && s->own == UINT32_MAX)
			s->own = s->frames;
		s->frames++;
		mk_out_put(&s->functions, p, (size_t)(eol + 1 - p));
	}
}

/* The index of an input; inputs come one after another. */
static uint32_t input_of(struct markup_groups *g, const char *name, size_t len)
{
	const size_t n = g->inputs.len;
	const char *last = n ? g->inputs.data[n - 1] : NULL;

	if (last && strlen(last) == len && !memcmp(last, name, len))
		return (uint32_t)n - 1;
	close_all(g);
	forget_lines(&g->lines);
	if (!vec_reserve(&g->inputs, 1) || !(g->inputs.data[n] = strndup(name, len))) {
		g->no_memory = true;
		return 0;
	}
	return (uint32_t)g->inputs.len++;
}

static void take_frame(struct markup_groups *g, const struct mk_group_record *f, const char *text)
{
	const char *format = text + f->input_len, *process = format + f->format_len;
	const char *functions = process + f->process_len;
	const uint32_t input = input_of(g, text, f->input_len);
	struct group_stack *s;
	char key[KEY_MAX];
	size_t len = f->format_len < 32 ? f->format_len : 32;

	memcpy(key, format, len);
	memcpy(key + len, process, f->process_len < DEMUX_KEY_MAX ? f->process_len : DEMUX_KEY_MAX);
	len += f->process_len < DEMUX_KEY_MAX ? f->process_len : DEMUX_KEY_MAX;
	s = g->no_memory ? NULL : stack_of(g, key, len);
	if (!s)
		return;
	if (s->frames && !goes_on(s, f)) {
		end_stack(g, s);
		name_stack(&g->lines, s, f->line);
		s->frames = 0;
	} else if (!s->frames) {
		name_stack(&g->lines, s, f->line);
	}
	if (!s->frames) {
		s->first = (struct group_place){ .input = input, .line = f->line };
		memcpy(s->first.when, g->lines.when, sizeof(s->first.when));
		s->functions.len = 0;
		s->own = UINT32_MAX;
	}
	g->lines.line.len = 0;
	s->line = f->line;
	s->number = f->number;
	add_frame(s, functions, functions + f->functions_len);
}

int markup_groups_take(void *groups, const char *data, size_t len)
{
	struct markup_groups *g = groups;
	struct mk_group_record f;
	const char *p;
	size_t left;

	mk_out_put(&g->pending, data, len);
	p = g->pending.buf;
	left = g->pending.len;
	while (left >= sizeof(f)) {
		memcpy(&f, p, sizeof(f));
		const size_t size = sizeof(f) + f.input_len + f.format_len + f.process_len +
				    f.functions_len;
		if (left < size)
			break;
		if (f.reach == GROUP_LINE) {
			input_of(g, p + sizeof(f), f.input_len);
			take_line(&g->lines, (struct sc_str){ p + sizeof(f) + f.input_len, f.functions_len });
		} else {
			take_frame(g, &f, p + sizeof(f));
		}
		p += size;
		left -= size;
	}
	memmove(g->pending.buf, p, left);
	g->pending.len = left;
	return g->no_memory || g->pending.error || g->lines.line.error ||
	       g->lines.recent.text.error || g->lines.scratch.error;
}

void markup_groups_pages(struct markup_groups *g, const struct markup_page *pages)
{
	g->pages = pages;
}

static int by_count(const void *a, const void *b)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->first.input != y->first.input)
		return x->first.input < y->first.input ? -1 : 1;
	if (x->first.line != y->first.line)
		return x->first.line < y->first.line ? -1 : 1;
	return x->signature < y->signature ? -1 : x->signature > y->signature;
}

int markup_groups_write(struct markup_groups *g, enum markup_format format, bool color,
			int (*write)(void *ctx, const char *data, size_t len), void *ctx)
{
	struct mk_out o;
	int error;

	close_all(g);
	g->color = color;
	if (g->no_memory || mk_out_init(&o, OUT_BUFFER, write, ctx))
		return -ENOMEM;
	if (g->groups.len)
		qsort(g->groups.data, g->groups.len, sizeof(*g->groups.data), by_count);
	mk_groups_put[format](&o, g);
	mk_out_flush(&o);
	error = o.error;
	mk_out_deinit(&o);
	return error;
}
