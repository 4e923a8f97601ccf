/*
 * tfile.c: the definitions of a GDB trace file: lines of text between the magic
 * and an empty line.
 *
 * Two steps. First the lines are read in the order of the file; status and R are
 * kept at once, every piece of a tracepoint becomes one struct symtrace_piece. Then
 * tfile_tp.c folds the pieces into tracepoints.
 *
 * Decoded text goes into one buffer as large as the definitions: a line decodes
 * to less than it takes, so the buffer never grows and pointers into it stay.
 *
 * Where GDB would run past the end of a line there is a notice.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/trace/tfile_reader.h"

#define MAGIC "\177TRACE0\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define LINE_MAX_BYTES 999

/* Makes room for one more element of `size` bytes; false: out of memory. */
static bool grow(struct tfile_reader *r, void **array, size_t *cap, size_t len, size_t size)
{
	return vec_reserve_(array, cap, len, 1, size) ||
	       !tfile_fail(r, SC_ENOMEM, r->offset, "out of memory");
}

/* ---- lines -------------------------------------------------------------------- */

static void read_variable(struct tfile_reader *r, struct tfile_text t)
{
	struct symtrace *f = r->file;
	struct symtrace_variable v = { .offset = r->offset, .number = (int64_t)tfile_take_hex(&t) };
	bool whole = tfile_skip(&t, ':');

	v.initial = (int64_t)tfile_take_hex(&t);
	whole = whole && tfile_skip(&t, ':');
	v.builtin = tfile_take_hex(&t) != 0;
	if (!whole || !tfile_skip(&t, ':')) {
		tfile_notice(r, r->offset,
			     "Trace state variable definition is cut short, ignoring");
		return;
	}
	if (!grow(r, (void **)&f->variables, &f->cap_variables, f->num_variables, sizeof(v)))
		return;
	v.name = tfile_decode(f, t);
	f->variables[f->num_variables++] = v;
}

static void read_piece(struct tfile_reader *r, struct tfile_text t)
{
	struct symtrace *f = r->file;
	struct symtrace_piece p = { .offset = r->offset };
	char letter = '\0';
	bool whole;

	if (t.p < t.end)
		letter = *t.p++;
	p.number = tfile_take_hex(&t);
	whole = tfile_skip(&t, ':');
	p.address = tfile_take_hex(&t);
	whole = tfile_skip(&t, ':') && whole;
	switch (letter) {
	case 'T': p.kind = SYMTRACE_PIECE_DEFINITION; break;
	case 'V': p.kind = SYMTRACE_PIECE_STATUS; break;
	case 'A': p.kind = SYMTRACE_PIECE_ACTION; break;
	case 'S': p.kind = SYMTRACE_PIECE_STEP_ACTION; break;
	case 'Z':
		if (tfile_skip_word(&t, "at:")) {
			p.kind = SYMTRACE_PIECE_AT;
		} else if (tfile_skip_word(&t, "cond:")) {
			p.kind = SYMTRACE_PIECE_COND;
		} else if (tfile_skip_word(&t, "cmd:")) {
			p.kind = SYMTRACE_PIECE_CMD;
		} else {
			tfile_notice(r, r->offset, "Unrecognized tracepoint source, ignoring");
			return;
		}
		p.start = (uint32_t)tfile_take_hex(&t);
		whole = tfile_skip(&t, ':') && whole;
		tfile_take_hex(&t); /* the length says no more than the text does */
		whole = tfile_skip(&t, ':') && whole;
		break;
	default:
		tfile_notice(r, r->offset, "Unrecognized tracepoint piece '%.*s', ignoring",
			     letter != '\0', &letter);
		return;
	}
	/* A definition is kept for its number and address. */
	if (!whole)
		tfile_notice(r, r->offset, "Tracepoint piece '%c' is cut short%s", letter,
			     letter == 'T' ? "" : ", ignoring");
	if (!whole && letter != 'T')
		return;
	if (!grow(r, (void **)&f->pieces, &f->cap_pieces, f->num_pieces, sizeof(p)))
		return;
	p.text = tfile_rest(&t);
	f->pieces[f->num_pieces++] = p;
}

