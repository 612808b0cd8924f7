/* A store for the tests of drivers and output: no engine, a few requests, and on request every kind of
 * accident. */
#ifndef KVC_SCENARIOS_RUN_STORE_FIXTURE_H
#define KVC_SCENARIOS_RUN_STORE_FIXTURE_H

#include "scenarios/load/load.h"

enum kvc_fake_accident {
    KVC_FAKE_NONE,
    KVC_FAKE_CRASH,  /* replica 1 dies of a signal */
    KVC_FAKE_EXIT,   /* replica 1 leaves without an answer */
    KVC_FAKE_REFUSE, /* replica 1 returns an error */
};

struct kvc_fake {
    double rate_mops;
    int accident;        /* enum kvc_fake_accident */
    double memory_bytes; /* that it claims to need */
    bool wild_numbers;   /* NaN and infinite figures, odd texts */
    double watts;        /* 0: it does not know */
};

/* How often a fake store was prepared and run by this process. */
extern unsigned kvc_fake_prepared, kvc_fake_ran;

/* As a loader would give it; free with kvc_loaded_free. */
struct kvc_loaded *kvc_fake_loaded(uint32_t replicas);

struct kvc_fake *kvc_fake_of(struct kvc_loaded *loaded);

/* A kvc_load_fn: two axes, "system.rate" with the values "100", "200", "300" and "run.seed" with "1", "2";
 * overrides of both are obeyed, of "system.accident" too. */
enum kvc_status kvc_fake_load(const char *path, const struct kvc_overrides *set, struct kvc_loaded **out,
                              struct kvc_diag *diag);

#endif
