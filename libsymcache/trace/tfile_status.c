/*
 * tfile_status.c: the status line of a trace file, the reply to qTStatus without
 * its T: RUN;FIELD:VALUE;…
 *
 * Fields are distinguished by their whole name; to GDB any beginning of a name will
 * do ("t:5" is tfull to it). Unknown fields are skipped, a field without a colon
 * is an error, as in GDB.
 */
#include "libsymcache/trace/tfile_reader.h"

void tfile_read_status(struct tfile_reader *r, struct tfile_text t)
{
	struct symtrace_status *s = &r->file->status;
	const char *begin = t.p;
	const struct { const char *name; uint64_t *value; } numbers[] = {
		{ "tframes", &s->frames }, { "tcreated", &s->created },
		{ "tfree", &s->free_bytes }, { "tsize", &s->size },
		{ "starttime", &s->start_us }, { "stoptime", &s->stop_us },
	};
	const struct { const char *name; enum symtrace_stop stop; } stops[] = {
		{ "tunknown", SYMTRACE_STOP_UNKNOWN }, { "tnotrun", SYMTRACE_STOP_NOT_RUN },
		{ "tstop", SYMTRACE_STOP_COMMAND }, { "tfull", SYMTRACE_STOP_FULL },
		{ "tdisconnected", SYMTRACE_STOP_DISCONNECTED },
		{ "tpasscount", SYMTRACE_STOP_PASSCOUNT }, { "terror", SYMTRACE_STOP_ERROR },
	};

	*s = (struct symtrace_status){
		.known = true, .running = t.p < t.end && *t.p == '1',
		.frames = SYMTRACE_UNKNOWN, .created = SYMTRACE_UNKNOWN,
		.free_bytes = SYMTRACE_UNKNOWN, .size = SYMTRACE_UNKNOWN,
	};
	if (t.p == t.end) {
		tfile_fail(r, SC_EFORMAT, r->offset, "Malformed trace status: it is empty");
		return;
	}
	for (t.p++; t.p < t.end; ) {
		struct tfile_text value = { ++t.p, t.end };
		struct sc_str name = { t.p, 0 };
		const char *colon;

		t.p = memchr(name.ptr, ';', (size_t)(t.end - name.ptr));
		value.end = t.p = t.p ? t.p : t.end;
		colon = memchr(name.ptr, ':', (size_t)(value.end - name.ptr));
		if (!colon) {
			tfile_fail(r, SC_EFORMAT,
				   r->offset + strlen("status ") + (uint64_t)(name.ptr - begin),
				   "Malformed trace status, at %.*s",
				   (int)(t.end - name.ptr), name.ptr);
			return;
		}
		name.len = (size_t)(colon - name.ptr);
		value.p = colon + 1;
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			if (sc_str_is(name, numbers[i].name))
				*numbers[i].value = tfile_take_hex(&value);
		if (sc_str_is(name, "disconn"))
			s->disconnected = tfile_take_hex(&value) != 0;
		if (sc_str_is(name, "circular"))
			s->circular = tfile_take_hex(&value) != 0;
		if (sc_str_is(name, "notes"))
			s->notes = tfile_decode(r->file, value);
		if (sc_str_is(name, "username"))
			s->user = tfile_decode(r->file, value);
		for (size_t i = 0; i < sizeof(stops) / sizeof(*stops); i++) {
			if (!sc_str_is(name, stops[i].name))
				continue;
			s->stop = stops[i].stop;
			/* TEXT:NUMBER, of older writers NUMBER alone */
			colon = memchr(value.p, ':', (size_t)(value.end - value.p));
			if (colon) {
				s->stop_text = tfile_decode(r->file,
						(struct tfile_text){ value.p, colon });
				value.p = colon + 1;
			}
			s->stop_tracepoint = tfile_take_hex(&value);
		}
	}
}

