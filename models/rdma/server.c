#include "models/rdma/server.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/diag.h"
#include "sim/base/serve.h"

enum { ARRIVES, LEAVES };

enum { KEYS_MAX = 1 << 22 };

enum { MARKS = 2 }; /* Arrival of the last message, and the end of its service. */

struct kvc_rdma_operation {
    double sent_ns, arrived_ns, served_ns; /* The latter two are those of the last message so far. */
    uint64_t hash, key_id;
    uint32_t value_bytes, messages; /* Messages that the client has not sent yet. */
    uint8_t op, key_bytes;
};

void kvc_rdma_server_open(struct kvc_rdma_server *server, const struct kvc_scenario *scenario,
                          struct kvc_source *source)
{
    const struct kvc_rdma_config *config = kvc_rdma_config_of(scenario);
    uint64_t keys = scenario->workload.keys < KEYS_MAX ? scenario->workload.keys : KEYS_MAX;
    *server =
        (struct kvc_rdma_server){.scenario = scenario, .config = config, .source = source, .keys = keys};
    server->answers.marks = MARKS;
    server->batch = kvc_batch_create(1, kvc_workload_key_stride(&scenario->workload));
    server->core_free_ns = kvc_array_of(config->cores, sizeof(*server->core_free_ns));
    server->core_busy_ns = kvc_array_of(config->cores, sizeof(*server->core_busy_ns));
    server->key_free_ns = kvc_array_of(keys, sizeof(*server->key_free_ns));
}

void kvc_rdma_server_close(struct kvc_rdma_server *server)
{
    kvc_batch_free(server->batch);
    kvc_events_free(&server->events);
    free(server->operation);
    free(server->free_operation);
    free(server->core_free_ns);
    free(server->core_busy_ns);
    free(server->key_free_ns);
    kvc_answers_free(&server->answers);
}

static uint32_t new_operation(struct kvc_rdma_server *server)
{
    if (server->free_count == 0) {
        uint32_t count = server->operations > 0 ? 2 * server->operations : 1024;
        server->operation = kvc_array_grown(server->operation, count, sizeof(*server->operation));
        server->free_operation =
            kvc_array_grown(server->free_operation, count, sizeof(*server->free_operation));
        while (server->operations < count) {
            server->free_operation[server->free_count++] = server->operations++;
        }
    }
    return server->free_operation[--server->free_count];
}

/* Sends the next request; saturating clients send it at now_ns. Returns false if no request is sent by
 * until_ns. */
static bool send_request(struct kvc_rdma_server *server, double now_ns, double until_ns)
{
    struct kvc_batch *batch = server->batch;
    batch->count = 0;
    if (kvc_source_drain(server->source, 0, until_ns + server->stopped_ns, batch) == 0) {
        return false;
    }
    bool saturates = server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    uint32_t number = new_operation(server);
    struct kvc_rdma_operation *operation = &server->operation[number];
    *operation = (struct kvc_rdma_operation){
        .sent_ns = saturates ? now_ns + server->stopped_ns : batch->sent_ns[0],
        .hash = batch->hash[0],
        .key_id = batch->key_id[0],
        .value_bytes = batch->value_bytes[0],
        .messages = kvc_rdma_messages_of(server->config, batch->op[0]),
        .op = batch->op[0],
        .key_bytes = batch->key_bytes[0],
    };
    kvc_answers_offer(&server->answers, &operation->sent_ns, 1);
    double arrives_ns = operation->sent_ns + server->config->nic->latency_ns - server->stopped_ns;
    kvc_events_add(&server->events, fmax(arrives_ns, server->resumed_ns), ARRIVES, 0, number);
    return true;
}

