/* Executes the operations of a KV-Direct processor in the table, or on a value in the station. */
#include <string.h>

#include "models/kvdirect/processor_internal.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

static struct kvc_kvdirect_step *room_for_steps(struct kvc_kvdirect_operation *operation)
{
    if (operation->steps + KVC_KVDIRECT_STEPS_MAX > operation->step_capacity) {
        operation->step_capacity = 2 * (operation->steps + KVC_KVDIRECT_STEPS_MAX);
        operation->step =
            kvc_array_grown(operation->step, operation->step_capacity, sizeof(*operation->step));
    }
    return operation->step + operation->steps;
}

static uint8_t verb_of(const struct kvc_kvdirect_processor *processor,
                       const struct kvc_kvdirect_operation *operation)
{
    if (operation->write_back) {
        return operation->present ? KVC_KVDIRECT_TABLE_PUT : KVC_KVDIRECT_TABLE_DELETE;
    }
    if (operation->op == KVC_OP_GET) {
        return KVC_KVDIRECT_TABLE_GET;
    }
    if (operation->op == KVC_OP_DELETE) {
        return KVC_KVDIRECT_TABLE_DELETE;
    }
    static const uint8_t verbs[] = {[KVC_KVDIRECT_PUT] = KVC_KVDIRECT_TABLE_PUT,
                                    [KVC_KVDIRECT_ADD] = KVC_KVDIRECT_TABLE_ADD,
                                    [KVC_KVDIRECT_UPDATE] = KVC_KVDIRECT_TABLE_APPLY,
                                    [KVC_KVDIRECT_REDUCE] = KVC_KVDIRECT_TABLE_GET,
                                    [KVC_KVDIRECT_FILTER] = KVC_KVDIRECT_TABLE_GET};
    return verbs[processor->config->update];
}

struct vector_update {
    const struct kvc_kvdirect_processor *processor;
    struct kvc_kvdirect_operation *operation;
};

/* Updates the vector in the table and copies the result. */
static bool update_vector(void *data, uint8_t *value, uint32_t bytes)
{
    const struct vector_update *update = data;
    const struct kvc_kvdirect_config *config = update->processor->config;
    kvc_kvdirect_lambda_update(&config->lambda, value, bytes, config->element_bytes, config->delta);
    memcpy(update->operation->value, value, bytes);
    return true;
}

/* Restores the old pair, if there was one, after a PUT that found no memory. */
static void take_old_value(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                           struct kvc_kvdirect_table_op *op)
{
    struct kvc_kvdirect_table_stats uncounted = {0};
    uint32_t accesses = processor->trace.count;
    processor->counts.failed++;
    op->verb = KVC_KVDIRECT_TABLE_GET;
    op->value_bytes = KVC_KVDIRECT_VALUE_BYTES;
    kvc_kvdirect_table_run_hashed(processor->shard->table, op, operation->hash, &uncounted);
    processor->trace.count = accesses;
    operation->present = op->result == KVC_KVDIRECT_TABLE_OK;
    operation->value_bytes = op->result == KVC_KVDIRECT_TABLE_OK ? op->value_bytes : operation->value_bytes;
}

/* Lets the host's daemon split and merge the slab entries that the table has counted since `before`. An
 * operation that found no slab waits until this is done. Merges scale with the sample rate, because a
 * sample has only a share of the free slabs; splits do not, because they fill a pool up to a fixed number. */
static void use_daemon(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                       const struct kvc_kvdirect_slab_stats *before, double now_ns)
{
    const struct kvc_kvdirect_slab_stats *slab = &processor->shard->stats.slab;
    const struct kvc_kvdirect_config *config = processor->config;
    double rate = (double)processor->store->sampling.rate, unused_ns = 0;
    double split_ns = (double)(slab->split - before->split) * config->split_ns;
    double merge_ns = (double)(slab->merged_from - before->merged_from) * config->merge_ns * rate;
    if (split_ns + merge_ns == 0) {
        return;
    }
    double done_ns = kvc_serve(&processor->daemon_free_ns, &unused_ns, now_ns, split_ns + merge_ns);
    processor->counts.daemon_busy_ns += split_ns * rate + merge_ns;
    if (slab->failed > before->failed) {
        operation->ready_ns = done_ns;
    }
}

/* ---- the table ---- */

/* An operation of the table and the row of the batch with its key. */
struct table_run {
    struct kvc_kvdirect_table_op op;
    uint64_t hash;
    struct vector_update update;
};

/* Prepares an operation on its own key or on the key of `stand_in`. A value that a client writes has the
 * size of the key's values. */
static void prepare(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                    const struct kvc_batch *stand_in, struct table_run *run)
{
    run->update = (struct vector_update){processor, operation};
    run->hash = stand_in != NULL ? stand_in->hash[0] : operation->hash;
    run->op = (struct kvc_kvdirect_table_op){
        .key = stand_in != NULL ? stand_in->keys : operation->key,
        .key_bytes = stand_in != NULL ? stand_in->key_bytes[0] : operation->key_bytes,
        .verb = verb_of(processor, operation),
        .value = operation->value,
        .value_bytes = stand_in != NULL ? (uint16_t)stand_in->value_bytes[0] : operation->value_bytes,
        .operand = 1,
        .apply = update_vector,
        .data = &run->update};
    if (run->op.verb == KVC_KVDIRECT_TABLE_GET) {
        run->op.value_bytes = KVC_KVDIRECT_VALUE_BYTES;
    }
}

