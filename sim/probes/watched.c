#include "sim/probes/watched.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"

/* A measurement goes on until quiet windows make up this fraction of the duration that was asked for, but at
 * most for so many times this duration. */
static const double quiet_enough_frac = 0.5;
enum { EXTENSION_MAX = 6 };

void kvc_watched_plan(struct kvc_watched *watched, double duration_ns)
{
    double least = fmax(ceil(duration_ns / kvc_quiet_window_ns - 1e-9), 1);
    *watched = (struct kvc_watched){.room = (uint32_t)least * EXTENSION_MAX, .least = (uint32_t)least};
}

double kvc_watched_room_ns(const struct kvc_watched *watched)
{
    return watched->room * kvc_quiet_window_ns;
}

enum kvc_status kvc_watched_open(struct kvc_watched *watched, uint32_t cores, double from_s,
                                 struct kvc_diag *diag)
{
    watched->watch = calloc(cores, sizeof(*watched->watch));
    if (watched->watch == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to watch %u cores", cores);
    }
    enum kvc_status status = KVC_OK;
    for (; watched->cores < cores && status == KVC_OK; watched->cores++) {
        status = kvc_core_watch_open(&watched->watch[watched->cores], from_s, watched->room, diag);
    }
    return status;
}

void kvc_watched_close(struct kvc_watched *watched)
{
    for (uint32_t i = 0; i < watched->cores; i++) {
        kvc_core_watch_close(&watched->watch[i]);
    }
    free(watched->watch);
    *watched = (struct kvc_watched){.watch = NULL};
}

/* Windows that have passed on all cores. */
static uint32_t passed(const struct kvc_watched *watched)
{
    uint32_t least = watched->room;
    for (uint32_t i = 0; i < watched->cores; i++) {
        uint32_t done = atomic_load_explicit(&watched->watch[i].done, memory_order_acquire);
        least = done < least ? done : least;
    }
    return least;
}

static void find_undisturbed(const struct kvc_watched *watched, uint32_t count, bool *quiet)
{
    const struct kvc_core_window **cores = kvc_array_of(watched->cores + 1, sizeof(*cores));
    for (uint32_t i = 0; i < watched->cores; i++) {
        cores[i] = watched->watch[i].window;
    }
    kvc_quiet_find(cores, watched->cores, count, quiet);
    free(cores);
}

bool kvc_watched_suffices(const struct kvc_watched *watched)
{
    uint32_t count = passed(watched), enough = 0;
    if (count < watched->least || count == watched->room) {
        return count == watched->room;
    }
    bool *quiet = kvc_array_of(count, sizeof(*quiet));
    find_undisturbed(watched, count, quiet);
    for (uint32_t i = 1; i < count; i++) {
        enough += quiet[i - 1] && quiet[i]; /* The window after a disturbed one is lost to recovery. */
    }
    free(quiet);
    return enough + 1 >= quiet_enough_frac * watched->least;
}

void kvc_watched_stop(struct kvc_watched *watched)
{
    watched->count = passed(watched);
}

void kvc_watched_judge(const struct kvc_watched *watched, kvc_watched_flow_fn *flow_of, const void *store,
                       double from_ns, bool open_loop, bool *quiet)
{
    struct kvc_quiet_flow *flow = kvc_array_of(watched->count + 1, sizeof(*flow));
    for (uint32_t i = 0; i < watched->count; i++) {
        flow[i] = flow_of(store, i);
    }
    find_undisturbed(watched, watched->count, quiet);
    kvc_quiet_drop_recovery(flow, watched->count, from_ns, open_loop, quiet);
    free(flow);
}

double kvc_watched_stalled_frac(const struct kvc_watched *watched)
{
    double stalled_ns = 0;
    for (uint32_t core = 0; core < watched->cores; core++) {
        for (uint32_t i = 0; i < watched->count; i++) {
            stalled_ns += kvc_core_window_stalled_ns(&watched->watch[core].window[i]);
        }
    }
    return stalled_ns / (watched->count * kvc_quiet_window_ns);
}

double kvc_watched_core_speed(const struct kvc_watched *watched)
{
    double sum = 0;
    for (uint32_t core = 0; core < watched->cores; core++) {
        sum += kvc_quiet_fast_speed(watched->watch[core].window, watched->count);
    }
    return sum / watched->cores;
}
