/*
 * The style JSON: llvm-symbolizer's keys in its order, which is alphabetical.
 *
 * Answers to a list of arguments are one array; answers to standard input are
 * one object a line. The text goes out answer by answer.
 */
#include <stdlib.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/memory.h"
#include "cmd/lookup/answer.h"
#include "cmd/lookup/explain.h"

struct json {
	struct json_gen *gen;
	bool list;
};

static void json_frame(struct json *j, const struct answer *a, const struct answer_frame *f)
{
	json_gen_open_map(j->gen, NULL);
	json_gen_number(j->gen, "Column", f->column);
	json_gen_number(j->gen, "Discriminator", 0);
	json_gen_text(j->gen, "FileName", answer_text(a, f->file));
	json_gen_text(j->gen, "FunctionName", answer_text(a, f->function));
	json_gen_number(j->gen, "Line", f->line);
	if (f->has_start_address)
		json_gen_hex(j->gen, "StartAddress", f->start_address);
	else
		json_gen_text(j->gen, "StartAddress", NULL);
	json_gen_text(j->gen, "StartFileName", answer_text(a, f->start_file));
	json_gen_number(j->gen, "StartLine", f->start_line);
	json_gen_close_map(j->gen);
}

static void json_frames(struct json *j, const char *key, const struct answer *a)
{
	static const struct answer_frame unknown;

	if (!a->num_frames && (a->symbol.ptr || a->kind == QUERY_FRAME)) {
		json_gen_empty_array(j->gen, key);
		return;
	}
	json_gen_open_array(j->gen, key);
	if (!a->num_frames)
		json_frame(j, a, &unknown);
	for (size_t i = 0; i < a->num_frames; i++)
		json_frame(j, a, &a->frames[i]);
	json_gen_close_array(j->gen);
}

struct json *style_json_begin(bool pretty, bool list)
{
	struct json *j = must_calloc(1, sizeof(*j));

	j->list = list;
	j->gen = json_gen_create(pretty);
	if (list)
		json_gen_open_array(j->gen, NULL);
	return j;
}

void style_json_print(struct json *j, const struct answer *a)
{
	json_gen_open_map(j->gen, NULL);
	if (a->has_address)
		json_gen_hex(j->gen, "Address", a->address);
	if (a->error) {
		json_gen_open_map(j->gen, "Error");
		json_gen_text(j->gen, "Message", a->error);
		json_gen_close_map(j->gen);
	} else if (a->kind == QUERY_DATA) {
		json_gen_open_map(j->gen, "Data");
		json_gen_text(j->gen, "Name", answer_text(a, a->name));
		json_gen_hex(j->gen, "Size", a->size);
		json_gen_hex(j->gen, "Start", a->start);
		json_gen_close_map(j->gen);
	} else if (a->kind == QUERY_FRAME || a->symbol.ptr) {
		json_frames(j, a->kind == QUERY_FRAME ? "Frame" : "Loc", a);
	}
	json_gen_text(j->gen, "ModuleName", a->module);
	if (a->symbol.ptr) {
		json_gen_string(j->gen, "SymName", a->symbol.ptr, a->symbol.len);
	}
	if (!a->error && a->kind == QUERY_CODE && !a->symbol.ptr)
		json_frames(j, "Symbol", a);
	json_gen_close_map(j->gen);
	if (!j->list)
		json_gen_end(j->gen);
}

void style_json_explain(struct json *j, const struct explained *e)
{
	explain_json(e, j->gen);
	if (!j->list)
		json_gen_end(j->gen);
}

void style_json_end(struct json *j)
{
	if (!j)
		return;
	if (j->list) {
		json_gen_close_array(j->gen);
		json_gen_end(j->gen);
	}
	json_gen_destroy(j->gen);
	free(j);
}