static void run_traced(struct kvc_kvdirect_processor *processor, struct table_run *run,
                       struct kvc_kvdirect_table_stats *stats)
{
    processor->trace.count = 0;
    kvc_kvdirect_table_run_hashed(processor->shard->table, &run->op, run->hash, stats);
    if (processor->trace.short_of_memory) {
        kvc_out_of_memory("the accesses of an operation");
    }
}

/* Takes the table's result of an operation. */
static void take_result(const struct table_run *run, struct kvc_kvdirect_operation *operation, bool own_size)
{
    const struct kvc_kvdirect_table_op *op = &run->op;
    if (op->verb == KVC_KVDIRECT_TABLE_GET && op->result == KVC_KVDIRECT_TABLE_OK && own_size) {
        operation->value_bytes = op->value_bytes;
    }
    if (op->verb == KVC_KVDIRECT_TABLE_ADD && op->result == KVC_KVDIRECT_TABLE_OK) {
        uint64_t sum = op->original + 1;
        memcpy(operation->value, &sum, sizeof(sum));
    }
    if (!operation->write_back) {
        operation->present =
            op->verb == KVC_KVDIRECT_TABLE_DELETE ? false : op->result == KVC_KVDIRECT_TABLE_OK;
    }
}

/* Runs the operation in the real table and sets operation->present and ->value. */
static void run_in_table(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation)
{
    struct table_run run;
    prepare(processor, operation, NULL, &run);
    run_traced(processor, &run, &processor->shard->stats);
    if (run.op.result == KVC_KVDIRECT_TABLE_FULL) {
        take_old_value(processor, operation, &run.op);
    }
    take_result(&run, operation, true);
}

/* Adds the steps of the accesses that the table has traced. */
static void add_steps(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                      enum kvc_kvdirect_line_of line_of)
{
    struct kvc_kvdirect_dispatch *dispatch = &processor->shard->dispatch;
    for (uint32_t i = 0; i < processor->trace.count; i++) {
        struct kvc_kvdirect_table_access access = processor->trace.access[i];
        if (line_of == KVC_KVDIRECT_HOT) {
            if (operation->kept && dispatch->cacheable_frac > 0) {
                kvc_kvdirect_dispatch_use(dispatch, &access);
            }
            access.line = kvc_kvdirect_hot_line(&dispatch->hot, operation->hash, access.line);
        }
        struct kvc_kvdirect_step *step = room_for_steps(operation);
        uint32_t count = kvc_kvdirect_dispatch_steps(dispatch, &access, line_of, step);
        /* A write-back directly follows an operation that has fetched the lines. */
        for (uint32_t s = 0; s < count && line_of == KVC_KVDIRECT_ALIKE; s++) {
            step[s].again = operation->write_back;
            for (uint32_t before = 0; before < operation->steps && step[s].open; before++) {
                step[s].again |= operation->step[before].open && operation->step[before].line == step[s].line;
            }
        }
        operation->steps += count;
    }
}

/* ---- keys that the sample lacks ---- */

/* Stores or deletes the key of `op` without tracing accesses. */
static void set_presence(struct kvc_kvdirect_processor *processor, const struct kvc_batch *stand_in,
                         struct kvc_kvdirect_operation *operation, bool present,
                         struct kvc_kvdirect_table_stats *stats)
{
    struct kvc_kvdirect_table_op op = {
        .key = stand_in->keys,
        .key_bytes = stand_in->key_bytes[0],
        .verb = present ? KVC_KVDIRECT_TABLE_PUT : KVC_KVDIRECT_TABLE_DELETE,
        .value = operation->value,
        .value_bytes = (uint16_t)stand_in->value_bytes[0],
    };
    kvc_kvdirect_table_set_trace(processor->shard->table, NULL);
    kvc_kvdirect_table_run_hashed(processor->shard->table, &op, stand_in->hash[0], stats);
    kvc_kvdirect_table_set_trace(processor->shard->table, &processor->trace);
}

/* Runs an operation on the key of `stand_in` and returns whether the table contained it. */
static bool run_on(struct kvc_kvdirect_processor *processor, struct table_run *run,
                   struct kvc_kvdirect_table_stats *stats)
{
    uint64_t pairs = kvc_kvdirect_table_pairs(processor->shard->table);
    run_traced(processor, run, stats);
    if (run->op.verb == KVC_KVDIRECT_TABLE_PUT) {
        return kvc_kvdirect_table_pairs(processor->shard->table) == pairs &&
               run->op.result == KVC_KVDIRECT_TABLE_OK;
    }
    return run->op.result == KVC_KVDIRECT_TABLE_OK;
}

