#include "models/kvdirect/processor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/kvdirect/processor_internal.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

/* ---- reservation station ---- */

void kvc_kvdirect_station_open(struct kvc_kvdirect_station *station, uint32_t slots, uint32_t operations)
{
    *station = (struct kvc_kvdirect_station){
        .slot = calloc(slots, sizeof(*station->slot)),
        .next = calloc(operations, sizeof(*station->next)),
        .slots = slots,
    };
    if (station->slot == NULL || station->next == NULL) {
        kvc_out_of_memory("a reservation station of %u slots", slots);
    }
    for (uint32_t i = 0; i < slots; i++) {
        station->slot[i].owner = station->slot[i].first = station->slot[i].last = KVC_KVDIRECT_NONE;
    }
}

double kvc_kvdirect_station_memory_bytes(uint32_t slots, uint32_t operations)
{
    const struct kvc_kvdirect_station *station = NULL;
    return (double)slots * sizeof(*station->slot) + (double)operations * sizeof(*station->next);
}

void kvc_kvdirect_station_close(struct kvc_kvdirect_station *station)
{
    free(station->slot);
    free(station->next);
}

enum kvc_kvdirect_admission kvc_kvdirect_station_admit(struct kvc_kvdirect_station *station,
                                                       struct kvc_kvdirect_slot *slot, int32_t operation,
                                                       bool same)
{
    if (slot->owner == KVC_KVDIRECT_NONE) {
        slot->owner = operation;
        slot->fetching = true;
        return KVC_KVDIRECT_FETCH;
    }
    if (!slot->fetching && slot->first == KVC_KVDIRECT_NONE && same) {
        slot->forwarding++;
        return KVC_KVDIRECT_FORWARD;
    }
    station->next[operation] = KVC_KVDIRECT_NONE;
    if (slot->first == KVC_KVDIRECT_NONE) {
        slot->first = operation;
    } else {
        station->next[slot->last] = operation;
    }
    slot->last = operation;
    return KVC_KVDIRECT_WAIT;
}

/* Removes the operation after `before`. */
static int32_t take_behind(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                           int32_t before)
{
    int32_t *link = before == KVC_KVDIRECT_NONE ? &slot->first : &station->next[before], taken = *link;
    *link = station->next[taken];
    if (slot->last == taken) {
        slot->last = before;
    }
    return taken;
}

int32_t kvc_kvdirect_station_take(struct kvc_kvdirect_station *station, struct kvc_kvdirect_slot *slot,
                                  int32_t *before, bool (*same)(void *data, int32_t owner, int32_t operation),
                                  void *data)
{
    int32_t at = *before == KVC_KVDIRECT_NONE ? slot->first : station->next[*before];
    for (; at != KVC_KVDIRECT_NONE; *before = at, at = station->next[at]) {
        if (!same(data, slot->owner, at)) {
            continue;
        }
        slot->forwarding++;
        return take_behind(station, slot, *before);
    }
    return KVC_KVDIRECT_NONE;
}

enum kvc_kvdirect_next kvc_kvdirect_station_next(struct kvc_kvdirect_station *station,
                                                 struct kvc_kvdirect_slot *slot)
{
    if (slot->fetching || slot->writing || slot->forwarding > 0) {
        return KVC_KVDIRECT_NEXT_NOTHING;
    }
    if (slot->changed) {
        slot->changed = false;
        slot->writing = true;
        return KVC_KVDIRECT_NEXT_WRITE;
    }
    slot->owner = KVC_KVDIRECT_NONE;
    if (slot->first == KVC_KVDIRECT_NONE) {
        return KVC_KVDIRECT_NEXT_NOTHING;
    }
    slot->owner = take_behind(station, slot, KVC_KVDIRECT_NONE);
    slot->fetching = true;
    return KVC_KVDIRECT_NEXT_FETCH;
}

bool kvc_kvdirect_station_enter(struct kvc_kvdirect_slot *slot, bool writes)
{
    if (slot->writers > 0 || (writes && slot->readers > 0)) {
        return false;
    }
    if (writes) {
        slot->writers++;
    } else {
        slot->readers++;
    }
    return true;
}

void kvc_kvdirect_station_leave(struct kvc_kvdirect_slot *slot, bool writes)
{
    if (writes) {
        slot->writers--;
    } else {
        slot->readers--;
    }
}

