#include "models/kvdirect/processor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/diag.h"

enum { EVENT_READY = KVC_KVD_MEMORY_KINDS, EVENT_ACCESS, EVENT_DONE };

enum {
    SHAPES = 1024,      /* of a kind of operation that are remembered */
    SHAPE_STEPS = 64,   /* longer ones are not */
    WAITING_ROWS = 512, /* that are received ahead of the decoder */
    VALUE_BYTES = KVC_KVDIRECT_PAIR_MAX,
};

struct kvc_kvd_packet {
    struct kvc_kvd_packet *next;
    struct kvc_batch *batch;
    uint8_t *outcome;
    double arrived_ns; /* the last byte of it */
    uint32_t decoded, left;
    double response_bytes;
};

struct kvc_kvd_operation {
    struct kvc_kvd_slot *slot;
    struct kvc_kvd_packet *packet;
    uint32_t row;
    uint8_t op; /* enum kvc_op */
    bool kept;  /* its key lives in the table */
    bool hot;   /* its key is one of the most popular */
    bool forwarded, write_back;
    bool present; /* the key, when it is done; of a slot's owner: now */
    uint8_t key_bytes;
    uint16_t value_bytes;
    uint64_t hash, sequence;
    struct kvc_kvd_step *step; /* of all its accesses */
    uint32_t steps, step_capacity, at, under_way;
    bool goes_on; /* its next access begins though the one before is under way */
    uint8_t key[KVC_KVDIRECT_KEY_MAX + 1];
    uint8_t value[VALUE_BYTES + 2];
};

struct kvc_kvd_shape {
    uint64_t count;
    bool present[SHAPES];
    uint32_t steps[SHAPES];
    struct kvc_kvd_step step[SHAPES][SHAPE_STEPS];
};

static void *array_of(size_t count, size_t size)
{
    void *array = calloc(count, size);
    if (array == NULL)
        KVC_BUG("no memory for %zu entries of a processor", count);
    return array;
}

static void *grown(void *array, size_t count, size_t size)
{
    void *larger = realloc(array, count * size);
    if (larger == NULL)
        KVC_BUG("no memory for %zu entries of a processor", count);
    return larger;
}

void kvc_kvd_processor_open(struct kvc_kvd_processor *processor, const struct kvc_scenario *scenario,
                            const struct kvc_kvd *system, struct kvc_kvd_store *store,
                            struct kvc_source *source, uint32_t number, uint32_t frame_requests,
                            uint64_t seed)
{
    *processor = (struct kvc_kvd_processor){
        .scenario = scenario,
        .system = *system,
        .store = store,
        .shard = &store->shards[number],
        .source = source,
        .number = number,
        .frame_requests = frame_requests,
        .clock_ns = kvc_fpga_cycle_ns(&scenario->node.fpga),
        .receive_free_ns = scenario->node.nic.latency_ns,
    };
    uint32_t operations = (uint32_t)processor->system.in_flight;
    const char *lambda = kvc_kvd_has_vectors(system) ? system->lambda : "v + d";
    if (kvc_kvd_lambda_compile("v + d", "add", &processor->add, NULL) != KVC_OK ||
        kvc_kvd_lambda_compile(lambda, "system.lambda", &processor->lambda, NULL) != KVC_OK)
        KVC_BUG("\"%s\" was checked", lambda);
    kvc_rng_init(&processor->rng, seed, "kvdirect.shape", number);
    kvc_kvd_memory_open(&processor->memory, &scenario->node.dma, &scenario->node.fpga, &processor->events,
                        kvc_rng_u64(&processor->rng));
    kvc_kvd_station_open(&processor->station, (uint32_t)processor->system.station, operations);
    processor->operation = array_of(operations, sizeof *processor->operation);
    processor->free_operation = array_of(operations, sizeof *processor->free_operation);
    while (processor->free_operations < operations) {
        processor->free_operation[processor->free_operations] =
            (int32_t)(operations - 1 - processor->free_operations);
        processor->free_operations++;
    }
    if (store->sample_rate > 1)
        processor->shape = array_of(KVC_OP_COUNT, sizeof *processor->shape);
    kvc_kvdirect_trace(processor->shard->table, &processor->trace);
}

