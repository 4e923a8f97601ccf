/*
 * The recordings of ../shared/data/tfile/real, symbolized: program counters,
 * functions, inlined functions, lines, memory's symbols and variables are those of
 * NAME.expect.txt, which were made with addr2line and nm. (Its lines
 * "llvm-symbolizer:" say where that tool differs: it takes a label within a
 * function for the function.)
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/report/trace.h"

#define DATA "../shared/data/tfile"

static const struct {
	const char *name; /* beginning of the file's name */
	const char *modules[2];
} recordings[] = {
	{ "c05", { "prog3" } },
	{ "c06", { "prog1pie@555555554000" } },
	{ "c07", { "prog1m32" } },
	{ "c09", { "prog4", "libprog4.so@0x7ffff7fbb000" } },
	{ "c23", { "prog3" } },
	{ "", { "prog1" } },
};

static struct symcache_process *images_of(const char *name, struct symcache_caches *caches)
{
	struct symcache_process *images = symcache_process_create(&(struct symcache_finder){ .find = symcache_find_module, .caches = caches });
	struct sc_error err;
	char *spec;
	size_t i = 0;

	while (strncmp(name, recordings[i].name, strlen(recordings[i].name)) != 0)
		i++;
	for (size_t k = 0; k < 2 && recordings[i].modules[k]; k++) {
		assert_true(asprintf(&spec, DATA "/programs/%s", recordings[i].modules[k]) > 0);
		if (symcache_process_load(images, spec, &err))
			fail_msg("%s: %s", spec, err.msg);
		free(spec);
	}
	return images;
}

static void put_place(FILE *out, struct mk_trace *t, uint64_t address)
{
	const struct mk_trace_place of = mk_trace_place(t, address);
	const struct symcache_code_place *place = of.at;

	assert_non_null(of.image);
	fprintf(out, "    %s+0x%" PRIx64 "\n", of.image->name, address - of.image->bias);
	for (size_t i = 0; i < place->num_frames; i++) {
		assert_int_equal(place->frames[i].inlined,
				 i + 1 < place->num_frames);
		fprintf(out, "      addr2line: %s at %s:%" PRIu32 "\n",
			mk_trace_function(&place->frames[i]), place->frames[i].file.ptr,
			place->frames[i].line);
	}
}

static void put_frame(FILE *out, struct mk_trace *t, const struct symtrace_frame *frame)
{
	struct symtrace_pc pc = symtrace_frame_pc(&t->file, frame);
	struct symtrace_blocks blocks = symtrace_blocks(&t->file, frame);
	const struct symcache_data_place *data;
	struct symtrace_block b;
	struct symtrace_error err;

	fprintf(out, "frame %" PRIu64 " tracepoint %d size %" PRIu32 "\n", frame->number,
		frame->tracepoint, frame->size);
	if (symtrace_pc_known(pc)) {
		fprintf(out, "  pc 0x%" PRIx64 " from %s\n", pc.address,
			pc.kind == SYMTRACE_PC_REGISTERS ? "registers" : "tracepoint");
		put_place(out, t, pc.address);
	} else {
		fprintf(out, "  pc unknown (unknown: %s)\n", pc.kind == SYMTRACE_PC_STEPPING ?
			"stepping" : pc.kind == SYMTRACE_PC_LOCATIONS ? "several addresses" : "?");
	}
	while (symtrace_next_block(&blocks, &b, &err) > 0) {
		if (b.kind == 'M') {
			fprintf(out, "  M 0x%" PRIx64 "..0x%" PRIx64 " %zu bytes", b.address,
				b.address + b.len, b.len);
			data = mk_trace_data(t, b.address);
			assert_true(data->found);
			fprintf(out, " %s", data->name);
			if (data->offset)
				fprintf(out, "+%" PRIu64, data->offset);
			fprintf(out, " [size %" PRIu64 "]\n", data->size);
		} else if (b.kind == 'V') {
			fprintf(out, "  V $%s = %" PRId64 "\n",
				symtrace_find_variable(&t->file, b.variable)->name.ptr, b.value);
		}
	}
}

/* The expected text, without the lines of llvm-symbolizer. */
static char *expected(const char *name)
{
	char *path, *text, line[4096];
	size_t size;
	FILE *in, *out = open_memstream(&text, &size);

	assert_true(asprintf(&path, DATA "/real/%s.expect.txt", name) > 0);
	in = fopen(path, "r");
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (!strstr(line, "llvm-symbolizer: "))
			fputs(line, out);
	fclose(in);
	fclose(out);
	free(path);
	return text;
}

static void fail_with(void *ctx, const char *message)
{
	(void)ctx;
	fail_msg("%s", message);
}

static void check_recording(const char *name)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_process *images = images_of(name, caches);
	const struct symtrace_select all = { 0 };
	const struct markup_trace_options options = { .select = &all, .images = images,
		.caches = caches, .names = names, .complain = fail_with };
	struct mk_out none = { 0 };
	struct markup_traced traced = { 0 };
	struct mk_trace t = { .options = &options, .out = &none, .ret = &traced };
	struct symtrace_frames frames;
	struct symtrace_frame frame;
	struct symtrace_error err = { .msg = "" };
	struct sc_error error;
	char *path, *got, *want = expected(name);
	size_t size;
	FILE *out = open_memstream(&got, &size);

	assert_true(asprintf(&path, DATA "/real/%s.tf", name) > 0);
	t.path = path;
	assert_int_equal(mk_trace_open(&t, &error), 0);
	fputs("tracepoints:\n", out);
	for (size_t i = 0; i < t.file.num_tracepoints; i++) {
		const struct symtrace_tracepoint *tp = &t.file.tracepoints[i];

		fprintf(out, "  %" PRIu64 " 0x%" PRIx64 " %c step %" PRIu64 " pass %" PRIu64 "\n",
			tp->number, tp->address, tp->state, tp->step, tp->pass);
		put_place(out, &t, tp->address);
	}
	frames = symtrace_frames(&t.file);
	while (symtrace_next_frame(&frames, &frame, &err) > 0)
		put_frame(out, &t, &frame);
	assert_string_equal(err.msg, "");
	fclose(out);
	assert_string_equal(got, want);
	assert_int_equal(traced.faults, 0);
	assert_int_equal(none.error, 0);
	mk_trace_close(&t);
	symcache_process_destroy(images);
	symcache_names_destroy(names);
	symcache_caches_destroy(caches);
	free(path);
	free(got);
	free(want);
}

static void test_recordings(void **state)
{
	struct dirent **names;
	int n, checked = 0;

	(void)state;
	if (access(DATA, F_OK)) {
		printf("skipped: there is no " DATA "\n");
		skip();
	}
	setenv("SYMCACHE_STORE", "/nonexistent/store", true);
	n = scandir(DATA "/real", &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *dot = strrchr(names[i]->d_name, '.');

		if (strcmp(dot, ".tf") == 0) {
			*dot = '\0';
			check_recording(names[i]->d_name);
			checked++;
		}
		free(names[i]);
	}
	free(names);
	assert_true(checked >= 17);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