/* ---- packets ---- */

/* Frees all packets. */
static void free_packets(struct kvc_kvdirect_processor *processor)
{
    while (processor->made_last != NULL) {
        struct kvc_kvdirect_packet *packet = processor->made_last;
        processor->made_last = packet->made_earlier;
        kvc_batch_free(packet->batch);
        free(packet->outcome);
        free(packet);
    }
    free(processor->free_packet);
}

static struct kvc_kvdirect_packet *new_packet(struct kvc_kvdirect_processor *processor)
{
    if (processor->free_packets > 0) {
        struct kvc_kvdirect_packet *packet = processor->free_packet[--processor->free_packets];
        packet->batch->count = 0;
        return packet;
    }
    struct kvc_kvdirect_packet *packet = kvc_array_of(1, sizeof(*packet));
    uint32_t rows = processor->frame_requests;
    packet->batch = kvc_batch_create(rows, kvc_workload_key_stride(&processor->scenario->workload));
    packet->outcome = kvc_array_of(rows, sizeof(*packet->outcome));
    packet->made_earlier = processor->made_last;
    processor->made_last = packet;
    processor->packets++;
    processor->free_packet =
        kvc_array_grown(processor->free_packet, processor->packets, sizeof(struct kvc_kvdirect_packet *));
    return packet;
}

static double request_bytes(const struct kvc_kvdirect_processor *processor, const struct kvc_batch *batch)
{
    double bytes = batch->count * (double)processor->nic->request_header_bytes;
    for (uint32_t i = 0; i < batch->count; i++) {
        bytes +=
            batch->key_bytes[i] + (batch->op[i] == KVC_OP_SET
                                       ? kvc_kvdirect_sent_bytes(processor->config, batch->value_bytes[i])
                                       : 0);
    }
    return bytes;
}

/* Receives the next packet that is sent by until_ns of the card's clock. Returns false if there is none. */
static bool receive(struct kvc_kvdirect_processor *processor, double until_ns)
{
    const struct kvc_nic *nic = processor->nic;
    bool saturates = processor->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    struct kvc_kvdirect_packet *packet = new_packet(processor);
    struct kvc_batch *batch = packet->batch;
    double started_ns = kvc_later_ns(processor->receive_free_ns, saturates ? processor->now_ns : 0);
    if (kvc_source_drain(processor->source, processor->number, until_ns + processor->stopped_ns, batch) ==
        0) {
        processor->free_packet[processor->free_packets++] = packet;
        return false;
    }
    if (saturates) {
        for (uint32_t i = 0; i < batch->count; i++) {
            batch->sent_ns[i] = started_ns + processor->stopped_ns - nic->latency_ns;
        }
    } else {
        double arrives_ns = batch->left_ns + nic->latency_ns - processor->stopped_ns;
        started_ns = kvc_later_ns(started_ns, kvc_later_ns(arrives_ns, processor->resumed_ns));
    }
    kvc_answers_offer(&processor->answers, batch->sent_ns, batch->count);
    double wire_ns = kvc_nic_wire_ns(nic, request_bytes(processor, batch), 1);
    processor->counts.receive_busy_ns += wire_ns;
    packet->arrived_ns = processor->receive_free_ns = started_ns + wire_ns;
    packet->decoded = 0;
    packet->left = batch->count;
    packet->response_bytes = packet->ack_ns = 0;
    packet->next = NULL;
    if (processor->first_packet == NULL) {
        processor->first_packet = packet;
    } else {
        processor->last_packet->next = packet;
    }
    processor->last_packet = packet;
    processor->waiting_rows += batch->count;
    kvc_kvdirect_table_prefetch(processor->shard->table, batch->hash, batch->count);
    return true;
}

enum { MARKS = 3 }; /* Arrival of its packet, first operation decoded, and last one done. */

static void add_answers(struct kvc_kvdirect_processor *processor, const struct kvc_kvdirect_packet *packet,
                        double ended_ns, double done_ns)
{
    const struct kvc_batch *batch = packet->batch;
    struct kvc_answers *answers = &processor->answers;
    kvc_answers_reserve(answers, batch->count);
    for (uint32_t i = 0; i < batch->count; i++) {
        kvc_answers_add(answers, batch->sent_ns[i], done_ns, packet->outcome[i], batch->client[i]);
        double *mark_ns = kvc_answers_marks(answers);
        mark_ns[0] = packet->arrived_ns + processor->stopped_ns;
        mark_ns[1] = packet->decoded_ns + processor->stopped_ns;
        mark_ns[2] = ended_ns + processor->stopped_ns;
        if (packet->outcome[i] == KVC_ANSWERED_MISS) {
            kvc_source_miss_row(processor->source, batch, i, done_ns);
        }
    }
}

