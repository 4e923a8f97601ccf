/*
 * symcache trace: GDB trace files, symbolized out of the store.
 *
 * One walk over the frames of each file, through the map; what a frame needs is
 * looked up once for each address, so that time is bounded by reading and printing
 * and memory does not grow with the file.
 *
 * Exit status: 1 where a file breaks off or a frame is damaged (all that can be
 * read is shown) and where no frame is selected; 2 where there is nothing to show.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/trace/trace.h"
#include "symcache/error.h"

enum { FORMAT_TEXT, FORMAT_JSON };

static struct {
	struct opt_list images;
	const char *store;
	int order, format;
	bool registers, hexdump, backtrace, summary, demangle;
	struct opt_list by[SYMTRACE_BYS];
} o = { .demangle = true };

static const char *const orders[] = { "auto", "little", "big", NULL };
static const char *const formats[] = { "text", "json", NULL };

static const struct opt opts[] = {
	{ "module", 'm', OPT_LIST, &o.images, "FILE|BUILDID[@BIAS]",
	  "an ELF file or build ID that was loaded, and at which bias (hex); repeatable",
	  NULL, NULL },
	OPTS_STORE_READ(&o.store),
	{ "byte-order", 0, OPT_ENUM, &o.order, "auto|little|big",
	  "of the target (auto: from the modules, the target description or the frames)",
	  orders, NULL },
	{ "format", 0, OPT_ENUM, &o.format, "text|json",
	  "json: a line with one object for each definition and frame", formats, NULL },
	{ "registers", 'r', OPT_FLAG, &o.registers, NULL, "show all registers", NULL, NULL },
	{ "backtrace", 'b', OPT_FLAG, &o.backtrace, NULL,
	  "the stack of each frame, as far as registers and stack memory were collected", NULL, NULL },
	{ "hexdump", 'x', OPT_FLAG, &o.hexdump, NULL, "show the bytes of memory", NULL, NULL },
	{ "tracepoint", 't', OPT_LIST, &o.by[SYMTRACE_BY_TRACEPOINT], "N",
	  "only frames of this tracepoint", NULL, NULL },
	{ "frame", 'f', OPT_LIST, &o.by[SYMTRACE_BY_FRAME], "N", "only this frame", NULL, NULL },
	{ "pc", 0, OPT_LIST, &o.by[SYMTRACE_BY_PC], "ADDR", "only frames at this address", NULL, NULL },
	{ "range", 0, OPT_LIST, &o.by[SYMTRACE_BY_RANGE], "A,B",
	  "only frames at addresses from A to B", NULL, NULL },
	{ "line", 'l', OPT_LIST, &o.by[SYMTRACE_BY_LINE], "FILE:LINE",
	  "only frames in this source line", NULL, NULL },
	{ "summary", 's', OPT_FLAG, &o.summary, NULL,
	  "count the frames by tracepoint and by source line", NULL, NULL },
	{ "demangle", 0, OPT_BOOL, &o.demangle, NULL, "show names demangled (the default)",
	  NULL, NULL },
	{ 0 },
};

/* Finds damaged blocks where nothing else reads them. */
static void check_blocks(struct trace_file *f, const struct symtrace_frame *frame)
{
	struct symtrace_blocks blocks = symtrace_blocks(&f->trace, frame);
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	while ((more = symtrace_next_block(&blocks, &block, &err)) > 0)
		;
	if (more < 0)
		trace_fault(f, &err);
}

/* Is the innermost function at one of the lines of --line there? */
static bool at_line(const struct symtrace_select *select, const struct places *places, uint64_t pc)
{
	struct symcache_code_place *place = places_code(places, pc).at;
	enum { NOT_TRIED, NO, YES };

	if (place->wanted == NOT_TRIED)
		place->wanted = place->num_frames &&
			symtrace_select_line(select, place->frames[0].file, place->frames[0].line) ?
			YES : NO;
	return place->wanted == YES;
}

/* The summary's line of a place: of its innermost function. */
static struct symtrace_line *find_line(struct symtrace_summary *s, struct place place)
{
	const struct symcache_place_frame *inner = place.at->num_frames ? place.at->frames : NULL;
	struct symtrace_line *line;
	char *function;

