/*
 * Files of plans whose hashes are right, but not what they say: a plan that could not have been asked
 * for, logs whose outputs leave their folder, lines that someone else added. And what is right comes
 * back as it was written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/plan/record.h"
#include "libsymcache/write/build.h"

#define HASH "0123456789abcdef0123456789abcdef"

static char dir[] = "/tmp/plan_sense.XXXXXX";
static struct sc_error err;

static const char *in_dir(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(dir) || mkdir(in_dir(MARKUP_FOLDER), 0777);
}

static int tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void save(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void load(const char *name, char text[4096])
{
	FILE *f = fopen(in_dir(name), "re");

	assert_non_null(f);
	text[fread(text, 1, 4095, f)] = 0;
	fclose(f);
}

/* ---- plan.json --------------------------------------------------------------------------- */

static const char written[] =
	"{\"plan\":2,\"symcache\":\"VERSION\",\"dialect\":\"default\",\"format\":\"json\",\"color\":\"never\",\"demuxed\":true,"
	"\"demux\":\"pod\",\"input\":\"\",\"modules\":\"a=b\\nc=d=e\\n\",\"raw\":true,\"omit_module_lines\":false,"
	"\"store_hex\":\"2fff\",\"store_xxh128\":\"" HASH "\",\"task_size\":1000,\"logs\":2,\"left_out\":1,\"shards\":3,"
	"\"tasks\":3,\"bytes\":4000,\"inputs_xxh128\":\"" HASH "\",\"shards_xxh128\":\"" HASH "\"";

/* `text` with its version, once with `to` in place of `from`, and with its hash. */
static void save_plan(const char *from, const char *to)
{
	char text[4096], hash[SC_HASH_TEXT], *at, version[50];

	strcpy(text, written);
	for (int i = 0; i < 2; i++) {
		const char *old = i ? "VERSION" : from, *new = i ? version : to;

		snprintf(version, sizeof(version), "%s", symcache_version);
		at = strstr(text, old);
		if (i && !at)
			break;
		assert_non_null(at);
		memmove(at + strlen(new), at + strlen(old), strlen(at + strlen(old)) + 1);
		memcpy(at, new, strlen(new));
	}
	sc_hash_text(sc_hash_of(text, strlen(text)), hash);
	sprintf(text + strlen(text), ",\"xxh128\":\"%s\"}\n", hash);
	save("plan.json", text);
}