static void free_packet(struct kvc_kvd_packet *packet)
{
    kvc_batch_free(packet->batch);
    free(packet->outcome);
    free(packet);
}

void kvc_kvd_processor_close(struct kvc_kvd_processor *processor)
{
    kvc_kvdirect_trace(processor->shard->table, NULL);
    for (uint32_t i = 0; i < processor->system.in_flight; i++)
        free(processor->operation[i].step);
    while (processor->first_packet != NULL) {
        struct kvc_kvd_packet *next = processor->first_packet->next;
        free_packet(processor->first_packet);
        processor->first_packet = next;
    }
    for (uint32_t i = 0; i < processor->free_packets; i++)
        free_packet(processor->free_packet[i]);
    kvc_events_free(&processor->events);
    kvc_kvd_memory_close(&processor->memory);
    kvc_kvd_station_close(&processor->station);
    free(processor->trace.access);
    free(processor->operation);
    free(processor->free_operation);
    free(processor->free_packet);
    free(processor->shape);
    free(processor->answers.sent_ns);
    free(processor->answers.done_ns);
    free(processor->answers.outcome);
    free(processor->answers.client);
}

/* ---- packets ---- */

static struct kvc_kvd_packet *new_packet(struct kvc_kvd_processor *processor)
{
    if (processor->free_packets > 0) {
        struct kvc_kvd_packet *packet = processor->free_packet[--processor->free_packets];
        packet->batch->count = 0;
        return packet;
    }
    struct kvc_kvd_packet *packet = array_of(1, sizeof *packet);
    uint32_t rows = processor->frame_requests;
    packet->batch = kvc_batch_create(rows, kvc_workload_key_stride(&processor->scenario->workload));
    packet->outcome = array_of(rows, sizeof *packet->outcome);
    if (packet->batch == NULL)
        KVC_BUG("no memory for a packet of %u operations", rows);
    processor->packets++;
    processor->free_packet =
        grown(processor->free_packet, processor->packets, sizeof(struct kvc_kvd_packet *));
    return packet;
}

/* Whether it leaves another value. */
static bool writes(const struct kvc_kvd_processor *processor, uint8_t op)
{
    return op == KVC_OP_DELETE || (op == KVC_OP_SET && kvc_kvd_sets_write(&processor->system));
}

static double request_bytes(const struct kvc_kvd_processor *processor, const struct kvc_batch *batch)
{
    double bytes = batch->count * (double)processor->scenario->node.nic.request_header_bytes;
    for (uint32_t i = 0; i < batch->count; i++)
        bytes +=
            batch->key_bytes[i] +
            (batch->op[i] == KVC_OP_SET ? kvc_kvd_sent_bytes(&processor->system, batch->value_bytes[i]) : 0);
    return bytes;
}

/* Receives the next packet that is sent until until_ns. False: there is none. */
static bool receive(struct kvc_kvd_processor *processor, double until_ns)
{
    const struct kvc_nic *nic = &processor->scenario->node.nic;
    bool saturates = processor->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    struct kvc_kvd_packet *packet = new_packet(processor);
    struct kvc_batch *batch = packet->batch;
    double started_ns = fmax(processor->receive_free_ns, saturates ? processor->now_ns : 0);
    if (kvc_source_take(processor->source, processor->number, until_ns, batch) == 0) {
        processor->free_packet[processor->free_packets++] = packet;
        return false;
    }
    if (saturates)
        for (uint32_t i = 0; i < batch->count; i++)
            batch->sent_ns[i] = started_ns - nic->latency_ns;
    else
        started_ns = fmax(started_ns, batch->sent_ns[batch->count - 1] + nic->latency_ns);
    double wire_ns = kvc_nic_wire_ns(nic, request_bytes(processor, batch), 1);
    processor->counts.receive_busy_ns += wire_ns;
    packet->arrived_ns = processor->receive_free_ns = started_ns + wire_ns;
    packet->decoded = 0;
    packet->left = batch->count;
    packet->response_bytes = 0;
    packet->next = NULL;
    if (processor->first_packet == NULL)
        processor->first_packet = packet;
    else
        processor->last_packet->next = packet;
    processor->last_packet = packet;
    processor->waiting_rows += batch->count;
    return true;
}

