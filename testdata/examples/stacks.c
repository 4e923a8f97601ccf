/* The stacks of a core file, or of a process that runs, by its ID.  stacks CORE|PID */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <symcache-build.h>

static int print(void *ctx, const struct symcache_walked_thread *thread,
		 const struct symcache_walked_frame *frame)
{
	const struct symcache_frame *f;

	(void)ctx;
	if (!frame) {
		printf("thread %" PRIu32 ": %s\n\n", thread->tid, thread->end);
		return 0;
	}
	printf("0x%" PRIx64 " %s\n", frame->pc, frame->path);
	for (f = frame->frames; f->function; f++)
		printf("  %s at %s:%u\n", f->function, f->file, f->line);
	return 0;
}

int main(int argc, char **argv)
{
	struct symcache_stack_options options = { sizeof(options), NULL, NULL };
	struct symcache_error err = { 0, "usage: stacks CORE|PID" };
	uint32_t pid = argc == 2 ? (uint32_t)atoi(argv[1]) : 0;
	int failed;

	if (argc != 2 || symcache_store_open(NULL, 0, &options.store, &err))
		return fprintf(stderr, "%s\n", err.msg), 1;
	failed = pid ? symcache_process_stacks(pid, &options, print, NULL, &err) :
		       symcache_core_stacks(argv[1], &options, print, NULL, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.msg);
	symcache_store_close(options.store);
	return failed != 0;
}
