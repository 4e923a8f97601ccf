/* Lines and answers on standard input and output: see answering.h. */
#include "cmd/lookup/answering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"

static void put_out(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	if (len)
		fwrite(text, 1, len, stdout);
}

static void put_messages(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	if (len)
		fwrite(text, 1, len, stderr);
}

static void before_waiting(void *ctx)
{
	(void)ctx;
	out_flush();
}

static void end(struct symcache_answerer **d)
{
	symcache_answerer_destroy(*d);
}

/* An answerer with a module that can be asked. */
static int begin(struct symcache_answer_options *options, struct symcache_caches *caches,
		 struct symcache_answerer **ret, bool *reported, struct sc_error *err)
{
	int rc;

	options->out = put_out;
	options->messages = put_messages;
	options->complain = cmd_complain;
	options->wait = before_waiting;
	rc = symcache_answerer_create(options, caches, ret, err);
	return rc ? rc : symcache_answerer_check(*ret, reported, err);
}

static int finish(int rc, bool reported, const struct sc_error *err)
{
	if (rc < 0 && !reported)
		cmd_error("%s", err->msg);
	out_flush(); /* before what is left to be stored is */
	return !rc ? STATUS_OK : rc > 0 || rc == SC_ENOTFOUND ? STATUS_PARTLY : STATUS_ERROR;
}

int answer_input(struct symcache_answer_options options, struct symcache_caches *caches,
		 int argc, char **argv)
{
	__attribute__((cleanup(end))) struct symcache_answerer *d = NULL;
	struct sc_error err;
	bool reported = false;
	int rc = begin(&options, caches, &d, &reported, &err);

	if (!rc)
		rc = argc ? symcache_answerer_lines(d, argv, (size_t)argc, &err) :
			    symcache_answerer_read(d, STDIN_FILENO, &err);
	return finish(rc, reported, &err);
}

int answer_find(struct symcache_answer_options options, struct symcache_caches *caches,
		enum symcache_answer_find what, const char *text)
{
	__attribute__((cleanup(end))) struct symcache_answerer *d = NULL;
	struct sc_error err;
	bool reported = false;
	int rc = begin(&options, caches, &d, &reported, &err);

	if (!rc)
		rc = symcache_answerer_find(d, what, text, &err);
	return finish(rc, reported, &err);
}

bool may_store_answers(void)
{
	const char *wanted = getenv("SYMCACHE_INDEX_ON_MISS");

	return wanted && *wanted && strcmp(wanted, "0") != 0;
}
