/* The rows of a batch that run through the real index and slabs (models/megakv/store.h). */
#include "models/dido/simulation.h"

static bool keeps(struct kvc_dido_simulation *simulation, struct kvc_batch *rows, uint32_t row)
{
    const struct kvc_cuckoo_store *store = simulation->store;
    if (store->sampling.rate <= 1) {
        return store->sampling.rate == 1;
    }
    if (!kvc_sampling_keeps_request(&store->sampling, rows->key_id[row], &simulation->thinning)) {
        return false;
    }
    if (rows->key_id[row] < store->sampling.hot_keys) {
        kvc_cuckoo_store_represent(store, simulation->replica.source, rows, row);
    }
    return true;
}

void kvc_dido_sample(struct kvc_dido_simulation *simulation, struct kvc_stage_batch *batch)
{
    struct kvc_batch *rows = batch->rows;
    batch->gets = batch->sets = batch->hits = batch->evictions = 0;
    batch->kept_count = batch->kept_gets = batch->kept_sets = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        bool get = rows->op[i] == KVC_OP_GET, set = rows->op[i] == KVC_OP_SET;
        batch->gets += get;
        batch->sets += set;
        if (keeps(simulation, rows, i)) {
            batch->kept[batch->kept_count++] = i;
            batch->kept_gets += get;
            batch->kept_sets += set;
        }
    }
}
