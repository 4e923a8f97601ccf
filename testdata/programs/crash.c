/*
 * A program whose addresses are known by name, for logs with markup: crash.nm
 * has its symbols and labels inside of functions, crash.debug the debug file.
 *
 * recipe: gcc -g -O1 $MAP -nostdlib -static -fno-asynchronous-unwind-tables -fcf-protection=none -Wl,--build-id=0xabcdef0123456789abcdef0123456789abcdef01 -o $OUT $SRC
 * recipe: nm $OUT > $OUT.nm
 * recipe: objcopy -N at_inner -N at_outer -N behind_call -N at_mangled -N _end -N _edata -N __bss_start $OUT
 * recipe: mkdir -p $OUT.debug/.build-id/ab
 * recipe: objcopy --only-keep-debug $OUT $OUT.debug/.build-id/ab/cdef0123456789abcdef0123456789abcdef01.debug
 */
#define LABEL(name) __asm__ volatile(".globl " #name "\n" #name ":\n\tnop")

int counter = 1;
long table[4] = { 1, 2, 3, 4 };
char *where = (char *)table;

static inline __attribute__((always_inline)) int inner(int x)
{
	LABEL(at_inner);
	return x * counter;
}

static inline __attribute__((always_inline)) int middle(int x)
{
	return inner(x + 1) + 1;
}

__attribute__((noinline)) int outer(int x)
{
	int y = middle(x);
	LABEL(at_outer);
	return y + (int)table[x & 3];
}

__attribute__((noinline)) int plain(int x)
{
	x = outer(x);
	LABEL(behind_call);
	return x + 1;
}

__attribute__((noinline)) int mangled(int x) __asm__("_ZN2ns3getEi");
int mangled(int x)
{
	LABEL(at_mangled);
	return plain(x) + *where;
}

void _start(void)
{
	mangled(1);
	while (1)
		;
}
