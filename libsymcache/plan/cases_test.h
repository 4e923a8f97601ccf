/* What may happen to a plan, its logs and its outputs, and what each step then says: see cases_test.c. */
#ifndef MARKUP_PLAN_CASES_TEST_H
#define MARKUP_PLAN_CASES_TEST_H

#define STORE "0123456789abcdef0123456789abcdef"
#define MERGED " 3 logs; same"

enum { KEEP = 1, TWICE = 2, ONE_BY_ONE = 4, MUCH = 60000 };

static const struct {
	const char *what;
	const char *tasks;  /* shell commands before the tasks run, in a folder with in/ and plan/ */
	const char *merge;  /* and before the merge: out/ is there, too */
	int options;
	const char *result; /* messages of steps that failed, then what the merge gave */
} cases[] = {
	{ "nothing happens", "", "", 0, MERGED },
	{ "one thread after the other", "", "", ONE_BY_ONE, MERGED },
	{ "each task twice", "", "", TWICE, " [0 done] [1 done]" MERGED },
	{ "parts are kept", "", "", KEEP, MERGED },
	/* Logs. */
	{ "a log has grown", "echo >> in/a", "", 0,
	  " [in/a has changed since the plan was made: plan again] 1 of 2 tasks are not done: 1" },
	{ "a log is gone", "mv in/a in/x", "", 0,
	  " [in/a: No such file or directory] 1 of 2 tasks are not done: 1" },
	{ "an output is its log", "mkdir out; ln in/a out/a", "", 0,
	  " [in/a: its output would overwrite it] 1 of 2 tasks are not done: 1" },
	/* The plan. */
	{ "there is none", "rm plan/plan.json", "", 0,
	  " [there is no plan/plan.json] [there is no plan/plan.json] there is no plan/plan.json" },
	{ "its shards are of another", "tail -n 1 plan/inputs.jsonl > plan/shards.jsonl", "", 0,
	  " [plan/shards.jsonl is damaged: its hash is another one] [plan/shards.jsonl is damaged: its hash is another one]"
	  " 2 of 2 tasks are not done: 0-1" },
	{ "it lacks what a part begins with", "rm plan/contexts/000002", "", 0,
	  " [there is no plan/contexts/000002] 1 of 2 tasks are not done: 1" },
	{ "what a part begins with has changed", "echo > plan/contexts/000002", "", 0,
	  " [plan/contexts/000002 is damaged: its hash is another one] 1 of 2 tasks are not done: 1" },
	{ "it lacks the tables of a log", "rm plan/contexts/tables.1", "", 0,
	  " [there is no plan/contexts/tables.1] [there is no plan/contexts/tables.1] 2 of 2 tasks are not done: 0-1" },
	{ "tables have changed", "echo > plan/contexts/tables.1", "", 0,
	  " [plan/contexts/tables.1 is damaged: its hash is another one] [plan/contexts/tables.1 is damaged: its hash is another one]"
	  " 2 of 2 tasks are not done: 0-1" },
	/* Outputs of another. */
	{ "the folder is another plan's", "mkdir -p out/.symcache; printf " STORE " > out/.symcache/plan", "", 0,
	  " [out is the output of another plan: choose another folder] [out is the output of another plan: choose another folder]"
	  " out is the output of another plan" },
	{ "it leads elsewhere", "mkdir out else; ln -s ../else out/.symcache", "", 0,
	  " [out/.symcache/done/0.json: out/.symcache is a link, which is not followed]"
	  " [out/.symcache/done/0.json: out/.symcache is a link, which is not followed]"
	  " out/.symcache/plan: Too many levels of symbolic links" },
	{ "a record has other counts", "", "sed -i 's/\"frames\":3/\"frames\":4/' out/.symcache/done/1.json", 0,
	  " {out/.symcache/done/1.json is damaged: its hash is another one: remove out/.symcache/done/1.json and run task 1 again}"
	  " 1 of 2 tasks do not match their records" },
	/* Records. */
	{ "one is missing", "", "rm out/.symcache/done/1.json", 0, " 1 of 2 tasks are not done: 1" },
	{ "the first is missing", "", "rm out/.symcache/done/0.json", 0, " 1 of 2 tasks are not done: 0" },
	{ "all are missing", "", "rm out/.symcache/done/*.json", 0, " 2 of 2 tasks are not done: 0-1" },
	{ "one is another's", "", "cp out/.symcache/done/0.json out/.symcache/done/1.json", 0,
	  " out/.symcache/done/1.json is of another plan, or damaged: remove it and run task 1 again" },
	{ "one is cut off", "", "truncate -s -1 out/.symcache/done/1.json", 0,
	  " {out/.symcache/done/1.json is cut off: remove out/.symcache/done/1.json and run task 1 again}"
	  " 1 of 2 tasks do not match their records" },
	{ "complaints are gone", "", "rm out/.symcache/done/0.complaints", 0,
	  " {out/.symcache/done/0.complaints is damaged: remove out/.symcache/done/0.json and run task 0 again}"
	  " 1 of 2 tasks do not match their records" },
	{ "complaints are others", "", "tr s t < out/.symcache/done/0.complaints > x; mv x out/.symcache/done/0.complaints", 0,
	  " {out/.symcache/done/0.complaints is damaged: remove out/.symcache/done/0.json and run task 0 again}"
	  " 1 of 2 tasks do not match their records" },
	/* Parts and outputs. */
	{ "a part is gone", "", "rm out/.symcache/parts/000001", 0,
	  " {out/.symcache/parts/000001 is not there, or not what its record says: remove out/.symcache/done/0.json and run task 0 again}"
	  " out/b cannot be put together" },
	{ "a part is short", "", "truncate -s -1 out/.symcache/parts/000002", 0,
	  " {out/.symcache/parts/000002 is not there, or not what its record says: remove out/.symcache/done/1.json and run task 1 again}"
	  " out/b cannot be put together" },
	{ "a part is another", "", "printf X | dd of=out/.symcache/parts/000001 conv=notrunc status=none", 0,
	  " {out/.symcache/parts/000001 is not there, or not what its record says: remove out/.symcache/done/0.json and run task 0 again}"
	  " out/b cannot be put together" },
	{ "an output is short", "", "truncate -s -1 out/a", 0,
	  " {out/a is not there, or not what its record says: remove out/.symcache/done/1.json and run task 1 again}"
	  " 1 log is incomplete" },
	{ "an output is gone", "", "rm out/a", 0,
	  " {out/a is not there, or not what its record says: remove out/.symcache/done/1.json and run task 1 again}"
	  " 1 log is incomplete" },
	{ "an output is a link", "", "mv out/a x; ln -s ../x out/a", 0,
	  " {out/a is not there, or not what its record says: remove out/.symcache/done/1.json and run task 1 again}"
	  " 1 log is incomplete" },
	{ "parts are merged already", "", "cat out/.symcache/parts/* > out/b; rm out/.symcache/parts/*", 0, MERGED },
	{ "one of them is there still", "", "cat out/.symcache/parts/* > out/b; rm out/.symcache/parts/000001", 0, MERGED },
	{ "what is there is another log", "",
	  "cat out/.symcache/parts/* | tr l m > out/b; rm out/.symcache/parts/*", 0,
	  " {out/.symcache/parts/000001 is not there, or not what its record says: remove out/.symcache/done/0.json and run task 0 again}"
	  " out/b cannot be put together" },
	{ "what others left goes, other files stay", "",
	  "touch out/b.0123abcd out/x.0123abcd out/.symcache/parts/000001.0123abcd out/.symcache/done/1.json.0123abcd", 0,
	  MERGED },
};

#endif