/* Returns the bytes of a response without its header. */
static uint32_t returned_bytes(struct kvc_kvdirect_processor *processor,
                               const struct kvc_kvdirect_operation *operation)
{
    const struct kvc_kvdirect_config *config = processor->config;
    uint32_t element_bytes = config->element_bytes;
    if (!operation->present || operation->op == KVC_OP_DELETE) {
        return 0;
    }
    if (operation->op == KVC_OP_GET) {
        return operation->value_bytes;
    }
    if (config->update != KVC_KVDIRECT_FILTER) {
        return kvc_kvdirect_returned_bytes(config, operation->value_bytes);
    }
    return element_bytes * kvc_kvdirect_lambda_filter(&config->lambda, operation->value,
                                                      operation->value_bytes, element_bytes, config->delta);
}

/* Answers an operation. The response leaves with the last operation of its packet. It has the key, because
 * operations end out of order: GETs of 62, 126 and 254 bytes, 74.7, 37.1 and 18.5 Mops in fig. 16b, fill the
 * network with whole pairs. */
static void respond(struct kvc_kvdirect_processor *processor, const struct kvc_kvdirect_operation *operation,
                    double now_ns)
{
    const struct kvc_nic *nic = processor->nic;
    struct kvc_kvdirect_packet *packet = operation->packet;
    packet->outcome[operation->row] = kvc_answered_of(operation->op, !operation->present);
    if (processor->watch != NULL) {
        processor->watch(processor->watch_data,
                         &(struct kvc_kvdirect_watched){operation->sequence, operation->hash, operation->op,
                                                        operation->present, operation->value,
                                                        operation->value_bytes, now_ns});
    }
    packet->response_bytes +=
        (double)nic->response_header_bytes + operation->key_bytes + returned_bytes(processor, operation);
    if (!operation->forwarded && kvc_kvdirect_writes(processor, operation->op)) {
        packet->ack_ns = kvc_later_ns(packet->ack_ns, now_ns + processor->config->write_ack_ns);
    }
    if (--packet->left > 0) {
        return;
    }
    double wire_ns = kvc_nic_wire_ns(nic, packet->response_bytes, 1);
    processor->counts.send_busy_ns += wire_ns;
    processor->send_free_ns = kvc_later_ns(processor->send_free_ns, now_ns) + wire_ns;
    double waits_ns = processor->config->pipeline_ns + fmax(packet->ack_ns - now_ns, 0);
    add_answers(processor, packet, now_ns,
                processor->send_free_ns + waits_ns + processor->stopped_ns + nic->latency_ns);
    processor->free_packet[processor->free_packets++] = packet;
}

/* ---- pipeline ---- */

enum { EVENT_READY = KVC_KVDIRECT_MEMORY_KINDS, EVENT_ACCESS, EVENT_DONE };

/* Lanes of events whose times ascend. */
enum { LANE_DONE = KVC_KVDIRECT_MEMORY_LANES_END, LANE_ISSUE, LANE_ACCESS };
_Static_assert((int)LANE_ACCESS < (int)KVC_EVENTS_LANES, "each lane has a number");

enum {
    WAITING_ROWS = 512, /* Operations received ahead of the decoder. */
    ROWS_AHEAD = 8,     /* Operations after the one that is decoded whose buckets are prefetched. */
};

