/* Protobuf at the level of its wire: numbers and fields, and what is wrong with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/profile/wire.h"

#define B(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static void test_numbers(void **state)
{
	static const struct { uint8_t bytes[12]; size_t size; uint64_t value; const char *bad; } cases[] = {
		{ B(0), 0, NULL }, { B(0x7f), 0x7f, NULL }, { B(0x80, 1), 0x80, NULL }, { B(0xff, 0x7f), 0x3fff, NULL },
		{ B(0x80, 0), 0, NULL },
		{ B(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), UINT64_MAX >> 1, NULL },
		{ B(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), UINT64_MAX, NULL },
		{ B(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1), UINT64_C(1) << 63, NULL },
		{ B(0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0), 0, "a number has more than 10 bytes" },
		{ B(0x80), 0, "a number is cut off" }, { B(0xff, 0xff), 0, "a number is cut off" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prof_wire w = prof_wire_of(cases[i].bytes, cases[i].size);
		uint64_t value = 99;

		assert_int_equal(prof_wire_number(&w, &value), !cases[i].bad);
		if (cases[i].bad) {
			assert_string_equal(w.why, cases[i].bad);
			assert_ptr_equal(w.bad, cases[i].bytes);
		} else {
			assert_int_equal(value, cases[i].value);
		}
		assert_ptr_equal(w.at, w.end);
	}
}

static void test_fields(void **state)
{
	static const struct { uint8_t bytes[12]; size_t size; const char *fields; } cases[] = {
		{ B(0x08, 5, 0x7a, 2, 'a', 'b'), "1:0=5 15:2+2 " },
		{ B(0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 1), "1:1+8 2:0=1 " }, { B(0x0d, 1, 2, 3, 4), "1:5+4 " },
		{ B(0x0a, 0), "1:2+0 " },
		{ B(0x09, 1, 2, 3, 4, 5, 6, 7), "a field goes past the end" }, { B(0x0d, 1, 2, 3), "a field goes past the end" },
		{ B(0x0a, 2, 1), "a field goes past the end" }, { B(0x00, 1), "a field has the number 0" },
		{ B(0x0b), "a field is of a kind that protobuf does not have" },
		{ B(0x0e), "a field is of a kind that protobuf does not have" }, { B(0x08), "a number is cut off" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prof_wire w = prof_wire_of(cases[i].bytes, cases[i].size);
		struct prof_field f;
		char got[100] = "";

		while (prof_wire_next(&w, &f))
			sprintf(got + strlen(got), "%u:%u%c%u ", (unsigned)f.number, (unsigned)f.type,
				f.type ? '+' : '=', f.type ? (unsigned)f.len : (unsigned)f.value);
		strcat(got, w.bad ? w.why : "");
		assert_string_equal(got, cases[i].fields);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_fields) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
