/* e_machine → enum symcache_arch; machines the format has no code for (RISC-V,
 * s390x, …) are unknown there and named in our image facts. */
#include "libsymcache/write/arch.h"

#include <elf.h>

#include "format/symcache_format.h"

uint32_t sc_arch_of_elf(uint16_t machine, bool is_64)
{
	switch (machine) {
	case EM_386:
		return SYMCACHE_ARCH_X86;
	case EM_X86_64:
		return SYMCACHE_ARCH_AMD64;
	case EM_ARM:
		return SYMCACHE_ARCH_ARM;
	case EM_AARCH64:
		return SYMCACHE_ARCH_ARM64;
	case EM_PPC:
		return SYMCACHE_ARCH_PPC;
	case EM_PPC64:
		return SYMCACHE_ARCH_PPC64;
	case EM_MIPS:
		return is_64 ? SYMCACHE_ARCH_MIPS64 : SYMCACHE_ARCH_MIPS;
	default:
		return SYMCACHE_ARCH_UNKNOWN;
	}
}
