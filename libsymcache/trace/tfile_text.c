/* What the readers of the definitions share: faults, notices, text: see tfile_reader.h. */
#include <stdarg.h>
#include <stdio.h>

#include "libsymcache/trace/tfile_reader.h"

int tfile_fail(struct tfile_reader *r, int code, uint64_t offset, const char *fmt, ...)
{
	struct symtrace_error *fault = &r->file->fault;
	va_list ap;

	if (r->failed)
		return r->failed;
	fault->offset = offset;
	va_start(ap, fmt);
	vsnprintf(fault->msg, sizeof(fault->msg), fmt, ap);
	va_end(ap);
	return r->failed = code;
}

void tfile_notice(struct tfile_reader *r, uint64_t offset, const char *fmt, ...)
{
	struct symtrace *f = r->file;
	char *msg;
	va_list ap;

	if (f->num_notices >= SYMTRACE_NOTICES_MAX) {
		f->num_notices++;
		return;
	}
	va_start(ap, fmt);
	msg = sc_vtext(fmt, ap);
	va_end(ap);
	if (!msg)
		tfile_fail(r, SC_ENOMEM, offset, "out of memory");
	else
		f->notices[f->num_notices++] = (struct symtrace_notice){ offset, msg };
}

struct sc_str tfile_decode(struct symtrace *f, struct tfile_text t)
{
	struct sc_str s = { f->text + f->text_len, 0 };
	int hi, lo;

	for (; t.end - t.p >= 2; t.p += 2) {
		hi = sc_hex_digit(t.p[0]);
		lo = sc_hex_digit(t.p[1]);
		if (hi < 0 || lo < 0)
			break;
		f->text[f->text_len++] = (char)(hi << 4 | lo);
		s.len++;
	}
	f->text[f->text_len++] = '\0';
	return s;
}