void kvc_kvdirect_processor_open(struct kvc_kvdirect_processor *processor,
                                 const struct kvc_scenario *scenario, struct kvc_kvdirect_store *store,
                                 struct kvc_source *source, uint32_t number, uint32_t frame_requests,
                                 uint64_t seed)
{
    const struct kvc_kvdirect_config *config = kvc_kvdirect_config_of(scenario);
    *processor = (struct kvc_kvdirect_processor){
        .scenario = scenario,
        .config = config,
        .nic = config->card.nic,
        .store = store,
        .shard = &store->shards[number],
        .source = source,
        .number = number,
        .frame_requests = frame_requests,
        .clock_ns = kvc_fpga_cycle_ns(config->card.fpga),
        .receive_free_ns = config->card.nic->latency_ns,
        .answers = {.marks = MARKS},
    };
    uint32_t operations = config->in_flight;
    kvc_rng_init(&processor->rng, seed, "kvdirect.shape", number);
    kvc_kvdirect_memory_engine_open(&processor->memory, config->card.pcie, config->card.fpga,
                                    &processor->shard->dispatch, config->gather_cores, &processor->events,
                                    kvc_rng_u64(&processor->rng));
    kvc_kvdirect_station_open(&processor->station, processor->config->station, operations);
    processor->operation = kvc_array_of(operations, sizeof(*processor->operation));
    processor->free_operation = kvc_array_of(operations, sizeof(*processor->free_operation));
    while (processor->free_operations < operations) {
        processor->free_operation[processor->free_operations] =
            (int32_t)(operations - 1 - processor->free_operations);
        processor->free_operations++;
    }
    kvc_kvdirect_table_set_trace(processor->shard->table, &processor->trace);
}

double kvc_kvdirect_processor_memory_bytes(const struct kvc_kvdirect_config *config)
{
    double operation_bytes = sizeof(struct kvc_kvdirect_operation) + sizeof(int32_t) +
                             2.0 * KVC_KVDIRECT_STEPS_MAX * sizeof(struct kvc_kvdirect_step);
    return config->in_flight * operation_bytes +
           kvc_kvdirect_station_memory_bytes(config->station, config->in_flight);
}

void kvc_kvdirect_processor_close(struct kvc_kvdirect_processor *processor)
{
    kvc_kvdirect_table_set_trace(processor->shard->table, NULL);
    for (uint32_t i = 0; i < processor->config->in_flight; i++) {
        free(processor->operation[i].step);
    }
    free_packets(processor);
    kvc_events_free(&processor->events);
    kvc_kvdirect_memory_engine_close(&processor->memory);
    kvc_kvdirect_station_close(&processor->station);
    free(processor->trace.access);
    free(processor->operation);
    free(processor->free_operation);
    kvc_answers_free(&processor->answers);
}

/* ---- operations ---- */

static int32_t number_of(const struct kvc_kvdirect_processor *processor,
                         const struct kvc_kvdirect_operation *operation)
{
    return (int32_t)(operation - processor->operation);
}

static void free_operation(struct kvc_kvdirect_processor *processor, int32_t number)
{
    processor->free_operation[processor->free_operations++] = number;
}

static bool same_key(void *data, int32_t left, int32_t right)
{
    const struct kvc_kvdirect_processor *processor = data;
    const struct kvc_kvdirect_operation *a = &processor->operation[left], *b = &processor->operation[right];
    return a->hash == b->hash && a->key_bytes == b->key_bytes && memcmp(a->key, b->key, a->key_bytes) == 0;
}

/* Sends an operation to memory; one can leave per clock. */
static void issue(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                  double now_ns)
{
    processor->issue_free_ns = kvc_later_ns(processor->issue_free_ns, now_ns) + processor->clock_ns;
    operation->at = operation->under_way = 0;
    operation->goes_on = false;
    kvc_kvdirect_execute(processor, operation, now_ns);
    uint32_t accesses = 0;
    for (uint32_t i = 0; i < operation->steps; i++) {
        accesses += operation->step[i].ends_access;
    }
    processor->counts.accesses[operation->op] += operation->write_back ? 0 : accesses;
    processor->counts.operations[operation->op] += !operation->write_back;
    kvc_events_append(&processor->events, LANE_ISSUE, processor->issue_free_ns, EVENT_READY, 0,
                      (uint32_t)number_of(processor, operation));
}

/* Occupies the copies of the user's function for the operation's vector. Returns when the result is there. */
static double compute(struct kvc_kvdirect_processor *processor,
                      const struct kvc_kvdirect_operation *operation, double now_ns)
{
    uint32_t bytes = operation->value_bytes;
    double busy_ns = kvc_kvdirect_lambda_busy_clocks(processor->config, bytes) * processor->clock_ns;
    double free_ns =
        kvc_serve(&processor->lambda_free_ns, &processor->counts.lambda_busy_ns, now_ns, busy_ns);
    return free_ns - busy_ns + kvc_kvdirect_lambda_clocks(processor->config, bytes) * processor->clock_ns;
}

