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

#include "cmd/trace/trace.h"

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

static struct images *images_of(const char *name)
{
	struct images *images = images_create(NULL);
	struct sc_error err;
	char *spec;
	size_t i = 0;

	while (strncmp(name, recordings[i].name, strlen(recordings[i].name)) != 0)
		i++;
	for (size_t k = 0; k < 2 && recordings[i].modules[k]; k++) {
		assert_true(asprintf(&spec, DATA "/programs/%s", recordings[i].modules[k]) > 0);
		if (images_add(images, spec, &err))
			fail_msg("%s: %s", spec, err.msg);
		free(spec);
	}
	return images;
}

static void put_place(FILE *out, struct places *places, uint64_t address)
{
	const struct place *place = places_code(places, address);

	assert_non_null(place->image);
	fprintf(out, "    %s+0x%" PRIx64 "\n", place->image->name, address - place->image->bias);
	for (size_t i = 0; i < place->num_frames; i++) {
		struct symcache_str name = places_function(places, &place->frames[i]);

		assert_int_equal(place->frames[i].entry_pc == SYMCACHE_NONE,
				 i + 1 < place->num_frames);
		fprintf(out, "      addr2line: %.*s at %s:%" PRIu32 "\n", (int)name.len, name.ptr,
			places_path(places, &place->frames[i]), place->frames[i].line);
	}
}

static void put_frame(FILE *out, struct places *places, const struct trace_file *f,
		      const struct tfile_frame *frame)
{
	struct tfile_pc pc = tfile_frame_pc(&f->tfile, frame, f->slot);
	struct tfile_blocks blocks = tfile_blocks(&f->tfile, frame);
	const struct data_place *data;
	struct tfile_block b;
	struct tfile_error err;

	fprintf(out, "frame %" PRIu64 " tracepoint %d size %" PRIu32 "\n", frame->number,
		frame->tracepoint, frame->size);
	if (tfile_pc_known(pc)) {
		fprintf(out, "  pc 0x%" PRIx64 " from %s\n", pc.address,
			pc.kind == TFILE_PC_REGISTERS ? "registers" : "tracepoint");
		put_place(out, places, pc.address);
	} else {
		fprintf(out, "  pc unknown (unknown: %s)\n", pc.kind == TFILE_PC_STEPPING ?
			"stepping" : pc.kind == TFILE_PC_LOCATIONS ? "several addresses" : "?");
	}
	while (tfile_next_block(&blocks, &b, &err) > 0) {
		if (b.kind == 'M') {
			fprintf(out, "  M 0x%" PRIx64 "..0x%" PRIx64 " %zu bytes", b.address,
				b.address + b.len, b.len);
			data = places_data(places, b.address);
			assert_true(data->found);
			fprintf(out, " %s", data->name);
			if (data->offset)
				fprintf(out, "+%" PRIu64, data->offset);
			fprintf(out, " [size %" PRIu64 "]\n", data->size);
		} else if (b.kind == 'V') {
			fprintf(out, "  V $%s = %" PRId64 "\n",
				tfile_find_variable(&f->tfile, b.variable)->name.ptr, b.value);
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

static void check_recording(const char *name)
{
	struct images *images = images_of(name);
	struct places *places = places_create(images, true);
	struct trace_file f;
	struct tfile_frames frames;
	struct tfile_frame frame;
	struct tfile_error err;
	char *path, *got, *want = expected(name);
	size_t size;
	FILE *out = open_memstream(&got, &size);

	assert_true(asprintf(&path, DATA "/real/%s.tf", name) > 0);
	assert_true(trace_open(&f, path, images, TRACE_ORDER_AUTO));
	fputs("tracepoints:\n", out);
	for (size_t i = 0; i < f.tfile.num_tracepoints; i++) {
		const struct tfile_tracepoint *tp = &f.tfile.tracepoints[i];

		fprintf(out, "  %" PRIu64 " 0x%" PRIx64 " %c step %" PRIu64 " pass %" PRIu64 "\n",
			tp->number, tp->address, tp->state, tp->step, tp->pass);
		put_place(out, places, tp->address);
	}
	frames = tfile_frames(&f.tfile);
	while (tfile_next_frame(&frames, &frame, &err) > 0)
		put_frame(out, places, &f, &frame);
	assert_string_equal(err.msg, "");
	fclose(out);
	assert_string_equal(got, want);
	assert_int_equal(f.faults, 0);
	trace_close(&f);
	places_destroy(places);
	images_destroy(images);
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

/* Of the frames of a stepping tracepoint: which does an option choose? */
static void check_selection(enum trace_by by, const char *value, const char *want)
{
	struct images *images = images_of("c04");
	struct places *places = places_create(images, true);
	const char *values[] = { value, NULL };
	const struct opt_list list = { values, 1 };
	struct trace_select select = { 0 };
	struct trace_file f;
	struct tfile_frames frames;
	struct tfile_frame frame;
	struct tfile_error err;
	char got[400] = "";

	assert_true(select_add(&select, by, &list));
	assert_true(select_any(&select));
	assert_true(trace_open(&f, DATA "/real/c04-step.tf", images, TRACE_ORDER_AUTO));
	frames = tfile_frames(&f.tfile);
	while (tfile_next_frame(&frames, &frame, &err) > 0) {
		struct tfile_pc pc = tfile_frame_pc(&f.tfile, &frame, f.slot);

		if (select_wants(&select, places, &frame, pc))
			sprintf(got + strlen(got), "%" PRIu64 " ", frame.number);
	}
	assert_string_equal(got, want);
	select_deinit(&select);
	trace_close(&f);
	places_destroy(places);
	images_destroy(images);
}

static void test_selection(void **state)
{
	(void)state;
	if (access(DATA, F_OK)) {
		printf("skipped: there is no " DATA "\n");
		skip();
	}
	check_selection(BY_FRAME, "7", "7 ");
	check_selection(BY_TRACEPOINT, "3", "0 1 2 3 16 17 18 19 33 34 35 36 ");
	check_selection(BY_PC, "401279", "0 16 33 ");
	check_selection(BY_PC, "0x40119c", "");
	check_selection(BY_RANGE, "401180,401182", "4 20 21 37 ");
	check_selection(BY_LINE, "prog1.c:50", "0 16 33 ");
	check_selection(BY_LINE, "src/prog1.c:50", "0 16 33 ");
	check_selection(BY_LINE, "/usr/src/tracepoints/src/prog1.c:50", "0 16 33 ");
	check_selection(BY_LINE, "rog1.c:50", "");
}

static void test_bad_selection(void **state)
{
	static const struct { enum trace_by by; const char *value; } bad[] = {
		{ BY_FRAME, "x" }, { BY_FRAME, "" }, { BY_TRACEPOINT, "-1" }, { BY_PC, "0xg" },
		{ BY_RANGE, "401180" }, { BY_RANGE, "2,1" }, { BY_RANGE, "1," },
		{ BY_LINE, "prog1.c" }, { BY_LINE, ":5" }, { BY_LINE, "a.c:x" },
		{ BY_PC, "11111111111111111" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *values[] = { bad[i].value, NULL };
		const struct opt_list list = { values, 1 };
		struct trace_select select = { 0 };

		assert_false(select_add(&select, bad[i].by, &list));
		select_deinit(&select);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_bad_selection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
