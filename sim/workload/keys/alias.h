/** @file
 * Draws from any finite distribution with one table look-up: the alias method (Walker 1977), with the set-up
 * of Vose (1991).
 *
 * Each probability is exact to about 1e-16 of the largest one. */
#ifndef KVC_SIM_WORKLOAD_KEYS_ALIAS_H
#define KVC_SIM_WORKLOAD_KEYS_ALIAS_H

#include <stdbool.h>
#include <stdint.h>

/** One cell of the table: the outcome of the cell's own number, or its alias. */
struct kvc_alias_cell {
    uint64_t keep;  /**< A 64-bit random number below this gives the cell's own outcome ... */
    uint32_t other; /**< ... and any other number gives this outcome. */
};

/** A distribution over the outcomes 0 to `count` - 1. */
struct kvc_alias {
    struct kvc_alias_cell *cells; /**< One cell per outcome. */
    uint32_t count;               /**< Number of outcomes. */
};

/** Frees the cells, not the struct. A zeroed struct is allowed. */
void kvc_alias_free(struct kvc_alias *alias);

/** Sets up the distribution whose probabilities are proportional to `weight`. There are `count` > 0 weights;
 * none is negative and at least one is positive. Returns false if memory is short. */
bool kvc_alias_init(struct kvc_alias *alias, const double *weight, uint32_t count);

/** Returns the outcome that belongs to 64 random bits. */
static inline uint32_t kvc_alias_pick(const struct kvc_alias *alias, uint64_t random)
{
    unsigned __int128 scaled = (unsigned __int128)random * alias->count;
    uint32_t own = (uint32_t)(scaled >> 64);
    const struct kvc_alias_cell *cell = &alias->cells[own];
    return (uint64_t)scaled < cell->keep ? own : cell->other;
}

#endif
