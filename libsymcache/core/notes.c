/*
 * Notes of a core file: threads with their registers, the signal, mappings of files, the
 * auxiliary vector. They are read one by one: those of no interest (floating point) are
 * stepped over, which are most of the bytes.
 */
#include <elf.h>
#include <signal.h>

#include "libsymcache/core/parts.h"

#define NT_ARM_PAC_MASK_NUMBER 0x406

enum { PC = 64, SKIP = 65, MAX_REGISTERS = 34 };

/* Where a note NT_PRSTATUS has what: registers by their numbers in DWARF. */
static const struct status {
	uint16_t machine;
	uint8_t is_64, tid_at, registers_at, num_registers;
	uint16_t size;
	uint8_t order[MAX_REGISTERS];
} statuses[] = {
	{ EM_X86_64, 1, 32, 112, 20, 336,
	  { 15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, SKIP, PC, SKIP, SKIP, 7 } },
	{ EM_386, 0, 24, 72, 16, 144,
	  { 3, 1, 2, 6, 7, 5, 0, SKIP, SKIP, SKIP, SKIP, SKIP, PC, SKIP, SKIP, 4 } },
	{ EM_AARCH64, 1, 32, 112, 33, 392,
	  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
	    24, 25, 26, 27, 28, 29, 30, 31, PC } },
	{ EM_RISCV, 1, 32, 112, 32, 376,
	  { PC, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
	    24, 25, 26, 27, 28, 29, 30, 31 } },
};

static const struct status *status_of(const struct symcache_core *core)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
		if (statuses[i].machine == core->machine &&
		    statuses[i].is_64 == core->private->is_64)
			return &statuses[i];
	return NULL;
}

unsigned sc_core_stack_register(const struct symcache_core *core)
{
	if (!status_of(core))
		return 0;
	return core->machine == EM_X86_64 ? 7 : core->machine == EM_386 ? 4 :
	       core->machine == EM_AARCH64 ? 31 : 2;
}

bool sc_core_registers(const struct symcache_core *core, const uint8_t *bytes, size_t size,
		       struct symcache_registers *ret)
{
	const struct status *s = status_of(core);

	if (!s || size < (size_t)s->num_registers * core->word)
		return false;
	for (unsigned i = 0; i < s->num_registers; i++) {
		const uint64_t v = get_number(bytes + i * core->word, core->word);

		if (s->order[i] == PC)
			ret->pc = v;
		else if (s->order[i] != SKIP)
			symcache_set_register(ret, s->order[i], v);
	}
	return true;
}

/* A note whose content the file has. */
struct note {
	uint64_t at; /* of its content in the file */
	size_t size;
	uint32_t type;
};

/* Up to `bytes` of a note's content; the rest of `to` is zero. */
static void read_note(struct symcache_core *core, const struct note *n, void *to, size_t bytes)
{
	memset(to, 0, bytes);
	sc_core_file(core, n->at, to, n->size < bytes ? n->size : bytes);
}

static bool add_thread(struct symcache_core *core, const struct note *n)
{
	const struct status *s = status_of(core);
	uint8_t bytes[400];
	struct symcache_core_thread *t;

	if (n->size < s->size)
		return true;
	t = vec_push(&core->private->threads);
	if (!t)
		return false;
	read_note(core, n, bytes, sizeof(bytes));
	t->tid = (uint32_t)get_number(bytes + s->tid_at, 4);
	if (core->private->threads.len == 1)
		core->signal = (int)get_number(bytes + 12, 2);
	return sc_core_registers(core, bytes + s->registers_at, sizeof(bytes) - s->registers_at,
				 &t->registers);
}

static void read_process(struct symcache_core *core, const struct note *n)
{
	const bool is_64 = core->private->is_64;
	uint8_t bytes[136];

	read_note(core, n, bytes, sizeof(bytes));
	core->pid = (uint32_t)get_number(bytes + (is_64 ? 24 : 12), 4);
	memcpy(core->command, bytes + (is_64 ? 40 : 28), sizeof(core->command) - 1);
	memcpy(core->arguments, bytes + (is_64 ? 56 : 44), sizeof(core->arguments) - 1);
}

bool sc_core_has_address(int signal, int code)
{
	return code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
			    signal == SIGFPE || signal == SIGTRAP);
}