/* Executes an operation in the station. One can start per clock, and operations on a value end in their
 * order: a user's function that changes a vector works on the result of the previous operation. */
static void forward(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                    double now_ns)
{
    struct kvc_kvdirect_operation *owner = &processor->operation[operation->slot->owner];
    const struct kvc_kvdirect_config *config = processor->config;
    processor->counts.forwarded++;
    operation->forwarded = true;
    kvc_kvdirect_apply(processor, owner, operation);
    double starts_ns = kvc_later_ns(processor->forward_free_ns, now_ns);
    processor->forward_free_ns = starts_ns + processor->clock_ns;
    double done_ns = processor->forward_free_ns;
    if (operation->op == KVC_OP_SET && kvc_kvdirect_update_has_vectors(config->update)) {
        bool changes = kvc_kvdirect_update_writes(config->update);
        double computed_ns =
            compute(processor, operation, changes ? kvc_later_ns(starts_ns, owner->value_ns) : starts_ns);
        done_ns = kvc_later_ns(done_ns, computed_ns);
    }
    owner->value_ns = kvc_later_ns(owner->value_ns, done_ns);
    kvc_events_add(&processor->events, owner->value_ns, EVENT_DONE, 0,
                   (uint32_t)number_of(processor, operation));
}

/* Continues with a slot after a fetch, a write-back or a forwarded operation has ended. */
static void go_on(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_slot *slot, double now_ns)
{
    int32_t owner = slot->owner;
    enum kvc_kvdirect_next next = kvc_kvdirect_station_next(&processor->station, slot);
    if (slot->owner != owner) {
        free_operation(processor, owner);
    }
    if (next == KVC_KVDIRECT_NEXT_NOTHING) {
        return;
    }
    struct kvc_kvdirect_operation *operation = &processor->operation[slot->owner];
    operation->write_back = next == KVC_KVDIRECT_NEXT_WRITE;
    processor->counts.writebacks += operation->write_back;
    issue(processor, operation, now_ns);
}

static void end_out_of_order(struct kvc_kvdirect_processor *processor,
                             struct kvc_kvdirect_operation *operation, double now_ns)
{
    struct kvc_kvdirect_slot *slot = operation->slot;
    int32_t before = KVC_KVDIRECT_NONE, waiting;
    if (operation->forwarded) {
        slot->forwarding--;
        respond(processor, operation, now_ns);
        free_operation(processor, number_of(processor, operation));
    } else if (operation->write_back) {
        slot->writing = false;
    } else {
        respond(processor, operation, now_ns);
        slot->fetching = false;
        while ((waiting = kvc_kvdirect_station_take(&processor->station, slot, &before, same_key,
                                                    processor)) != KVC_KVDIRECT_NONE) {
            forward(processor, &processor->operation[waiting], now_ns);
        }
    }
    go_on(processor, slot, now_ns);
}

static void end_operation(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns)
{
    if (processor->config->engine == KVC_KVDIRECT_OUT_OF_ORDER) {
        end_out_of_order(processor, operation, now_ns);
        return;
    }
    respond(processor, operation, now_ns);
    kvc_kvdirect_station_leave(operation->slot, kvc_kvdirect_writes(processor, operation->op));
    free_operation(processor, number_of(processor, operation));
}

static bool is_write(const struct kvc_kvdirect_step *step)
{
    return step->kind == KVC_KVDIRECT_HOST_WRITE || step->kind == KVC_KVDIRECT_CACHE_WRITE;
}

static void access_memory(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns);

/* Schedules the operation's next access, or its end. One read and one write start in each clock: every kernel
 * takes an operation in each clock (sec. 4), and one that reads and writes is no exception, because the paper
 * states 180 Mops for atomic operations, "equal to normal KV operation" (sec. 1), for one key and for many
 * (sec. 5.1.3, fig. 13a). The memory accesses of 95 and of 100 % GET, 180 Mops in sec. 5.1.4, meet the same
 * clock. */
