/*
 * trace_words.c: words for what a trace file says in codes. Where GDB has a
 * sentence for it (tstatus, tfind) this is GDB's, so that people and scripts that
 * know the one know the other.
 */
#include <inttypes.h>

#include "cmd/cli/shown.h"
#include "cmd/trace/trace.h"

const char *words_pc(enum symtrace_pc_kind kind)
{
	static const char *const words[] = {
		[SYMTRACE_PC_REGISTERS] = "from registers",
		[SYMTRACE_PC_TRACEPOINT] = "from the tracepoint",
		[SYMTRACE_PC_NO_LAYOUT] =
			"the layout of the registers is not known without a --module",
		[SYMTRACE_PC_CUT] = "the registers end before it",
		[SYMTRACE_PC_LOCATIONS] = "the tracepoint has multiple locations",
		[SYMTRACE_PC_STEPPING] = "the tracepoint does while-stepping",
		[SYMTRACE_PC_UNDEFINED] = "the tracepoint is not defined",
		[SYMTRACE_PC_DAMAGED] = "the frame is damaged",
	};

	return words[kind];
}

static const struct { const char *word, *sentence; } stops[] = {
	[SYMTRACE_STOP_UNKNOWN] = { "unknown", "Trace stopped for an unknown reason" },
	[SYMTRACE_STOP_NOT_RUN] = { "not-run", "No trace has been run on the target" },
	[SYMTRACE_STOP_COMMAND] = { "tstop", "Trace stopped by a tstop command" },
	[SYMTRACE_STOP_FULL] = { "buffer-full", "Trace stopped because the buffer was full" },
	[SYMTRACE_STOP_DISCONNECTED] = { "disconnected", "Trace stopped because of disconnection" },
	[SYMTRACE_STOP_PASSCOUNT] = { "pass-count", "Trace stopped by tracepoint " },
	[SYMTRACE_STOP_ERROR] = { "error", "Trace stopped by an error" },
};

const char *words_stop(const struct symtrace_status *status)
{
	return stops[status->stop].word;
}

static void stopped(const struct symtrace_status *s)
{
	const bool error = s->stop == SYMTRACE_STOP_ERROR;

	fputs(stops[s->stop].sentence, stdout);
	if (s->stop == SYMTRACE_STOP_PASSCOUNT)
		printf("%" PRIu64, s->stop_tracepoint);
	if (error || (s->stop == SYMTRACE_STOP_COMMAND && s->stop_text.len)) {
		fputs(" (", stdout);
		shown_put(stdout, s->stop_text.ptr, s->stop_text.len);
		if (error && s->stop_tracepoint)
			printf(", tracepoint %" PRIu64, s->stop_tracepoint);
		putchar(')');
	}
	fputs(".\n", stdout);
}

static void text_line(const char *before, struct symtrace_str text)
{
	if (text.len == 0)
		return;
	fputs(before, stdout);
	shown_put(stdout, text.ptr, text.len);
	fputs(".\n", stdout);
}

static void seconds(const char *before, uint64_t us, const char *behind)
{
	printf("%s%" PRIu64 ".%06" PRIu64 " secs%s", before, us / 1000000, us % 1000000, behind);
}

void words_status(const struct symtrace_status *s)
{
	if (!s->known) {
		fputs("Run/stop status is unknown.\n", stdout);
		return;
	}
	if (s->running)
		fputs("Trace is running on the target.\n", stdout);
	else
		stopped(s);
	if (s->frames != SYMTRACE_UNKNOWN && s->created != SYMTRACE_UNKNOWN &&
	    s->created != s->frames)
		printf("Buffer contains %" PRIu64 " trace frames (of %" PRIu64 " created total).\n",
		       s->frames, s->created);
	else if (s->frames != SYMTRACE_UNKNOWN)
		printf("Collected %" PRIu64 " trace frames.\n", s->frames);
	if (s->free_bytes != SYMTRACE_UNKNOWN) {
		printf("Trace buffer has %" PRIu64 " bytes", s->free_bytes);
		if (s->size != SYMTRACE_UNKNOWN)
			printf(" of %" PRIu64 " bytes", s->size);
		fputs(" free", stdout);
		if (s->size != SYMTRACE_UNKNOWN && s->size > 0 && s->free_bytes <= s->size)
			printf(" (%.0f%% full)",
			       (double)(uint64_t)((double)(s->size - s->free_bytes) * 100 /
						  (double)s->size));
		fputs(".\n", stdout);
	}
	printf("Trace will %s if GDB disconnects.\n", s->disconnected ? "continue" : "stop");
	if (s->circular)
		fputs("Trace buffer is circular.\n", stdout);
	text_line("Trace user is ", s->user);
	text_line("Trace notes: ", s->notes);
	if (s->start_us) {
		seconds("Trace started at ", s->start_us, "");
		if (s->stop_us)
			seconds(", stopped ", s->stop_us - s->start_us, " later");
		fputs(".\n", stdout);
	} else if (s->stop_us) {
		seconds("Trace stopped at ", s->stop_us, ".\n");
	}
}
