#include "sim/base/rng.h"

#include <math.h>

uint64_t kvc_name_hash(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *name != '\0'; name++) {
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3ull;
    }
    return hash;
}

void kvc_rng_init(struct kvc_rng *rng, uint64_t seed, const char *name, uint64_t index)
{
    uint64_t state = kvc_mix64(seed + 0x9e3779b97f4a7c15ull);
    state = kvc_mix64(state ^ kvc_name_hash(name));
    state = kvc_mix64(state ^ (index + 0x9e3779b97f4a7c15ull));
    for (int i = 0; i < 4; i++) {
        state += 0x9e3779b97f4a7c15ull;
        rng->state[i] = kvc_mix64(state);
    }
}

uint64_t kvc_rng_seed(uint64_t seed, const char *name, uint64_t index)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, name, index);
    return kvc_rng_u64(&rng);
}

double kvc_rng_exponential(struct kvc_rng *rng, double mean)
{
    return -mean * log1p(-kvc_rng_unit(rng));
}
