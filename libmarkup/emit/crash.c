/*
 * A crash as markup: registers, the stack, and the handler that writes all of emit.h.
 * Everything here is async-signal-safe but the installing.
 */
#include "parts.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "../emit.h"

#define ALT_STACK (128u << 10)

/* ---- registers -------------------------------------------------------------- */

#if defined(__x86_64__)
static const struct { char name[4]; int at; } registers[] = {
	{ "RIP", REG_RIP }, { "RSP", REG_RSP }, { "RBP", REG_RBP }, { "EFL", REG_EFL },
	{ "RAX", REG_RAX }, { "RBX", REG_RBX }, { "RCX", REG_RCX }, { "RDX", REG_RDX },
	{ "RSI", REG_RSI }, { "RDI", REG_RDI }, { "R8", REG_R8 },   { "R9", REG_R9 },
	{ "R10", REG_R10 }, { "R11", REG_R11 }, { "R12", REG_R12 }, { "R13", REG_R13 },
	{ "R14", REG_R14 }, { "R15", REG_R15 }, { "CR2", REG_CR2 },
};
#define NUM_REGISTERS (sizeof(registers) / sizeof(registers[0]))
#elif defined(__aarch64__)
static const struct { char name[4]; } registers[] = {
	{ "X0" }, { "X1" }, { "X2" }, { "X3" }, { "X4" }, { "X5" }, { "X6" }, { "X7" }, { "X8" },
	{ "X9" }, { "X10" }, { "X11" }, { "X12" }, { "X13" }, { "X14" }, { "X15" }, { "X16" },
	{ "X17" }, { "X18" }, { "X19" }, { "X20" }, { "X21" }, { "X22" }, { "X23" }, { "X24" },
	{ "X25" }, { "X26" }, { "X27" }, { "X28" }, { "X29" }, { "X30" }, { "SP" }, { "PC" },
};
#define NUM_REGISTERS (sizeof(registers) / sizeof(registers[0]))
#else
static const struct { char name[4]; } registers[1];
#define NUM_REGISTERS 0u
#endif

static uint64_t value_of(const ucontext_t *uc, size_t i)
{
#if defined(__x86_64__)
	return (uint64_t)uc->uc_mcontext.gregs[registers[i].at];
#elif defined(__aarch64__)
	return i < 31 ? uc->uc_mcontext.regs[i] :
	       i == 31 ? uc->uc_mcontext.sp : uc->uc_mcontext.pc;
#else
	return uc && i;
#endif
}

void markup_emit_registers(int fd, const void *ucontext)
{
	struct text l = NEW_LINE;

	if (!ucontext || !NUM_REGISTERS)
		return;
	add(&l, "{{{hexdict:");
	for (size_t i = 0; i < NUM_REGISTERS; i++) {
		add(&l, registers[i].name);
		add(&l, ": ");
		add_number(&l, value_of(ucontext, i), 16);
		if (i + 1 < NUM_REGISTERS)
			add(&l, i % 4 == 3 ? "\n" : " ");
		else
			add(&l, "}}}\n");
		if (i % 4 == 3 || i + 1 == NUM_REGISTERS) {
			write_all(fd, l.buf, l.len);
			l.len = 0;
		}
	}
}

/* ---- the stack -------------------------------------------------------------- */

#define STACK_BYTES 16384u

/* Bytes that come in pieces, in base64. */
struct base64 {
	struct text *to;
	uint32_t bits;    /* of bytes that are not written yet */
	unsigned num_bits;
};

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_bytes(struct base64 *b, const uint8_t *p, size_t n)
{
	for (; n--; p++) {
		b->bits = b->bits << 8 | *p;
		for (b->num_bits += 8; b->num_bits >= 6; b->num_bits -= 6)
			add_char(b->to, base64_digits[b->bits >> (b->num_bits - 6) & 63]);
	}
}

static void end_bytes(struct base64 *b)
{
	if (b->num_bits)
		add_char(b->to, base64_digits[b->bits << (6 - b->num_bits) & 63]);
	if (b->num_bits)
		add(b->to, b->num_bits == 2 ? "==" : "=");
}

/* All registers that unwinding may need; returns the stack pointer. */
static uintptr_t add_fields(struct text *t, const ucontext_t *uc)
{
	uintptr_t sp = 0;

	for (size_t i = 0; i < NUM_REGISTERS; i++) {
		char name[4] = { 0 };

		for (size_t k = 0; k < 3 && registers[i].name[k]; k++)
			name[k] = (char)(registers[i].name[k] | 32); /* digits have that bit */
		if (!memcmp(name, "efl", 4) || !memcmp(name, "cr2", 4))
			continue;
		if (!memcmp(name, "rip", 4) || !memcmp(name, "rsp", 4))
			memcpy(name, name[1] == 'i' ? "pc" : "sp", 3);
		if (!memcmp(name, "sp", 3))
			sp = (uintptr_t)value_of(uc, i);
		add(t, name);
		add(t, "=");
		add_number(t, value_of(uc, i), 16);
		add(t, ":");
	}
	return sp;
}

