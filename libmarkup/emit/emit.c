/*
 * The running program as markup: see emit.h.
 *
 * All that can be said before a crash is made into one string by init: the
 * modules and their maps. A signal handler then only writes that string, formats
 * numbers on its stack, and walks the frames with the compiler's unwinder, which
 * init has called once because it sets itself up on first use. Each frame is
 * written as soon as it is known, so that a stack too damaged to walk still
 * shows its top.
 *
 * Where the interrupted instruction lies in no module there is nothing to
 * unwind by: most often a bad pointer was called. Then the address it
 * would return to and the chain of frame pointers are followed instead, through
 * reads that can fail without harm.
 */
#include "parts.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unwind.h>

#include "../emit.h"

#define FRAMES_MAX 512

/* What is known of the modules. Replaced as a whole, never freed: a handler may
 * be reading it. */
struct known {
	struct known *older;
	unsigned long long adds, subs; /* of the dynamic linker, when it was made */
	struct text text;              /* elements */
	size_t num_ranges, cap_ranges;
	struct range { uintptr_t start, end; } *ranges; /* of executable segments */
};

static _Atomic(struct known *) known;

/* ---- init: modules → text --------------------------------------------------- */

struct collect {
	struct known *k;
	uint64_t num_modules;
	bool no_memory;
};

/* Makes room for `more` bytes. */
static bool reserve(struct collect *c, size_t more)
{
	struct text *t = &c->k->text;
	const size_t cap = t->cap * 2 + more + 4096;
	char *buf;

	if (more <= t->cap - t->len)
		return true;
	buf = realloc(t->buf, cap);
	if (!buf) {
		c->no_memory = true;
		return false;
	}
	*t = (struct text){ buf, t->len, cap };
	return true;
}

/* A name as a field: what would end a field or a line is replaced. */
static void add_name(struct text *t, const char *name)
{
	for (; *name; name++)
		add_char(t, strchr(":{}", *name) || (unsigned char)*name < ' ' ? '_' : *name);
}

/* The GNU build ID among the notes in [p, end), or NULL. */
static const uint8_t *find_build_id(const uint8_t *p, const uint8_t *end, size_t align, size_t *len)
{
	ElfW(Nhdr) note;

	while ((size_t)(end - p) >= sizeof(note)) {
		memcpy(&note, p, sizeof(note));
		size_t left = (size_t)(end - p) - sizeof(note);
		size_t name = ((size_t)note.n_namesz + align - 1) / align * align;
		size_t desc = ((size_t)note.n_descsz + align - 1) / align * align;
		p += sizeof(note);
		if (name > left || note.n_descsz > left - name)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(p, "GNU", 4) && note.n_descsz) {
			*len = note.n_descsz;
			return p + name;
		}
		if (desc > left - name)
			return NULL;
		p += name + desc;
	}
	return NULL;
}

static const uint8_t *module_build_id(const struct dl_phdr_info *info, size_t *len)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_NOTE)
			continue;
		const uint8_t *p = (const uint8_t *)(info->dlpi_addr + ph->p_vaddr), *id;
		id = find_build_id(p, p + ph->p_memsz, ph->p_align == 8 ? 8 : 4, len);
		if (id)
			return id;
	}
	return NULL;
}

static void append_segment(struct collect *c, const struct dl_phdr_info *info,
			   const ElfW(Phdr) *ph)
{
	struct known *k = c->k;
	struct text *t = &k->text;
	const uint64_t address = info->dlpi_addr + ph->p_vaddr;

	if (!reserve(c, 128))
		return;
	add(t, "{{{mmap:");
	add_number(t, address, 16);
	add(t, ":");
	add_number(t, ph->p_memsz, 16);
	add(t, ":load:");
	add_number(t, c->num_modules, 10);
	add(t, ph->p_flags & PF_R ? ":r" : ":");
	add(t, ph->p_flags & PF_W ? "w" : "");
	add(t, ph->p_flags & PF_X ? "x:" : ":");
	add_number(t, ph->p_vaddr, 16);
	add(t, "}}}\n");

	if (!(ph->p_flags & PF_X))
		return;
	if (k->num_ranges == k->cap_ranges) {
		size_t cap = k->cap_ranges * 2 + 64;
		struct range *ranges = realloc(k->ranges, cap * sizeof(*ranges));
		if (!ranges) {
			c->no_memory = true;
			return;
		}
		k->ranges = ranges;
		k->cap_ranges = cap;
	}
	k->ranges[k->num_ranges++] = (struct range){ address, address + ph->p_memsz };
}

static int append_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct collect *c = ctx;
	struct text *t = &c->k->text;
	const char *name = info->dlpi_name;
	size_t len = 0;
	const uint8_t *id = module_build_id(info, &len);
	char exe[4096];

	(void)size;
	if (!id)
		return 0;
	if (!name || !*name) { /* the program itself */
		ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
		exe[n > 0 ? n : 0] = 0;
		name = exe;
	}
	if (!reserve(c, strlen(name) + 2 * len + 64))
		return 1;
	add(t, "{{{module:");
	add_number(t, c->num_modules, 10);
	add(t, ":");
	add_name(t, name);
	add(t, ":elf:");
	for (size_t i = 0; i < len; i++) {
		add_char(t, "0123456789abcdef"[id[i] >> 4]);
		add_char(t, "0123456789abcdef"[id[i] & 15]);
	}
	add(t, "}}}\n");
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & 7 &&
		    info->dlpi_phdr[i].p_memsz)
			append_segment(c, info, &info->dlpi_phdr[i]);
	c->num_modules++;
	return c->no_memory;
}

