/*
 * Errors of libsymcache: a negative code and a message in storage of the
 * caller, so that reporting a failure never allocates.
 *
 * A function that can fail returns 0 or a negative SC_E… code and fills the
 * `struct sc_error` passed last (which may be NULL). Whoever knows more adds
 * it in front with sc_error_prefix(). Absence (SC_ENOTFOUND) is an answer, not
 * a failure: callers test for it before they print anything.
 */
#ifndef SC_ERROR_H
#define SC_ERROR_H

enum sc_code {
	SC_OK = 0,
	SC_ENOTFOUND = -1,    /* absent: no such entry, section, file or symbol */
	SC_EINVAL = -2,       /* the caller's argument makes no sense */
	SC_ESYS = -3,         /* a system call failed; the message says which and why */
	SC_ENOMEM = -4,       /* out of memory */
	SC_EFORMAT = -5,      /* the bytes are not what they claim to be */
	SC_EUNSUPPORTED = -6, /* well-formed, but of a kind we do not read */
	SC_ENOSYMBOLS = -7,   /* an ELF file with neither DWARF nor function symbols */
	SC_ELIMIT = -8,       /* a limit of the output format was reached */
	SC_EFULL = -9,        /* no space left on the device */
};

struct sc_error {
	int code;      /* an SC_E… code, or 0 */
	char msg[256]; /* one line without newline, always NUL-terminated */
};

/* Fills `err` (if not NULL) with `code` and a printf message; returns `code`. */
int sc_error_set(struct sc_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As sc_error_set(SC_ESYS), with ": " and strerror(errno) behind the message.
 * ENOMEM becomes SC_ENOMEM and ENOSPC or EDQUOT SC_EFULL. */
int sc_error_sys(struct sc_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* SC_ENOMEM, "out of memory"; counted. */
int sc_no_memory(struct sc_error *err);

/*
 * How often memory was refused to this process. Where an answer lacks something for that (a name, a
 * module), no callee may be able to report it: the code that gives answers compares this with what
 * it was before, and gives none. What is beyond the limit of an account does not count.
 */
unsigned long sc_memory_refusals(void);
void sc_memory_refused(void);

/* Puts a printf text in front of the message: "unit at 0x1f: " + "…".
 * Returns err->code (or SC_EINVAL for a NULL err). What no longer fits is cut
 * off at the end. */
int sc_error_prefix(struct sc_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* `message` without "PATH: " in front, where it begins so. */
const char *sc_error_behind(const char *message, const char *path);

#endif
