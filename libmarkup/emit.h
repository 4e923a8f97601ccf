/*
 * emit.h: the running program describes itself as symbolizer markup: its
 * modules, where they are mapped, and a backtrace, for `symcache filter` (or any
 * other filter of this format) to turn into functions, files and lines.
 *
 *   int main(void)
 *   {
 *           markup_emit_crash_handler(STDERR_FILENO);
 *           …
 *   }
 *
 * or, wherever a backtrace is wanted:
 *
 *   markup_emit_init();                       once, and after each dlopen()
 *   markup_emit_modules(fd);
 *   markup_emit_backtrace(fd, NULL);
 *
 * What an address needs to be understood later is its module's build ID, so
 * link with -Wl,--build-id (the default of most distributions); modules without
 * one are left out. Nothing is symbolized here: no symbols are needed at run
 * time and nothing is read that a crash may have damaged, but the stack.
 *
 * Needs Linux with glibc or musl and the compiler's unwinder; the precise
 * address and the registers of a signal are known on x86-64 and AArch64.
 */
#ifndef MARKUP_EMIT_H
#define MARKUP_EMIT_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Notes the modules that are loaded now, and readies the unwinder. Everything
 * that is not async-signal-safe happens here. May be called again, by one thread
 * at a time; does little if no module has come or gone. Returns 0 or -ENOMEM.
 */
int markup_emit_init(void);

/* Writes {{{reset}}} and a module and its mmap elements, one on each line, for
 * what markup_emit_init() found. Async-signal-safe. */
void markup_emit_modules(int fd);

/*
 * Writes a bt element on each line, innermost frame first. With the third
 * argument of an SA_SIGINFO handler for `ucontext`, frame 0 is the interrupted
 * instruction, marked `pc`; with NULL it is the caller. The other frames are
 * marked `ra`, as return addresses. Async-signal-safe after markup_emit_init()
 * with glibc 2.35 and later (before, the unwinder may wait for a lock of the
 * dynamic linker).
 */
void markup_emit_backtrace(int fd, const void *ucontext);

/* Writes the registers of an interrupted program as a hexdict element; nothing
 * where they are not known. Async-signal-safe. */
void markup_emit_registers(int fd, const void *ucontext);

/*
 * Writes the registers of an interrupted program and up to 16 KiB of its stack as one
 * element, on one line of some 22 KB. `symcache filter` unwinds it: neither frame pointers nor
 * an unwinder are needed at run time, nor .eh_frame in memory. Other filters leave the element
 * as it is, and so without a backtrace. Nothing is written where registers are not known.
 * Async-signal-safe; takes 32 KiB of stack. A ucontext of getcontext() will do, too.
 */
void markup_emit_stack(int fd, const void *ucontext);

/*
 * Calls markup_emit_init() and installs a handler for SIGSEGV, SIGBUS, SIGILL,
 * SIGFPE, SIGTRAP, SIGSYS and SIGABRT that writes all of the above to `fd` and
 * then lets the signal take the course it would have taken without us (the
 * handler that was there before, or death with a core). It runs on a stack of
 * its own in the thread that calls this, so that a stack overflow is reported there.
 * Returns 0 or a negative errno.
 */
int markup_emit_crash_handler(int fd);

/* Is the handler to write the stack, as markup_emit_stack() does, in place of a backtrace?
 * 0, the default: no. */
void markup_emit_crash_stack(int yes);

#ifdef __cplusplus
}
#endif

#endif
