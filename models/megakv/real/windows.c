#include "models/megakv/real/windows.h"

#include <math.h>
#include <stdlib.h>

/* A measurement goes on until quiet windows make up this fraction of the duration that was asked for, but at
 * most for so many times this duration. */
static const double quiet_enough_frac = 0.5;
enum { EXTENSION_MAX = 6 };

enum kvc_status kvc_megakv_real_windows_open(struct kvc_megakv_real_windows *windows, uint32_t pipelines,
                                             double duration_ns, struct kvc_diag *diag)
{
    double least = fmax(ceil(duration_ns / kvc_quiet_window_ns - 1e-9), 1);
    *windows = (struct kvc_megakv_real_windows){
        .room = (uint32_t)least * EXTENSION_MAX, .least = (uint32_t)least, .pipelines = pipelines};
    windows->launched = calloc(windows->room, sizeof(*windows->launched));
    bool opened = windows->launched != NULL;
    for (uint32_t i = 0; opened && i < pipelines; i++) {
        windows->received[i] = calloc(windows->room, sizeof(*windows->received[i]));
        windows->sent[i] = calloc(windows->room, sizeof(*windows->sent[i]));
        opened = windows->received[i] != NULL && windows->sent[i] != NULL;
    }
    return opened ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u windows", windows->room);
}

void kvc_megakv_real_windows_close(struct kvc_megakv_real_windows *windows)
{
    for (uint32_t i = 0; i < windows->pipelines; i++) {
        for (uint32_t w = 0; windows->sent[i] != NULL && w < windows->room; w++) {
            free(windows->sent[i][w].latency.slot);
        }
        free(windows->sent[i]);
        free(windows->received[i]);
    }
    for (uint32_t i = 0; i < windows->cores; i++) {
        kvc_core_watch_close(&windows->watch[i]);
    }
    free(windows->launched);
}

double kvc_megakv_real_windows_room_ns(const struct kvc_megakv_real_windows *windows)
{
    return windows->room * kvc_quiet_window_ns;
}

/* ---- copies of the counts ---- */

void kvc_megakv_real_copy_received(struct kvc_megakv_real_windows *windows, void *data, uint32_t number,
                                   uint32_t first, uint32_t last, double at_ns)
{
    struct kvc_megakv_real_pipeline *pipeline = data;
    (void)at_ns;
    for (uint32_t i = first; i <= last; i++) {
        windows->received[number][i] =
            (struct kvc_megakv_real_received){.receive = pipeline->receive, .caught_up = pipeline->caught_up};
        pipeline->caught_up = false;
    }
}

void kvc_megakv_real_copy_sent(struct kvc_megakv_real_windows *windows, void *data, uint32_t number,
                               uint32_t first, uint32_t last, double at_ns)
{
    struct kvc_megakv_real_pipeline *pipeline = data;
    struct kvc_megakv_real_answerer *answerer = &pipeline->answerer;
    for (uint32_t i = first; i <= last; i++) {
        struct kvc_megakv_real_sent *sent = &windows->sent[number][i];
        *sent = (struct kvc_megakv_real_sent){.at_ns = at_ns,
                                              .send = pipeline->send,
                                              .completed = answerer->completed,
                                              .hits = answerer->hits,
                                              .misses = answerer->misses,
                                              .sets = answerer->sets,
                                              .deletes = answerer->deletes,
                                              .oldest_sent_ns = answerer->oldest_sent_ns};
        if (!kvc_histogram_take(answerer->latency, &sent->latency)) {
            kvc_out_of_memory("the latencies of a window");
        }
        answerer->oldest_sent_ns = INFINITY;
    }
}

void kvc_megakv_real_copy_launched(struct kvc_megakv_real_windows *windows, void *data, uint32_t number,
                                   uint32_t first, uint32_t last, double at_ns)
{
    const struct kvc_megakv_real_node *node = data;
    (void)number;
    for (uint32_t i = first; i <= last; i++) {
        windows->launched[i] = (struct kvc_megakv_real_launched){.at_ns = at_ns,
                                                                 .search = node->search,
                                                                 .insert = node->insert,
                                                                 .search_launches = node->search_launches,
                                                                 .insert_launches = node->insert_launches,
                                                                 .late_launches = node->late_launches};
    }
}

/* ---- judgement ---- */

/* Windows that have passed on all cores. */
static uint32_t passed(const struct kvc_megakv_real_windows *windows)
{
    uint32_t least = windows->room;
    for (uint32_t i = 0; i < windows->cores; i++) {
        uint32_t done = atomic_load_explicit(&windows->watch[i].done, memory_order_acquire);
        least = done < least ? done : least;
    }
    return least;
}

static void find_undisturbed(const struct kvc_megakv_real_windows *windows, uint32_t count, bool *quiet)
{
    const struct kvc_core_window *cores[KVC_MEGAKV_REAL_CORES_MAX];
    for (uint32_t i = 0; i < windows->cores; i++) {
        cores[i] = windows->watch[i].window;
    }
    kvc_quiet_find(cores, windows->cores, count, quiet);
}

bool kvc_megakv_real_windows_suffice(const struct kvc_megakv_real_windows *windows)
{
    uint32_t count = passed(windows), enough = 0;
    if (count < windows->least || count == windows->room) {
        return count == windows->room;
    }
    bool *quiet = malloc(count * sizeof(*quiet));
    if (quiet == NULL) {
        kvc_out_of_memory("%u windows", count);
    }
    find_undisturbed(windows, count, quiet);
    for (uint32_t i = 1; i < count; i++) {
        enough += quiet[i - 1] && quiet[i]; /* The window after a disturbed one is lost to recovery. */
    }
    free(quiet);
    return enough + 1 >= quiet_enough_frac * windows->least;
}

void kvc_megakv_real_windows_stop(struct kvc_megakv_real_windows *windows)
{
    windows->count = passed(windows);
}

void kvc_megakv_real_windows_judge(const struct kvc_megakv_real_windows *windows,
                                   const struct kvc_megakv_real_node *node, bool *quiet)
{
    struct kvc_quiet_flow *flow = calloc(windows->count + 1, sizeof(*flow));
    if (flow == NULL) {
        kvc_out_of_memory("%u windows", windows->count);
    }
    for (uint32_t i = 0; i < windows->count; i++) {
        flow[i] = (struct kvc_quiet_flow){.caught_up = true, .oldest_sent_ns = INFINITY};
        for (uint32_t p = 0; p < windows->pipelines; p++) {
            flow[i].caught_up = flow[i].caught_up && windows->received[p][i].caught_up;
            flow[i].oldest_sent_ns = fmin(flow[i].oldest_sent_ns, windows->sent[p][i].oldest_sent_ns);
        }
    }
    find_undisturbed(windows, windows->count, quiet);
    kvc_quiet_drop_recovery(flow, windows->count, node->from_ns, !node->saturating, quiet);
    free(flow);
}
