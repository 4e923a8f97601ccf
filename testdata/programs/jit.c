// Code that is made at run time calls back and waits: its name is in /tmp/perf-PID.map.
// recipe: gcc -g -O1 -fno-omit-frame-pointer $MAP -Wl,--build-id -o $OUT $SRC
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void __attribute__((noinline)) waits(void)
{
	puts("ready");
	fflush(stdout);
	pause();
}

int main(void)
{
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "wx");
	if (!map || page == MAP_FAILED)
		return 1;
	fprintf(map, "%lx %zx made at run time\n", (unsigned long)page, sizeof(code));
	fclose(map);
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return 1;
	((void (*)(void (*)(void)))page)(waits);
	return 0;
}
