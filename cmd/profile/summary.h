/* summary.h: what was found in profiles, and what the store lacks. */
#ifndef CMD_PROFILE_SUMMARY_H
#define CMD_PROFILE_SUMMARY_H

#include "libsymcache/profile/profile.h"

/* Of n profilers, some of which may be NULL: text to standard error, or a JSON object to standard
 * output. */
void print_profile_summary(struct symprofiler *const profilers[], size_t n, bool json);

#endif
