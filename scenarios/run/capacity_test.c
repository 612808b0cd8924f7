#include "scenarios/run/capacity.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"
#include "scenarios/run/store_fixture.h"
#include "scenarios/run/capacity_probe.h"

static const double duration_ns = 40e6; /* 40,000 service times of 1 us. */

static struct kvc_capacity find(const struct kvc_loaded *loaded, struct kvc_capacity_options options)
{
    struct kvc_capacity capacity;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_capacity_find(loaded, &options, &capacity, &diag), KVC_OK, "%s", diag.message);
    return capacity;
}

static void expect_contains(const struct kvc_capacity *capacity, double mops)
{
    double rounding_mops = 1e-5 * mops; /* Loads have six digits. */
    cr_expect(capacity->low_mops <= mops && mops <= capacity->high_mops + rounding_mops,
              "%g is not in %g .. %g", mops, capacity->low_mops, capacity->high_mops);
    cr_expect(capacity->low_mops <= capacity->mean_mops && capacity->mean_mops <= capacity->high_mops);
}

static double width_frac(const struct kvc_capacity *capacity)
{
    return (capacity->high_mops - capacity->low_mops) / capacity->high_mops;
}

/* The queue drops nothing, so only its growing backlog shows the overload. */
Test(capacity, of_a_queue_without_limit_is_its_service_rate)
{
    for (double service_ns = 250; service_ns <= 1000; service_ns *= 2) {
        struct kvc_queue queue = {.service_ns = service_ns};
        struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
        struct kvc_capacity capacity = find(
            &loaded, (struct kvc_capacity_options){.bounds = {.precision_frac = 0.02}, .no_curve = true});
        expect_contains(&capacity, 1e3 / service_ns);
        cr_expect_leq(width_frac(&capacity), 0.04);
        cr_expect_float_eq(capacity.closed_form_mops, 1e3 / service_ns, 1e-4 * 1e3 / service_ns);
        cr_expect_str_eq(capacity.point[capacity.best].bottleneck_stage, "serve");
        kvc_capacity_free(&capacity);
    }
}

/* Chance decides at loads just above the service rate, but not at those beside them. */
Test(capacity, does_not_prolong_a_probe_that_loads_beside_it_make_needless)
{
    static const double short_ns = 10e6;
    uint32_t disputed = 0;
    for (double service_ns = 900; service_ns <= 1100; service_ns += 10) {
        struct kvc_queue queue = {.service_ns = service_ns};
        struct kvc_loaded loaded = kvc_queue_loaded(&queue, short_ns);
        struct kvc_capacity capacity = find(
            &loaded, (struct kvc_capacity_options){.bounds = {.precision_frac = 0.02}, .no_curve = true});
        for (uint32_t i = 0; i < capacity.count; i++) {
            disputed +=
                capacity.point[i].disputed && capacity.point[i].duration_ns < KVC_CAPACITY_LONGEST * short_ns;
        }
        kvc_capacity_free(&capacity);
    }
    cr_expect_gt(disputed, 0);
}

/* The store is steady after half of the warm-up that is detected. */
Test(capacity, probes_the_latency_curve_with_the_warmup_that_the_store_needs)
{
    struct kvc_queue queue = {.service_ns = 1000};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
    loaded.scenario.run.warmup_ns = -1;
    struct kvc_capacity capacity =
        find(&loaded, (struct kvc_capacity_options){.bounds = {.precision_frac = 0.02}});
    for (uint32_t i = 0; i < capacity.count; i++) {
        const struct kvc_capacity_point *point = &capacity.point[i];
        if (point->share_frac < 0.9) {
            cr_expect_eq(point->warmup_ns, 0.5e6);
        } else if (isnan(point->share_frac)) {
            cr_expect_geq(point->warmup_ns, 1e6);
        }
    }
    kvc_capacity_free(&capacity);
}

