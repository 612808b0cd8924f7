/** @file
 * Random numbers for tests. Every test starts from the same state, so its sequence is always the same. */
#ifndef KVC_KERNELS_KVDIRECT_RANDOM_FIXTURE_H
#define KVC_KERNELS_KVDIRECT_RANDOM_FIXTURE_H

#include <stdint.h>

/** The next random word (SplitMix64). */
uint64_t random_word(void);

#endif
