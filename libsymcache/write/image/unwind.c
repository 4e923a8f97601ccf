/*
 * Where unwind information comes from: see unwind.h.
 *
 *   .eh_frame      of the image: it is loaded, so a separate debug file lacks it
 *   .debug_frame   of the image or its debug file, where .eh_frame has no entry
 *   instructions   of the image in what is left: signal trampolines (musl, old AArch64)
 *
 * One walk over both lists of entries in the order of addresses; no list is made of it.
 */
#include "libsymcache/write/image/unwind.h"

#include <elf.h>

struct source {
	struct dw_cfi cfi;
	size_t next;     /* entry */
	uint32_t bit;    /* enum symcache_cfi_source */
};

struct walk {
	struct sc_elf *image;
	struct sc_unwind_maker maker;
	struct source eh, debug;
	size_t next_code; /* executable range that the next gap may lie in */
};

static bool is_code(const void *ctx, uint64_t vaddr)
{
	const struct sc_elf *image = ctx;

	return sc_elf_range_at(&image->exec, vaddr);
}

/* ---- signal trampolines ------------------------------------------------------------------ */

/* A trampoline's instructions, and where the kernel saved registers, from its stack
 * pointer on: register `first` and `count` − 1 following ones at `offset` and behind. */
struct trampoline {
	uint16_t machine;
	uint8_t size, code[9];
	uint8_t stack_pointer, num_saved;
	struct { uint8_t reg; int16_t offset; } saved[33];
};

static const struct trampoline trampolines[] = {
	/* mov $15,%rax; syscall: a ucontext at rsp, general registers from 40 on */
	{ EM_X86_64, 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 7, 17,
	  { { 0, 144 }, { 1, 136 }, { 2, 152 }, { 3, 128 }, { 4, 112 }, { 5, 104 }, { 6, 120 },
	    { 7, 160 }, { 8, 40 }, { 9, 48 }, { 10, 56 }, { 11, 64 }, { 12, 72 }, { 13, 80 },
	    { 14, 88 }, { 15, 96 }, { DW_CFI_RETURN, 168 } } },
	/* mov x8, #139; svc #0: a siginfo of 128 bytes, and the ucontext */
	{ EM_AARCH64, 8, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 }, 31, 33,
	  { { 0, 312 }, { 1, 320 }, { 2, 328 }, { 3, 336 }, { 4, 344 }, { 5, 352 }, { 6, 360 },
	    { 7, 368 }, { 8, 376 }, { 9, 384 }, { 10, 392 }, { 11, 400 }, { 12, 408 }, { 13, 416 },
	    { 14, 424 }, { 15, 432 }, { 16, 440 }, { 17, 448 }, { 18, 456 }, { 19, 464 },
	    { 20, 472 }, { 21, 480 }, { 22, 488 }, { 23, 496 }, { 24, 504 }, { 25, 512 },
	    { 26, 520 }, { 27, 528 }, { 28, 536 }, { 29, 544 }, { 30, 552 }, { 31, 560 },
	    { DW_CFI_RETURN, 568 } } },
};

static const struct trampoline *trampoline_of(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (trampolines[i].machine == machine)
			return &trampolines[i];
	return NULL;
}

static bool add_trampoline(struct walk *w, const struct trampoline *t, uint64_t at)
{
	struct dw_cfi_row row = { .cfa = DW_CFI_CFA_REGISTER, .cfa_reg = t->stack_pointer,
				  .flags = SYMCACHE_ROW_SIGNAL_FRAME | SYMCACHE_ROW_MADE,
				  .num_rules = t->num_saved };

	for (size_t i = 0; i < t->num_saved; i++)
		row.rules[i] = (struct dw_cfi_rule){ t->saved[i].reg, DW_CFI_AT_CFA, 0,
						     t->saved[i].offset };
	w->maker.out->facts.sources |= SYMCACHE_UNWIND_CODE;
	return sc_unwind_add(&w->maker, at, at + t->size, &row);
}

/* Trampolines in the code of [from, to), which no entry describes. */
static bool search_gap(struct walk *w, uint64_t from, uint64_t to)
{
	const struct trampoline *t = trampoline_of(w->image->machine);
	const struct sc_elf_range *codes = w->image->exec.list.data;
	bool ok = true;

	for (; t && w->next_code < w->image->exec.list.len; w->next_code++) {
		const struct sc_elf_range *code = &codes[w->next_code];
		uint64_t start = code->start > from ? code->start : from;
		uint64_t end = code->end < to ? code->end : to;
		const uint8_t *bytes, *hit;
		size_t size;

		if (code->start >= to)
			break;
		if (start < end && end - start >= t->size) {
			bytes = sc_elf_bytes_at(w->image, start, &size);
			if (size > end - start)
				size = end - start;
			while (ok && size >= t->size && (hit = memmem(bytes, size, t->code, t->size))) {
				ok = add_trampoline(w, t, start + (uint64_t)(hit - bytes));
				size -= (size_t)(hit - bytes) + t->size;
				start += (uint64_t)(hit - bytes) + t->size;
				bytes = hit + t->size;
			}
		}
		if (code->end > to)
			break;
	}
	return ok;
}

