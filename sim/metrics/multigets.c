#include "sim/metrics/multigets.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/rng.h"

enum { FIRST_PLACES = 1024 };

struct kvc_multigets *kvc_multigets_create(uint32_t keys, double frac)
{
    struct kvc_multigets *multigets = kvc_array_of(1, sizeof(*multigets));
    multigets->keys = keys;
    multigets->frac = frac;
    multigets->places = FIRST_PLACES;
    multigets->open = kvc_array_of(FIRST_PLACES, sizeof(*multigets->open));
    return multigets;
}

void kvc_multigets_free(struct kvc_multigets *multigets)
{
    if (multigets != NULL) {
        free(multigets->open);
        free(multigets);
    }
}

static uint32_t home_of(const struct kvc_multigets *multigets, double sent_ns)
{
    /* The last bits of a number with 53 bits after the point. */
    return (uint32_t)(uint64_t)(kvc_unit_of_time(sent_ns) * 0x1p53) & (multigets->places - 1);
}

/* Returns the place of the multiget, or the empty place where it belongs. */
static struct kvc_multiget *place_of(const struct kvc_multigets *multigets, double sent_ns)
{
    uint32_t at = home_of(multigets, sent_ns);
    while (multigets->open[at].left > 0 && multigets->open[at].sent_ns != sent_ns) {
        at = (at + 1) & (multigets->places - 1);
    }
    return &multigets->open[at];
}

static void double_places(struct kvc_multigets *multigets)
{
    struct kvc_multiget *old = multigets->open;
    uint32_t places = multigets->places;
    multigets->places = 2 * places;
    multigets->open = kvc_array_of(multigets->places, sizeof(*multigets->open));
    for (uint32_t i = 0; i < places; i++) {
        if (old[i].left > 0) {
            *place_of(multigets, old[i].sent_ns) = old[i];
        }
    }
    free(old);
}

/* Empties a place and moves those up that were pushed behind it, so that searches still find them. */
static void forget(struct kvc_multigets *multigets, struct kvc_multiget *over)
{
    uint32_t mask = multigets->places - 1, gap = (uint32_t)(over - multigets->open);
    for (uint32_t at = (gap + 1) & mask; multigets->open[at].left > 0; at = (at + 1) & mask) {
        uint32_t pushed = (at - home_of(multigets, multigets->open[at].sent_ns)) & mask;
        if (pushed >= ((at - gap) & mask)) {
            multigets->open[gap] = multigets->open[at];
            gap = at;
        }
    }
    multigets->open[gap].left = 0;
    multigets->count--;
}

/* Ends a request of what was sent at sent_ns. */
static void end_request(struct kvc_multigets *multigets, double sent_ns, double done_ns, bool is_lost)
{
    if (kvc_unit_of_time(sent_ns) >= multigets->frac) {
        return;
    }
    struct kvc_multiget *multiget = place_of(multigets, sent_ns);
    if (multiget->left == 0) {
        if (2 * ++multigets->count > multigets->places) {
            double_places(multigets);
            multiget = place_of(multigets, sent_ns);
        }
        *multiget = (struct kvc_multiget){.sent_ns = sent_ns, .done_ns = done_ns, .left = multigets->keys};
    }
    multiget->done_ns = fmax(multiget->done_ns, done_ns);
    multiget->is_lost |= is_lost;
    if (--multiget->left > 0) {
        return;
    }
    if (multiget->done_ns >= multigets->from_ns && multiget->done_ns < multigets->until_ns) {
        multigets->lost += multiget->is_lost;
        kvc_histogram_record(&multigets->latency, &multiget->sent_ns, &multiget->done_ns, !multiget->is_lost);
    }
    forget(multigets, multiget);
}

void kvc_multigets_answered(struct kvc_multigets *multigets, const double *sent_ns, const double *done_ns,
                            uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        end_request(multigets, sent_ns[i], done_ns[i], false);
    }
}

void kvc_multigets_dropped(struct kvc_multigets *multigets, const double *sent_ns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        end_request(multigets, sent_ns[i], sent_ns[i], true);
    }
}

void kvc_multigets_report(const struct kvc_multigets *multigets, double measured_ns,
                          struct kvc_metrics *metrics)
{
    const struct kvc_histogram *latency = &multigets->latency;
    double answered = (double)latency->count, lost = (double)multigets->lost;
    kvc_metrics_set(metrics, "multiget_mean_us", kvc_histogram_mean_ns(latency) * 1e-3);
    kvc_metrics_set(metrics, "multiget_p50_us", kvc_histogram_percentile_ns(latency, 0.5) * 1e-3);
    kvc_metrics_set(metrics, "multiget_p95_us", kvc_histogram_percentile_ns(latency, 0.95) * 1e-3);
    kvc_metrics_set(metrics, "multiget_p99_us", kvc_histogram_percentile_ns(latency, 0.99) * 1e-3);
    kvc_metrics_set(metrics, "multiget_mops", measured_ns > 0 ? answered * 1e3 / measured_ns : 0);
    kvc_metrics_set_ratio(metrics, "multiget_lost_frac", lost, answered + lost);
}