/* Notes how many modules the dynamic linker has ever loaded and unloaded. */
static int note_counts(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct known *k = ctx;
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
		k->adds = info->dlpi_adds;
		k->subs = info->dlpi_subs;
	}
	return 1;
}

static _Unwind_Reason_Code no_frames(struct _Unwind_Context *context, void *ctx)
{
	(void)context;
	(void)ctx;
	return _URC_END_OF_STACK;
}

int markup_emit_init(void)
{
	struct known *old = atomic_load(&known), now = { .older = old };
	struct collect c = { .k = &now };

	dl_iterate_phdr(note_counts, &now);
	if (old && now.adds && now.adds == old->adds && now.subs == old->subs)
		return 0;
	if (reserve(&c, 64))
		add(&now.text, "{{{reset}}}\n");
	dl_iterate_phdr(append_module, &c);
	struct known *k = malloc(sizeof(*k));
	if (!k || c.no_memory) {
		free(k);
		free(now.text.buf);
		free(now.ranges);
		return -ENOMEM;
	}
	*k = now;
	_Unwind_Backtrace(no_frames, NULL);
	atomic_store(&known, k);
	return 0;
}

void markup_emit_modules(int fd)
{
	const struct known *k = atomic_load(&known);
	if (k)
		write_all(fd, k->text.buf, k->text.len);
}

/* ---- frames ----------------------------------------------------------------- */

static void write_frame(int fd, unsigned number, uintptr_t address, const char *type)
{
	struct text l = NEW_LINE;

	add(&l, "{{{bt:");
	add_number(&l, number, 10);
	add(&l, ":");
	add_number(&l, address, 16);
	add(&l, type);
	add(&l, "}}}\n");
	write_all(fd, l.buf, l.len);
}

static bool is_code(uintptr_t address)
{
	const struct known *k = atomic_load(&known);

	for (size_t i = 0; k && i < k->num_ranges; i++)
		if (address >= k->ranges[i].start && address < k->ranges[i].end)
			return true;
	return false;
}

/* Registers by which frames are found. */
struct place {
	uintptr_t pc, sp, fp;
};

static bool read_place(const void *ucontext, struct place *ret)
{
	const ucontext_t *uc = ucontext;

	if (!uc)
		return false;
#if defined(__x86_64__)
	const greg_t *r = uc->uc_mcontext.gregs;
	*ret = (struct place){ (uintptr_t)r[REG_RIP], (uintptr_t)r[REG_RSP],
			       (uintptr_t)r[REG_RBP] };
	return true;
#elif defined(__aarch64__)
	*ret = (struct place){ uc->uc_mcontext.pc, uc->uc_mcontext.sp, uc->uc_mcontext.regs[29] };
	return true;
#else
	(void)ret;
	return false;
#endif
}

struct walk {
	int fd;
	unsigned number;     /* of the next frame */
	unsigned skip;       /* frames of our own that are still to come */
	bool seek;           /* until the one at `pc` */
	uintptr_t pc, last_sp;
};

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *context, void *ctx)
{
	struct walk *w = ctx;
	int before = 0;
	uintptr_t ip = (uintptr_t)_Unwind_GetIPInfo(context, &before);
	uintptr_t sp = (uintptr_t)_Unwind_GetCFA(context);

	if (w->skip) {
		w->skip--;
		return _URC_NO_REASON;
	}
	if (w->seek) { /* through the handler and the signal frame */
		if (ip != w->pc)
			return _URC_NO_REASON;
		w->seek = false;
		before = 1;
	} else if (!ip) {
		return _URC_END_OF_STACK;
	} else if (w->number == FRAMES_MAX) {
		static const char more[] = "(frames further out are not shown)\n";
		write_all(w->fd, more, sizeof(more) - 1);
		return _URC_END_OF_STACK;
	} else if (sp == w->last_sp && w->number > 1) {
		return _URC_END_OF_STACK; /* going in circles */
	}
	w->last_sp = sp;
	write_frame(w->fd, w->number++, ip, before ? ":pc" : ":ra");
	return _URC_NO_REASON;
}

/* Reads memory that may not be there. */
static bool peek(uintptr_t address, uintptr_t ret[], size_t n)
{
	struct iovec local = { ret, n * sizeof(*ret) };
	struct iovec remote = { (void *)address, n * sizeof(*ret) };
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)local.iov_len;
}

/* Follows the chain of frame pointers from `p`, which is at no code. */
static void walk_frame_pointers(int fd, const struct place *p)
{
	uintptr_t frame[2], fp = p->fp;
	unsigned number = 1;

#if defined(__x86_64__)
	/* A call pushed the address to return to just before. */
	if (peek(p->sp, frame, 1) && is_code(frame[0]))
		write_frame(fd, number++, frame[0], ":ra");
#endif
	while (number < FRAMES_MAX && fp && fp % sizeof(fp) == 0 && peek(fp, frame, 2) &&
	       is_code(frame[1])) {
		write_frame(fd, number++, frame[1], ":ra");
		if (frame[0] <= fp)
			return;
		fp = frame[0];
	}
}

__attribute__((noinline))
void markup_emit_backtrace(int fd, const void *ucontext)
{
	struct walk w = { .fd = fd, .skip = 1 };
	struct place p;

	if (!read_place(ucontext, &p)) {
		_Unwind_Backtrace(one_frame, &w);
		return;
	}
	if (is_code(p.pc)) {
		w.seek = true;
		w.skip = 0;
		w.pc = p.pc;
		_Unwind_Backtrace(one_frame, &w);
		if (!w.seek)
			return;
	}
	write_frame(fd, 0, p.pc, ":pc");
	walk_frame_pointers(fd, &p);
}