static void read_line(struct tfile_reader *r, const char *p, const char *end)
{
	struct tfile_text t = { p, end };

	if (end > p + 1 && end[-1] == '\r') /* went through a DOS editor */
		t.end--;
	if (tfile_skip_word(&t, "R ")) {
		while (tfile_skip(&t, ' ') || tfile_skip(&t, '\t'))
			;
		if (!tfile_skip_word(&t, "0x"))
			tfile_skip_word(&t, "0X");
		r->file->regblock_size = tfile_take_hex(&t);
	} else if (tfile_skip_word(&t, "status ")) {
		tfile_read_status(r, t);
	} else if (tfile_skip_word(&t, "tp ")) {
		read_piece(r, t);
	} else if (tfile_skip_word(&t, "tsv ")) {
		read_variable(r, t);
	} else if (tfile_skip_word(&t, "tdesc ")) {
		if (!r->file->tdesc_offset)
			r->file->tdesc_offset = r->offset;
	} else {
		tfile_notice(r, r->offset, "Ignoring trace file definition \"%.*s\"",
			     (int)(end - p), p);
	}
}

static int compare_variables(const void *a, const void *b)
{
	const struct symtrace_variable *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->offset < y->offset ? -1 : 1;
}

/* Sorts the variables; of one number the last one stays. */
static void sort_variables(struct symtrace *f)
{
	size_t n = 0;

	if (f->num_variables)
		qsort(f->variables, f->num_variables, sizeof(*f->variables), compare_variables);
	for (size_t i = 0; i < f->num_variables; i++) {
		if (n > 0 && f->variables[n - 1].number == f->variables[i].number)
			n--; /* the later one replaces it */
		f->variables[n++] = f->variables[i];
	}
	f->num_variables = n;
}

/* Joins the tdesc lines; they need not follow each other. */
static void join_tdesc(struct symtrace *f, const char *p, const char *end)
{
	struct sc_str s = { f->text + f->text_len, 0 };

	for (const char *lf; f->tdesc_offset && p < end; p = lf + 1) {
		struct tfile_text t = { p, NULL };

		t.end = lf = memchr(p, '\n', (size_t)(end - p));
		if (!tfile_skip_word(&t, "tdesc "))
			continue;
		memcpy(f->text + f->text_len, t.p, (size_t)(lf + 1 - t.p));
		f->text_len += (size_t)(lf + 1 - t.p);
		s.len += (size_t)(lf + 1 - t.p);
	}
	if (!f->tdesc_offset)
		return;
	f->text[f->text_len++] = '\0';
	f->tdesc = s;
}

/* ---- the file ------------------------------------------------------------------- */

static const char premature[] = "Premature end of file while reading trace file";

/* The end of the lines that can be read: the empty line that closes them (returns
 * NULL in *fault), or where they break off. */
static const char *lines_end(const char *p, const char *end, const char **fault)
{
	for (const char *lf; ; p = lf + 1) {
		size_t left = (size_t)(end - p);

		lf = memchr(p, '\n', left > LINE_MAX_BYTES ? LINE_MAX_BYTES + 1 : left);
		*fault = lf ? NULL : left > LINE_MAX_BYTES ?
			 "Excessively long lines in trace file" : premature;
		if (!lf || lf == p)
			return p;
	}
}

int symtrace_read(struct symtrace *ret, const void *data, size_t size)
{
	struct tfile_reader r = { .file = ret };
	const char *begin = data, *lines, *p, *lf, *end, *fault;

	*ret = (struct symtrace){
		.data = data, .size = size,
		.status = { .frames = SYMTRACE_UNKNOWN, .created = SYMTRACE_UNKNOWN,
			    .free_bytes = SYMTRACE_UNKNOWN, .size = SYMTRACE_UNKNOWN },
	};
	if (size < MAGIC_SIZE)
		return tfile_fail(&r, SC_EFORMAT, size, "not a GDB trace file");
	if (memcmp(begin, MAGIC, MAGIC_SIZE) != 0)
		return tfile_fail(&r, SC_EFORMAT, 0, "not a GDB trace file");

	lines = begin + MAGIC_SIZE;
	end = lines_end(lines, begin + size, &fault);
	ret->text = malloc((size_t)(end - lines) + 1);
	if (!ret->text)
		return tfile_fail(&r, SC_ENOMEM, MAGIC_SIZE, "out of memory");
	for (p = lines; p < end && !r.failed; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		r.offset = (uint64_t)(p - begin);
		read_line(&r, p, lf);
	}
	if (fault)
		tfile_fail(&r, SC_EFORMAT, fault == premature ? size : (uint64_t)(end - begin),
			   "%s", fault);
	tfile_fold_pieces(&r);
	sort_variables(ret);
	join_tdesc(ret, lines, p);
	if (ret->regblock_size == 0 || ret->regblock_size > INT32_MAX)
		tfile_fail(&r, SC_EFORMAT, (uint64_t)(end - begin),
			   "No register block size recorded in trace file");
	if (!r.failed)
		ret->frames_offset = (uint64_t)(end - begin) + 1;
	return r.failed;
}