static void add_answers(struct kvc_kvd_processor *processor, const struct kvc_kvd_packet *packet,
                        double done_ns)
{
    struct kvc_kvd_answers *answers = &processor->answers;
    const struct kvc_batch *batch = packet->batch;
    if (answers->count + batch->count > answers->capacity) {
        answers->capacity = 2 * (answers->count + batch->count);
        answers->sent_ns = grown(answers->sent_ns, answers->capacity, sizeof *answers->sent_ns);
        answers->done_ns = grown(answers->done_ns, answers->capacity, sizeof *answers->done_ns);
        answers->outcome = grown(answers->outcome, answers->capacity, sizeof *answers->outcome);
        answers->client = grown(answers->client, answers->capacity, sizeof *answers->client);
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        answers->sent_ns[answers->count] = batch->sent_ns[i];
        answers->done_ns[answers->count] = done_ns;
        answers->outcome[answers->count] = packet->outcome[i];
        answers->client[answers->count++] = batch->client[i];
    }
}

/* Of the response, beside its header. */
static uint32_t returned_bytes(struct kvc_kvd_processor *processor, const struct kvc_kvd_operation *operation)
{
    const struct kvc_kvd *system = &processor->system;
    uint32_t element_bytes = (uint32_t)system->element_bytes;
    if (!operation->present || operation->op == KVC_OP_DELETE)
        return 0;
    if (operation->op == KVC_OP_GET)
        return operation->value_bytes;
    if (system->update != KVC_KVD_FILTER)
        return kvc_kvd_returned_bytes(system, operation->value_bytes);
    if (operation->kept) { /* of the others, whose values are not known: as much as of these */
        uint32_t passed = kvc_kvd_lambda_filter(&processor->lambda, operation->value, operation->value_bytes,
                                                element_bytes, (int64_t)system->delta);
        processor->passed_frac = (double)passed * element_bytes / operation->value_bytes;
    }
    return (uint32_t)(processor->passed_frac * operation->value_bytes);
}

/* An operation is done: its packet's response leaves with the last one. */
static void respond(struct kvc_kvd_processor *processor, const struct kvc_kvd_operation *operation,
                    double now_ns)
{
    const struct kvc_nic *nic = &processor->scenario->node.nic;
    struct kvc_kvd_packet *packet = operation->packet;
    uint8_t done = operation->op == KVC_OP_SET ? KVC_KVD_SET_DONE : KVC_KVD_DELETE_DONE;
    uint8_t found = operation->present ? KVC_KVD_HIT : KVC_KVD_MISS;
    packet->outcome[operation->row] = operation->op == KVC_OP_GET ? found : done;
    if (processor->watch != NULL)
        processor->watch(processor->watch_data,
                         &(struct kvc_kvd_watched){operation->sequence, operation->hash, operation->op,
                                                   operation->present, operation->value,
                                                   operation->value_bytes, now_ns});
    packet->response_bytes += (double)nic->response_header_bytes + returned_bytes(processor, operation);
    if (--packet->left > 0)
        return;
    double wire_ns = kvc_nic_wire_ns(nic, packet->response_bytes, 1);
    processor->counts.send_busy_ns += wire_ns;
    processor->send_free_ns = fmax(processor->send_free_ns, now_ns) + wire_ns;
    add_answers(processor, packet, processor->send_free_ns + nic->latency_ns);
    processor->free_packet[processor->free_packets++] = packet;
}

/* ---- the table ---- */

static struct kvc_kvd_step *room_for_steps(struct kvc_kvd_operation *operation)
{
    if (operation->steps + KVC_KVD_STEPS_MAX > operation->step_capacity) {
        operation->step_capacity = 2 * (operation->steps + KVC_KVD_STEPS_MAX);
        operation->step = grown(operation->step, operation->step_capacity, sizeof *operation->step);
    }
    return operation->step + operation->steps;
}

