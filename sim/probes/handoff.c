#include "sim/probes/handoff.h"

#include <pthread.h>

#include "sim/base/spsc_ring.h"
#include "sim/probes/pin.h"
#include "sim/probes/timing.h"

enum { ROUNDS = 2000 };

struct pair {
    struct kvc_spsc_ring there, back;
    uint32_t core;
    char ball, end;
};

/* Returns every item to its sender until the end marker arrives. */
static void *answer(void *data)
{
    struct pair *pair = data;
    kvc_pin_core(pair->core);
    for (;;) {
        void *item = kvc_spsc_ring_pop(&pair->there);
        if (item == &pair->end) {
            return NULL;
        }
        if (item != NULL) {
            kvc_spsc_ring_push(&pair->back, item);
        }
    }
}

static void play(void *data, uint32_t repetition)
{
    struct pair *pair = data;
    (void)repetition;
    for (int i = 0; i < ROUNDS; i++) {
        kvc_spsc_ring_push(&pair->there, &pair->ball);
        while (kvc_spsc_ring_pop(&pair->back) == NULL) {
            ;
        }
    }
}

enum kvc_status kvc_handoffs_measure(uint32_t cores, struct kvc_handoffs *handoffs, struct kvc_diag *diag)
{
    handoffs->cores = cores < KVC_HANDOFF_CORES_MAX ? cores : KVC_HANDOFF_CORES_MAX;
    kvc_pin_core(0);
    for (uint32_t core = 1; core < handoffs->cores; core++) {
        struct pair pair = {.core = core};
        pthread_t thread;
        if (pthread_create(&thread, NULL, answer, &pair) != 0) {
            return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "a thread for core %u cannot be started", core);
        }
        handoffs->ns[core] = kvc_timing_measure(NULL, play, &pair).median_s / ROUNDS / 2 * 1e9;
        kvc_spsc_ring_push(&pair.there, &pair.end);
        pthread_join(thread, NULL);
    }
    return KVC_OK;
}