static void go_to_memory(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                         double now_ns)
{
    uint32_t number = (uint32_t)number_of(processor, operation);
    bool ends = operation->at == operation->steps, write = !ends && is_write(&operation->step[operation->at]);
    if (operation->computes && (ends || write)) {
        operation->computes = false;
        now_ns = compute(processor, operation, now_ns);
        kvc_events_add(&processor->events, now_ns, EVENT_READY, 0, number);
        return;
    }
    if (write && operation->ready_ns > now_ns) { /* The slab daemon is still working. */
        kvc_events_add(&processor->events, operation->ready_ns, EVENT_READY, 0, number);
        return;
    }
    if (ends) {
        kvc_kvdirect_executed(processor, operation);
        kvc_events_add(&processor->events, now_ns + processor->clock_ns, EVENT_DONE, 0, number);
        return;
    }
    double starts_ns = kvc_later_ns(processor->access_free_ns[write], now_ns);
    processor->access_free_ns[write] = starts_ns + processor->clock_ns;
    processor->counts.access_busy_ns[write] += processor->clock_ns;
    if (starts_ns == now_ns) { /* The access precedes all simultaneous events. */
        access_memory(processor, operation, now_ns);
    } else {
        kvc_events_append(&processor->events, LANE_ACCESS, starts_ns, EVENT_ACCESS, 0, number);
    }
}

/* Starts an access. The next access does not wait for a write. */
static void access_memory(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                          double now_ns)
{
    bool write = is_write(&operation->step[operation->at]), ends;
    do {
        ends = operation->step[operation->at].ends_access;
        operation->under_way++;
        kvc_kvdirect_memory_engine_start(&processor->memory, now_ns, &operation->step[operation->at++],
                                         (uint32_t)number_of(processor, operation));
    } while (!ends);
    operation->goes_on = write && operation->at < operation->steps;
    if (operation->goes_on) {
        go_to_memory(processor, operation, now_ns);
    }
}

static void step_done(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation,
                      double now_ns)
{
    if (--operation->under_way > 0 || operation->goes_on) {
        return;
    }
    uint32_t number = (uint32_t)number_of(processor, operation);
    double ready_ns = now_ns + processor->clock_ns;
    if (operation->at < operation->steps || operation->computes) {
        kvc_events_add(&processor->events, ready_ns, EVENT_READY, 0, number);
        return;
    }
    kvc_kvdirect_executed(processor, operation);
    kvc_events_append(&processor->events, LANE_DONE, ready_ns + processor->clock_ns, EVENT_DONE, 0, number);
}

static void handle(struct kvc_kvdirect_processor *processor, const struct kvc_event *event)
{
    if (event->kind == EVENT_READY) {
        go_to_memory(processor, &processor->operation[event->tag], event->time_ns);
    } else if (event->kind == EVENT_ACCESS) {
        access_memory(processor, &processor->operation[event->tag], event->time_ns);
    } else if (event->kind == EVENT_DONE) {
        end_operation(processor, &processor->operation[event->tag], event->time_ns);
    } else {
        kvc_kvdirect_memory_engine_handle(&processor->memory, event);
        for (uint32_t i = 0; i < processor->memory.done_count; i++) {
            step_done(processor, &processor->operation[processor->memory.done[i]], event->time_ns);
        }
    }
}

/* ---- decoder ---- */

static void fill_operation(struct kvc_kvdirect_processor *processor, struct kvc_kvdirect_operation *operation)
{
    struct kvc_kvdirect_packet *packet = processor->first_packet;
    const struct kvc_batch *batch = packet->batch;
    uint32_t row = packet->decoded;
    if (row + ROWS_AHEAD < batch->count) { /* The line has left the first cache since its packet came. */
        kvc_kvdirect_table_prefetch(processor->shard->table, &batch->hash[row + ROWS_AHEAD], 1);
    }
    operation->packet = packet;
    operation->row = row;
    operation->op = batch->op[row];
    operation->sequence = processor->counts.decoded;
    operation->key_id = batch->key_id[row];
    operation->kept = kvc_sampling_keeps_key(&processor->store->sampling, batch->key_id[row]);
    operation->hot = batch->key_id[row] < processor->store->sampling.hot_keys;
    operation->forwarded = operation->write_back = operation->present = false;
    operation->key_bytes = batch->key_bytes[row];
    operation->value_bytes = (uint16_t)batch->value_bytes[row];
    operation->hash = batch->hash[row];
    operation->slot = kvc_kvdirect_slot_of(&processor->station, operation->hash);
    memcpy(operation->key, batch->keys + (size_t)row * batch->key_stride, operation->key_bytes);
    if (operation->op == KVC_OP_SET) {
        kvc_kvdirect_first_value(operation->hash + 1 + operation->sequence, operation->value,
                                 operation->value_bytes);
    }
}