void markup_emit_stack(int fd, const void *ucontext)
{
	char buf[STACK_BYTES / 3 * 4 + 2048];
	struct text t = { buf, 0, sizeof(buf) };
	struct base64 base64 = { .to = &t };
	uint8_t bytes[1024];
	uintptr_t sp, end;

	if (!ucontext || !NUM_REGISTERS)
		return;
	add(&t, "{{{stack:");
	add_number(&t, (uint64_t)gettid(), 10);
	add(&t, ":");
	sp = add_fields(&t, ucontext);
	end = sp + STACK_BYTES;
	while (sp < end) {
		/* None of these is in two pages. */
		const size_t n = sizeof(bytes) - sp % sizeof(bytes);
		struct iovec local = { bytes, n < end - sp ? n : end - sp };
		struct iovec remote = { (void *)sp, local.iov_len };

		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)local.iov_len)
			break;
		add_bytes(&base64, bytes, local.iov_len);
		sp += local.iov_len;
	}
	end_bytes(&base64);
	add(&t, "}}}\n");
	write_all(fd, t.buf, t.len);
}

/* ---- the crash handler ------------------------------------------------------ */

static const struct { int number; const char *name; } fatal[] = {
	{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" },   { SIGILL, "SIGILL" },
	{ SIGFPE, "SIGFPE" },   { SIGTRAP, "SIGTRAP" }, { SIGSYS, "SIGSYS" },
	{ SIGABRT, "SIGABRT" },
};
#define NUM_FATAL (sizeof(fatal) / sizeof(fatal[0]))

static struct sigaction before[NUM_FATAL];
static int crash_fd;
static atomic_int crash_stack; /* is written, not a backtrace */
static atomic_int crashing; /* the thread that is writing, or 0 */

static void write_signal(int fd, size_t i, const siginfo_t *info)
{
	struct text l = NEW_LINE;

	add(&l, "*** ");
	add(&l, fatal[i].name);
	if (info->si_code > 0 && fatal[i].number != SIGABRT) {
		add(&l, " at {{{data:");
		add_number(&l, (uintptr_t)info->si_addr, 16);
		add(&l, "}}}");
	}
	add(&l, ", process ");
	add_number(&l, (uint64_t)getpid(), 10);
	add(&l, ", thread ");
	add_number(&l, (uint64_t)gettid(), 10);
	add(&l, "\n");
	write_all(fd, l.buf, l.len);
}

static void on_crash(int number, siginfo_t *info, void *ucontext)
{
	int mine = gettid(), other = 0, saved = errno;
	size_t i = 0;

	while (i + 1 < NUM_FATAL && fatal[i].number != number)
		i++;
	if (!atomic_compare_exchange_strong(&crashing, &other, mine) && other != mine)
		while (1) /* another thread is writing, then all end */
			pause();
	/* From here on the signal does what it did before us; so does a crash
	 * of this handler. */
	sigaction(number, &before[i], NULL);
	if (!other) {
		markup_emit_modules(crash_fd);
		write_signal(crash_fd, i, info);
		markup_emit_registers(crash_fd, ucontext);
		if (crash_stack && NUM_REGISTERS)
			markup_emit_stack(crash_fd, ucontext);
		else
			markup_emit_backtrace(crash_fd, ucontext);
	}
	atomic_store(&crashing, 0);
	/* A fault happens again when we return; what was sent must be sent again. */
	if (info->si_code <= 0)
		tgkill(getpid(), mine, number);
	errno = saved;
}

void markup_emit_crash_stack(int yes)
{
	crash_stack = yes;
}

int markup_emit_crash_handler(int fd)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static void *stack;
	int rc = markup_emit_init();

	if (rc)
		return rc;
	crash_fd = fd;
	if (!stack) {
		void *p = mmap(NULL, ALT_STACK, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		stack = p;
		stack_t alt = { .ss_sp = stack, .ss_size = ALT_STACK };
		if (sigaltstack(&alt, NULL))
			return -errno;
	}
	action.sa_sigaction = on_crash;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NUM_FATAL; i++) {
		struct sigaction old;
		if (sigaction(fatal[i].number, &action, &old))
			return -errno;
		/* Called a second time, do not take ourselves for the one before. */
		if (!(old.sa_flags & SA_SIGINFO) || old.sa_sigaction != on_crash)
			before[i] = old;
	}
	return 0;
}
