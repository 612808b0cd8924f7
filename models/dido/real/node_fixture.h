/* A real node of DIDO over a small store, for tests. */
#ifndef KVC_MODELS_DIDO_REAL_NODE_FIXTURE_H
#define KVC_MODELS_DIDO_REAL_NODE_FIXTURE_H

#include "models/dido/real/node.h"

struct kvc_test_node {
    struct kvc_scenario scenario;
    struct kvc_dido_options options;
    struct kvc_dido_config config;
    struct kvc_cpu cpu;
    struct kvc_dram dram;
    struct kvc_gpu gpu;
    struct kvc_nic nic;
    uint64_t feed_bytes;
    struct kvc_shards *store;
    struct kvc_dido_real_node *node;
};

/* Answers of a node. */
struct kvc_test_answers {
    uint64_t hits, misses, sets, deletes, foreign, latencies, all, in_batches;
};

/* Describes a scenario with saturating clients. The caller may change it before it opens the node. */
void kvc_test_node_describe(struct kvc_test_node *test, const char *pipeline, double set_frac,
                            double delete_frac);

/* Resolves the scenario. The test fails if it is wrong. */
void kvc_test_node_resolve(struct kvc_test_node *test);

/* Builds the store, opens the node and starts its clock. */
void kvc_test_node_open(struct kvc_test_node *test);
void kvc_test_node_close(struct kvc_test_node *test);

/* Finishes all batches in flight; RV begins no more. */
void kvc_test_node_drain(struct kvc_test_node *test);

struct kvc_test_answers kvc_test_node_answers(const struct kvc_test_node *test);

#endif
