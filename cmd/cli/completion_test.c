/* Unit tests of completions: of each kind of option, all that each shell gets, as a whole. Whether shells
 * understand it is tested by testdata/golden/completion, where they are installed. */
#include "cmd/cli/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const speeds[] = { "slow", "fast", NULL };

static const struct opt run_opts[] = {
	OPT_SECTION("What is run:"),
	{ "input", 'i', OPT_STRING, NULL, "FILE", "read this; not that" },
	{ "folder", 0, OPT_LIST, NULL, "DIR", "look here, in 'all' of [them]: there (or not)" },
	{ NULL, 'x', OPT_NUMBER, NULL, "N", "leave out N" },
	{ "speed", 's', OPT_ENUM, NULL, "SPEED", "how fast", speeds },
	{ "pace", 'p', OPT_ENUM, NULL, "PACE", "how fast, or slow", speeds, "slow" },
	{ "lines", 0, OPT_NUMBER, NULL, "N", "this many lines", .implied = "3" },
	{ NULL, 'l', OPT_NUMBER, NULL, "N", "levels", .implied = "1" },
	{ "to", 0, OPT_STRING, NULL, "LOG", "write there" },
	{ "names", 'n', OPT_BOOL, NULL, NULL, "with names" },
	{ "quiet", 'q', OPT_FLAG, NULL, NULL, "no summary" },
	{ "other", 'o', OPT_STRING, NULL, "FILE", NULL }, /* another spelling */
	{ 0 },
};

static const struct opt stop_opts[] = { { 0 } };

static const struct command *const commands[] = {
	&(const struct command){ .name = "run", .operands = "[FILE...]", .summary = "run it: now; or later",
				 .opts = run_opts },
	&(const struct command){ .name = "stop", .operands = "", .summary = "stop it", .opts = stop_opts },
	NULL,
};

