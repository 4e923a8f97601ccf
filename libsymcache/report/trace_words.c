/*
 * Words for what a trace file says in codes. Where GDB has a sentence for it (tstatus, tfind)
 * this is GDB's, so that people and scripts that know the one know the other.
 */
#include <inttypes.h>

#include "libsymcache/report/trace.h"

const char *mk_trace_pc_text(enum symtrace_pc_kind kind)
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

const char *mk_trace_stop_word(const struct symtrace_status *status)
{
	return stops[status->stop].word;
}

static void stopped(struct mk_out *o, const struct symtrace_status *s)
{
	const bool error = s->stop == SYMTRACE_STOP_ERROR;

	mk_put(o, stops[s->stop].sentence);
	if (s->stop == SYMTRACE_STOP_PASSCOUNT)
		mk_put(o, s->stop_tracepoint);
	if (error || (s->stop == SYMTRACE_STOP_COMMAND && s->stop_text.len)) {
		mk_put(o, " (", mk_shown_str(s->stop_text));
		if (error && s->stop_tracepoint)
			mk_put(o, ", tracepoint ", s->stop_tracepoint);
		mk_put(o, ")");
	}
	mk_put(o, ".\n");
}

static void put_buffer(struct mk_out *o, const struct symtrace_status *s)
{
	if (s->frames != SYMTRACE_UNKNOWN && s->created != SYMTRACE_UNKNOWN &&
	    s->created != s->frames)
		mk_put(o, "Buffer contains ", s->frames, " trace frames (of ", s->created,
		       " created total).\n");
	else if (s->frames != SYMTRACE_UNKNOWN)
		mk_put(o, "Collected ", s->frames, " trace frames.\n");
	if (s->free_bytes == SYMTRACE_UNKNOWN)
		return;
	mk_put(o, "Trace buffer has ", s->free_bytes, " bytes");
	if (s->size != SYMTRACE_UNKNOWN)
		mk_put(o, " of ", s->size, " bytes");
	mk_put(o, " free");
	if (s->size != SYMTRACE_UNKNOWN && s->size > 0 && s->free_bytes <= s->size)
		mk_put(o, " (", (uint64_t)((double)(s->size - s->free_bytes) * 100 /
					   (double)s->size), "% full)");
	mk_put(o, ".\n");
}

static void put_seconds(struct mk_out *o, const char *before, uint64_t us)
{
	mk_out_printf(o, "%s%" PRIu64 ".%06" PRIu64 " secs", before, us / 1000000, us % 1000000);
}

void mk_put_trace_status(struct mk_out *o, const struct symtrace_status *s)
{
	if (!s->known) {
		mk_put(o, "Run/stop status is unknown.\n");
		return;
	}
	if (s->running)
		mk_put(o, "Trace is running on the target.\n");
	else
		stopped(o, s);
	put_buffer(o, s);
	mk_put(o, "Trace will ", s->disconnected ? "continue" : "stop", " if GDB disconnects.\n");
	if (s->circular)
		mk_put(o, "Trace buffer is circular.\n");
	if (s->user.len)
		mk_put(o, "Trace user is ", mk_shown_str(s->user), ".\n");
	if (s->notes.len)
		mk_put(o, "Trace notes: ", mk_shown_str(s->notes), ".\n");
	if (s->start_us)
		put_seconds(o, "Trace started at ", s->start_us);
	if (s->stop_us)
		put_seconds(o, s->start_us ? ", stopped " : "Trace stopped at ",
			    s->stop_us - s->start_us);
	if (s->start_us || s->stop_us)
		mk_put(o, s->start_us && s->stop_us ? " later.\n" : ".\n");
}