/* Returns whether the table contains a key after an operation that found it or not. */
static bool present_after(const struct table_run *run, bool found)
{
    return run->op.verb == KVC_KVDIRECT_TABLE_PUT      ? run->op.result == KVC_KVDIRECT_TABLE_OK
           : run->op.verb == KVC_KVDIRECT_TABLE_DELETE ? false
                                                       : found;
}

/* Runs the operation on a stand-in key of the sample, and leaves that key unchanged. A cold key counts as
 * present if its stand-in is; for hot keys the store knows it. */
static void run_alike(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation)
{
    struct kvc_alike *alike = &processor->store->alike;
    const struct kvc_batch *stand_in = alike->stand_in;
    struct kvc_kvdirect_table_stats stats = {0};
    struct table_run run;
    kvc_alike_find(alike, processor->source, processor->number, operation->key_id);
    prepare(processor, operation, stand_in, &run);
    bool found = run_on(processor, &run, &stats), now = present_after(&run, found);
    if (operation->hot && found != alike->present[operation->key_id]) {
        set_presence(processor, stand_in, operation, !found, &stats);
        prepare(processor, operation, stand_in, &run);
        now = present_after(&run, run_on(processor, &run, &stats));
    }
    if (now != found) {
        set_presence(processor, stand_in, operation, found, &stats);
    }
    processor->counts.failed += run.op.result == KVC_KVDIRECT_TABLE_FULL;
    take_result(&run, operation, false);
    if (operation->hot) {
        alike->present[operation->key_id] = now;
    }
    struct kvc_kvdirect_slab_stats *slab = &processor->shard->stats.slab;
    slab->dma_reads += stats.slab.dma_reads;
    slab->dma_writes += stats.slab.dma_writes;
    slab->split += stats.slab.split;
    slab->merged_from += stats.slab.merged_from;
    slab->failed += stats.slab.failed;
}

/* Lets the memory engine do the DMA operations of the slab allocator. One of them in a sample stands for
 * `rate` of the whole store, which are spread over the next operations. */
static void sync_stacks(struct kvc_kvdirect_processor *processor, uint64_t reads, uint64_t writes,
                        double now_ns)
{
    uint64_t rate = processor->store->sampling.rate;
    if (rate > 1) {
        processor->due_syncs[0] += reads * rate;
        processor->due_syncs[1] += writes * rate;
        reads = processor->due_syncs[0] > 0;
        writes = processor->due_syncs[1] > 0;
        processor->due_syncs[0] -= reads;
        processor->due_syncs[1] -= writes;
    }
    kvc_kvdirect_memory_engine_sync(&processor->memory, now_ns, reads, writes);
}

void kvc_kvdirect_execute(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns)
{
    const struct kvc_kvdirect_slab_stats *slab = &processor->shard->stats.slab, before = *slab;
    operation->steps = 0;
    operation->ready_ns = operation->value_ns = 0;
    operation->computes = operation->op == KVC_OP_SET && !operation->write_back &&
                          kvc_kvdirect_update_has_vectors(processor->config->update);
    if (operation->kept) {
        run_in_table(processor, operation);
    } else {
        run_alike(processor, operation);
    }
    add_steps(processor, operation,
              operation->hot    ? KVC_KVDIRECT_HOT
              : operation->kept ? KVC_KVDIRECT_OWN
                                : KVC_KVDIRECT_ALIKE);
    sync_stacks(processor, slab->dma_reads - before.dma_reads, slab->dma_writes - before.dma_writes, now_ns);
    use_daemon(processor, operation, &before, now_ns);
}

void kvc_kvdirect_executed(struct kvc_kvdirect_processor *processor,
                           const struct kvc_kvdirect_operation *operation)
{
    for (uint32_t i = 0; i < operation->steps; i++) {
        processor->counts.steps[operation->step[i].kind]++;
    }
}

void kvc_kvdirect_apply(const struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *owner,
                        struct kvc_kvdirect_operation *operation)
{
    const struct kvc_kvdirect_config *config = processor->config;
    bool puts = operation->op == KVC_OP_SET && config->update == KVC_KVDIRECT_PUT;
    owner->slot->changed |= kvc_kvdirect_writes(processor, operation->op) && (puts || owner->present);
    if (operation->op == KVC_OP_DELETE) {
        owner->present = operation->present = false;
        return;
    }
    if (puts) {
        owner->present = operation->present = true;
        owner->value_bytes = operation->value_bytes;
        memcpy(owner->value, operation->value, operation->value_bytes);
        return;
    }
    if (operation->op == KVC_OP_SET && config->update == KVC_KVDIRECT_ADD && owner->present) {
        kvc_kvdirect_lambda_update(&config->add, owner->value, sizeof(uint64_t), sizeof(uint64_t), 1);
    }
    if (operation->op == KVC_OP_SET && config->update == KVC_KVDIRECT_UPDATE && owner->present) {
        kvc_kvdirect_lambda_update(&config->lambda, owner->value, owner->value_bytes, config->element_bytes,
                                   config->delta);
    }
    operation->present = owner->present;
    operation->value_bytes = owner->value_bytes;
    memcpy(operation->value, owner->value, owner->value_bytes);
}