static void read_signal(struct symcache_core *core, const struct note *n)
{
	uint8_t bytes[24];

	read_note(core, n, bytes, sizeof(bytes));
	core->signal = (int)get_number(bytes, 4);
	core->signal_code = (int)get_number(bytes + 8, 4);
	core->has_signal_address = sc_core_has_address(core->signal, core->signal_code);
	core->signal_address = get_number(bytes + (core->private->is_64 ? 16 : 12), core->word);
}

static void read_auxv(struct symcache_core *core, const struct note *n)
{
	struct symcache_core_private *p = core->private;
	uint8_t pair[16];

	for (uint64_t at = 0; at + 2u * core->word <= n->size; at += 2u * core->word) {
		uint64_t type;

		if (!sc_core_file(core, n->at + at, pair, 2u * core->word))
			break;
		type = get_number(pair, core->word);
		if (type < sizeof(p->auxv) / sizeof(*p->auxv))
			p->auxv[type] = get_number(pair + core->word, core->word);
	}
}

/* NT_FILE: count, page size, {start, end, page}…, names. */
static bool read_mappings(struct symcache_core *core, const struct note *n)
{
	struct symcache_core_private *p = core->private;
	const unsigned word = core->word;
	const char *name, *end;
	uint64_t count, page;
	uint8_t *bytes;

	if (p->file_note || n->size < 2 * word)
		return true;
	p->file_note = malloc(n->size + 1);
	if (!p->file_note)
		return false;
	bytes = (uint8_t *)p->file_note;
	if (!sc_core_file(core, n->at, bytes, n->size))
		return true;
	bytes[n->size] = 0;
	count = get_number(bytes, word);
	page = get_number(bytes + word, word);
	if (count > (n->size - 2 * word) / (3 * word))
		return true;
	name = p->file_note + (2 + 3 * count) * word;
	end = p->file_note + n->size;
	for (uint64_t i = 0; i < count && name < end; i++) {
		const uint8_t *at = bytes + (2 + 3 * i) * word;
		struct mapping *m = vec_push(&p->mappings);

		if (!m)
			return false;
		*m = (struct mapping){ get_number(at, word), get_number(at + word, word),
				       get_number(at + 2 * word, word) * page, name };
		name += strlen(name) + 1;
	}
	return true;
}

static bool take_note(struct symcache_core *core, const struct note *n)
{
	uint8_t masks[16];

	switch (n->type) {
	case NT_PRSTATUS: return add_thread(core, n);
	case NT_PRPSINFO: read_process(core, n); return true;
	case NT_SIGINFO: read_signal(core, n); return true;
	case NT_AUXV: read_auxv(core, n); return true;
	case NT_FILE: return read_mappings(core, n);
	case NT_ARM_PAC_MASK_NUMBER:
		read_note(core, n, masks, sizeof(masks));
		core->signature |= get_number(masks + 8, 8);
		return true;
	}
	return true;
}

int sc_core_notes(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	uint64_t at = p->notes.offset, end = sc_core_file_end(core, at, p->notes.size);
	uint8_t head[20];
	bool signal_seen = false;

	if (!status_of(core))
		return sc_error_set(err, SC_EUNSUPPORTED, "core files of machine %u are not read",
				    core->machine);
	while (end > at && end - at >= 12 && sc_core_file(core, at, head, 12)) {
		uint64_t name_size = (get_number(head, 4) + 3) & ~3ull;
		struct note n = { at + 12 + name_size, (size_t)get_number(head + 4, 4),
				  (uint32_t)get_number(head + 8, 4) };

		if (n.at > end || n.size > end - n.at)
			break;
		/* The first thread's signal comes with its registers; other threads have
		 * their own. */
		if (name_size && name_size <= 8 &&
		    sc_core_file(core, at + 12, head + 12, (size_t)name_size) &&
		    (!memcmp(head + 12, "CORE", 4) || !memcmp(head + 12, "LINU", 4)) &&
		    (n.type != NT_SIGINFO || !signal_seen)) {
			signal_seen |= n.type == NT_SIGINFO;
			if (!take_note(core, &n))
				return sc_no_memory(err);
		}
		at = n.at + ((n.size + 3ull) & ~3ull);
	}
	return p->threads.len ? 0 :
		sc_error_set(err, SC_EFORMAT, "the core file has no threads%s",
			     core->missing ? ": it is cut off" : "");
}
