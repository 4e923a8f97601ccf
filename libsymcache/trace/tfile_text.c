/* What the readers of the definitions share: faults, notices, text: see tfile_reader.h. */
#include <stdarg.h>
#include <stdio.h>

#include "libsymcache/trace/tfile_reader.h"

/* The first fault stays. */
static bool first_fault(struct tfile_reader *r, int code, uint64_t offset)
{
	if (r->failed)
		return false;
	r->failed = code;
	r->file->fault.offset = offset;
	return true;
}

void tfile_fail(struct tfile_reader *r, uint64_t offset, const char *fmt, ...)
{
	struct symtrace_error *fault = &r->file->fault;
	va_list ap;

	if (!first_fault(r, SC_EFORMAT, offset))
		return;
	va_start(ap, fmt);
	vsnprintf(fault->msg, sizeof(fault->msg), fmt, ap);
	va_end(ap);
}

int tfile_no_memory(struct tfile_reader *r, uint64_t offset)
{
	if (first_fault(r, SC_ENOMEM, offset))
		strcpy(r->file->fault.msg, "out of memory");
	return SC_ENOMEM;
}

void tfile_notice(struct tfile_reader *r, uint64_t offset, const char *fmt, ...)
{
	struct symtrace *f = r->file;
	char *msg;
	va_list ap;
	int len;

	if (f->num_notices >= SYMTRACE_NOTICES_MAX) {
		f->num_notices++;
		return;
	}
	va_start(ap, fmt);
	len = vasprintf(&msg, fmt, ap);
	va_end(ap);
	if (len < 0)
		tfile_no_memory(r, offset);
	else
		f->notices[f->num_notices++] = (struct symtrace_notice){ offset, msg };
}

struct symtrace_str tfile_decode(struct symtrace *f, struct tfile_text t)
{
	struct symtrace_str s = { f->text + f->text_len, 0 };
	int hi, lo;

	for (; t.end - t.p >= 2; t.p += 2) {
		hi = tfile_hex_digit(t.p[0]);
		lo = tfile_hex_digit(t.p[1]);
		if (hi < 0 || lo < 0)
			break;
		f->text[f->text_len++] = (char)(hi << 4 | lo);
		s.len++;
	}
	f->text[f->text_len++] = '\0';
	return s;
}
