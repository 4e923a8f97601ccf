/* The formats that are understood: see input.h. */
#include "libmarkup/input/input.h"

const struct mk_input *const mk_inputs[] = {
	&mk_markup_input,
	&mk_sanitizer_input,
	NULL,
};
