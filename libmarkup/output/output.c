/* What the forms of output have in common: see output.h. */
#include "libmarkup/output/output.h"

const char *mk_newline_of(const char *p, size_t len)
{
	len -= len && p[len - 1] == '\n'; /* the last line may lack it */
	return len && p[len - 1] == '\r' ? "\r\n" : "\n";
}

void mk_put_newline(struct mk_output *r)
{
	mk_out_put(&r->out, r->newline, strlen(r->newline));
}

struct sc_str mk_complain_of(struct mk_output *r, const struct mk_event *e)
{
	char element[160], text[256];
	struct sc_str shown = mk_shortened(e->text, element, sizeof(element)), said;

	r->scratch.len = 0;
	mk_put_problem(&r->scratch, &e->problems[e->num_problems - 1]);
	const struct sc_str message = { r->scratch.buf, r->scratch.len };
	said = mk_shortened(message, text, sizeof(text));
	mk_complain(r->where, "%.*s: %.*s", (int)said.len, said.ptr, (int)shown.len, shown.ptr);
	return message;
}
