/* Many logs, each into a file of its own: see filtering.h. */
#include <stdlib.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/filter/filtering.h"

struct batch {
	const struct batch_options *options;
	const struct symlog_sources *from;
	struct markup_tally *tally;
	struct symlog_filter **filters; /* of each thread, made when it first needs one */
};

static void end_filter(struct batch *b, struct symlog_filter **f)
{
	if (!*f)
		return;
	if (markup_tally_add(b->tally, symlog_filter_markup(*f)))
		cmd_error("out of memory");
	symlog_filter_destroy(*f);
	*f = NULL;
}

static enum symlog_result filter_log(void *ctx, unsigned worker, const struct symlog_file *log,
				     int fd, const char *output)
{
	struct batch *b = ctx;
	struct symlog_filter **f = &b->filters[worker];
	struct markup_options markup = b->options->markup;
	struct symlog_filter_options how = filter_options(&markup, b->from, b->tally);
	struct symlog of = { .path = log->path, .output = { fd, output } };
	enum symlog_result result = SYMLOG_FAILED;
	struct sc_error err;

	markup.title = log->path;
	how.quiet = b->options->quiet;
	if (*f || !symlog_filter_create(&how, f, &err))
		result = symlog_filter_run(*f, &of, &err);
	if (result <= SYMLOG_CUT && symlog_filter_end(*f, &err))
		result = SYMLOG_FAILED;
	if (result == SYMLOG_FAILED)
		cmd_error("%s", err.msg);
	/* A page of HTML is made by a filter of its own. */
	if (markup.format == MARKUP_HTML)
		end_filter(b, f);
	return result;
}

int filter_batch(struct symlog_list *logs, const struct batch_options *options,
		 const struct symlog_sources *from, struct markup_tally *tally)
{
	struct batch b = { .options = options, .from = from, .tally = tally,
			   .filters = must_calloc(options->jobs, sizeof(struct symlog_filter *)) };
	const struct symlog_batch_options how = {
		.output_dir = options->output_dir, .format = options->markup.format,
		.jobs = options->jobs, .filter = filter_log, .progress = progress_update,
		.fault = cmd_complain, .ctx = &b,
	};
	struct symlog_batch sum;

	progress_begin("filtering", PROGRESS_BYTES, options->quiet);
	if (symlog_batch(logs, &how, &sum, NULL))
		must(NULL);
	for (unsigned i = 0; i < options->jobs; i++)
		end_filter(&b, &b.filters[i]);
	free(b.filters);
	progress_erase();
	if (!options->quiet)
		cmd_error("%zu log%s filtered, %zu finished before, %zu failed", sum.filtered,
			  sum.filtered == 1 ? "" : "s", sum.skipped, sum.failed);
	if (!options->quiet && sum.skipped && !sum.filtered && !sum.failed)
		cmd_error("nothing to do: the outputs in %s are newer than their logs",
			  options->output_dir);
	return sum.broken ? STATUS_ERROR : sum.failed || logs->failed ? STATUS_PARTLY : STATUS_OK;
}