static void test_plan(void **state)
{
	static const char damaged[] = "plan.json is damaged", options[] = "plan.json: its options are not valid";
	static const struct { const char *from, *to; int rc; const char *says; } cases[] = {
		{ "", "", 0, "" }, { "\"tasks\":3", "\"tasks\":4", SC_EFORMAT, damaged },
		{ "\"logs\":2", "\"logs\":3", 0, "" }, { "\"logs\":2", "\"logs\":4", SC_EFORMAT, damaged },
		{ "\"tasks\":3", "\"tasks\":-1", SC_EFORMAT, damaged }, { ",\"bytes\":4000", "", SC_EFORMAT, damaged },
		{ "\"raw\":true", "\"raw\":1", SC_EFORMAT, damaged }, { "\"json\"", "\"jsonx\"", SC_EFORMAT, damaged },
		{ "\"shards\":3,\"tasks\":3", "\"shards\":1000001,\"tasks\":1000001", SC_EFORMAT, damaged },
		{ "\"shards\":3,\"tasks\":3", "\"shards\":1000000,\"tasks\":1000000", 0, "" },
		{ "\"plan\":2", "\"plan\":3", SC_EUNSUPPORTED, "plan.json: a plan of version 3; this symcache knows version 2" },
		{ "\"plan\":2", "\"plan\":1", SC_EUNSUPPORTED, "plan.json: a plan of version 1; this symcache knows version 2" },
		{ "VERSION", "0.0", SC_EUNSUPPORTED, "plan.json: a plan of symcache 0.0, and this is VERSION: plan again" },
		{ "c=d=e", "cde", SC_EFORMAT, options }, { "a=b\\nc=d=e\\n", "", 0, "" },
		{ "\"demux\":\"pod\"", "\"demux\":\"\"", 0, "" }, { "\"demux\":\"pod\"", "\"demux\":\"[\"", SC_EFORMAT, options },
		{ "\"demuxed\":true,\"demux\":\"pod\"", "\"demuxed\":false,\"demux\":\"\"", 0, "" },
		{ "\"input\":\"\"", "\"input\":\"gdb\"", 0, "" }, { "\"input\":\"\"", "\"input\":\"none\"", SC_EFORMAT, options },
		{ "\"default\",\"format\":\"json\"", "\"llvm\",\"format\":\"text\"", 0, "" },
		{ "\"default\"", "\"llvm\"", SC_EFORMAT, options },
		{ "\"store_hex\":\"2fff\"", "\"store\":\"/s\"", 0, "" }, { "{\"plan\"", "[{\"plan\"", SC_EFORMAT, damaged },
	};
	char before[4096], again[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_plan plan;
		int rc;

		save_plan(cases[i].from, cases[i].to);
		rc = mk_plan_open(dir, &plan, &err);
		if (rc != cases[i].rc)
			fail_msg("%s: %d, %s", cases[i].to, rc, rc ? err.msg : "");
		if (rc) {
			const char *says = cases[i].says, *version = strstr(says, "VERSION");
			char want[300];

			snprintf(want, sizeof(want), "%s/%.*s%s%s", dir, version ? (int)(version - says) : 300, says,
				 version ? symcache_version : "", version ? version + strlen("VERSION") : "");
			assert_string_equal(err.msg, want);
		} else {
			load("plan.json", before);
			plan.form.options.demux = plan.demuxed ? plan.form.options.demux : NULL;
			assert_int_equal(mk_plan_write(&plan, dir, &err), 0);
			load("plan.json", again);
			assert_string_equal(again, before);
			assert_int_equal(mk_plan_write(&plan, "no/folder", &err), SC_ESYS);
		}
		mk_plan_close(&plan);
	}
	/* Any byte that is another is found, and any cut. */
	save_plan("", "");
	load("plan.json", before);
	for (size_t i = 0; i < 2 * strlen(before); i++) {
		struct mk_plan plan;

		strcpy(again, before);
		if (i < strlen(before))
			again[i] ^= 1;
		else
			again[i - strlen(before)] = 0;
		save("plan.json", again);
		assert_int_equal(mk_plan_open(dir, &plan, &err), SC_EFORMAT);
		mk_plan_close(&plan);
	}
}

/* ---- inputs.jsonl ------------------------------------------------------------------------ */

static void test_logs(void **state)
{
	static const struct { const char *output; bool good; } outputs[] = {
		{ "a", true }, { "a/b.c/..d/.e", true }, { ".symcache", true }, { ".symcachex/a", true }, { "x/.symcache/a", true },
		{ ".symcache/a", false }, { "/a", false }, { "a/", false }, { "a//b", false }, { "", false }, { ".", false },
		{ "..", false }, { "../a", false }, { "a/../b", false }, { "a/..", false }, { "./a", false }, { "a/.", false },
		{ "...", true },
	};
	struct mk_rows_out w;

	(void)state;
	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
		struct mk_plan plan = { .dir = dir, .logs = 3 };
		struct mk_shard shards[] = { { .log = 1 }, { .log = 1 }, { .log = 3 } };
		struct mk_shards of = { shards, 2, 2 };
		struct mk_logs logs = { 0 };

		assert_int_equal(mk_rows_create(&w, in_dir("inputs.jsonl"), 0, &err), 0);
		for (uint64_t k = 0; k < 3; k++) {
			struct mk_log log = { .number = k, .log = { .path = k == 1 ? "/l\xff" : "l", .output = "o", .size = 7 + k,
								    .mtime = -5, .kind = MARKUP_LOG_XZ } };

			if (k == 1)
				log.log.output = outputs[i].output;
			if (k == 2)
				strcpy(log.tables_hash, HASH);
			mk_rows_put(&w, mk_log_columns, &log);
		}
		assert_int_equal(mk_rows_commit(&w, plan.logs_hash, &err), 0);
		if (mk_plan_read_logs(&plan, &of, &logs, &err) != (outputs[i].good ? 0 : SC_EFORMAT))
			fail_msg("%s: %s", outputs[i].output, err.msg);
		if (outputs[i].good) {
			assert_int_equal(logs.len, 1);
			assert_ptr_equal(mk_log_of(&logs, &shards[1]), logs.data);
			assert_string_equal(logs.data->log.path, "/l\xff");
			assert_string_equal(logs.data->log.output, outputs[i].output);
			assert_true(logs.data->log.size == 8 && logs.data->log.mtime == -5 && logs.data->log.kind == MARKUP_LOG_XZ);
			assert_string_equal(logs.data->tables_hash, "");
		} else {
			assert_non_null(strstr(err.msg, "inputs.jsonl: line 2 is damaged"));
		}
		mk_logs_deinit(&logs);
		if (!outputs[i].good)
			continue;
		/* All of them; one that a shard is of, but which is not there; and not as many as planned. */
		for (int k = 0; k < 4; k++) {
			logs = (struct mk_logs){ 0 };
			of.len = 3;
			plan.logs = k < 2 ? 3 : (uint64_t)k; /* 2: too few; 3: with the hash of another file */
			plan.logs_hash[0] ^= k == 3;
			assert_int_equal(mk_plan_read_logs(&plan, k == 1 ? &of : NULL, &logs, &err), k ? SC_EFORMAT : 0);
			assert_int_equal(logs.len, k == 1 ? 1 : 3);
			if (!k)
				assert_string_equal(logs.data[2].tables_hash, HASH);
			mk_logs_deinit(&logs);
		}
	}
}

