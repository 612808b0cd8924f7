/* Executes the operations of a KV-Direct processor in the table, or on a value in the station. */
#include <string.h>

#include "models/kvdirect/pipeline.h"
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

/* Copies the accesses of a recent operation of the same kind, for a key that the table does not keep. */
static void take_shape(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation)
{
    const struct kvc_kvdirect_shape *shape =
        &processor->shape[operation->write_back ? KVC_OP_SET : operation->op];
    uint64_t known = shape->count < KVC_KVDIRECT_SHAPES ? shape->count : KVC_KVDIRECT_SHAPES;
    if (known == 0) { /* The first operations of a run read one uncached bucket. */
        *room_for_steps(operation) = (struct kvc_kvdirect_step){
            .kind = KVC_KVDIRECT_HOST_READ, .ends_access = true, .bytes = KVC_KVDIRECT_LINE_BYTES};
        operation->steps = 1;
        operation->present |= !operation->write_back;
        return;
    }
    uint64_t which = kvc_rng_below(&processor->rng, known);
    while (operation->steps < shape->steps[which]) {
        struct kvc_kvdirect_step *step = room_for_steps(operation);
        *step = shape->step[which][operation->steps++];
        step->endpoint = (uint16_t)((operation->hash + operation->steps) % processor->memory.pcie->endpoints);
    }
    if (!operation->write_back) {
        operation->present = shape->present[which];
    }
}

static void keep_shape(struct kvc_kvdirect_processor *processor,
                       const struct kvc_kvdirect_operation *operation)
{
    struct kvc_kvdirect_shape *shape = &processor->shape[operation->op];
    uint64_t which = shape->count % KVC_KVDIRECT_SHAPES;
    if (operation->steps > KVC_KVDIRECT_SHAPE_STEPS) {
        return;
    }
    shape->count++;
    shape->present[which] = operation->present;
    shape->steps[which] = operation->steps;
    memcpy(shape->step[which], operation->step, operation->steps * sizeof(*operation->step));
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
    kvc_kvdirect_table_run(processor->shard->table, op, 1, &uncounted);
    processor->trace.count = accesses;
    operation->present = op->result == KVC_KVDIRECT_TABLE_OK;
    operation->value_bytes = op->result == KVC_KVDIRECT_TABLE_OK ? op->value_bytes : operation->value_bytes;
}

/* Lets the host's daemon work on what the table has made it do: entries split and merged since `before`. An
 * operation that found no slab waits until it is done. Merges go over all free slabs, of which a sample has a
 * share; splits fill a pool up to a fixed number. */
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

/* Runs the operation in the real table and sets operation->present and ->value. */
static void run_in_table(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                         double now_ns)
{
    struct kvc_kvdirect_shard *shard = processor->shard;
    const struct kvc_kvdirect_slab_stats *slab = &shard->stats.slab, before = *slab;
    struct vector_update update = {processor, operation};
    struct kvc_kvdirect_table_op op = {.key = operation->key,
                                       .key_bytes = operation->key_bytes,
                                       .verb = verb_of(processor, operation),
                                       .value = operation->value,
                                       .value_bytes = operation->value_bytes,
                                       .operand = 1,
                                       .apply = update_vector,
                                       .data = &update};
    if (op.verb == KVC_KVDIRECT_TABLE_GET) {
        op.value_bytes = KVC_KVDIRECT_VALUE_BYTES;
    }
    processor->trace.count = 0;
    kvc_kvdirect_table_run(shard->table, &op, 1, &shard->stats);
    if (processor->trace.short_of_memory) {
        kvc_out_of_memory("the accesses of an operation");
    }
    if (op.verb == KVC_KVDIRECT_TABLE_GET && op.result == KVC_KVDIRECT_TABLE_OK) {
        operation->value_bytes = op.value_bytes;
    }
    if (op.verb == KVC_KVDIRECT_TABLE_ADD && op.result == KVC_KVDIRECT_TABLE_OK) {
        uint64_t sum = op.original + 1;
        memcpy(operation->value, &sum, sizeof(sum));
    }
    if (op.result == KVC_KVDIRECT_TABLE_FULL) {
        take_old_value(processor, operation, &op);
    }
    if (!operation->write_back) {
        operation->present =
            op.verb == KVC_KVDIRECT_TABLE_DELETE ? false : op.result == KVC_KVDIRECT_TABLE_OK;
    }
    for (uint32_t i = 0; i < processor->trace.count; i++) {
        operation->steps += kvc_kvdirect_dispatch_steps(&shard->dispatch, &processor->trace.access[i],
                                                        room_for_steps(operation));
    }
    kvc_kvdirect_memory_engine_sync(&processor->memory, now_ns, slab->dma_reads - before.dma_reads,
                                    slab->dma_writes - before.dma_writes);
    use_daemon(processor, operation, &before, now_ns);
}

void kvc_kvdirect_execute(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns)
{
    operation->steps = 0;
    operation->ready_ns = operation->value_ns = 0;
    operation->computes = operation->op == KVC_OP_SET && !operation->write_back &&
                          kvc_kvdirect_update_has_vectors(processor->config->update);
    if (operation->kept) {
        run_in_table(processor, operation, now_ns);
    } else {
        take_shape(processor, operation);
    }
}

void kvc_kvdirect_executed(struct kvc_kvdirect_processor *processor,
                           const struct kvc_kvdirect_operation *operation)
{
    for (uint32_t i = 0; i < operation->steps; i++) {
        processor->counts.steps[operation->step[i].kind]++;
    }
    if (processor->shape != NULL && operation->kept && !operation->hot && !operation->write_back) {
        keep_shape(processor, operation);
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
