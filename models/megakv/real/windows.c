#include "models/megakv/real/windows.h"

#include <math.h>
#include <stdlib.h>

enum kvc_status kvc_megakv_real_windows_open(struct kvc_megakv_real_windows *windows, uint32_t pipelines,
                                             double duration_ns, struct kvc_diag *diag)
{
    *windows = (struct kvc_megakv_real_windows){.pipelines = pipelines};
    kvc_watched_plan(&windows->watched, duration_ns);
    uint32_t room = windows->watched.room;
    windows->launched = calloc(room, sizeof(*windows->launched));
    bool opened = windows->launched != NULL;
    for (uint32_t i = 0; opened && i < pipelines; i++) {
        windows->received[i] = calloc(room, sizeof(*windows->received[i]));
        windows->sent[i] = calloc(room, sizeof(*windows->sent[i]));
        opened = windows->received[i] != NULL && windows->sent[i] != NULL;
    }
    return opened ? KVC_OK : kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for %u windows", room);
}

void kvc_megakv_real_windows_close(struct kvc_megakv_real_windows *windows)
{
    for (uint32_t i = 0; i < windows->pipelines; i++) {
        for (uint32_t w = 0; windows->sent[i] != NULL && w < windows->watched.room; w++) {
            free(windows->sent[i][w].latency.slot);
        }
        free(windows->sent[i]);
        free(windows->received[i]);
    }
    free(windows->launched);
    kvc_watched_close(&windows->watched);
}

/* ---- copies of the counts ---- */

void kvc_megakv_real_copy_received(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                                   double at_ns)
{
    struct kvc_megakv_real_windows *windows = copies;
    struct kvc_megakv_real_pipeline *pipeline = data;
    (void)at_ns;
    for (uint32_t i = first; i <= last; i++) {
        windows->received[number][i] =
            (struct kvc_megakv_real_received){.receive = pipeline->receive, .caught_up = pipeline->caught_up};
        pipeline->caught_up = false;
    }
}

void kvc_megakv_real_copy_sent(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                               double at_ns)
{
    struct kvc_megakv_real_windows *windows = copies;
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

void kvc_megakv_real_copy_launched(void *copies, void *data, uint32_t number, uint32_t first, uint32_t last,
                                   double at_ns)
{
    struct kvc_megakv_real_windows *windows = copies;
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
