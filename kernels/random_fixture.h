/* Pseudo-random words for the tests of kernels/. Every test starts from the same state. */
#ifndef KVC_KERNELS_RANDOM_FIXTURE_H
#define KVC_KERNELS_RANDOM_FIXTURE_H

#include <stdint.h>

/* State of random_word(), 1 at first. Tests may set it to choose or repeat a sequence. */
extern uint64_t random_state;

/* Returns the next word of the sequence (SplitMix64). */
uint64_t random_word(void);

/* SplitMix64 on a state of the caller's own, for threads. */
uint64_t next_random(uint64_t *state);

#endif
