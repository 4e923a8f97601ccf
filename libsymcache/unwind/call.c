/* Instructions that call: see arch.h. */
#include <elf.h>

#include "libsymcache/unwind/arch.h"

/* Length of a call by a register or memory (FF /2) that begins at `p`, of which there are `left`
 * bytes, at least two; 0: it is none. */
static size_t indirect_call(const uint8_t *p, size_t left)
{
	const unsigned mod = p[1] >> 6, rm = p[1] & 7;
	const bool sib = mod != 3 && rm == 4;
	bool far;

	if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return 0;
	far = mod == 2 || (!mod && (sib ? left > 2 && p[2] % 8 == 5 : rm == 5));
	return 2u + sib + (mod == 1 ? 1 : far ? 4 : 0);
}

static bool is_call_x86(const uint8_t before[SC_CALL_MAX])
{
	if (before[SC_CALL_MAX - 5] == 0xe8)
		return true;
	for (size_t len = 2; len <= 7; len++)
		if (indirect_call(before + SC_CALL_MAX - len, len) == len)
			return true;
	return false;
}

static bool is_call_arm64(uint32_t code)
{
	return (code & 0xfc000000) == 0x94000000 || /* BL */
	       (code & 0xfffffc1f) == 0xd63f0000 || /* BLR */
	       (code & 0xfefff800) == 0xd63f0800;   /* BLRAA and others */
}

static bool is_call_riscv(uint32_t code)
{
	const unsigned to = code >> 7 & 31;

	return (((code & 0x7f) == 0x6f || (code & 0x707f) == 0x67) && (to == 1 || to == 5)) ||
	       ((code >> 16 & 0xf07f) == 0x9002 && (code >> 23 & 31)); /* C.JALR */
}

bool sc_ends_with_call(uint16_t machine, const uint8_t code[SC_CALL_MAX])
{
	const uint8_t *last = code + SC_CALL_MAX - 4;
	const uint32_t word = last[0] | (uint32_t)last[1] << 8 | (uint32_t)last[2] << 16 |
			      (uint32_t)last[3] << 24;

	switch (machine) {
	case EM_X86_64: case EM_386: return is_call_x86(code);
	case EM_AARCH64: return is_call_arm64(word);
	case EM_RISCV: return is_call_riscv(word);
	}
	return true;
}
