/* Lines of the Linux kernel's log → frames, as "FUNCTION+OFFSET/SIZE MODULE <BUILD ID>", "=" before
 * an exact one; and which kernel it is: "is RELEASE BUILD-ID". */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/input/input.h"

#define ID20 "3b43fad5c0c38faed8b0a5d27d6bcb9e33b5ffab"
#define ID16 "0123456789abcdef0123456789abcdef"

static const struct {
	const char *line, *events;
} cases[] = {
	/* Frames. */
	{ " vfs_read+0xb6/0x30c", "vfs_read+b6/30c vmlinux " },
	{ "[  1.5]  ? vfs_read+0xb6/0x30c", "vfs_read+b6/30c vmlinux " },
	{ " a.cold+0x1/0x2 b$c+0x1/0x2 __d_e9+0x1/0x2",
	  "a.cold+1/2 vmlinux b$c+1/2 vmlinux __d_e9+1/2 vmlinux " },
	{ " f+0x30c/0x30c", "f+30c/30c vmlinux " },
	{ " f+0x30d/0x30c", "" },       /* behind its end */
	{ " f+0xb6", "" },
	{ " f+0xb6/", "" },
	{ " f+0xb6/30c", "" },
	{ " f+0xb6/0x30cz", "" },
	{ " f+0xb6/0x30c+0x1", "" },
	{ " 7f+0xb6/0x30c", "" },       /* no name begins with a digit */
	{ " +0xb6/0x30c", "" },
	{ "\\nf+0x1/0x2\\tg+0x1/0x2", "f+1/2 vmlinux g+1/2 vmlinux " },
	/* Modules, their flags and build IDs. */
	{ " f+0x1/0x2 [ext4]", "f+1/2 ext4 " },
	{ " f+0x1/0x2 [snd-hda_codec]", "f+1/2 snd-hda_codec " },
	{ " f+0x1/0x2 [ext4 " ID20 "]", "f+1/2 ext4 <" ID20 "> " },
	{ " f+0x1/0x2 [nvidia(POE) " ID20 "]", "f+1/2 nvidia <" ID20 "> " },
	{ " f+0x1/0x2 [nvidia(OE)]", "f+1/2 nvidia " },
	{ " f+0x1/0x2 [ext4 ]", "f+1/2 ext4 " },
	{ " f+0x1/0x2 [ext4", "f+1/2 vmlinux " },
	{ " f+0x1/0x2 []", "f+1/2 vmlinux " },
	{ " f+0x1/0x2 [ext4 no id]", "f+1/2 vmlinux " },
	{ " f+0x1/0x2 [ext4(POE", "f+1/2 vmlinux " },
	{ " f+0x1/0x2[ext4]", "f+1/2 vmlinux " },
	/* Exact ones. */
	{ "RIP: 0010:f+0x963/0xb85 [overlay]", "=f+963/b85 overlay " },
	{ "pc : f+0x1/0x2", "=f+1/2 vmlinux " },
	{ "PC is at f+0x1/0x2", "=f+1/2 vmlinux " },
	{ "lr : f+0x1/0x2", "f+1/2 vmlinux " },
	{ "LR is at f+0x1/0x2", "f+1/2 vmlinux " },
	{ "pc : [<c0101234>] f+0x1/0x2", "=f+1/2 vmlinux " },
	{ "NIP [c000000000012340] f+0x1/0x2", "=f+1/2 vmlinux " },
	{ "LR [c000000000012340] f+0x1/0x2", "f+1/2 vmlinux " },
	{ "epc   : 80012340 f+0x1/0x2", "=f+1/2 vmlinux " },
	{ "ra    : 80012340 f+0x1/0x2", "f+1/2 vmlinux " },
	{ "BUG: KASAN: use-after-free in f+0x1/0x2", "=f+1/2 vmlinux " },
	{ "WARNING: CPU: 0 PID: 1 at a.c:9 f+0x1/0x2", "=f+1/2 vmlinux " },
	{ " f+0x31/0x51 (P)", "=f+31/51 vmlinux " },
	{ " f+0x31/0x51 [m] (P)", "=f+31/51 m " },
	{ " f+0x31/0x51 (L)", "f+31/51 vmlinux " },
	{ " f+0x0/0x51", "=f+0/51 vmlinux " }, /* nothing returns there */
	/* Which kernel it is. */
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 " ID20, "is 6.1.0 " ID20 " " },
	{ "CPU: 1 PID: 42 Comm: d Tainted: G  OE  6.1.0-13-amd64 #1 Debian " ID16 " x", "is 6.1.0-13-amd64 " ID16 " " },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 0123456789abcdef0123456789abcde", "is 6.1.0  " },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1", "is 6.1.0  " },
	{ "{\"m\":\"CPU: 1 Comm: d Not tainted 6.1.0 #1 " ID16 "\\n\"}", "is 6.1.0 " ID16 " " },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #x", "" },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #", "" },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0", "" },
	{ "CPU: 1 PID: 42 Comm: d 6.1.0 #1", "" },
	{ "CPU: 1 PID: 42 Comm: d Not tainted ../6.1 #1", "" },
	{ "CPU: 1 PID: 42 Comm: d Not tainted  #1", "" },
	/* A program may be called anything. */
	{ "CPU: 1 PID: 42 Comm: f+0x1/0x2 Not tainted 6.1.0 #1", "is 6.1.0  " },
};

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mk_line l = { .p = cases[i].line, .len = strlen(cases[i].line),
				     .part = MK_LINE_WHOLE, .newline = "\n" };
		char got[512] = "";
		size_t len = 0;

		mk_read_line(&mk_kernel_input, &l);
		for (size_t k = 0; k < l.num_events; k++) {
			const struct mk_event *e = &l.events[k];
			const bool binds = e->kind == MK_MODULE;

			assert_true(e->kernel);
			assert_true(binds ? e->binds : e->in_module && e->form == MK_FORM_PLACES);
			if (binds)
				len += (size_t)snprintf(got + len, sizeof(got) - len, "is %.*s %.*s ",
					(int)e->name.len, e->name.ptr, (int)e->detail.len, e->detail.ptr);
			else
				len += (size_t)snprintf(got + len, sizeof(got) - len,
					"%s%.*s+%llx/%llx %.*s %s%.*s%s", e->returns == MK_EXACT ? "=" : "",
					(int)e->function.len, e->function.ptr, (unsigned long long)e->lookup,
					(unsigned long long)e->symbol_size, (int)e->name.len, e->name.ptr,
					e->build_id.len ? "<" : "", (int)e->build_id.len, e->build_id.ptr,
					e->build_id.len ? "> " : "");
		}
		if (strcmp(got, cases[i].events))
			fail_msg("%s\n  is %s\n not %s\n", cases[i].line, got, cases[i].events);
		free(l.events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines) };

	return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
