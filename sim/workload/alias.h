/* Draws from any finite distribution with one look-up (alias method: Walker 1977, set up as by Vose 1991).
 *
 * Weights are taken as they are; each outcome's probability is exact to about 1e-16 of the largest. */
#ifndef KVC_SIM_WORKLOAD_ALIAS_H
#define KVC_SIM_WORKLOAD_ALIAS_H

#include <stdbool.h>
#include <stdint.h>

struct kvc_alias_cell {
    uint64_t keep;  /* the cell's own outcome below this, of 2^64 */
    uint32_t other; /* the outcome from there on */
};

struct kvc_alias {
    struct kvc_alias_cell *cells;
    uint32_t count;
};

void kvc_alias_free(struct kvc_alias *alias); /* frees the cells, not the struct; all-zero is allowed */

/* `count` (> 0) weights, none negative, one positive. False when memory is short. */
bool kvc_alias_init(struct kvc_alias *alias, const double *weight, uint32_t count);

/* The outcome for 64 random bits. */
static inline uint32_t kvc_alias_pick(const struct kvc_alias *alias, uint64_t random)
{
    unsigned __int128 scaled = (unsigned __int128)random * alias->count;
    uint32_t own = (uint32_t)(scaled >> 64);
    const struct kvc_alias_cell *cell = &alias->cells[own];
    return (uint64_t)scaled < cell->keep ? own : cell->other;
}

#endif
