/*
 * form.h: the options of `symcache filter` that decide what bytes come out, of logs and
 * symbols that are the same. `symcache plan` has them, too.
 */
#ifndef CMD_FORM_H
#define CMD_FORM_H

#include "cmd/cli/color.h"
#include "cmd/cli/opt.h"
#include "cmd/cli/shown.h"
#include "libmarkup/markup.h"


struct form {
	int dialect, format, color;
	const char *demux, *input;
	bool omit_module_lines, raw;
	struct opt_list modules;
};

extern const char *const form_dialects[];

#define OPTS_FORM(form) \
	{ "module", 0, OPT_LIST, &(form)->modules, "NAME=BUILDID|FILE|TAG", \
	  "resolve a module of which the log has only the name: to a build ID, a file, or the only " \
	  "entry of that name with this tag; by default, to the only entry of that name in the " \
	  "store; may be repeated" }, \
	OPT_SECTION("Input and output"), \
	{ "input", 0, OPT_STRING, &(form)->input, "LIST", \
	  "look only for these formats, separated by commas: markup,sanitizer (default: all; 'help' " \
	  "lists them)", \
	  .choices = markup_input_names }, \
	{ "dialect", 0, OPT_ENUM, &(form)->dialect, "NAME", \
	  "default; llvm, exactly the output of llvm-symbolizer --filter-markup; or fuchsia, that " \
	  "of Fuchsia's symbolizer", .choices = form_dialects }, \
	{ "format", 0, OPT_ENUM, &(form)->format, "NAME", \
	  "text (default), json (an object for each line of the log) or html (one page to read and " \
	  "search); in the default dialect", \
	  .choices = markup_format_names }, \
	{ "color", 0, OPT_ENUM, &(form)->color, "WHEN", \
	  "highlight what was replaced: always, never (removes the colours of the log, too) or " \
	  "auto (default): on a terminal, unless NO_COLOR is set", .choices = color_names, \
	  .implied = "always" }, \
	{ "demux", 0, OPT_STRING, &(form)->demux, "REGEX", \
	  "keep modules and maps of several processes apart, by Fuchsia's or syslog's prefixes, " \
	  "or by the first group of this extended regular expression in the text before the " \
	  "markup", .implied = "" }, \
	OPT_RAW(&(form)->raw), \
	{ "omit-module-lines", 0, OPT_FLAG, &(form)->omit_module_lines, NULL, \
	  "fuchsia: do not print lines for modules" }

/* Do they make sense? Else a message says why not. */
bool form_valid(const struct form *f);

/* The colour for a file. */
enum markup_color form_color(const struct form *f);

/* The options of a filter that writes files. */
struct markup_options form_markup(const struct form *f);

#endif
