/* Pseudo-random numbers for tests. Every test starts from the same state. */
#ifndef KVC_KERNELS_BLUECACHE_RANDOM_FIXTURE_H
#define KVC_KERNELS_BLUECACHE_RANDOM_FIXTURE_H

#include <stdint.h>

/* State of the generator; tests set it to choose a sequence. */
extern uint64_t random_state;

/* The next pseudo-random word (SplitMix64). */
uint64_t random_word(void);

#endif
