#include "scenarios/output/outcome.h"

#include <stdlib.h>

void kvc_outcome_free(struct kvc_outcome *outcome)
{
    if (outcome == NULL) {
        return;
    }
    free(outcome->replica_mops);
    free(outcome);
}

struct kvc_outcome *kvc_outcome_create(uint32_t replicas)
{
    struct kvc_outcome *outcome = calloc(1, sizeof(*outcome));
    if (outcome == NULL) {
        return NULL;
    }
    outcome->replicas = replicas;
    if (replicas > 0) {
        outcome->replica_mops = calloc(replicas, sizeof(*outcome->replica_mops));
        if (outcome->replica_mops == NULL) {
            free(outcome);
            return NULL;
        }
    }
    return outcome;
}
