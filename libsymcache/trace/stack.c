/*
 * The stack of a trace frame, from the registers and the memory that it collected: see
 * symcache/collected.h.
 *
 * Code that is in no image may be code all the same: of libraries. So stacks go on behind it by
 * frame pointers and scanning, which say so.
 */
#include <string.h>

#include "symcache/collected.h"

struct walk {
	struct symtrace_collected *collected;
	const struct symcache_images *images;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	return symtrace_collected_read(((struct walk *)ctx)->collected, address, to, bytes);
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_module *ret)
{
	const struct symcache_image *image = symcache_images_find(((struct walk *)ctx)->images,
								  address);
	struct symcache_frames frames;
	struct symcache_row row;

	*ret = (struct symcache_unwind_module){
		image ? image->cache : NULL, image ? image->begin : 0, (void *)image };
	/* Its data are not code. */
	return image && (symcache_find_row(image->cache, address - image->begin, &row) ||
			 symcache_lookup(image->cache, address - image->begin, &frames));
}

struct symtrace_target symtrace_target_of(const struct symcache_images *images)
{
	for (size_t i = 0; symcache_images_get(images, i); i++) {
		const struct symcache_ext_image *image =
			symcache_images_get(images, i)->cache->image;

		if (image)
			return (struct symtrace_target){ image->machine, image->elf_class == 64,
							 image->big_endian };
	}
	return (struct symtrace_target){ 0 };
}

int symtrace_walk(const struct symtrace *file, const struct symtrace_frame *frame,
		  struct symtrace_pc pc, const struct symcache_images *images,
		  struct symtrace_stack *ret, struct sc_error *err)
{
	const struct symtrace_target target = symtrace_target_of(images);
	struct walk walk = { &ret->collected, images };
	const struct symcache_unwind_source source = {
		.machine = target.machine, .read = read_memory, .module = find_module, .ctx = &walk,
	};
	int rc;

	ret->word = target.is64 ? 8 : 4;
	ret->stack.num_frames = 0;
	if (file->big_endian)
		rc = sc_error_set(err, SC_EUNSUPPORTED,
				  "stacks of big-endian machines are not read");
	else
		rc = symtrace_collect(file, frame, pc, target.machine, &ret->collected, err);
	if (!rc)
		rc = symcache_stack_walk(&source, &ret->collected.registers, false, &ret->stack,
					 err);
	if (!rc)
		ret->collected_end = symtrace_collected_end(&ret->collected,
							    ret->stack.frames[0].stack_pointer);
	return rc;
}

void symtrace_stack_deinit(struct symtrace_stack *s)
{
	symtrace_collected_deinit(&s->collected);
	symcache_stack_deinit(&s->stack);
}