/* Accesses of an operation on a key that the tables do not have: those of a recent one of its kind. */
static void take_shape(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation)
{
    const struct kvc_kvd_shape *shape = &processor->shape[operation->write_back ? KVC_OP_SET : operation->op];
    uint64_t known = shape->count < SHAPES ? shape->count : SHAPES;
    if (known == 0) { /* the first ones of a run: a read of a bucket that nothing has cached */
        *room_for_steps(operation) = (struct kvc_kvd_step){
            .kind = KVC_KVD_HOST_READ, .ends_access = true, .bytes = KVC_KVD_LINE_BYTES};
        operation->steps = 1;
        operation->present |= !operation->write_back;
        return;
    }
    uint64_t which = kvc_rng_below(&processor->rng, known);
    while (operation->steps < shape->steps[which]) {
        struct kvc_kvd_step *step = room_for_steps(operation);
        *step = shape->step[which][operation->steps++];
        step->endpoint = (uint16_t)((operation->hash + operation->steps) % processor->memory.dma->endpoints);
    }
    if (!operation->write_back)
        operation->present = shape->present[which];
}

static void keep_shape(struct kvc_kvd_processor *processor, const struct kvc_kvd_operation *operation)
{
    struct kvc_kvd_shape *shape = &processor->shape[operation->op];
    uint64_t which = shape->count % SHAPES;
    if (operation->steps > SHAPE_STEPS)
        return;
    shape->count++;
    shape->present[which] = operation->present;
    shape->steps[which] = operation->steps;
    memcpy(shape->step[which], operation->step, operation->steps * sizeof *operation->step);
}

static uint8_t verb_of(const struct kvc_kvd_processor *processor, const struct kvc_kvd_operation *operation)
{
    if (operation->write_back)
        return operation->present ? KVC_KVDIRECT_PUT : KVC_KVDIRECT_DELETE;
    if (operation->op == KVC_OP_GET)
        return KVC_KVDIRECT_GET;
    if (operation->op == KVC_OP_DELETE)
        return KVC_KVDIRECT_DELETE;
    static const uint8_t verbs[] = {[KVC_KVD_PUT] = KVC_KVDIRECT_PUT,
                                    [KVC_KVD_ADD] = KVC_KVDIRECT_ADD,
                                    [KVC_KVD_UPDATE] = KVC_KVDIRECT_APPLY,
                                    [KVC_KVD_REDUCE] = KVC_KVDIRECT_GET,
                                    [KVC_KVD_FILTER] = KVC_KVDIRECT_GET};
    return verbs[processor->system.update];
}

struct vector_update {
    const struct kvc_kvd_processor *processor;
    struct kvc_kvd_operation *operation;
};

/* The vector in the table, and a copy of what it becomes. */
static bool update_vector(void *data, uint8_t *value, uint32_t bytes)
{
    const struct vector_update *update = data;
    const struct kvc_kvd *system = &update->processor->system;
    kvc_kvd_lambda_update(&update->processor->lambda, value, bytes, (uint32_t)system->element_bytes,
                          (int64_t)system->delta);
    memcpy(update->operation->value, value, bytes);
    return true;
}

/* Runs the operation in the real table; what it found is in operation->present and ->value. */
static void run_in_table(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation,
                         double now_ns)
{
    struct kvc_kvd_shard *shard = processor->shard;
    struct kvc_kvdirect_slab_stats *slab = &shard->stats.slab;
    uint64_t slab_reads = slab->dma_reads, slab_writes = slab->dma_writes;
    struct vector_update update = {processor, operation};
    struct kvc_kvdirect_op op = {.key = operation->key,
                                 .key_bytes = operation->key_bytes,
                                 .verb = verb_of(processor, operation),
                                 .value = operation->value,
                                 .value_bytes = operation->value_bytes,
                                 .operand = 1,
                                 .apply = update_vector,
                                 .data = &update};
    if (op.verb == KVC_KVDIRECT_GET)
        op.value_bytes = VALUE_BYTES;
    processor->trace.count = 0;
    kvc_kvdirect_run(shard->table, &op, 1, &shard->stats);
    if (processor->trace.short_of_memory)
        KVC_BUG("no memory for the accesses of an operation");
    if (op.verb == KVC_KVDIRECT_GET && op.result == KVC_KVDIRECT_OK)
        operation->value_bytes = op.value_bytes;
    if (op.verb == KVC_KVDIRECT_ADD && op.result == KVC_KVDIRECT_OK) {
        uint64_t sum = op.original + 1;
        memcpy(operation->value, &sum, sizeof sum);
    }
    processor->counts.failed += op.result == KVC_KVDIRECT_FULL;
    if (!operation->write_back)
        operation->present = op.verb == KVC_KVDIRECT_DELETE ? false : op.result == KVC_KVDIRECT_OK;
    for (uint32_t i = 0; i < processor->trace.count; i++)
        operation->steps +=
            kvc_kvd_dispatch_steps(&shard->dispatch, &processor->trace.access[i], room_for_steps(operation));
    kvc_kvd_memory_sync(&processor->memory, now_ns, slab->dma_reads - slab_reads,
                        slab->dma_writes - slab_writes);
    if (processor->shape != NULL && !operation->hot && !operation->write_back)
        keep_shape(processor, operation);
}

