#include "sim/workload/keys/alias.h"

#include <stdlib.h>

void kvc_alias_free(struct kvc_alias *alias)
{
    free(alias->cells);
    alias->cells = NULL;
    alias->count = 0;
}

static uint64_t threshold(double share)
{
    return share >= 1 ? UINT64_MAX : (uint64_t)(share * 0x1.0p64);
}

/* `share` holds the probability of each outcome, multiplied by the count. A cell has room for 1: an outcome
 * below 1 shares its cell with an outcome above 1. */
static void pair_up(struct kvc_alias *alias, double *share, uint32_t *order)
{
    uint32_t small = 0, large = alias->count;
    for (uint32_t i = 0; i < alias->count; i++) {
        alias->cells[i] = (struct kvc_alias_cell){.keep = UINT64_MAX, .other = i};
        if (share[i] < 1) {
            order[small++] = i;
        } else {
            order[--large] = i;
        }
    }
    while (small > 0 && large < alias->count) {
        uint32_t needy = order[--small], donor = order[large];
        alias->cells[needy] = (struct kvc_alias_cell){.keep = threshold(share[needy]), .other = donor};
        share[donor] -= 1 - share[needy];
        if (share[donor] < 1) {
            large++;
            order[small++] = donor;
        }
    }
}

bool kvc_alias_init(struct kvc_alias *alias, const double *weight, uint32_t count)
{
    double *share = malloc(count * sizeof(*share));
    uint32_t *order = malloc(count * sizeof(*order));
    alias->cells = malloc(count * sizeof(*alias->cells));
    alias->count = count;
    bool ok = share != NULL && order != NULL && alias->cells != NULL;
    if (ok) {
        double sum = 0;
        for (uint32_t i = count; i > 0; i--) { /* The small weights of a Zipf distribution are at the end. */
            sum += weight[i - 1];
        }
        for (uint32_t i = 0; i < count; i++) {
            share[i] = weight[i] / sum * count;
        }
        pair_up(alias, share, order);
    } else {
        kvc_alias_free(alias);
    }
    free(share);
    free(order);
    return ok;
}
