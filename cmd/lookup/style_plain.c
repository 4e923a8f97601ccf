/*
 * The styles LLVM and GNU, byte for byte llvm-symbolizer's. They differ in
 * columns, in the start address and in the empty line behind each answer.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/lookup/answer.h"

static const char *or_unknown(const char *text)
{
	return text ? text : "??";
}

static void print_address(const struct style_options *o, const struct answer *a)
{
	if (o->addresses && a->has_address)
		printf("0x%" PRIx64 "%s", a->address, o->pretty ? ": " : "\n");
}

static void print_footer(const struct style_options *o)
{
	if (o->style == STYLE_LLVM)
		putchar('\n');
}

static void print_verbose(const struct style_options *o, const struct answer *a,
			  const struct answer_frame *f)
{
	printf("  Filename: %s\n", or_unknown(answer_text(a, f->file)));
	if (f->start_line) {
		const char *file = answer_text(a, f->start_file);

		printf("  Function start filename: %s\n", file ? file : "<invalid>");
		printf("  Function start line: %" PRIu32 "\n", f->start_line);
	}
	if (f->has_start_address && o->style == STYLE_LLVM)
		printf("  Function start address: 0x%" PRIx64 "\n", f->start_address);
	printf("  Line: %" PRIu32 "\n  Column: %" PRIu32 "\n", f->line, f->column);
}

static void print_frame(const struct style_options *o, const struct answer *a,
			const struct answer_frame *f, bool inlined_into)
{
	if (o->functions)
		printf("%s%s%s", o->pretty && inlined_into ? " (inlined by) " : "",
		       or_unknown(answer_text(a, f->function)), o->pretty ? " at " : "\n");
	if (o->verbose)
		print_verbose(o, a, f);
	else if (o->style == STYLE_LLVM)
		printf("%s:%" PRIu32 ":%" PRIu32 "\n", or_unknown(answer_text(a, f->file)), f->line,
		       f->column);
	else
		printf("%s:%" PRIu32 "\n", or_unknown(answer_text(a, f->file)), f->line);
}

static void print_data(const struct answer *a)
{
	const char *file = answer_text(a, a->file);

	printf("%s\n%" PRIu64 " %" PRIu64 "\n", or_unknown(answer_text(a, a->name)), a->start,
	       a->size);
	if (file)
		printf("%s:%" PRIu32 "\n", file, a->line);
	else
		puts("??:?");
}

void style_plain_print(const struct style_options *o, const struct answer *a)
{
	static const struct answer_frame unknown;

	print_address(o, a);
	if (a->kind == QUERY_DATA)
		print_data(a);
	else if (a->kind == QUERY_FRAME)
		puts("??");
	else if (!a->num_frames)
		print_frame(o, a, &unknown, false);
	for (size_t i = 0; i < a->num_frames; i++) {
		/* A symbol's locations are answers of their own. */
		if (i && a->symbol.ptr)
			print_footer(o);
		print_frame(o, a, &a->frames[i], i && !a->symbol.ptr);
	}
	print_footer(o);
}