/* The replicas have the capacities 1, 1 / 1.05 and 1 / 1.1 Mops. */
Test(capacity, has_an_interval_over_which_replicas_disagree)
{
    struct kvc_queue queue = {.service_ns = 1000, .slower_frac = 0.05};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
    struct kvc_capacity capacity =
        find(&loaded, (struct kvc_capacity_options){.bounds = {.precision_frac = 0.02}});
    cr_expect(capacity.low_mops <= 1 / 1.1 && capacity.low_mops > 0.97 / 1.1, "%g", capacity.low_mops);
    cr_expect(capacity.high_mops >= 1 && capacity.high_mops < 1.03, "%g", capacity.high_mops);
    cr_expect_float_eq(capacity.mean_mops, 1 / 1.05, 0.02);
    for (uint32_t i = 0; i < capacity.count; i++) {
        double mops = capacity.point[i].offered_mops;
        uint32_t expected = mops < 0.97 / 1.1 ? 3 : mops < 0.98 && mops > 0.97 ? 1 : mops > 1.02 ? 0 : 4;
        cr_expect(expected == 4 || capacity.point[i].served_by == expected, "%u serve %g Mops",
                  capacity.point[i].served_by, mops);
    }
    kvc_capacity_free(&capacity);
}

/* A mean latency of s (1 + load / (2 (1 - load))) at the bound: load = 2 (w - 1) / (2 w - 1), w = bound / s.
 */
Test(capacity, under_a_latency_bound_is_that_of_the_formula)
{
    static const double bounds_us[] = {1.25, 1.5, 3};
    struct kvc_queue queue = {.service_ns = 1000};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, 8 * duration_ns);
    for (size_t i = 0; i < sizeof(bounds_us) / sizeof(*bounds_us); i++) {
        double expected_mops = 2 * (bounds_us[i] - 1) / (2 * bounds_us[i] - 1);
        struct kvc_capacity_options options = {.bounds = {.precision_frac = 0.02,
                                                          .bounds_latency = true,
                                                          .latency = KVC_CAPACITY_MEAN,
                                                          .latency_us = bounds_us[i]},
                                               .no_curve = true};
        struct kvc_capacity capacity = find(&loaded, options);
        expect_contains(&capacity, expected_mops);
        cr_expect_leq(width_frac(&capacity), 0.04);
        cr_expect_float_eq(capacity.closed_form_mops, expected_mops, 1e-4);
        cr_expect_float_eq(capacity.closed_form_limit_mops, 1, 1e-4);
        kvc_capacity_free(&capacity);
    }
}

/* Clients that collect two requests wait 2 / load, so that the bound is also violated below 0.43 Mops. */
Test(capacity, under_a_latency_bound_that_low_loads_violate_is_the_highest_load)
{
    struct kvc_queue queue = {.service_ns = 1000, .fill_requests = 2};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, 8 * duration_ns);
    struct kvc_capacity_options options = {
        .bounds = {
            .precision_frac = 0.02, .bounds_latency = true, .latency = KVC_CAPACITY_MEAN, .latency_us = 6}};
    double low = 0.65, high = 1; /* The latency is least at 0.65 Mops. */
    while (high - low > 1e-9) {
        double load = (low + high) / 2, mean_us = 1 + load / (2 * (1 - load)) + 2 / load;
        low = mean_us <= options.bounds.latency_us ? load : low;
        high = mean_us <= options.bounds.latency_us ? high : load;
    }
    struct kvc_capacity capacity = find(&loaded, options);
    expect_contains(&capacity, low);
    cr_expect_leq(width_frac(&capacity), 0.06);
    cr_expect_float_eq(capacity.closed_form_mops, low, 1e-4);
    cr_expect_eq(capacity.point[0].served_by, 0);
    kvc_capacity_free(&capacity);
}

/* Evenly spaced requests at the rate r lose 1 - 1 / r to a queue with a limit, once it is full. */
Test(capacity, under_a_loss_bound_may_exceed_the_service_rate)
{
    static const double losses[] = {0, 0.1, 0.3};
    struct kvc_queue queue = {.service_ns = 1000, .room = 20};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
    loaded.scenario.workload.arrival = KVC_ARRIVAL_FIXED;
    loaded.scenario.workload.rate_mops = 7;
    for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
        struct kvc_capacity_options options = {.bounds = {.precision_frac = 0.01, .loss_frac = losses[i]},
                                               .no_curve = true};
        struct kvc_capacity capacity = find(&loaded, options);
        expect_contains(&capacity, 1 / (1 - losses[i]));
        cr_expect_leq(width_frac(&capacity), 0.01);
        cr_expect_leq(capacity.point[capacity.best].loss_frac, losses[i]);
        cr_expect_leq(capacity.point[capacity.best].unserved_frac, losses[i]);
        kvc_capacity_free(&capacity);
    }
}

