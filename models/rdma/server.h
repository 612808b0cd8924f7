/* Simulates a server that clients reach over RDMA: its wire, the messages of its NIC, and the unit that
 * executes an operation: the NIC, its unit for atomics, or the core that owns the key. The wire, the
 * messages, each address and each core serve one operation at a time.
 *
 * Like a NIC of KV-Direct (models/kvdirect/processor.h), the server handles its own events up to the engine's
 * time. Its clock stands still while it is stopped. */
#ifndef KVC_MODELS_RDMA_SERVER_H
#define KVC_MODELS_RDMA_SERVER_H

#include <stdint.h>

#include "models/rdma/config.h"
#include "sim/base/events.h"
#include "sim/run/answers.h"
#include "sim/workload/source/source.h"

struct kvc_rdma_operation;

struct kvc_rdma_server {
    const struct kvc_scenario *scenario;
    const struct kvc_rdma_config *config;
    struct kvc_source *source;
    struct kvc_batch *batch; /* Holds one request. */
    struct kvc_events events;
    struct kvc_rdma_operation *operation;
    uint32_t *free_operation;
    uint32_t operations, free_count;
    double receive_free_ns, message_free_ns, send_free_ns;
    double *core_free_ns, *core_busy_ns, *key_free_ns;
    uint64_t keys; /* Entries of key_free_ns; keys beyond them share entries. */
    /* Busy times since the server was opened; key_busy_ns refers to the most popular key. */
    double receive_busy_ns, message_busy_ns, key_busy_ns, send_busy_ns;
    struct kvc_answers answers;
    double advanced_ns; /* Time of the server's clock at the end of the latest advance. */
    double stopped_ns;  /* Time for which the server was stopped so far. */
    double resumed_ns;  /* When the server resumed after the latest stop, by its clock. */
};

/* Opens the server. `scenario` and `source` must outlive it. Exits with status 3 if memory is short. */
void kvc_rdma_server_open(struct kvc_rdma_server *server, const struct kvc_scenario *scenario,
                          struct kvc_source *source);
void kvc_rdma_server_close(struct kvc_rdma_server *server);

/* Returns the busy time of the busiest core [ns]. */
double kvc_rdma_server_core_busy_ns(const struct kvc_rdma_server *server);

/* Returns the busy time of all cores together [ns]. */
double kvc_rdma_server_cores_busy_ns(const struct kvc_rdma_server *server);

/* Simulates up to time_ns. */
void kvc_rdma_server_advance(struct kvc_rdma_server *server, double time_ns);

/* Stops the server for stop_ns from the end of the latest advance. Its work pauses, and requests wait on the
 * wire. */
void kvc_rdma_server_stop(struct kvc_rdma_server *server, double stop_ns);

#endif
