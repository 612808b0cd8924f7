/* DIDO's adaption at run time: the workload profiler, and the plans that follow from it (sec. III.A).
 *
 * Every batch whose packets are processed has a profile: its share of GETs, the mean sizes of its keys and
 * values, and how often its keys repeat. If one of these differs by more than a threshold from the profile of
 * the batch for which the present pipeline was planned, a new pipeline is planned for the load that the batch
 * shows. Batches under way keep their pipeline.
 *
 * The popularity of keys: the authors count accesses in every item, sample in intervals, and compute the
 * skewness from these counts and their mean by a method for samples (sec. IV.B), but publish neither the
 * formula nor how the exponent of Zipf's law follows from it. Here, the mean number of accesses to those
 * items that a sample of a batch accesses is counted, and the exponent is the one with which as many items
 * are expected. The sample is of one batch, and its counters are exact. Their cost is not charged. */
#ifndef KVC_MODELS_DIDO_ADAPT_H
#define KVC_MODELS_DIDO_ADAPT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/dido/plan.h"
#include "sim/metrics/result.h"
#include "sim/workload/batch.h"
#include "sim/workload/workload.h"

enum {
    KVC_DIDO_SAMPLE_MAX = 4096, /* Most queries of a batch whose keys are counted. */
    KVC_DIDO_SAMPLE_MIN = 256,  /* A batch with fewer says nothing about the popularity. */
};

/* Counters of the profiler for a batch. */
struct kvc_dido_profile {
    double get_frac;
    double set_frac;
    double key_bytes, value_bytes; /* Mean sizes. */
    uint32_t sampled;              /* Queries whose keys were counted. */
    uint32_t distinct;             /* Different keys among these queries. */
};

struct kvc_dido_adapter {
    double threshold_frac;
    struct kvc_dido_profile planned; /* Profile of the batch for which the pipeline was planned. */
    double zipf_s;                   /* Zipf exponent that the pipeline was planned for; 0: uniform. */
    uint64_t *seen;                  /* Scratch: a table of the hashes in a sample. */
    double expected_items;           /* Last result of kvc_dido_expected_distinct(). */
    double expected_zipf_s, expected;
    uint32_t expected_sampled; /* Arguments of that call. */
};

/* Allocates the scratch. The first pipeline counts as planned for a load with this profile and the popularity
 * zipf_s. */
void kvc_dido_adapter_open(struct kvc_dido_adapter *adapter, double threshold_frac,
                           const struct kvc_dido_profile *planned, double zipf_s);

/* Frees the scratch. A zeroed adapter is allowed. */
void kvc_dido_adapter_close(struct kvc_dido_adapter *adapter);

/* Profiles a batch with at least one query. */
struct kvc_dido_profile kvc_dido_profile_of(struct kvc_dido_adapter *adapter, const struct kvc_batch *rows);

/* Returns how many different keys of `items` are expected among the keys of `sampled` queries, if rank r is
 * requested with a probability proportional to r^-zipf_s. */
double kvc_dido_expected_distinct(uint64_t items, double zipf_s, uint32_t sampled);

/* Returns the exponent with which a profile's number of different keys is expected; 0, uniform, where chance
 * explains it. */
double kvc_dido_fit_zipf(const struct kvc_dido_profile *profile, uint64_t items);

/* Returns whether a profile differs by more than the threshold from the profile of the current plan. `items`
 * is the number of items that the store has. */
bool kvc_dido_has_changed(struct kvc_dido_adapter *adapter, const struct kvc_dido_profile *profile,
                          uint64_t items);

/* Plans the best pipeline for a profile, whose queries have the outcomes counted in `mix`, and keeps the
 * profile as the one of the current plan. Every SET counts as evicting an item, because it will do so once
 * the store is full, which no counter would notice. */
struct kvc_dido_plan kvc_dido_adapt(struct kvc_dido_adapter *adapter, const struct kvc_dido_config *config,
                                    const struct kvc_dido_profile *profile, const struct kvc_dido_mix *mix,
                                    uint64_t items);

/* The time in which a store's throughput recovers after a change of the load, read off the windows of a run.
 *
 * The throughput of the last third of a phase is the one that the store recovers to. It has recovered at the
 * end of the last window before that third with less than 95 % of it. A change that no window notices counts
 * as recovered at once. Batches that end at once make the throughput of single windows rough, so the time is
 * an upper limit. */

/* Returns the mean over the phases that are within the measured time as a whole, which began at from_ns [us].
 * NaN: there is none, or the windows are not those that began with the run. */
double kvc_dido_recovery_us(const struct kvc_workload *workload, double from_ns,
                            const struct kvc_result *result);

#endif
