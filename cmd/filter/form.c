/* What a filter writes: see form.h. */
#include "cmd/filter/form.h"

#include <string.h>

#include "cmd/cli/messages.h"

const char *const form_dialects[] = { "default", "llvm", "fuchsia", NULL };

static void complain_of_input(const char *input)
{
	char names[1024] = "";

	for (const char *const *name = markup_input_names; *name; name++) {
		strcat(names, name == markup_input_names ? "" : ", ");
		strcat(names, *name);
	}
	cmd_error("--input: '%.100s' is not a known format; the formats are %s", input,
		  names);
}

bool form_valid(const struct form *f)
{
	if (f->input && !markup_inputs_valid(f->input)) {
		complain_of_input(f->input);
		return false;
	}
	if (f->input && f->dialect != MARKUP_DEFAULT) {
		cmd_error("--input and --dialect are mutually exclusive");
		return false;
	}
	if (f->format && f->dialect != MARKUP_DEFAULT) {
		cmd_error("--format and --dialect are mutually exclusive");
		return false;
	}
	if (f->demux && *f->demux && !markup_demux_valid(f->demux)) {
		cmd_error("--demux: '%.100s' is not a valid regular expression, or is too slow",
			  f->demux);
		return false;
	}
	return true;
}

enum markup_color form_color(const struct form *f)
{
	return f->color == COLOR_ALWAYS ? MARKUP_COLOR_ON :
	       f->color == COLOR_NEVER ? MARKUP_COLOR_STRIP : MARKUP_COLOR_NONE;
}

struct markup_options form_markup(const struct form *f)
{
	return (struct markup_options){
		.dialect = (enum markup_dialect)f->dialect,
		.format = (enum markup_format)f->format,
		.color = form_color(f),
		.demux = f->demux,
		.inputs = f->input,
		.omit_module_lines = f->omit_module_lines,
	};
}
