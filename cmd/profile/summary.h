/* summary.h: what was found in profiles, and what the store lacks. */
#ifndef CMD_PROFILE_SUMMARY_H
#define CMD_PROFILE_SUMMARY_H

#include "libsymcache/profile/profile.h"

/* Of n profilers, some of which may be NULL, to standard error. */
void print_profile_summary(struct symprofiler *const profilers[], size_t n);

#endif
