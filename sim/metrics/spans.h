/** @file
 * Spans: equal parts of the measured time, over which objectives are judged one by one (slo.window).
 *
 * The first span begins with the measured time. Where the length does not divide that time, the last span is
 * longer. Requests count in the span in which clients meant to send them, whenever they are answered: those
 * that wait for a failed device are missing from its answers, but not from what was sent. Only throughput and
 * hits belong to the span of the answer. Latencies are compared with limits when they are recorded, so that a
 * span needs no histogram and the spans of nodes can be added up exactly. */
#ifndef KVC_SIM_METRICS_SPANS_H
#define KVC_SIM_METRICS_SPANS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KVC_SPANS_MAX = 1024, /**< Spans of a run. */
    KVC_SPAN_LIMITS = 4,  /**< Limits of the latency. */
};

/** What to count. */
struct kvc_spans_request {
    double length_ns;                 /**< Length of a span [ns]; 0: none are counted. */
    double limit_ns[KVC_SPAN_LIMITS]; /**< Limits of the latency [ns]; NaN: none. */
};

/** Counts of one span. */
struct kvc_span {
    uint64_t offered;               /**< Requests sent in it. */
    uint64_t dropped;               /**< Those that were lost. */
    uint64_t answered;              /**< Those that were answered by the end of the run. */
    uint64_t timed;                 /**< Those whose latency is known. */
    uint64_t over[KVC_SPAN_LIMITS]; /**< Those whose latency exceeds each limit. */
    uint64_t completed;             /**< Requests answered in it. */
    uint64_t gets;                  /**< GET requests answered in it whose results are known. */
    uint64_t hits;                  /**< Those that found their key. */
};

/** The spans of a run. A zeroed struct has none. */
struct kvc_spans {
    double length_us;                    /**< Length of a span [us]. */
    double last_us;                      /**< Length of the last span [us]. */
    uint32_t count;                      /**< Used entries of `span`. */
    struct kvc_span span[KVC_SPANS_MAX]; /**< In the order of time. */
};

/** Returns the span of a moment, offset_us after the start of the measured time [us]. Moments after the last
 * span belong to the last one. */
struct kvc_span *kvc_spans_at(struct kvc_spans *spans, double offset_us);

/** Prepares spans for a measured time of at most measured_us [us]. A longer time has at most KVC_SPANS_MAX
 * spans, of which the last takes the rest. */
void kvc_spans_open(struct kvc_spans *spans, double length_us, double measured_us);

/** Ends the spans with a measured time of measured_us [us], which may be shorter than planned. */
void kvc_spans_end(struct kvc_spans *spans, double measured_us);

/** Adds the spans of a node. Nodes with other spans leave none: their counts cannot be added. `first` says
 * that `sum` is empty so far. */
void kvc_spans_add(struct kvc_spans *sum, const struct kvc_spans *node, bool first);

#endif
