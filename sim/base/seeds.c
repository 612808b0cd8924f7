#include "sim/base/seeds.h"

#include "sim/base/rng.h"

uint64_t kvc_seed_of_replica(uint64_t run_seed, uint32_t replica)
{
    return kvc_rng_seed(run_seed, "replica", replica);
}

uint64_t kvc_seed_of_node(uint64_t replica_seed, uint32_t node)
{
    return kvc_rng_seed(replica_seed, "node", node);
}

uint64_t kvc_seed_of_hash(uint64_t replica_seed)
{
    return kvc_rng_seed(replica_seed, "hash", 0);
}
