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
	struct filtering **filterings; /* of each thread, made when it first needs one */
};

static void end_filtering(struct batch *b, struct filtering **f)
{
	if (!*f)
		return;
	if (markup_tally_add(b->tally, filtering_filter(*f)))
		cmd_error("out of memory");
	filtering_destroy(*f);
	*f = NULL;
}

static enum symlog_result filter_log(void *ctx, unsigned worker, const struct symlog_file *log,
				     int fd, const char *output)
{
	struct batch *b = ctx;
	struct filtering **f = &b->filterings[worker];
	struct markup_options options = b->options->markup;
	struct symlog of = { .path = log->path };
	enum symlog_result result;

	options.title = log->path;
	if (!*f && filtering_create(&options, b->from, 1, b->options->complaints, b->tally, f)) {
		cmd_error("out of memory");
		return SYMLOG_FAILED;
	}
	result = filtering_run(*f, &of, fd, output);
	if (result <= SYMLOG_CUT && filtering_end(*f))
		result = SYMLOG_FAILED;
	/* A page of HTML is made by a filter of its own. */
	if (options.format == MARKUP_HTML)
		end_filtering(b, f);
	return result;
}

int filter_batch(struct symlog_list *logs, const struct batch_options *options,
		 const struct symlog_sources *from, struct markup_tally *tally)
{
	struct batch b = { .options = options, .from = from, .tally = tally,
			   .filterings = must_calloc(options->jobs, sizeof(struct filtering *)) };
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
		end_filtering(&b, &b.filterings[i]);
	free(b.filterings);
	progress_erase();
	if (!options->quiet)
		cmd_error("%zu log%s filtered, %zu finished before, %zu failed", sum.filtered,
			  sum.filtered == 1 ? "" : "s", sum.skipped, sum.failed);
	if (!options->quiet && sum.skipped && !sum.filtered && !sum.failed)
		cmd_error("nothing to do: the outputs in %s are newer than their logs",
			  options->output_dir);
	return sum.broken ? STATUS_ERROR : sum.failed || logs->failed ? STATUS_PARTLY : STATUS_OK;
}