	if (inner)
		function = must_asprintf("%s", place_name(inner).ptr);
	else
		function = must_asprintf("??%s%s", place.image ? " in " : "",
					 place.image ? place.image->name : "");
	line = must(symtrace_summary_line(s, function, inner ? inner->file : "",
					  inner ? inner->line : 0));
	free(function);
	return line;
}

static void count(struct symtrace_summary *s, const struct places *places,
		  const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct place place = { 0 };

	if (symtrace_pc_known(pc))
		place = places_code(places, pc.address);
	if (place.at && !place.at->user)
		place.at->user = find_line(s, place);
	symtrace_summary_add(s, frame, pc, place.at ? place.at->user : NULL);
}

static void note_pc(struct trace_file *f, const struct symcache_images *images,
		    struct symtrace_pc pc)
{
	if (!symtrace_pc_known(pc))
		return;
	if (!f->known_pcs++)
		f->first_pc = pc.address;
	f->in_image += symcache_images_find(images, pc.address) != NULL;
}

/* No frame is in a module: those that can be loaded anywhere need their bias. GDB loads
 * programs at 0x555555554000. */
static void hint_at_bias(const struct trace_file *f, const struct symcache_images *images)
{
	enum { ELF_SHARED = 3 };
	const uint64_t usual = 0x555555554000, far = f->first_pc - usual;
	const struct symcache_image *image;

	if (!f->known_pcs || f->in_image)
		return;
	for (size_t i = 0; (image = symcache_images_get(images, i)); i++) {
		const struct symcache_ext_image *facts = image->cache->image;

		if (image->bias || !facts || facts->elf_type != ELF_SHARED)
			continue;
		cmd_error("%s: no frame lies in %s (the first one is at 0x%" PRIx64 "): it can be "
			  "loaded anywhere; say how far from its own addresses with --module %s@%s",
			  f->path, image->name, f->first_pc, o.images.items[i],
			  far < facts->image_size ? "555555554000" : "BIAS");
		return;
	}
}

/* The frames of one file. Returns how many were wanted. */
static uint64_t walk(struct trace_file *f, const struct places *places,
		     const struct symtrace_select *select, const struct trace_output *output,
		     const struct trace_options *options, struct symtrace_summary *summary)
{
	struct symtrace_frames frames = symtrace_frames(&f->trace);
	struct symtrace_frame frame;
	struct symtrace_error err;
	uint64_t wanted = 0;
	int more;

	while ((more = symtrace_next_frame(&frames, &frame, &err)) > 0) {
		struct symtrace_pc pc = symtrace_frame_pc(&f->trace, &frame);

		note_pc(f, places->images, pc);
		symtrace_release(&f->trace, frame.offset);
		if (select->len[SYMTRACE_BY_FRAME] && frame.number > select->last_frame)
			return wanted;
		if (!symtrace_select_frame(select, &frame, pc) ||
		    (select->len[SYMTRACE_BY_LINE] && !at_line(select, places, pc.address)))
			continue;
		wanted++;
		if (summary) {
			count(summary, places, &frame, pc);
			check_blocks(f, &frame);
		} else {
			output->frame(f, places, options, &frame, pc);
		}
	}
	if (more < 0)
		trace_fault(f, &err);
	return wanted;
}

/* `named`: the file's name is needed to distinguish its output from others'. */
static int trace_one(const char *path, bool named, const struct symcache_images *images,
		     struct symcache_caches *caches, struct symcache_names *names,
		     const struct symtrace_select *select, const struct trace_output *output)
{
	bool any = symtrace_select_any(select), whole = !any && !o.summary;
	struct symtrace_stack stack = { 0 };
	const struct trace_options options = { o.registers, o.hexdump, o.backtrace ? &stack : NULL };
	struct symtrace_summary *summary;
	struct places places = { images, NULL };
	struct trace_file f;
	int status = STATUS_OK;

	if (!trace_open(&f, path, images, (enum symtrace_order)o.order)) {
		trace_close(&f);
		return STATUS_ERROR;
	}
	summary = o.summary ? must(symtrace_summary_create()) : NULL;
	places.of = must(symcache_places_create(caches, names, false));
	if (whole || named)
		output->header(&f);
	if (whole)
		output->definitions(&f, &places);
	if (walk(&f, &places, select, output, &options, summary) == 0 && any) {
		cmd_error("%s: No trace frame found", path);
		status = STATUS_PARTLY;
	}
	if (summary) {
		symtrace_summary_sort(summary);
		output->summary(summary, &f);
		symtrace_summary_destroy(summary);
	}
	hint_at_bias(&f, images);
	symcache_places_destroy(places.of);
	symtrace_stack_deinit(&stack);
	if (f.faults)
		status = STATUS_PARTLY;
	trace_close(&f);
	return status;
}

