/* e_machine → enum symcache_arch. */
#ifndef SC_ARCH_H
#define SC_ARCH_H

#include <stdbool.h>
#include <stdint.h>

uint32_t sc_arch_of_elf(uint16_t machine, bool is_64);

#endif
