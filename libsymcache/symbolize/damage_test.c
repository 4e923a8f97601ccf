/*
 * Damage that is noticed while a cache is in use, and entries that are gone then: what is known by
 * its ELF file is built anew, in the same run.
 */
#include "libsymcache/symbolize/testing.h"

static void test_damaged(void **state)
{
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c;
	struct symcache_symbolizer *s;
	struct symcache_module *file, *of_id;
	struct symcache_answer a;

	(void)state;
	store_put(self_id, self_id_len);
	damage_store();
	c = open_caches((struct symcache_caches_options){ .store = store_file });
	s = symcache_symbolizer_create(c, names);
	of_id = symcache_caches_module_of_id(c, self_id, self_id_len);
	file = symcache_caches_module(c, SYMCACHE_MODULE_FILE, self);
	/* Whether it is found out when it is opened or later is up to the size. */
	assert_int_not_equal(symcache_symbolize(s, of_id, main_vaddr, &a), SYMCACHE_FOUND);
	assert_int_equal(symcache_symbolize(s, of_id, main_vaddr, &a), SYMCACHE_NO_CACHE);
	assert_true(assert_fails(of_id, SC_ENOTFOUND, "damaged"));
	assert_int_equal(notices[SYMCACHE_NOTICE_DAMAGED], 1);
	if (symcache_symbolize(s, file, main_vaddr, &a) == SYMCACHE_DAMAGED)
		symcache_symbolize(s, file, main_vaddr, &a);
	assert_int_equal(a.reason, SYMCACHE_FOUND);
	assert_int_equal(notices[SYMCACHE_NOTICE_DAMAGED], 2); /* once for each module */
	assert_self(file);

	unlink(store_file);
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

static struct symcache_question question_at(void *ctx, size_t i)
{
	return (struct symcache_question){ ctx, main_vaddr + i / 2 };
}

static int expect_found(void *ctx, size_t i, const struct symcache_answer *a)
{
	(void)ctx, (void)i;
	assert_int_equal(a->reason, SYMCACHE_FOUND);
	return 0;
}

/* Of addresses that are announced together, damage is noticed at the first: all are answered, out of
 * another cache. */
static void test_damaged_in_batches(void **state)
{
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c;
	struct symcache_symbolizer *s;
	struct symcache_module *file;
	const struct symcache *cache;

	(void)state;
	store_put(self_id, self_id_len);
	c = open_caches((struct symcache_caches_options){ .store = store_file });
	s = symcache_symbolizer_create(c, names);
	file = symcache_caches_module(c, SYMCACHE_MODULE_FILE, self);
	assert_int_equal(symcache_module_cache(file, &cache, NULL, NULL), 0);
	damage_store(); /* most of what is asked for then was not checked yet */
	unlink(store_file);
	assert_int_equal(symcache_symbolize_sorted(s, 8, question_at, expect_found, file), 0);
	assert_int_equal(notices[SYMCACHE_NOTICE_DAMAGED], 1);
	assert_non_null(strstr(last_message, text_id));
	assert_non_null(strstr(last_message, "damaged"));
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

/* Removes the entry, by another process. */
static void store_remove(void)
{
	struct symstore_writer *writer;
	struct symstore *store;
	const pid_t pid = fork();
	bool removed;
	int status;

	if (!pid)
		_exit(symstore_open(store_file, SYMSTORE_WRITE, &store, NULL) ||
		      symstore_write_begin(store, &writer, NULL) ||
		      symstore_remove(writer, self_id, self_id_len, &removed, NULL) || symstore_commit(writer, NULL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Opened out of the store, which loses the entry, or has it overwritten, before it is asked again. */
static void test_lost_in_use(void **state)
{
	(void)state;
	for (int damaged = 0; damaged < 3; damaged++) { /* 2: in its first block, which is read at once */
		struct symcache_caches *c;
		struct symcache_module *file, *of_id;
		const char *files[3];

		store_put(self_id, self_id_len);
		c = open_caches((struct symcache_caches_options){ .store = store_file });
		file = symcache_caches_module(c, SYMCACHE_MODULE_FILE, self);
		of_id = symcache_caches_module_of_id(c, self_id, self_id_len);
		assert_self(file);
		assert_self(of_id);
		if (damaged)
			damage_store_from(damaged == 2 ? 8 : 4096);
		else
			store_remove();
		if (damaged) /* the snapshot changes, so that the entry is looked at again */
			store_put((const uint8_t[]){ 1, 2, 3 }, 3);
		symcache_caches_update(c);
		if (!damaged) {
			assert_self(file);
			assert_int_equal(notices[SYMCACHE_NOTICE_DAMAGED], 0);
			symcache_module_files(file, files);
			assert_string_equal(files[0], self);
			assert_fails(of_id, SC_ENOTFOUND, store_file);
		} else {
			struct symcache_names *names = symcache_names_create(NULL);
			struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
			struct symcache_answer a;

			if (symcache_symbolize(s, file, main_vaddr, &a) == SYMCACHE_DAMAGED)
				symcache_symbolize(s, file, main_vaddr, &a);
			assert_int_equal(a.reason, SYMCACHE_FOUND);
			assert_int_equal(notices[SYMCACHE_NOTICE_DAMAGED], 1);
			assert_self(file);
			symcache_symbolizer_destroy(s);
			symcache_names_destroy(names);
		}
		symcache_caches_destroy(c);
		if (!damaged) { /* what was removed does not come back */
			c = open_caches((struct symcache_caches_options){ .store = store_file });
			assert_fails(symcache_caches_module_of_id(c, self_id, self_id_len), SC_ENOTFOUND, store_file);
			symcache_caches_destroy(c);
		}
		unlink(store_file);
	}
}

static char said[1000];

static void say(void *ctx, const struct symcache_notice *n)
{
	(void)ctx;
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%d %s: %s; ", n->kind, n->file ? n->file : "-",
		 n->message);
}

/* Adds how a module is opened: "itself", or the error, with "*" if it was reported before. */
static void open_and_say(struct symcache_module *m)
{
	const struct symcache *cache;
	struct sc_error e;
	bool reported;
	const int rc = symcache_module_cache(m, &cache, &reported, &e);

	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%d %s%s | ", rc, rc ? e.msg : "itself", reported ? "*" : "");
	for (char *at; (at = strstr(said, dir)); memcpy(at, "DIR", 3))
		memmove(at + 3, at + strlen(dir), strlen(at + strlen(dir)) + 1);
	for (char *at; (at = strstr(said, text_id)); memcpy(at, "ID", 2))
		memmove(at + 2, at + strlen(text_id), strlen(at + strlen(text_id)) + 1);
}

/* Damage that is found when a module is opened is said once, also if it is opened again later; what else is
 * wrong is tried again with a later snapshot only if that may help. */
static void test_said(void **state)
{
	char missing[80];
	const struct { enum symcache_module_kind kind; const char *name; bool damaged; const char *wants; } cases[] = {
		{ SYMCACHE_MODULE_BUILD_ID, text_id, true,
		  "1 -: the store's entry ID is damaged and not used: run 'symcache verify --repair', then index its file again; "
		  "-1 the store's entry is damaged* | -1 the store's entry is damaged* | -1 the store's entry is damaged* | "
		  "0 itself | 0 itself | " },
		{ SYMCACHE_MODULE_FILE, self, true,
		  "1 /proc/self/exe: the store's entry ID is damaged and not used: run 'symcache verify --repair', then index "
		  "its file again; 0 itself | 0 itself | 0 itself | 0 itself | 0 itself | " },
		/* The beginning of one that comes. */
		{ SYMCACHE_MODULE_BUILD_ID, "0102", false,
		  "-1 not in the store: 0102 | -1 not in the store: 0102* | -1 not in the store: 0102* | 0 itself | 0 itself | " },
		{ SYMCACHE_MODULE_FILE, missing, false,
		  "-3 DIR/none: cannot open: No such file or directory | -3 DIR/none: cannot open: No such file or directory* | "
		  "-3 DIR/none: cannot open: No such file or directory* | -3 DIR/none: cannot open: No such file or directory* | "
		  "-3 DIR/none: cannot open: No such file or directory* | " },
	};

	(void)state;
	snprintf(missing, sizeof(missing), "%s/none", dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_caches *c;
		struct symcache_module *m;

		*said = 0;
		store_put(self_id, self_id_len);
		if (cases[i].damaged)
			damage_store_from(8);
		c = symcache_caches_create(&(struct symcache_caches_options){ .store = store_file, .notify = say });
		m = symcache_caches_module(c, cases[i].kind, cases[i].name);
		open_and_say(m);
		open_and_say(m);
		symcache_caches_update(c);
		open_and_say(m);
		store_put(cases[i].damaged ? self_id : (const uint8_t[]){ 1, 2, 3 }, cases[i].damaged ? self_id_len : 3);
		symcache_caches_update(c);
		open_and_say(m);
		/* A file that comes now comes too late. */
		assert_int_equal(symlink("/proc/self/exe", missing), 0);
		symcache_caches_update(c);
		open_and_say(m);
		assert_string_equal(said, cases[i].wants);
		unlink(missing);
		symcache_caches_destroy(c);
		unlink(store_file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_damaged_in_batches),
		cmocka_unit_test(test_lost_in_use), cmocka_unit_test(test_said),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