/* Modules and selection from the options; reports what is wrong with them. */
static bool set_up(struct symcache_images *images, struct symtrace_select *select)
{
	static const char *const names[] = { "tracepoint", "frame", "pc", "range", "line" };
	struct sc_error err;

	for (size_t i = 0; i < o.images.len; i++)
		if (symcache_images_add(images, o.images.items[i], &err)) {
			cmd_error("--module %s: %s", o.images.items[i], err.msg);
			return false;
		}
	if (o.backtrace && !o.images.len) {
		cmd_error("--backtrace: name the program with --module, which has the unwind information");
		return false;
	}
	for (enum symtrace_by by = 0; by < SYMTRACE_BYS; by++)
		for (size_t i = 0; i < o.by[by].len; i++)
			if (symtrace_select_add(select, by, o.by[by].items[i], &err)) {
				cmd_error("--%s %s", names[by], err.msg);
				return false;
			}
	return true;
}

static int run_trace(int argc, char **argv, struct sc_error *err)
{
	const struct symcache_names_options how = { .mangled = !o.demangle };
	struct symcache_names *names = must(symcache_names_create(&how));
	struct symcache_images *images;
	struct cmd_caches caches;
	const struct trace_output *output = o.format == FORMAT_JSON ? &trace_json : &trace_text;
	struct symtrace_select select = { 0 };
	int status = STATUS_ERROR;

	cmd_caches_init(&caches, o.store, (struct symcache_caches_options){ 0 });
	images = must(symcache_images_create(caches.caches));
	if (argc == 0)
		sc_error_set(err, SC_EINVAL, "which trace file?");
	else if (!named_store_missing(o.store) && set_up(images, &select))
		status = STATUS_OK;
	output->start();
	for (int i = 0, ready = status == STATUS_OK; ready && i < argc; i++) {
		int one = trace_one(argv[i], argc > 1, images, caches.caches, names, &select,
				    output);

		status = one > status ? one : status;
	}
	output->finish();
	symtrace_select_deinit(&select);
	symcache_images_destroy(images);
	symcache_names_destroy(names);
	cmd_caches_deinit(&caches);
	return argc ? status : SC_EINVAL;
}

const struct command trace_command = {
	.name = "trace",
	.operands = "FILE...",
	.summary = "symbolize GDB trace files",
	.description =
		"Reads what GDB's tsave wrote: says how the trace run ended, its tracepoints and "
		"variables, and for each frame where the program was (functions with those "
		"inlined, files and lines) and what was collected. Neither the program nor its "
		"sources nor GDB need to be there: symbols come from the store.\n\n"
		"A trace file does not say which ELF files were loaded, nor where: name them with "
		"--module, the program itself, and shared libraries and position-independent "
		"programs with the bias that was added to their addresses (GDB's 'info proc "
		"mappings', or /proc/PID/maps). What the store lacks is indexed in memory from the "
		"file.\n\n"
		"With --backtrace the stack of each frame is shown, without the program being "
		"there, if registers and stack memory were collected; 'collect $regs, *(unsigned "
		"char *)$rsp@4096' is enough for most stacks. A frame that was not found by unwind "
		"information is marked with '?' and how it was found.\n\n"
		"Selecting options show frames only. Of one of them any value will do; of several "
		"each must agree. Addresses are hex, with or without 0x.",
	.opts = opts,
	.examples =
		"  symcache trace --module ./server run.tf\n"
		"  symcache trace --module ./server@555555554000 --module libx.so@7ffff7fbb000 "
		"run.tf\n"
		"  symcache trace --module ./server --line server.c:120 --registers run.tf\n"
		"  symcache trace --module ./server --backtrace --frame 7 run.tf\n"
		"  symcache trace --module 4f1a... --summary long-run.tf\n",
	.partly = "a file breaks off or a frame is damaged (all that can be read is shown), or no "
		  "frame is selected",
	.failed = "there is nothing to show",
	.see_also = "symcache-index(1) gdb(1) gdbserver(1)",
	.run = run_trace,
};