Test(capacity, has_a_latency_curve_that_rises)
{
    struct kvc_queue queue = {.service_ns = 1000};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
    struct kvc_capacity capacity =
        find(&loaded, (struct kvc_capacity_options){.bounds = kvc_capacity_bounds_default});
    double best_mops = capacity.point[capacity.best].offered_mops, before_us = 0;
    uint32_t on_curve = 0;
    for (uint32_t i = 0; i < capacity.count; i++) {
        const struct kvc_capacity_point *point = &capacity.point[i];
        cr_expect(i == 0 || point[-1].offered_mops < point->offered_mops);
        cr_expect_geq(point->replicas, KVC_CAPACITY_REPLICAS_MIN);
        cr_expect_eq(point->served, 2 * point->served_by > point->replicas);
        cr_expect(point->offered_mops >= capacity.low_mops || point->served_by == point->replicas);
        cr_expect(point->offered_mops < capacity.high_mops || point->served_by == 0);
        if (isnan(point->share_frac)) {
            continue;
        }
        double mean_us = point->latency[KVC_CAPACITY_MEAN].mean;
        on_curve++;
        cr_expect_float_eq(point->offered_mops, point->share_frac * best_mops, 1e-5);
        cr_expect_gt(mean_us, before_us);
        before_us = mean_us;
        if (point->offered_mops < 0.9) { /* Nearer to saturation, the formula needs longer runs. */
            cr_expect_float_eq(mean_us, point->closed_form.latency_us[KVC_CAPACITY_MEAN], 0.1 * mean_us);
        }
    }
    cr_expect_eq(on_curve, 12);
    cr_expect_eq(capacity.point[capacity.best].share_frac, 1);
    kvc_capacity_free(&capacity);
}

/* Returns the document and the CSV of a search, one after the other. */
static char *written(uint32_t jobs)
{
    char *text = NULL;
    size_t size;
    struct kvc_queue queue = {.service_ns = 1000, .room = 40};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns / 10);
    struct kvc_capacity capacity =
        find(&loaded, (struct kvc_capacity_options){.bounds = {.precision_frac = 0.05, .loss_frac = 0.01},
                                                    .jobs = jobs});
    const struct kvc_capacity_report report = {
        .command_line = "kvcast capacity queue.lua", .loaded = &loaded, .capacity = &capacity};
    struct kvc_diag diag = {0};
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(kvc_capacity_write_json(&report, out, &diag), KVC_OK, "%s", diag.message);
    kvc_capacity_write_csv(&report, out);
    kvc_capacity_write_table(&report, false, out);
    cr_assert_eq(fclose(out), 0);
    kvc_capacity_free(&capacity);
    return text;
}

Test(capacity, is_the_same_for_any_number_of_jobs)
{
    char *one = written(1), *four = written(4);
    cr_assert_not_null(strstr(one, "\"schema\": \"kvcast.capacity/1\""));
    cr_assert_str_eq(one, four);
    free(one);
    free(four);
}

/* Interrupts this process in the step whose name begins with `data`. */
static void interrupt_in(void *data, const char *step, double fraction)
{
    (void)fraction;
    if (strncmp(step, data, strlen(data)) == 0) {
        raise(SIGINT);
    }
}

/* Returns the table of a search that is interrupted in this step, followed by its document. */
static char *interrupted_in(const char *step, uint32_t room, enum kvc_status expected)
{
    char *text = NULL;
    size_t size;
    bool partial;
    struct kvc_queue queue = {.service_ns = 1000, .room = room};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns / 10);
    const struct kvc_overrides set = {.count = 0};
    const struct kvc_progress progress = {.report = interrupt_in, .data = (void *)step};
    struct kvc_diag diag = {0};
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < 2; i++) {
        const struct kvc_capacity_task task = {
            .loaded = &loaded,
            .path = "queue.lua",
            .set = &set,
            .options = {.bounds = {.precision_frac = 0.02}, .jobs = 1, .progress = &progress},
            .json = i == 0 ? NULL : "-"};
        cr_expect_eq(kvc_capacity_answer(&task, out, &partial, &diag), expected, "%s", diag.message);
        cr_expect_eq(partial, expected == KVC_OK);
    }
    fputs(diag.message, out);
    cr_assert_eq(fclose(out), 0);
    return text;
}

