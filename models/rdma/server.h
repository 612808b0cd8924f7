/* A server that clients reach over RDMA, in simulated time: its wire, its NIC's messages, and what works on
 * an operation: the NIC, the place of one key, or the core that owns it. Each does one thing after the other.
 *
 * As a NIC of KV-Direct does (models/kvdirect/processor.h), it goes through its own events up to the time
 * that the engine has come to. */
#ifndef KVC_MODELS_RDMA_SERVER_H
#define KVC_MODELS_RDMA_SERVER_H

#include <stdint.h>

#include "models/rdma/config.h"
#include "sim/base/events.h"
#include "sim/run/answers.h"
#include "sim/workload/source.h"

struct kvc_rdma_operation;

struct kvc_rdma_server {
    const struct kvc_scenario *scenario;
    const struct kvc_rdma_config *config;
    struct kvc_source *source;
    struct kvc_batch *batch; /* of one request */
    struct kvc_events events;
    struct kvc_rdma_operation *operation;
    uint32_t *free_operation;
    uint32_t operations, free_count;
    double receive_free_ns, message_free_ns, send_free_ns;
    double *core_free_ns, *core_busy_ns, *key_free_ns;
    uint64_t keys; /* places of key_free_ns; beyond them keys share one */
    /* since it was opened; key: the most popular one */
    double receive_busy_ns, message_busy_ns, key_busy_ns, send_busy_ns;
    struct kvc_answers answers; /* The outcome is the operation, enum kvc_op. */
    uint64_t offered;
};

/* Aborts without memory. */
void kvc_rdma_server_open(struct kvc_rdma_server *server, const struct kvc_scenario *scenario,
                          struct kvc_source *source);
void kvc_rdma_server_close(struct kvc_rdma_server *server);

/* Of the core that has worked most. */
double kvc_rdma_server_core_busy_ns(const struct kvc_rdma_server *server);

/* Everything that happens until until_ns. */
void kvc_rdma_server_advance(struct kvc_rdma_server *server, double until_ns);

#endif
