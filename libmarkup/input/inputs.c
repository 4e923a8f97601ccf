/* The formats that are understood, from their list in input.h. */
#include "libmarkup/input/input.h"

#define ROW(name) &mk_##name##_input,
const struct mk_input *const mk_inputs[] = { FOR_EACH_INPUT(ROW) NULL };