static void row_decoded(struct kvc_kvdirect_processor *processor, double now_ns)
{
    struct kvc_kvdirect_packet *packet = processor->first_packet;
    processor->counts.decoded++;
    processor->counts.decode_busy_ns += processor->clock_ns;
    processor->decode_free_ns = now_ns + processor->clock_ns;
    processor->waiting_rows--;
    packet->decoded_ns = packet->decoded == 0 ? now_ns : packet->decoded_ns;
    if (++packet->decoded == packet->batch->count) {
        processor->first_packet = packet->next;
    }
}

/* Decodes the next operation. Returns false if it must wait until an operation ends. */
static bool decode(struct kvc_kvdirect_processor *processor, double now_ns)
{
    int32_t number = processor->free_operation[processor->free_operations - 1];
    struct kvc_kvdirect_operation *operation = &processor->operation[number];
    fill_operation(processor, operation);
    struct kvc_kvdirect_slot *slot = operation->slot;
    bool stalls = processor->config->engine == KVC_KVDIRECT_STALL;
    if (stalls && !kvc_kvdirect_station_enter(slot, kvc_kvdirect_writes(processor, operation->op))) {
        return false;
    }
    processor->free_operations--;
    uint32_t in_flight = processor->config->in_flight - processor->free_operations;
    processor->most_in_flight = in_flight > processor->most_in_flight ? in_flight : processor->most_in_flight;
    row_decoded(processor, now_ns);
    bool owned = !stalls && slot->owner != KVC_KVDIRECT_NONE;
    processor->counts.collided += owned;
    enum kvc_kvdirect_admission admission =
        stalls ? KVC_KVDIRECT_FETCH
               : kvc_kvdirect_station_admit(&processor->station, slot, number,
                                            owned && same_key(processor, slot->owner, number));
    if (admission == KVC_KVDIRECT_FETCH) {
        issue(processor, operation, processor->decode_free_ns);
    } else if (admission == KVC_KVDIRECT_FORWARD) {
        forward(processor, operation, processor->decode_free_ns);
    }
    return true;
}

/* Returns the time at which the decoder can take its next operation. This is never before the latest event,
 * because the decoder would have taken the operation then. */
static double decodes_ns(const struct kvc_kvdirect_processor *processor)
{
    if (processor->first_packet == NULL || processor->free_operations == 0) {
        return INFINITY;
    }
    return kvc_later_ns(kvc_later_ns(processor->decode_free_ns, processor->first_packet->arrived_ns),
                        processor->now_ns);
}

void kvc_kvdirect_processor_stop(struct kvc_kvdirect_processor *processor, double stop_ns)
{
    processor->stopped_ns += stop_ns;
    processor->resumed_ns = processor->advanced_ns;
}

void kvc_kvdirect_processor_advance(struct kvc_kvdirect_processor *processor, double time_ns)
{
    double until_ns = time_ns - processor->stopped_ns;
    bool stalled = false; /* Whether the next operation waits for one in flight. */
    bool arrives = true;  /* Whether a packet may still be sent by until_ns. */
    /* Everything up to the end of the last advance has already happened. */
    processor->now_ns = kvc_later_ns(processor->now_ns, processor->advanced_ns);
    processor->advanced_ns = until_ns;
    for (;;) {
        while (arrives && processor->waiting_rows < WAITING_ROWS) {
            arrives = receive(processor, until_ns);
        }
        double event_ns = kvc_events_next_ns(&processor->events);
        double decode_ns = stalled ? INFINITY : decodes_ns(processor);
        if (decode_ns < event_ns) {
            if (decode_ns > until_ns) {
                return;
            }
            stalled = !decode(processor, decode_ns);
            continue;
        }
        if (event_ns > until_ns) {
            return;
        }
        struct kvc_event event = kvc_events_pop(&processor->events);
        event.time_ns = processor->now_ns = kvc_later_ns(event.time_ns, processor->now_ns);
        stalled &= event.kind != EVENT_DONE;
        handle(processor, &event);
    }
}