/* ---- operations ---- */

static int32_t number_of(const struct kvc_kvd_processor *processor, const struct kvc_kvd_operation *operation)
{
    return (int32_t)(operation - processor->operation);
}

static void free_operation(struct kvc_kvd_processor *processor, int32_t number)
{
    processor->free_operation[processor->free_operations++] = number;
}

static bool same_key(void *data, int32_t left, int32_t right)
{
    const struct kvc_kvd_processor *processor = data;
    const struct kvc_kvd_operation *a = &processor->operation[left], *b = &processor->operation[right];
    return a->hash == b->hash && a->key_bytes == b->key_bytes && memcmp(a->key, b->key, a->key_bytes) == 0;
}

/* To memory: one a clock. */
static void issue(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation, double now_ns)
{
    processor->issue_free_ns = fmax(processor->issue_free_ns, now_ns) + processor->clock_ns;
    operation->steps = operation->at = operation->under_way = 0;
    operation->goes_on = false;
    if (operation->kept)
        run_in_table(processor, operation, now_ns);
    else
        take_shape(processor, operation);
    uint32_t accesses = 0;
    for (uint32_t i = 0; i < operation->steps; i++) {
        accesses += operation->step[i].ends_access;
        processor->counts.steps[operation->step[i].kind]++;
    }
    processor->counts.accesses[operation->op] += operation->write_back ? 0 : accesses;
    processor->counts.operations[operation->op] += !operation->write_back;
    kvc_events_add(&processor->events, processor->issue_free_ns, EVENT_READY, 0,
                   (uint32_t)number_of(processor, operation));
}

/* What an operation does to the value of the slot's owner, and finds there. */
static void apply(const struct kvc_kvd_processor *processor, struct kvc_kvd_operation *owner,
                  struct kvc_kvd_operation *operation)
{
    const struct kvc_kvd *system = &processor->system;
    bool puts = operation->op == KVC_OP_SET && system->update == KVC_KVD_PUT;
    owner->slot->changed |= writes(processor, operation->op) && (puts || owner->present);
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
    if (operation->op == KVC_OP_SET && system->update == KVC_KVD_ADD && owner->present)
        kvc_kvd_lambda_update(&processor->add, owner->value, sizeof(uint64_t), sizeof(uint64_t), 1);
    if (operation->op == KVC_OP_SET && system->update == KVC_KVD_UPDATE && owner->present)
        kvc_kvd_lambda_update(&processor->lambda, owner->value, owner->value_bytes,
                              (uint32_t)system->element_bytes, (int64_t)system->delta);
    operation->present = owner->present;
    operation->value_bytes = owner->value_bytes;
    memcpy(operation->value, owner->value, owner->value_bytes);
}

/* Done in the station, one a clock. */
static void forward(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation, double now_ns)
{
    processor->counts.forwarded++;
    operation->forwarded = true;
    apply(processor, &processor->operation[operation->slot->owner], operation);
    processor->forward_free_ns = fmax(processor->forward_free_ns, now_ns) + processor->clock_ns;
    kvc_events_add(&processor->events, processor->forward_free_ns, EVENT_DONE, 0,
                   (uint32_t)number_of(processor, operation));
}

