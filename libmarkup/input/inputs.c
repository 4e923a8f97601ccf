/* The formats that are understood: see input.h. */
#include "libmarkup/input/input.h"

const struct mk_input *const mk_inputs[] = {
	&mk_markup_input,
	&mk_sanitizer_input,
	&mk_android_input,
	&mk_eustack_input,
	&mk_java_input,
	&mk_glibc_input,
	NULL,
};
