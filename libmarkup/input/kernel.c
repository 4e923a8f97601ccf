/*
 * Traces of the Linux kernel, in the kernel's log or a collector's:
 *
 *   CPU: 1 PID: 42 Comm: depotd Not tainted 6.1.0 #1 3b43fad5…    release, build ID of vmlinux
 *   RIP: 0010:ovl_lookup+0x963/0xb85 [overlay 55daea20…]           exact
 *    ? vfs_read+0xb6/0x30c                                         return address
 *    rtc_month_days+0x31/0x51 (P)                                  interrupted: exact
 *
 * A name, an offset from its start, and its size, which distinguishes functions of one name, and
 * other builds. Return addresses are the rule; exact are a program counter with its name, what
 * was interrupted, and places of code in messages.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

#define SYMBOL_MAX 512

static bool of_symbol(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$';
}

/* Is the address in front of which the line says [p, end) that of the instruction itself? */
static bool is_exact(const char *p, const char *end)
{
	static const char *const words[] = { ":", "pc : ", "PC is at ", " in " };

	const char *hex = end;

	/* An address may stand between, of MIPS, or in brackets. */
	while (hex > p && (hex[-1] == ' ' || mk_digit(hex[-1]) < 16))
		hex--;
	if (hex < end && mk_ends_with(p, hex, ":") && mk_ends_with(p, mk_trimmed(p, hex - 1), "epc"))
		return true;
	if (mk_ends_with(p, end, "] ")) {
		const char *open = memrchr(p, '[', (size_t)(end - p));
		end = open && mk_ends_with(p, open, "pc : ") ? open : end;
		if (open && mk_ends_with(p, open, "NIP "))
			return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (mk_ends_with(p, end, words[i]))
			return true;
	return mk_find(p, end, "WARNING: ");
}

/* " [MODULE]" or " [MODULE BUILDID]" at *p, which moves behind it. */
static void take_module(const char **p, const char *end, struct mk_event *e)
{
	const char *at = *p, *name;
	struct sc_str module, id = { NULL, 0 };

	if (!mk_match(&at, end, " ["))
		return;
	for (name = at; at < end && (of_symbol(*at) || *at == '-');)
		at++;
	module = sc_span(name, at);
	if (at < end && *at == '(') /* flags of what it taints */
		while (at < end && *at != ']' && *at != ' ')
			at++;
	if (!module.len || !(mk_match(&at, end, "]") || mk_match(&at, end, " ]") ||
			     mk_match(&at, end, " %b]", &id)))
		return;
	e->name = module;
	e->build_id = id;
	*p = at;
}

/* A frame with its "+0x" at `plus`, in a line that was read up to `from`; where it ends, or
 * NULL. */
static const char *read_frame(struct mk_line *l, const char *from, const char *plus,
			      const char *end)
{
	const char *name = plus, *p = plus, *behind;
	uint64_t offset, size;
	struct mk_event *e;
	bool exact;

	while (name > from && of_symbol(name[-1]) && plus - name < SYMBOL_MAX)
		name--;
	/* An escaped newline or tab is not a part of it. */
	if (name > from && name[-1] == '\\' && (*name == 'n' || *name == 't'))
		name++;
	if (name == plus || (*name >= '0' && *name <= '9') ||
	    !mk_match(&p, end, "+0x%x/0x%x", &offset, &size) ||
	    (p < end && (of_symbol(*p) || *p == '+')) || offset > size)
		return NULL;
	e = mk_add_frame(l, "kernel", name, p);
	e->name = sc_str_of("vmlinux");
	e->form = MK_FORM_PLACES;
	behind = p;
	take_module(&behind, end, e);
	e->kernel = true;
	e->origin = MARKUP_FROM_SYMBOL;
	e->function = e->symbol = sc_span(name, plus);
	e->symbol_size = size;
	e->lookup = offset;
	/* Nothing returns to the first byte of a function. */
	exact = is_exact(from, name) || mk_match(&behind, end, " (P)");
	e->returns = offset && !exact ? MK_RETURN : MK_EXACT;
	e->reach = exact ? 16 : 1; /* registers and code are behind an exact one */
	return p;
}

static const char banner[] = " Comm: ";

/* The line that says which kernel it is, with its banner at `comm`. */
static void read_banner(struct mk_line *l, const char *comm, const char *end)
{
	const char *p = mk_find(comm, end, "ainted"), *number, *word;
	struct sc_str release, id = { NULL, 0 };

	number = p ? mk_find(p, end, " #") : NULL;
	if (!number || number + 2 == end || number[2] < '0' || number[2] > '9')
		return;
	for (word = number; word > p && word[-1] != ' ';)
		word--;
	release = sc_span(word, number);
	if (word == p || !release.len || release.len > 64 || memchr(word, '/', release.len))
		return;
	/* Its build ID is the only word of so many hex digits. */
	for (p = number + 1; p < end && !id.len; p = word + 1) {
		for (word = p; word < end && *word > ' ' && *word != '"' && *word != '\\';)
			word++;
		if (word - p >= 32 && mk_is_build_id(sc_span(p, word)))
			id = sc_span(p, word);
	}
	mk_add_binding(l, release.ptr, id.len ? id.ptr + id.len : number, release, id)->kernel = true;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *p = l->p, *plus, *comm = mk_find(p, end, banner);

	if (comm)
		read_banner(l, comm, end);
	while (!comm && (plus = mk_find(p, end, "+0x"))) {
		const char *behind = read_frame(l, p, plus, end);
		p = behind ? behind : plus + 3;
	}
}

const struct mk_input mk_kernel_input = {
	.name = "kernel",
	.words = (const char *const[]){ "+0x", "omm:", NULL },
	.context_words = (const char *const[]){ banner, NULL },
	.longest = 8192,
	.read = read_line,
	.cuttable = true,
};
