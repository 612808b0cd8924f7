/* A fake store for the tests of drivers and output: it needs no engine, serves a few requests, and
 * fails on demand. */
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

/* How often this process has prepared and run a fake store. */
extern unsigned kvc_fake_prepared, kvc_fake_ran;

/* A loaded scenario of the fake store. Free it with kvc_loaded_free. */
struct kvc_loaded *kvc_fake_loaded(uint32_t replicas);

/* The options of its store. */
struct kvc_fake *kvc_fake_of(struct kvc_loaded *loaded);

/* A kvc_load_fn whose scenario has two axes: "system.rate" with the values "100", "200", "300" and "run.seed"
 * with "1", "2". It obeys overrides of both and of "system.accident". */
enum kvc_status kvc_fake_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                              struct kvc_diag *diag);

#endif
