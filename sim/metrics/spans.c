#include "sim/metrics/spans.h"

#include <math.h>
#include <string.h>

static const double rounding = 1e-9;

/* Returns how many spans a measured time has: its rest belongs to the last one. */
static uint32_t spans_in(double length_us, double measured_us)
{
    return (uint32_t)fmin(fmax(floor(measured_us / length_us * (1 + rounding)), 1), KVC_SPANS_MAX);
}

void kvc_spans_open(struct kvc_spans *spans, double length_us, double measured_us)
{
    *spans = (struct kvc_spans){.length_us = length_us, .count = spans_in(length_us, measured_us)};
    spans->last_us = measured_us - (spans->count - 1) * length_us;
}

struct kvc_span *kvc_spans_at(struct kvc_spans *spans, double offset_us)
{
    double at = fmin(offset_us / spans->length_us, spans->count - 1);
    return &spans->span[(uint32_t)fmax(at, 0)];
}

static void add(struct kvc_span *sum, const struct kvc_span *span)
{
    sum->offered += span->offered;
    sum->dropped += span->dropped;
    sum->answered += span->answered;
    sum->timed += span->timed;
    for (int i = 0; i < KVC_SPAN_LIMITS; i++) {
        sum->over[i] += span->over[i];
    }
    sum->completed += span->completed;
    sum->gets += span->gets;
    sum->hits += span->hits;
}

void kvc_spans_end(struct kvc_spans *spans, double measured_us)
{
    double planned_us = (spans->count - 1) * spans->length_us + spans->last_us;
    uint32_t count = spans_in(spans->length_us, measured_us);
    if (measured_us >= planned_us * (1 - rounding)) { /* The spans of all nodes stay the same. */
        return;
    }
    for (uint32_t i = count; i < spans->count; i++) {
        add(&spans->span[count - 1], &spans->span[i]);
    }
    spans->count = count;
    spans->last_us = measured_us - (spans->count - 1) * spans->length_us;
}

void kvc_spans_add(struct kvc_spans *sum, const struct kvc_spans *node, bool first)
{
    if (first) {
        *sum = *node;
        return;
    }
    if (sum->count != node->count || sum->length_us != node->length_us || sum->last_us != node->last_us) {
        memset(sum, 0, sizeof(*sum));
        return;
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        add(&sum->span[i], &node->span[i]);
    }
}
