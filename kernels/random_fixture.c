#include "kernels/random_fixture.h"

#include "kernels/hash.h"

uint64_t random_state = 1;

uint64_t next_random(uint64_t *state)
{
    return kvc_mix_64(*state += 0x9e3779b97f4a7c15);
}

uint64_t random_word(void)
{
    return next_random(&random_state);
}
