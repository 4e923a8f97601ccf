/* Symbols of all kinds: an indirect function, one without a type, sizes of 0, aliases. */
__attribute__((noinline)) int plain(int x) { return x * 3 + 1; }
int __GI_plain(int x) __attribute__((alias("plain"), visibility("hidden")));
int plain_weak(int x) __attribute__((weak, alias("plain")));
int __plain(int x) __attribute__((alias("plain")));

static int fast(int x) { return x * 5; }
static int slow(int x) { return x + x + x + x + x; }
volatile int which;

/* What the program calls is chosen when it is loaded. */
static int (*choose(void))(int) { return which ? fast : slow; }
int pick(int x) __attribute__((ifunc("choose")));

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define NOP "nop\n nop\n nop\n nop\n"
__asm__(".text\n"
	".globl no_type\n no_type:\n" NOP NOP
	".globl sizeless\n .type sizeless, %function\n sizeless:\n" NOP NOP
	".globl after_sizeless\n .type after_sizeless, %function\n after_sizeless:\n" NOP
	".size after_sizeless, . - after_sizeless\n"
	".globl last_sizeless\n .type last_sizeless, %function\n"
	".section .text.last,\"ax\",%progbits\n last_sizeless:\n" NOP NOP ".text\n");
#endif
