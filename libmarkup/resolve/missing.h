/*
 * missing.h: which modules had addresses that found nothing, and how many.
 *
 * One entry for each build ID, or name if there is none, over all resets, so that a warning is
 * given once and the summary can rank them. After MISSING_MAX of them no more are added: their
 * addresses go uncounted, and their warnings unsaid. The same goes for IDs that are too long
 * to be any.
 */
#ifndef MARKUP_MISSING_H
#define MARKUP_MISSING_H

#include "libmarkup/markup.h"

#define MISSING_MAX 65536u
#define MISSING_ID_MAX 256u
#define MISSING_NAME_MAX 256u /* longer names are cut off */

struct mk_modules {
	struct markup_module **entries; /* in the order of arrival */
	uint32_t len, cap;
	uint32_t *index;                 /* hash → entry + 1; power of two slots */
	uint32_t slots;
};

void mk_modules_deinit(struct mk_modules *t);

/* The entry of a module, made if there is none; NULL: there is none (see above),
 * or no memory. */
struct markup_module *mk_modules_entry(struct mk_modules *t, struct sc_str name,
					const uint8_t *build_id, size_t build_id_len);

/* Adds what was counted of `m` to its entry, made if there is none. */
void mk_modules_add(struct mk_modules *t, const struct markup_module *m);

/* Makes an entry with what is known of its symbols. */
void mk_modules_list(struct mk_modules *t, const struct markup_module *m);

/* The entry that there is, or NULL. */
const struct markup_module *mk_modules_find(const struct mk_modules *t, struct sc_str name,
					    const uint8_t *build_id, size_t build_id_len);

/* Calls `fn` for each entry, most frames first. Returns 0 or -ENOMEM. */
int mk_modules_each(const struct mk_modules *t,
		    void (*fn)(void *ctx, const struct markup_module *m), void *ctx);

#endif