/* Replicas disagree about the first load, the service rate, but one with little room loses requests at once.
 */
Test(capacity, that_is_interrupted_says_what_is_known)
{
    static const struct {
        const char *step;
        uint32_t room;
        const char *text[4];
    } cases[] = {
        {"probe 2", 0, {"interrupted in probe 2 at ", "no bounds yet, because the replicas disagree"}},
        {"probe 2", 2, {"interrupted in probe 2 at ", "is below 1 Mops", "\"partial\": true", "\"low\": 0"}},
        {"probe 6", 0, {"interrupted in probe 6 at ", "is at least 0.90", "\"high\": null"}},
        {"probe 9",
         0,
         {"interrupted in probe 9 at ", "lies in 0.9", "\"notes\": [\n    \"interrupted in probe 9"}},
        {"the latency", 0, {"interrupted in the latency curve; the capacity lies in 0.9", " Mops"}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *text = interrupted_in(cases[i].step, cases[i].room, KVC_OK);
        for (int j = 0; j < 4 && cases[i].text[j] != NULL; j++) {
            cr_expect_not_null(strstr(text, cases[i].text[j]), "%s: no %s in:\n%s", cases[i].step,
                               cases[i].text[j], text);
        }
        free(text);
    }
}

Test(capacity, that_is_interrupted_before_the_first_load_is_judged_is_no_answer)
{
    char *text = interrupted_in("probe 1", 0, KVC_ERR_INTERRUPTED);
    cr_expect_str_eq(text, "interrupted in probe 1 at 1 Mops; no load has been judged yet");
    free(text);
}

Test(capacity, a_curve_of_rates_is_scaled_as_a_whole)
{
    struct kvc_queue queue = {.service_ns = 1000};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
    struct kvc_diag diag = {0};
    struct kvc_capacity capacity;
    const struct kvc_capacity_options options = {
        .bounds = {.precision_frac = 0.02, .bounds_latency = true, .latency_us = 0.5}};
    loaded.scenario.workload.arrival = KVC_ARRIVAL_CURVE;
    loaded.scenario.workload.curve_points = 2;
    loaded.scenario.workload.curve[0] = (struct kvc_rate_point){.time_ns = 0, .rate_mops = 2};
    loaded.scenario.workload.curve[1] = (struct kvc_rate_point){.time_ns = 1e6, .rate_mops = 1};
    /* The queue simulates this rate, which is scaled with the curve: none is low enough for half of a
     * service. */
    loaded.scenario.workload.rate_mops = 0.1;
    cr_assert_eq(kvc_capacity_find(&loaded, &options, &capacity, &diag), KVC_ERR_RUNTIME);
    cr_expect_eq(loaded.scenario.workload.curve[0].rate_mops, 2);
    cr_expect_not_null(strstr(diag.message, "no load meets the bounds"), "%s", diag.message);
    cr_expect_not_null(strstr(diag.message, "the latency mean is 1 us"), "%s", diag.message);
    kvc_capacity_free(&capacity);
}

Test(capacity, needs_arrivals_with_a_rate)
{
    static const int arrivals[] = {KVC_ARRIVAL_CLOSED, KVC_ARRIVAL_TRACE};
    static const char *const found[] = {"found clients", "found a trace"};
    for (int i = 0; i < 2; i++) {
        struct kvc_queue queue = {.service_ns = 1000};
        struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
        struct kvc_capacity_options options = {.bounds = kvc_capacity_bounds_default};
        struct kvc_capacity capacity;
        struct kvc_diag diag = {0};
        loaded.scenario.workload.arrival = arrivals[i];
        cr_expect_eq(kvc_capacity_find(&loaded, &options, &capacity, &diag), KVC_ERR_SCENARIO);
        cr_expect_not_null(strstr(diag.message, found[i]), "%s", diag.message);
        cr_expect_not_null(strstr(diag.message, "allows \"saturate\""), "%s", diag.message);
        cr_expect_str_eq(diag.file, "queue.lua");
        kvc_capacity_free(&capacity);
    }
}

static struct kvc_capacity_point probe_of(struct kvc_loaded *loaded, bool keeps)
{
    struct kvc_capacity_bounds bounds = kvc_capacity_bounds_default;
    struct kvc_capacity_prober prober = {
        .scenario = &loaded->scenario, .bounds = &bounds, .jobs = 1, .longest = 1};
    struct kvc_capacity_point point;
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_capacity_prober_open(&prober, 4, NULL, &diag), KVC_OK, "%s", diag.message);
    cr_assert_not_null(prober.keepers);
    if (!keeps) {
        kvc_capacity_prober_close(&prober);
    }
    for (int i = 0; i < 2; i++) { /* The second probe begins with a store that the first one used. */
        memset(&point, 0, sizeof(point));
        point.offered_mops = i == 0 ? 2 : 1;
        cr_assert_eq(kvc_capacity_probe(&prober, &(struct kvc_capacity_point *){&point}, 1, NULL, &diag),
                     KVC_OK, "%s", diag.message);
    }
    kvc_capacity_prober_close(&prober);
    return point;
}

