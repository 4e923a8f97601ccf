/* Fuzz target: any bytes as a name. The first byte chooses the language. */
#include "libsymcache/symbolize/demangle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct symcache_demangler *d;
	static volatile size_t sum; /* so that each byte is read */
	struct sc_str name;

	if (!d)
		d = symcache_demangler_create();
	if (size < 1)
		return 0;
	name = (struct sc_str){ (const char *)data + 1, size - 1 };
	for (int again = 0; again < 2; again++) {
		struct sc_str text = symcache_demangle(d, name, data[0] % 12u);

		for (size_t i = 0; i < text.len; i++)
			sum = sum + (unsigned char)text.ptr[i];
	}
	return 0;
}