/* Serves a message that has reached the server. */
static void arrive(struct kvc_rdma_server *server, double now_ns, uint32_t number)
{
    const struct kvc_rdma_config *config = server->config;
    struct kvc_rdma_operation *operation = &server->operation[number];
    operation->arrived_ns = now_ns;
    double bytes =
        kvc_rdma_request_bytes(config, operation->op, operation->key_bytes, operation->value_bytes);
    double time_ns = kvc_serve(&server->receive_free_ns, &server->receive_busy_ns, now_ns,
                               kvc_nic_wire_ns(server->config->nic, bytes, 1));
    time_ns = kvc_serve(&server->message_free_ns, &server->message_busy_ns, time_ns, config->message_ns);
    switch (kvc_rdma_unit_of(config, operation->op)) {
    case KVC_RDMA_NIC:
        time_ns += config->read_ns;
        break;
    case KVC_RDMA_KEY: {
        uint64_t key = operation->key_id % server->keys;
        double others_ns = 0, read_ns = time_ns + config->read_ns;
        time_ns = kvc_serve(&server->key_free_ns[key], key == 0 ? &server->key_busy_ns : &others_ns, time_ns,
                            config->atomic_ns);
        time_ns = fmax(time_ns, read_ns);
        break;
    }
    case KVC_RDMA_CORE: {
        uint64_t core = (operation->hash >> 32) * config->cores >> 32;
        time_ns =
            kvc_serve(&server->core_free_ns[core], &server->core_busy_ns[core], time_ns, config->core_ns);
        break;
    }
    }
    kvc_events_add(&server->events, time_ns, LEAVES, 0, number);
}

static void answer(struct kvc_rdma_server *server, double done_ns, uint32_t number)
{
    const struct kvc_rdma_operation *operation = &server->operation[number];
    kvc_answers_reserve(&server->answers, 1);
    kvc_answers_add(&server->answers, operation->sent_ns, done_ns, kvc_answered_of(operation->op, false), 0);
    double *mark_ns = kvc_answers_marks(&server->answers);
    mark_ns[0] = operation->arrived_ns + server->stopped_ns;
    mark_ns[1] = operation->served_ns + server->stopped_ns;
    server->free_operation[server->free_count++] = number;
}

/* Sends the response to a message. A saturating client then sends its next request. */
static void leave(struct kvc_rdma_server *server, double now_ns, double until_ns, uint32_t number)
{
    const struct kvc_nic *nic = server->config->nic;
    struct kvc_rdma_operation *operation = &server->operation[number];
    operation->served_ns = now_ns;
    double bytes = kvc_rdma_response_bytes(server->config, operation->op, operation->value_bytes);
    double done_ns =
        kvc_serve(&server->send_free_ns, &server->send_busy_ns, now_ns, kvc_nic_wire_ns(nic, bytes, 1)) +
        nic->latency_ns;
    if (--operation->messages > 0) {
        kvc_events_add(&server->events, done_ns + nic->latency_ns, ARRIVES, 0, number);
        return;
    }
    answer(server, done_ns + server->stopped_ns, number);
    if (server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE) {
        send_request(server, done_ns, until_ns);
    }
}

double kvc_rdma_server_core_busy_ns(const struct kvc_rdma_server *server)
{
    double most_ns = 0;
    for (uint64_t core = 0; core < server->config->cores; core++) {
        most_ns = fmax(most_ns, server->core_busy_ns[core]);
    }
    return most_ns;
}

double kvc_rdma_server_cores_busy_ns(const struct kvc_rdma_server *server)
{
    double busy_ns = 0;
    for (uint64_t core = 0; core < server->config->cores; core++) {
        busy_ns += server->core_busy_ns[core];
    }
    return busy_ns;
}

void kvc_rdma_server_stop(struct kvc_rdma_server *server, double stop_ns)
{
    server->stopped_ns += stop_ns;
    server->resumed_ns = server->advanced_ns;
}

void kvc_rdma_server_advance(struct kvc_rdma_server *server, double time_ns)
{
    double until_ns = time_ns - server->stopped_ns;
    server->advanced_ns = until_ns;
    bool saturates = server->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    while (saturates && server->operations - server->free_count < server->config->outstanding) {
        if (!send_request(server, 0, until_ns)) {
            break;
        }
    }
    while (!saturates && send_request(server, 0, until_ns)) {
        ;
    }
    while (kvc_events_next_ns(&server->events) <= until_ns) {
        struct kvc_event event = kvc_events_pop(&server->events);
        if (event.kind == ARRIVES) {
            arrive(server, event.time_ns, event.tag);
        } else {
            leave(server, event.time_ns, until_ns, event.tag);
        }
    }
}