/* ---- entries ------------------------------------------------------------------------- */

static bool run(struct walk *w, struct source *s, uint64_t from, uint64_t to, uint64_t *pos)
{
	const struct dw_cfi_entry *e = &s->cfi.entries.data[s->next++];

	if (e->start > from)
		from = e->start;
	if (e->end < to)
		to = e->end;
	if (from >= to)
		return true;
	if (from > *pos && !search_gap(w, *pos, from))
		return false;
	*pos = to;
	w->maker.section = &s->cfi.section;
	w->maker.out->facts.sources |= s->bit;
	return dw_cfi_run(&s->cfi, e, from, to, sc_unwind_add, &w->maker);
}

static uint64_t next_start(const struct source *s)
{
	return s->next < s->cfi.entries.len ? s->cfi.entries.data[s->next].start : UINT64_MAX;
}

static bool walk(struct walk *w)
{
	uint64_t pos = 0, described = 0;
	bool ok = true;

	while (ok && (w->eh.next < w->eh.cfi.entries.len || w->debug.next < w->debug.cfi.entries.len)) {
		uint64_t eh = next_start(&w->eh);

		if (eh <= next_start(&w->debug) && w->eh.next < w->eh.cfi.entries.len) {
			described = w->eh.cfi.entries.data[w->eh.next].end;
			ok = run(w, &w->eh, 0, UINT64_MAX, &pos);
		} else {
			ok = run(w, &w->debug, described, eh, &pos);
		}
	}
	return ok && search_gap(w, pos, UINT64_MAX);
}

/* ---- sections ---------------------------------------------------------------------------- */

static void note_fault(struct sc_unwind *u, uint64_t n, const struct sc_error *first)
{
	if (n && !u->facts.broken)
		u->first_fault = *first;
	u->facts.broken += (uint32_t)n;
}

/* Reads `name` of `elf`, if it is there. SC_ENOMEM. */
static int read_section(struct walk *w, struct sc_elf *elf, const char *name,
			const struct dw_cfi_machine *machine, struct source *ret,
			struct sc_error *err)
{
	struct dw_cfi_section s = { .machine = machine, .is_64 = elf->is_64, .eh = ret == &w->eh,
				    .swap = w->maker.swap };
	struct sc_error fault;
	int rc = sc_elf_section(elf, name, &s.bytes.data, &s.bytes.size, &fault);

	if (!rc) {
		s.vaddr = sc_elf_section_address(elf, name);
		s.text = sc_elf_section_address(elf, ".text");
		s.data = sc_elf_section_address(elf, ".got");
		rc = dw_cfi_read(&s, is_code, w->image, &ret->cfi, &fault);
	}
	if (rc == SC_ENOMEM)
		return sc_error_set(err, rc, "out of memory");
	if (rc && rc != SC_ENOTFOUND)
		note_fault(w->maker.out, 1, &fault);
	return 0;
}

static int read_sections(struct walk *w, struct sc_elf *debug, const struct dw_cfi_machine *machine,
			 struct sc_error *err)
{
	struct sc_elf *with = debug && sc_elf_has(debug, ".debug_frame") ? debug : w->image;
	int rc = 0;

	/* Those of objects are not relocated as .eh_frame would need it. */
	if (w->image->type != ET_REL)
		rc = read_section(w, w->image, ".eh_frame", machine, &w->eh, err);
	return rc ? rc : read_section(w, with, ".debug_frame", machine, &w->debug, err);
}

int sc_unwind_read(struct sc_elf *image, struct sc_elf *debug, struct sc_unwind *ret,
		   struct sc_error *err)
{
	const struct dw_cfi_machine *machine = dw_cfi_machine(image->machine);
	struct walk w = {
		.image = image,
		.maker = { .out = ret, .load_base = image->load_base, .is_64 = image->is_64,
			   .swap = image->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) },
		.eh.bit = SYMCACHE_UNWIND_EH_FRAME, .debug.bit = SYMCACHE_UNWIND_DEBUG_FRAME,
	};
	int rc;

	if (!machine)
		return 0;
	ret->facts = (struct symcache_ext_unwind){
		.stack_pointer = machine->stack_pointer, .frame_pointer = machine->frame_pointer,
		.link = machine->link, .word = image->is_64 ? 8 : 4, .preserved = machine->preserved,
	};
	rc = read_sections(&w, debug, machine, err);
	if (!rc && !(walk(&w) && sc_unwind_finish(&w.maker)))
		rc = sc_error_set(err, SC_ENOMEM, "out of memory");
	note_fault(ret, w.eh.cfi.broken, &w.eh.cfi.first_fault);
	note_fault(ret, w.debug.cfi.broken, &w.debug.cfi.first_fault);
	dw_cfi_deinit(&w.eh.cfi);
	dw_cfi_deinit(&w.debug.cfi);
	sc_unwind_maker_deinit(&w.maker);
	return rc;
}
