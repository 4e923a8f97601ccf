/*
 * symcache build: one ELF file → one SymCache file, without a store.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/index/transforms.h"
#include "libsymcache/base/error.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/only_names.h"

static struct {
	const char *output;
	uint64_t format_version, threads;
	struct opt_list debug_dirs;
	struct transform_options transforms;
	bool locals, names_only;
	int reader;
} o;

static const char *const readers[] = { "fast", "libdw", NULL };

static const struct opt opts[] = {
	{ "output", 'o', OPT_STRING, &o.output, "FILE",
	  "the SymCache file to write; - for standard output" },
	{ "format-version", 0, OPT_NUMBER, &o.format_version, "N",
	  "version of the SymCache format: 7, 8 or 9 (default)" },
	OPT_DEBUG_DIRS(&o.debug_dirs),
	OPT_TRANSFORMS(&o.transforms),
	{ "locals", 0, OPT_FLAG, &o.locals, NULL,
	  "write local variables, too, for lookup's FRAME on machines without the debug file; "
	  "makes it larger" },
	{ "names-only", 0, OPT_FLAG, &o.names_only, NULL,
	  "write the functions and their addresses alone, without files, lines and inlined calls" },
	{ "threads", 'j', OPT_COUNT, &o.threads, "N", "use N threads (default: all cores)" },
	{ "reader", 0, OPT_ENUM, &o.reader, "READER",
	  "what reads the DWARF: fast (default), or libdw, slow, with the same result",
	  .choices = readers },
	{ 0 },
};

static void destroy_build(struct symcache_build **b)
{
	symcache_build_destroy(*b);
}

/* Of the cache in `bytes`, which is given up. */
static uint8_t *leave_names(uint8_t *bytes, size_t *size)
{
	struct symcache cache;
	void *names;

	must(!symcache_open(&cache, bytes, *size, NULL) &&
	     !symcache_only_names(&cache, &names, size, NULL) ? names : NULL);
	free(bytes);
	return names;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct symcache_build_options options = {
		.format_version = o.format_version < UINT32_MAX ? (uint32_t)o.format_version :
								  UINT32_MAX,
		.debug_dirs = o.debug_dirs.items,
		.reader = o.reader ? SYMCACHE_READER_LIBDW : SYMCACHE_READER_FAST,
		.threads = (unsigned)o.threads, .locals = o.locals,
	};
	struct symcache_transforms transforms
		__attribute__((cleanup(symcache_transforms_deinit))) = { 0 };
	struct symcache_build *build __attribute__((cleanup(destroy_build))) = NULL;
	uint8_t *bytes;
	size_t size;
	int rc;

	if (argc != 1 || !o.output)
		return sc_error_set(err, SC_EINVAL, "%s: 'symcache build --help' shows how",
				    argc != 1 ? "give one ELF file" : "no output given: use -o FILE");
	if (read_transforms(&o.transforms, &transforms, err))
		return err->code;
	options.transforms = transforms.list;
	options.num_transforms = transforms.n;
	rc = symcache_build_create(argv[0], &options, &build, err);
	if (rc)
		return rc == SC_ENOSYMBOLS ? cmd_absent(err) : rc;
	warn_of_gaps(argv[0], symcache_build_info(build));
	size = symcache_build_size(build);
	bytes = must_realloc(NULL, size);
	symcache_build_write(build, bytes);
	if (o.names_only)
		bytes = leave_names(bytes, &size);
	rc = out_write(o.output, bytes, size, err);
	free(bytes);
	return rc ? rc : symcache_build_info(build)->bad_units ? STATUS_PARTLY : STATUS_OK;
}

const struct command build_command = {
	.name = "build",
	.operands = "ELF",
	.summary = "make one SymCache file of an ELF file",
	.description =
		"Reads an ELF file, and its separate debug file if it has one, and writes one "
		"SymCache file, without a store.",
	.opts = opts,
	.examples =
		"  symcache build /usr/bin/python3 -o python.symcache\n"
		"  symcache lookup --cache python.symcache 0x1f3a2\n",
	.partly = "the file has no symbols, or some of its debug information is broken and was left out",
	.see_also = "symcache-show(1) symcache-lookup(1)",
	.run = run,
};
