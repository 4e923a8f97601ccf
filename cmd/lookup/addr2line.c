/*
 * binutils' addr2line: its command line (getopt_long's), defaults, messages and statuses.
 *
 * Where its answers are worse than ours, ours stay: it loses clang's inlined frames, and
 * doubles a relative compilation folder.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/messages.h"
#include "cmd/lookup/answering.h"
#include "cmd/lookup/dropin.h"
#include "libsymcache/write/build.h"

static const char usage_text[] =
	"Usage: %s [option(s)] [addr(s)]\n"
	" Convert addresses into line number/file name pairs.\n"
	" If no addresses are specified on the command line, they will be read from stdin\n"
	" The options are:\n"
	"  @<file>                Read options from <file>\n"
	"  -a --addresses         Show addresses\n"
	"  -b --target=<bfdname>  Set the binary file format\n"
	"  -e --exe=<executable>  Set the input file name (default is a.out)\n"
	"  -i --inlines           Unwind inlined functions\n"
	"  -j --section=<name>    Read section-relative offsets instead of addresses\n"
	"  -p --pretty-print      Make the output easier to read for humans\n"
	"  -s --basenames         Strip directory names\n"
	"  -f --functions         Show function names\n"
	"  -C --demangle[=style]  Demangle function names\n"
	"  -R --recurse-limit     Enable a limit on recursion whilst demangling.  [Default]\n"
	"  -r --no-recurse-limit  Disable a limit on recursion whilst demangling\n"
	"  -h --help              Display this information\n"
	"  -v --version           Display the program's version\n\n"
	"%s: supported targets: elf64-little elf64-big elf32-little elf32-big elf64-x86-64 "
	"elf32-i386 elf32-x86-64 elf64-littleaarch64 elf64-bigaarch64 elf32-littlearm "
	"elf64-littleriscv elf64-powerpcle elf64-powerpc elf64-s390 binary\n";

static const struct option longs[] = {
	{ "addresses", no_argument, NULL, 'a' },
	{ "basenames", no_argument, NULL, 's' },
	{ "demangle", optional_argument, NULL, 'C' },
	{ "exe", required_argument, NULL, 'e' },
	{ "functions", no_argument, NULL, 'f' },
	{ "inlines", no_argument, NULL, 'i' },
	{ "pretty-print", no_argument, NULL, 'p' },
	{ "recurse-limit", no_argument, NULL, 'R' },
	{ "recursion-limit", no_argument, NULL, 'R' },
	{ "no-recurse-limit", no_argument, NULL, 'r' },
	{ "no-recursion-limit", no_argument, NULL, 'r' },
	{ "section", required_argument, NULL, 'j' },
	{ "target", required_argument, NULL, 'b' },
	{ "help", no_argument, NULL, 'H' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* What the command line says. */
struct settings {
	struct symcache_answer_options how;
	const char *section, *target;
};

static int usage(FILE *to, const char *tool, int status)
{
	fprintf(to, usage_text, tool, tool);
	if (!status)
		puts("Report bugs to the program's own project, symcache.");
	return status;
}

static bool is_style(const char *name)
{
	static const char *const styles[] = { "none", "auto", "gnu-v3", "java", "gnat", "dlang",
					      "rust", NULL };

	for (const char *const *s = styles; *s; s++)
		if (!strcmp(name, *s))
			return true;
	return false;
}

static bool is_target(const char *name)
{
	return !strncmp(name, "elf", 3) || !strcmp(name, "binary") || !strcmp(name, "default");
}

/* Returns the index of the first operand, or −1 with *status. */
static int read_options(struct settings *ret, int argc, char **argv, int *status)
{
	const char *tool = argv[0];
	int c;

	optind = 0;
	*status = 1;
	while ((c = getopt_long(argc, argv, "ab:Ce:rRsfHhij:pVv", longs, NULL)) != -1) {
		switch (c) {
		case 'a': ret->how.addresses = true; break;
		case 'b': ret->target = optarg; break;
		case 'C':
			ret->how.demangle = !optarg || strcmp(optarg, "none");
			if (optarg && !is_style(optarg)) {
				fprintf(stderr, "%s: unknown demangling style `%s'\n", tool,
					optarg);
				return -1;
			}
			break;
		case 'e': ret->how.name = optarg; break;
		case 'f': ret->how.functions = MARKUP_FUNCTIONS_LINKAGE; break;
		case 'i': ret->how.inlines = true; break;
		case 'j': ret->section = optarg; break;
		case 'p': ret->how.pretty = true; break;
		case 's': ret->how.basenames = true; break;
		case 'r':
		case 'R': break;
		case 'h':
		case 'H':
			*status = usage(stdout, tool, 0);
			return -1;
		case 'v':
		case 'V':
			printf("GNU addr2line (%s) 2.40\n", symcache_version);
			*status = 0;
			return -1;
		default:
			usage(stderr, tool, 1);
			return -1;
		}
	}
	return optind;
}

/* Is the file one to be asked? If not, that is said, in binutils' words. */
static bool check_file(struct settings *o)
{
	const char *tool = o->how.tool, *name = o->how.name;
	unsigned char magic[5] = "";
	struct stat st;
	bool elf;
	FILE *file;

	if (stat(name, &st)) {
		if (errno == ENOENT)
			fprintf(stderr, "%s: '%s': No such file\n", tool, name);
		else
			fprintf(stderr, "%s: Warning: could not locate '%s'.  reason: %s\n", tool,
				name, strerror(errno));
		return false;
	}
	if (S_ISDIR(st.st_mode)) {
		fprintf(stderr, "%s: Warning: '%s' is a directory\n", tool, name);
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		fprintf(stderr, "%s: Warning: '%s' is not an ordinary file\n", tool, name);
		return false;
	}
	if (o->target && !is_target(o->target)) {
		fprintf(stderr, "%s: %s: invalid bfd target\n", tool, name);
		return false;
	}
	file = fopen(name, "re");
	elf = file && fread(magic, 1, 5, file) == 5 && !memcmp(magic, "\177ELF", 4);
	if (!elf)
		fprintf(stderr, "%s: %s: %s\n", tool, name,
			file ? "file format not recognized" : strerror(errno));
	if (file)
		fclose(file);
	o->how.narrow = magic[4] == 1; /* ELFCLASS32 */
	return elf;
}

static int answer(struct settings *o, int argc, char **argv)
{
	struct symcache_answer_options *how = &o->how;
	struct cmd_caches caches;
	uint64_t section = 0;
	struct sc_error err;
	int status;

	if (!check_file(o))
		return 1;
	if (o->section && symcache_elf_section(how->name, o->section, &section, &err)) {
		fprintf(stderr, "%s: %s: cannot find section %s\n", how->tool, how->name, o->section);
		return 1;
	}
	how->adjust_vma = -section;
	cmd_caches_init(&caches, NULL, (struct symcache_caches_options){
		.store_optional = true, .store_files = may_store_answers() });
	caches.quiet = !getenv("SYMCACHE_VERBOSE");
	status = answer_input(*how, caches.caches, argc, argv);
	cmd_caches_deinit(&caches);
	return status == STATUS_ERROR;
}

int addr2line_main(int argc, char **argv)
{
	struct settings o = { .how = {
		.protocol = MARKUP_PROTOCOL_BINUTILS,
		.style = MARKUP_STYLE_GNU,
		.kind = SYMCACHE_MODULE_FILE,
		.name = "a.out",
		.tool = argv[0],
	} };
	int first, status;

	argv = opt_expand(&argc, argv, NULL);
	first = read_options(&o, argc, argv, &status);
	return first < 0 ? status : answer(&o, argc - first, argv + first);
}
