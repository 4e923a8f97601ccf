/*
 * trace_text.c: the definitions of a trace file as text for people: how the run
 * ended, the tracepoints with their places and actions, the variables.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/trace/trace.h"

static void put_hex_text(struct symtrace_str text)
{
	fwrite(text.ptr, 1, text.len, stdout);
}

static void put_action(struct places *places, const struct symtrace_action *a)
{
	const struct data_place *data;

	fputs("    ", stdout);
	switch (a->kind) {
	case 'R':
		fputs("registers, mask ", stdout);
		put_hex_text(a->text);
		break;
	case 'M':
		if (a->base >= 0) {
			printf("%" PRIu64 " bytes at register %" PRId64 " + 0x%" PRIx64, a->len,
			       a->base, a->offset);
			break;
		}
		printf("0x%" PRIx64 "..0x%" PRIx64 " %" PRIu64 " bytes", a->offset,
		       a->offset + a->len, a->len);
		data = places_data(places, a->offset);
		if (data->found) {
			printf(" %s", data->name);
			if (data->offset)
				printf("+%" PRIu64, data->offset);
		}
		break;
	case 'X':
		fputs("expression, bytecode ", stdout);
		put_hex_text(a->text);
		break;
	case 'L':
		fputs("static tracepoint data", stdout);
		break;
	default:
		fputs("not understood: ", stdout);
		words_escaped(stdout, a->text.ptr, a->text.len);
		break;
	}
	putchar('\n');
}

/* The pieces of one kind under a heading; for the kind `steps` also while stepping. */
static void put_pieces(struct places *places, const struct symtrace *t,
		       const struct symtrace_tracepoint *tp, enum symtrace_piece_kind kind,
		       const char *heading)
{
	bool any = false;

	for (size_t i = 0; i < tp->num_pieces; i++) {
		const struct symtrace_piece *piece = &t->pieces[tp->first_piece + i];
		struct symtrace_str rest = piece->text;
		struct symtrace_action action;

		if (piece->kind != kind)
			continue;
		if (!any)
			printf("  %s:\n", heading);
		any = true;
		if (kind == SYMTRACE_PIECE_ACTION || kind == SYMTRACE_PIECE_STEP_ACTION) {
			while (symtrace_next_action(&rest, &action))
				put_action(places, &action);
		} else {
			fputs("    ", stdout);
			words_escaped(stdout, rest.ptr, rest.len);
			putchar('\n');
		}
	}
}

static void put_tracepoint(struct places *places, const struct symtrace *t,
			   const struct symtrace_tracepoint *tp)
{
	static const char *const kinds[] = { "", ", fast", ", static" };

	printf("Tracepoint %" PRIu64 " at 0x%" PRIx64 "%s, %s", tp->number, tp->address,
	       kinds[tp->kind], !tp->defined ? "its definition is missing" :
	       tp->state == 'E' ? "enabled" : tp->state == 'D' ? "disabled" :
	       "enabled or disabled");
	if (tp->step)
		printf(", steps %" PRIu64 " times", tp->step);
	if (tp->pass)
		printf(", pass count %" PRIu64, tp->pass);
	if (tp->has_hits)
		printf(", hit %" PRIu64 " time%s, %" PRIu64 " bytes of the buffer", tp->hits,
		       tp->hits == 1 ? "" : "s", tp->usage);
	putchar('\n');
	fputs(trace_text_place(places_code(places, tp->address)), stdout);
	put_pieces(places, t, tp, SYMTRACE_PIECE_AT, "set at");
	put_pieces(places, t, tp, SYMTRACE_PIECE_COND, "condition");
	if (tp->condition.ptr) {
		fputs("  condition's bytecode:\n    ", stdout);
		put_hex_text(tp->condition);
		putchar('\n');
	}
	put_pieces(places, t, tp, SYMTRACE_PIECE_CMD, "commands");
	put_pieces(places, t, tp, SYMTRACE_PIECE_ACTION, "collects");
	put_pieces(places, t, tp, SYMTRACE_PIECE_STEP_ACTION, "collects while stepping");
}

static void header(const struct trace_file *f)
{
	words_escaped(stdout, f->path, strlen(f->path));
	putchar('\n');
}

static void definitions(struct trace_file *f, struct places *places)
{
	const struct symtrace *t = &f->trace;

	words_status(stdout, &t->status);
	for (size_t i = 0; i < t->num_tracepoints; i++)
		put_tracepoint(places, t, &t->tracepoints[i]);
	for (size_t i = 0; i < t->num_variables; i++) {
		fputs("Variable $", stdout);
		words_escaped(stdout, t->variables[i].name.ptr, t->variables[i].name.len);
		printf(" (%" PRId64 "), initially %" PRId64 "%s\n", t->variables[i].number,
		       t->variables[i].initial, t->variables[i].builtin ? ", built in" : "");
	}
}

static void nothing(void)
{
}

const struct trace_output trace_text = {
	nothing, header, definitions, trace_text_frame, summary_print_text, nothing
};