/* Something of the slot has ended. */
static void go_on(struct kvc_kvd_processor *processor, struct kvc_kvd_slot *slot, double now_ns)
{
    int32_t owner = slot->owner;
    enum kvc_kvd_next next = kvc_kvd_station_next(&processor->station, slot);
    if (slot->owner != owner)
        free_operation(processor, owner);
    if (next == KVC_KVD_NEXT_NOTHING)
        return;
    struct kvc_kvd_operation *operation = &processor->operation[slot->owner];
    operation->write_back = next == KVC_KVD_NEXT_WRITE;
    processor->counts.writebacks += operation->write_back;
    issue(processor, operation, now_ns);
}

static void end_out_of_order(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation,
                             double now_ns)
{
    struct kvc_kvd_slot *slot = operation->slot;
    int32_t before = KVC_KVD_NONE, waiting;
    if (operation->forwarded) {
        slot->forwarding--;
        respond(processor, operation, now_ns);
        free_operation(processor, number_of(processor, operation));
    } else if (operation->write_back) {
        slot->writing = false;
    } else {
        respond(processor, operation, now_ns);
        slot->fetching = false;
        while ((waiting = kvc_kvd_station_take(&processor->station, slot, &before, same_key, processor)) !=
               KVC_KVD_NONE)
            forward(processor, &processor->operation[waiting], now_ns);
    }
    go_on(processor, slot, now_ns);
}

static void end_operation(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation,
                          double now_ns)
{
    if (processor->system.engine == KVC_KVD_OUT_OF_ORDER) {
        end_out_of_order(processor, operation, now_ns);
        return;
    }
    respond(processor, operation, now_ns);
    kvc_kvd_station_leave(operation->slot, writes(processor, operation->op));
    free_operation(processor, number_of(processor, operation));
}

/* Its next access, or its end. Of all operations one access a clock is begun, as every block of the pipeline
 * does one thing a clock. */
static void go_to_memory(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation,
                         double now_ns)
{
    uint32_t number = (uint32_t)number_of(processor, operation);
    if (operation->at == operation->steps) {
        kvc_events_add(&processor->events, now_ns + processor->clock_ns, EVENT_DONE, 0, number);
        return;
    }
    double starts_ns = fmax(processor->access_free_ns, now_ns);
    processor->access_free_ns = starts_ns + processor->clock_ns;
    processor->counts.access_busy_ns += processor->clock_ns;
    kvc_events_add(&processor->events, starts_ns, EVENT_ACCESS, 0, number);
}

static bool is_write(const struct kvc_kvd_step *step)
{
    return step->kind == KVC_KVD_HOST_WRITE || step->kind == KVC_KVD_CACHE_WRITE;
}

/* Begins an access. A write does not hold back the one behind it. */
static void access_memory(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation,
                          double now_ns)
{
    bool write = is_write(&operation->step[operation->at]), ends;
    do {
        ends = operation->step[operation->at].ends_access;
        operation->under_way++;
        kvc_kvd_memory_start(&processor->memory, now_ns, &operation->step[operation->at++],
                             (uint32_t)number_of(processor, operation));
    } while (!ends);
    operation->goes_on = write && operation->at < operation->steps;
    if (operation->goes_on)
        go_to_memory(processor, operation, now_ns);
}

static void step_done(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation, double now_ns)
{
    if (--operation->under_way == 0 && !operation->goes_on)
        kvc_events_add(&processor->events, now_ns + processor->clock_ns, EVENT_READY, 0,
                       (uint32_t)number_of(processor, operation));
}

static void handle(struct kvc_kvd_processor *processor, const struct kvc_event *event)
{
    uint32_t who;
    if (event->kind == EVENT_READY)
        go_to_memory(processor, &processor->operation[event->who], event->time_ns);
    else if (event->kind == EVENT_ACCESS)
        access_memory(processor, &processor->operation[event->who], event->time_ns);
    else if (event->kind == EVENT_DONE)
        end_operation(processor, &processor->operation[event->who], event->time_ns);
    else if (kvc_kvd_memory_handle(&processor->memory, event, &who))
        step_done(processor, &processor->operation[who], event->time_ns);
}

/* ---- decoder ---- */