/* Half of the requests change the store. */
Test(capacity, probes_with_a_kept_store_are_those_with_a_fresh_one, .timeout = 120)
{
    static const char *const kinds[] = {"megakv",   "dido",      "memcachedgpu",
                                        "kvdirect", "memcached", "bluecache"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct kvc_loaded *loaded = kvc_laws_load(
            "return { system = { kind = '%s' }, workload = { keys = 2000, get = 0.5, set = 0.5, "
            "arrival = { poisson_mops = 0.1 } }, run = { warmup = '200us', duration = '15ms' } }",
            kinds[i]);
        struct kvc_capacity_point kept = probe_of(loaded, true), fresh = probe_of(loaded, false);
        cr_expect_eq(memcmp(&kept, &fresh, sizeof(kept)), 0, "%s", kinds[i]);
        kvc_loaded_free(loaded);
    }
}

Test(capacity, needs_devices_that_stay_as_they_are)
{
    struct kvc_queue queue = {.service_ns = 1000};
    struct kvc_loaded loaded = kvc_queue_loaded(&queue, duration_ns);
    struct kvc_capacity_options options = {.bounds = kvc_capacity_bounds_default};
    struct kvc_capacity capacity;
    struct kvc_diag diag = {0};
    loaded.scenario.run.change_count = 1;
    cr_expect_eq(kvc_capacity_find(&loaded, &options, &capacity, &diag), KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, "run.changes: found changes of devices"), "%s", diag.message);
    kvc_capacity_free(&capacity);
}

Test(capacity, parses_its_bounds)
{
    static const char bad_latencies[][16] = {
        "p99", "p98=1ms", "=1ms", "p99=", "p99=1", "p99=0us", "mean=1GB", ""};
    static const char bad_losses[][16] = {"-0.1", "1", "2", "x", "", "0.1x", "nan"};
    static const char bad_precisions[][16] = {"0", "0.6", "1%", "nan", ""};
    struct kvc_capacity_bounds bounds = kvc_capacity_bounds_default;
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_capacity_parse_latency("p999=1.5ms", &bounds, &diag), KVC_OK, "%s", diag.message);
    cr_expect(bounds.bounds_latency && bounds.latency == KVC_CAPACITY_P999 && bounds.latency_us == 1500);
    cr_expect_eq(kvc_capacity_parse_loss("0.001", &bounds, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(kvc_capacity_parse_precision("0.05", &bounds, &diag), KVC_OK, "%s", diag.message);
    cr_expect(bounds.loss_frac == 0.001 && bounds.precision_frac == 0.05);
    for (size_t i = 0; i < sizeof(bad_latencies) / sizeof(*bad_latencies); i++) {
        cr_expect_eq(kvc_capacity_parse_latency(bad_latencies[i], &bounds, &diag), KVC_ERR_SCENARIO, "%s",
                     bad_latencies[i]);
    }
    for (size_t i = 0; i < sizeof(bad_losses) / sizeof(*bad_losses); i++) {
        cr_expect_eq(kvc_capacity_parse_loss(bad_losses[i], &bounds, &diag), KVC_ERR_SCENARIO, "%s",
                     bad_losses[i]);
    }
    for (size_t i = 0; i < sizeof(bad_precisions) / sizeof(*bad_precisions); i++) {
        cr_expect_eq(kvc_capacity_parse_precision(bad_precisions[i], &bounds, &diag), KVC_ERR_SCENARIO, "%s",
                     bad_precisions[i]);
    }
}
