/* Random words for tests. */
#ifndef KVC_KERNELS_MEGAKV_RANDOM_FIXTURE_H
#define KVC_KERNELS_MEGAKV_RANDOM_FIXTURE_H

#include <stdint.h>

/* State of random_word(), 1 at first; tests may set it to repeat a sequence. */
extern uint64_t random_state;

uint64_t random_word(void);

/* SplitMix64 on a state of the caller's own, for threads. */
uint64_t next_random(uint64_t *state);

#endif