static const struct { const char *shell, *wants; } cases[] = {
	{ "bash",
	  "# bash completion of symcache: symcache --completion bash\n"
	  "_symcache_words()\n"
	  "{\n"
	  "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	  "\tif [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *= ]]; then\n"
	  "\t\tcompopt -o nospace 2> /dev/null\n"
	  "\tfi\n"
	  "}\n"
	  "_symcache_files()\n"
	  "{\n"
	  "\tcompopt -o filenames 2> /dev/null\n"
	  "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	  "}\n"
	  "_symcache()\n"
	  "{\n"
	  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=\n"
	  "\tlocal commands='run stop help'\n"
	  "\tCOMPREPLY=()\n"
	  "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	  "\t\t_symcache_words \"$commands --help --version\"\n"
	  "\t\treturn\n"
	  "\tfi\n"
	  "\t# --option=value is three words\n"
	  "\t[ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}=\n"
	  "\t[ \"$cur\" != = ] || before=$before= cur=\n"
	  "\tcase ${COMP_WORDS[1]}:$before in\n"
	  "\thelp:help) _symcache_words \"$commands\"; return ;;\n"
	  "\trun:--input=|run:--input|run:-i) _symcache_files -f; return ;;\n"
	  "\trun:--folder=|run:--folder) _symcache_files -d; return ;;\n"
	  "\trun:-x) :; return ;;\n"
	  "\trun:--speed=|run:--speed|run:-s) _symcache_words 'slow fast'; return ;;\n"
	  "\trun:--pace=) _symcache_words 'slow fast'; return ;;\n"
	  "\trun:--lines=) :; return ;;\n"
	  "\trun:--to=|run:--to) _symcache_files -f; return ;;\n"
	  "\trun:--other=|run:--other|run:-o) _symcache_files -f; return ;;\n"
	  "\tesac\n"
	  "\tif [[ $cur != -* ]]; then\n"
	  "\t\t_symcache_files -f\n"
	  "\t\treturn\n"
	  "\tfi\n"
	  "\tcase ${COMP_WORDS[1]} in\n"
	  "\trun) options='--input= -i --folder= -x --speed= -s --pace -p --lines -l --to= --names --no-names -n --quiet -q --help' ;;\n"
	  "\tstop) options='--help' ;;\n"
	  "\tesac\n"
	  "\t_symcache_words \"$options\"\n"
	  "}\n"
	  "complete -F _symcache symcache\n" },
	{ "zsh",
	  "#compdef symcache\n"
	  "# symcache --completion zsh\n"
	  "_symcache()\n"
	  "{\n"
	  "\tlocal -a commands=(\n"
	  "\t\t'run:run it\\: now'\n"
	  "\t\t'stop:stop it'\n"
	  "\t\t'help:list the commands, or the options of one'\n"
	  "\t)\n"
	  "\tif (( CURRENT == 2 )) || [[ $words[2] = help && CURRENT -eq 3 ]]; then\n"
	  "\t\t_describe command commands\n"
	  "\t\treturn\n"
	  "\tfi\n"
	  "\tshift words\n"
	  "\t(( CURRENT-- ))\n"
	  "\tcase $words[1] in\n"
	  "\trun)\n"
	  "\t\t_arguments -s \\\n"
	  "\t\t\t'--input=[read this]:FILE:_files' \\\n"
	  "\t\t\t'-i+[read this]:FILE:_files' \\\n"
	  "\t\t\t'*--folder=[look here, in '\\''all'\\'' of \\[them\\]\\: there]:DIR:_files -/' \\\n"
	  "\t\t\t'-x+[leave out N]:N:' \\\n"
	  "\t\t\t'--speed=[how fast]:speed:(slow fast)' \\\n"
	  "\t\t\t'-s+[how fast]:speed:(slow fast)' \\\n"
	  "\t\t\t'--pace=-[how fast, or slow]::pace:(slow fast)' \\\n"
	  "\t\t\t'-p-[how fast, or slow]::pace:(slow fast)' \\\n"
	  "\t\t\t'--lines=-[this many lines]::N:' \\\n"
	  "\t\t\t'-l-[levels]::N:' \\\n"
	  "\t\t\t'--to=[write there]:LOG:_files' \\\n"
	  "\t\t\t'--names[with names]' \\\n"
	  "\t\t\t'--no-names[with names]' \\\n"
	  "\t\t\t'-n[with names]' \\\n"
	  "\t\t\t'--quiet[no summary]' \\\n"
	  "\t\t\t'-q[no summary]' \\\n"
	  "\t\t\t'--help[options and examples]' \\\n"
	  "\t\t\t'*:argument:_files'\n"
	  "\t\t;;\n"
	  "\tstop)\n"
	  "\t\t_arguments -s \\\n"
	  "\t\t\t'--help[options and examples]' \\\n"
	  "\t\t\t'*:argument:'\n"
	  "\t\t;;\n"
	  "\tesac\n"
	  "}\n"
	  "if [[ $funcstack[1] = _symcache ]]; then _symcache \"$@\"; else compdef _symcache symcache; fi\n" },
	{ "fish",
	  "# fish completion of symcache: symcache --completion fish\n"
	  "complete -c symcache -f\n"
	  "complete -c symcache -n __fish_use_subcommand -l version -d 'the version'\n"
	  "complete -c symcache -l help -s h -d 'help'\n"
	  "complete -c symcache -n __fish_use_subcommand -a help -d 'list the commands, or the options of one'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from help' -a 'run stop'\n"
	  "complete -c symcache -n __fish_use_subcommand -a run -d 'run it: now'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -F\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l input -s i -r -F -d 'read this'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l folder -x -a '(__fish_complete_directories)' -d 'look here, in '\\''all'\\'' of [them]: there'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -s x -x -d 'leave out N'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l speed -s s -x -a 'slow fast' -d 'how fast'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l pace -s p -a 'slow fast' -d 'how fast, or slow'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l lines -d 'this many lines'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -s l -d 'levels'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l to -r -F -d 'write there'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l names -s n -d 'with names'\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l no-names\n"
	  "complete -c symcache -n '__fish_seen_subcommand_from run' -l quiet -s q -d 'no summary'\n"
	  "complete -c symcache -n __fish_use_subcommand -a stop -d 'stop it'\n" },
};

static void test_shells(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text;
		size_t len;
		FILE *to = open_memstream(&text, &len);

		assert_true(completion(cases[i].shell, commands, to));
		assert_int_equal(fclose(to), 0);
		assert_string_equal(text, cases[i].wants);
		free(text);
	}
	assert_false(completion("tcsh", commands, stdout));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shells) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
