/*
 * Stacks of ClickHouse's log:
 *
 *   … <Fatal> BaseDaemon: (version 24.3, build id: FB66B3CE…, git hash: …)   the program's
 *   … <Fatal> BaseDaemon: 3. f(int) @ 0x000000000134a6a0 in /usr/bin/clickhouse
 *
 * Addresses count from the first of the module; the first is exact, the others are return
 * addresses. Newer versions write addresses of the process, which are above 2^40: they stay.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

#define LINE_BYTES 16384

static const char begin_id[] = "build id: ", program[] = "clickhouse";

static const char *find_id(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), begin_id, strlen(begin_id));
}

static void read_id(struct mk_line *l, const char *p, const char *end)
{
	const char *hex = p += strlen(begin_id);

	while (p < end && ((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'F')))
		p++;
	const struct markup_str id = { hex, (size_t)(p - hex) };
	if (id.len >= 16 && id.len % 2 == 0 && mk_field_build_id(id, NULL))
		mk_add_binding(l, hex, p,
			       (struct markup_str){ program, strlen(program) }, id);
}

/* Where "N. " begins that is the last before `end`, or NULL. */
static const char *find_number(const char *p, const char *end, uint64_t *number)
{
	const char *at;

	for (; (p = memmem(p, (size_t)(end - p), ". ", 2)); p += 2) {
		for (at = p; at[-1] >= '0' && at[-1] <= '9';)
			at--;
		if (at < p && (at[-1] == ' ' || at[-1] == '"') && mk_take_decimal(&at, p, number)) {
			while (at[-1] >= '0' && at[-1] <= '9')
				at--;
			return at;
		}
	}
	return NULL;
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + (l->len < LINE_BYTES ? l->len : LINE_BYTES);
	const char *id = find_id(l->p, end), *at, *p, *path, *start, *base;
	uint64_t number, address;
	struct mk_event *e;

	(void)dialect;
	if (id) {
		read_id(l, id, end);
		return;
	}
	at = mk_find_back(l->p, end, " @ 0x");
	p = at ? at + 3 : NULL;
	if (!at || !mk_take_hex(&p, end, &address) || address >> 40 || !mk_take_text(&p, end, " in /"))
		return;
	for (path = p - 1; p < end && !strchr(" \"\\\r\n", *p);)
		p++;
	start = find_number(l->p + 1, at, &number);
	if (!start || !(e = mk_add_frame(l, "clickhouse", start, p)))
		return;
	e->name = (struct markup_str){ path, (size_t)(p - path) };
	/* clickhouse-server and others are the same program. */
	base = memrchr(path, '/', (size_t)(p - path)) + 1;
	if ((size_t)(p - base) >= strlen(program) && !memcmp(base, program, strlen(program)))
		e->name.len = (size_t)(base + strlen(program) - path);
	e->number = number;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = address;
	e->returns = e->lead_exact = true;
}

const struct mk_input mk_clickhouse_input = {
	.name = "clickhouse",
	.words = (const char *const[]){ "@ 0x", "d id", NULL },
	.find_context = find_id,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
