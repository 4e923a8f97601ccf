/*
 * Stacks of ClickHouse's log:
 *
 *   … <Fatal> BaseDaemon: (version 24.3, build id: FB66B3CE…, git hash: …)   the program's
 *   … <Fatal> BaseDaemon: 3. f(int) @ 0x000000000134a6a0 in /usr/bin/clickhouse
 *
 * Addresses count from the first of the module; the first is exact, the others are return
 * addresses. Newer versions write addresses of the process, which are above 2^40: they stay.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static const char begin_id[] = "build id: ", program[] = "clickhouse";

static void read_id(struct mk_line *l, const char *p, const char *end)
{
	const char *hex = p += strlen(begin_id);

	while (p < end && ((*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'F')))
		p++;
	if (p - hex >= 16 && mk_is_build_id(sc_span(hex, p)))
		mk_add_binding(l, hex, p, sc_span(program, program + strlen(program)),
			       sc_span(hex, p));
}

/* Where "N. " begins that is the first before `end`, or NULL. */
static const char *find_number(const char *line, const char *end, uint64_t *number)
{
	const char *start, *at;

	for (const char *p = line; (p = mk_find(p, end, ". ")); p += 2) {
		at = start = mk_back_digits(line, p);
		if (start > line && (start[-1] == ' ' || start[-1] == '"') &&
		    mk_match(&at, p, "%d", number))
			return start;
	}
	return NULL;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *id = mk_find(l->p, end, begin_id), *at, *p, *path, *start, *base;
	uint64_t number, address;
	struct mk_event *e;

	if (id) {
		read_id(l, id, end);
		return;
	}
	p = at = mk_find_back(l->p, end, " @ 0x");
	if (!at || at == l->p || !mk_match(&p, end, " @ 0x%x in /", &address) || address >> 40)
		return;
	for (path = p - 1; p < end && !strchr(" \"\\\r\n", *p);)
		p++;
	start = find_number(l->p, at, &number);
	if (!start)
		return;
	e = mk_add_frame(l, "clickhouse", start, p);
	e->name = sc_span(path, p);
	/* clickhouse-server and others are the same program. */
	base = memrchr(path, '/', (size_t)(p - path)) + 1;
	if ((size_t)(p - base) >= strlen(program) && !memcmp(base, program, strlen(program)))
		e->name.len = (size_t)(base + strlen(program) - path);
	e->number = number;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = address;
	e->returns = MK_RETURN_BUT_LEAD;
}

const struct mk_input mk_clickhouse_input = {
	.name = "clickhouse",
	.words = (const char *const[]){ "@ 0x", "d id", NULL },
	.context_words = (const char *const[]){ begin_id, NULL },
	.longest = 16384,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};
