/*
 * How far .debug_info is read, or inflated, ahead of the units that are being read. Ahead costs
 * memory; but a thread that finds no unit waits until another has finished its step.
 */
#ifndef SC_WRITE_AHEAD_H
#define SC_WRITE_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#define SC_AHEAD (16u << 20)          /* bytes of a section that is not compressed */
#define SC_AHEAD_INFLATED (12u << 20) /* of one that is */
#define SC_AHEAD_QUEUED (4u << 20)    /* of units that no thread has taken */

/* `ahead`: bytes behind the first unit that is not read yet; `queued`: behind the first one that no
 * thread has taken, which a large unit at work leaves far behind the other. */
static inline bool sc_ahead_too_little(size_t ahead, size_t queued, bool inflated)
{
	return ahead < (inflated ? SC_AHEAD_INFLATED : SC_AHEAD) || queued < SC_AHEAD_QUEUED;
}

#endif
