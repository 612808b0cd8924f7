/* Stores for tests that need no engine: a fake one for drivers and output, which serves a few requests and
 * fails on demand, and a queue for the capacity search. */
#ifndef KVC_SCENARIOS_RUN_STORE_FIXTURE_H
#define KVC_SCENARIOS_RUN_STORE_FIXTURE_H

#include "scenarios/load/load.h"

enum kvc_fake_accident {
    KVC_FAKE_NONE,
    KVC_FAKE_CRASH,  /* Replica 1 dies of a signal. */
    KVC_FAKE_EXIT,   /* Replica 1 exits without an answer. */
    KVC_FAKE_REFUSE, /* Replica 1 returns an error. */
};

struct kvc_fake {
    double rate_mops;
    int accident;        /* enum kvc_fake_accident. */
    double memory_bytes; /* Memory that the store claims to need [bytes]. */
    bool wild_numbers;   /* The result has NaN, infinite numbers and texts to escape. */
    double watts;        /* Power; 0: unknown [W]. */
};

/* Number of times that this process has prepared and run a fake store. */
extern unsigned kvc_fake_prepared, kvc_fake_ran;

/* A loaded scenario of the fake store. Free it with kvc_loaded_free. */
struct kvc_loaded *kvc_fake_loaded(uint32_t replicas);

/* The options of its store. */
struct kvc_fake *kvc_fake_of(struct kvc_loaded *loaded);

/* A kvc_load_fn whose scenario has two axes: "system.rate" with the values "100", "200", "300" and "run.seed"
 * with "1", "2". It obeys overrides of both and of "system.accident". */
enum kvc_status kvc_fake_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                              struct kvc_diag *diag);

/* The options of the queue: one server with a constant service time, simulated by Lindley's recursion. With
 * Poisson arrivals it is an M/D/1 queue, whose capacity and mean latency are known. */
struct kvc_queue {
    double service_ns;
    double slower_frac;   /* Each replica is slower than the one before by this fraction. */
    double fill_requests; /* Requests that a client collects before it sends them. */
    uint32_t room;        /* Requests that may be in the queue and in service; 0: any number. */
};

/* Returns a loaded scenario of the queue with saturating clients. It has nothing to free. */
struct kvc_loaded kvc_queue_loaded(struct kvc_queue *queue, double duration_ns);

#endif