static void fill_operation(struct kvc_kvd_processor *processor, struct kvc_kvd_operation *operation)
{
    struct kvc_kvd_packet *packet = processor->first_packet;
    const struct kvc_batch *batch = packet->batch;
    uint32_t row = packet->decoded;
    operation->packet = packet;
    operation->row = row;
    operation->op = batch->op[row];
    operation->sequence = processor->counts.decoded;
    operation->kept = kvc_kvd_store_keeps(processor->store, batch->key_id[row]);
    operation->hot = batch->key_id[row] < processor->store->hot_keys;
    operation->forwarded = operation->write_back = operation->present = false;
    operation->key_bytes = batch->key_bytes[row];
    operation->value_bytes = (uint16_t)batch->value_bytes[row];
    operation->hash = batch->hash[row];
    operation->slot = kvc_kvd_slot_of(&processor->station, operation->hash);
    memcpy(operation->key, batch->keys + (size_t)row * batch->key_stride, operation->key_bytes);
    if (operation->op == KVC_OP_SET)
        kvc_kvd_first_value(operation->hash + 1 + operation->sequence, operation->value,
                            operation->value_bytes);
}

static void row_decoded(struct kvc_kvd_processor *processor, double now_ns)
{
    struct kvc_kvd_packet *packet = processor->first_packet;
    processor->counts.decoded++;
    processor->counts.decode_busy_ns += processor->clock_ns;
    processor->decode_free_ns = now_ns + processor->clock_ns;
    processor->waiting_rows--;
    if (++packet->decoded == packet->batch->count)
        processor->first_packet = packet->next;
}

/* False: the operation must stay where it is until something has ended. */
static bool decode(struct kvc_kvd_processor *processor, double now_ns)
{
    int32_t number = processor->free_operation[processor->free_operations - 1];
    struct kvc_kvd_operation *operation = &processor->operation[number];
    fill_operation(processor, operation);
    struct kvc_kvd_slot *slot = operation->slot;
    bool stalls = processor->system.engine == KVC_KVD_STALL;
    if (stalls && !kvc_kvd_station_enter(slot, writes(processor, operation->op)))
        return false;
    processor->free_operations--;
    uint32_t in_flight = (uint32_t)processor->system.in_flight - processor->free_operations;
    processor->most_in_flight = in_flight > processor->most_in_flight ? in_flight : processor->most_in_flight;
    row_decoded(processor, now_ns);
    bool owned = !stalls && slot->owner != KVC_KVD_NONE;
    processor->counts.collided += owned;
    enum kvc_kvd_admission admission =
        stalls ? KVC_KVD_FETCH
               : kvc_kvd_station_admit(&processor->station, slot, number,
                                       owned && same_key(processor, slot->owner, number));
    if (admission == KVC_KVD_FETCH)
        issue(processor, operation, processor->decode_free_ns);
    else if (admission == KVC_KVD_FORWARD)
        forward(processor, operation, processor->decode_free_ns);
    return true;
}

/* When the decoder can take its next operation. Had it been possible before the latest event, it would have
 * been done. */
static double decodes_ns(const struct kvc_kvd_processor *processor)
{
    if (processor->first_packet == NULL || processor->free_operations == 0)
        return INFINITY;
    return fmax(fmax(processor->decode_free_ns, processor->first_packet->arrived_ns), processor->now_ns);
}

void kvc_kvd_processor_advance(struct kvc_kvd_processor *processor, double until_ns)
{
    bool stalled = false; /* the next operation waits for one in flight */
    /* nothing that comes now came before the last advance */
    processor->now_ns = fmax(processor->now_ns, processor->advanced_ns);
    processor->advanced_ns = until_ns;
    for (;;) {
        while (processor->waiting_rows < WAITING_ROWS && receive(processor, until_ns))
            ;
        double event_ns = kvc_events_next_ns(&processor->events);
        double decode_ns = stalled ? INFINITY : decodes_ns(processor);
        if (fmin(event_ns, decode_ns) > until_ns)
            return;
        if (decode_ns < event_ns) {
            stalled = !decode(processor, decode_ns);
            continue;
        }
        struct kvc_event event = kvc_events_take(&processor->events);
        processor->now_ns = event.time_ns;
        stalled &= event.kind != EVENT_DONE;
        handle(processor, &event);
    }
}