/* ---- finished.jsonl ----------------------------------------------------------------------- */

/* Lines of other versions count for nothing; what is added stands on a line of its own, also behind
 * one that was cut off; and it must be a file. */
static void test_finished_lines(void **state)
{
	static const char file[] = MARKUP_FOLDER "/finished.jsonl";
	struct markup_finished_log log = { .output = "o", .hash = HASH, .size = 1 }, got;
	char text[4096], other[4096];
	struct markup_finished *f;
	const char *end;

	(void)state;
	save("o", "output");
	save(file, "no JSON\n{}\n{\"output\":\"o\"");
	assert_int_equal(markup_finished_open(dir, &f, &err), 0);
	assert_int_equal(markup_finished_add(f, &log, &err), 0);
	markup_finished_close(f);
	load(file, text);
	assert_int_equal(strncmp(text, "no JSON\n{}\n{\"output\":\"o\"\n{\"output\":\"o\",\"size\":1,", 47), 0);
	assert_int_equal(markup_finished_open(dir, &f, &err), 0);
	assert_true(markup_finished_find(f, "o", &got));
	assert_true(got.size == 1 && got.written == 6 && !strcmp(got.hash, HASH));
	markup_finished_close(f);
	end = strstr(text, "\"version\":\"");
	assert_non_null(end);
	snprintf(other, sizeof(other), "%.*s\"version\":\"0.0\"}\n", (int)(end - text), text);
	save(file, other);
	assert_int_equal(markup_finished_open(dir, &f, &err), 0);
	assert_false(markup_finished_find(f, "o", &got));
	markup_finished_close(f);
	unlink(in_dir(file));
	assert_int_equal(mkfifo(in_dir(file), 0600), 0);
	assert_int_equal(markup_finished_open(dir, &f, &err), SC_EINVAL);
	assert_null(f);
	assert_non_null(strstr(err.msg, "finished.jsonl: not a regular file, or a hard link"));
	unlink(in_dir(file));
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* As many members as there is room for, and one more. */
static void test_members(void **state)
{
	struct mk_object row = { 0 };
	char text[1000];

	(void)state;
	for (unsigned n = ROW_FIELDS - 1; n <= ROW_FIELDS + 1; n++) {
		strcpy(text, "{");
		for (unsigned i = 0; i < n; i++)
			sprintf(text + strlen(text), "%s\"k%u\":%u", i ? "," : "", i, i);
		strcat(text, "}");
		assert_int_equal(mk_object_parse(&row, text, strlen(text)), n <= ROW_FIELDS ? 0 : SC_EFORMAT);
		assert_true(mk_object_has(&row, "k30") && !mk_object_has(&row, "k3x") && !mk_object_has(&row, "k"));
	}
	mk_object_deinit(&row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan), cmocka_unit_test(test_logs), cmocka_unit_test(test_finished_lines),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests_name("senseless", tests, set_up, tear_down);
}
