/* Holds what must be true of every answer against random scenarios: of a run, of the closed form, and of both
 * together.
 *
 * KVCAST_PROPERTIES_SEED=2 KVCAST_PROPERTIES_COUNT=300 draws others, and more of them. A message ends with
 * the scenario, which `kvcast run` repeats. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/forecast.h"
#include "models/price.h"
#include "scenarios/output/verdict.h"
#include "scenarios/output/windows.h"
#include "scenarios/run/laws_fixture.h"
#include "scenarios/run/pool.h"
#include "sim/base/rng.h"

enum { STORE_BYTES = 1024, LOAD_BYTES = 128, SCENARIO_BYTES = 2048, FINDINGS_BYTES = 8192 };

/* Poisson numbers and means of many draws lie within this many standard deviations. */
static const double errors_most = 5;
/* Sums of the same numbers in another order. */
static const double rounding_frac = 1e-9;

struct drawn {
    char text[SCENARIO_BYTES];
    struct kvc_loaded *loaded;
    struct kvc_outcome *predicted;
    double load_frac; /* Load over the closed form's capacity; NaN: clients wait for answers. */
};

/* What a scenario contradicts, as text. */
struct findings {
    char text[FINDINGS_BYTES];
};

static void expect(struct findings *findings, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void expect(struct findings *findings, bool holds, const char *format, ...)
{
    size_t used = strlen(findings->text);
    va_list arguments;
    if (holds) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(findings->text + used, FINDINGS_BYTES - used, format, arguments);
    va_end(arguments);
    used = strlen(findings->text);
    snprintf(findings->text + used, FINDINGS_BYTES - used, "\n");
}

/* ---- drawing ---- */

static double between(struct kvc_rng *rng, double low, double high)
{
    return low * pow(high / low, kvc_rng_unit(rng));
}

static bool happens(struct kvc_rng *rng, double share)
{
    return kvc_rng_unit(rng) < share;
}

/* Designs of all stores. Of the devices, some state no power. */
static const struct {
    const char *system, *node;
    double closed_frac; /* Share of the scenarios in which clients wait: never over UDP, always over TCP. */
    uint32_t nodes_most;
} designs[] = {
    {"kind = 'megakv'", "sockets = 1", 0.2, 4},
    {"kind = 'megakv', feed = 'memory'", "sockets = 1, gpu = 'h200'", 0.2, 4},
    {"kind = 'memcachedgpu'", "", 0, 4},
    {"kind = 'memcachedgpu'", "gpu = 'gtx-750ti', pcie = 'pcie3-x16-750ti'", 0, 4},
    {"kind = 'bluecache'", "", 0.2, 4},
    {"kind = 'bluecache', dram = '1MiB', flash = '1GiB'", "", 0.2, 4},
    {"kind = 'dido'", "", 0.2, 1},
    {"kind = 'dido', pipeline = 'cpu:4 RV PP MM insert delete search KC RD WR SD'", "", 0.2, 1},
    {"kind = 'kvdirect'", "", 0, 4},
    {"kind = 'kvdirect', nics = 2", "", 0, 4},
    {"kind = 'rdma'", "", 0, 1},
    {"kind = 'rdma', sides = 'two'", "", 0, 1},
    {"kind = 'memcached'", "", 0.2, 4},
    {"kind = 'memcached', network = 'pf_ring'", "sockets = 1", 0.2, 4},
    {"kind = 'mica'", "", 0.2, 4},
    {"kind = 'mica', client_assisted = false", "sockets = 1", 0.2, 4},
    {"kind = 'fpga_memcached'", "", 0.2, 4},
    {"kind = 'fpga_memcached', datapath = 4", "sockets = 1", 0.2, 4},
    {"kind = 'fatcache'", "sockets = 1", 1, 4},
    {"kind = 'memcached', network = 'tcp'", "sockets = 1", 1, 4},
};
enum { DESIGNS = sizeof(designs) / sizeof(*designs) };

/* Writes all of a scenario but its load and its time. The designs take turns. */
static void draw_store(struct kvc_rng *rng, uint32_t design, char text[STORE_BYTES])
{
    double get = happens(rng, 0.2) ? 1 : happens(rng, 0.2) ? 0.5 : 0.95;
    uint64_t nodes = happens(rng, 0.6) ? 1 : 1 + kvc_rng_below(rng, designs[design].nodes_most);
    char dist[64] = "'uniform'";
    if (happens(rng, 0.4)) {
        snprintf(dist, sizeof(dist), "{ zipf = %.2f }", 0.5 + 0.5 * kvc_rng_unit(rng));
    }
    snprintf(
        text, STORE_BYTES,
        "return { system = { %s }, node = { %s }, cluster = { nodes = %u },\n  workload = { keys = %.0f, "
        "key = %.0f, value = %.0f, get = %g, set = %g, dist = %s",
        designs[design].system, designs[design].node, (unsigned)nodes, between(rng, 5e3, 1e5),
        between(rng, 8, 64), between(rng, 8, 400), get, 1 - get, dist);
}

/* Returns the prediction of a store with this load. */
static struct kvc_outcome *predict(const char *store, const char *load)
{
    return kvc_laws_answer(kvc_laws_load("%s, arrival = %s } }\n", store, load), true);
}

/* Writes a load and returns its rate [million/s], about that of the answers where clients wait. */
static double draw_load(struct kvc_rng *rng, const char *store, double closed_frac, double *load_frac,
                        char load[LOAD_BYTES])
{
    struct kvc_outcome *limit = predict(store, closed_frac == 1 ? "'saturate'" : "{ poisson_mops = 1e5 }");
    double capacity_mops = limit->result.throughput_mops;
    kvc_outcome_free(limit);
    *load_frac = NAN;
    if (happens(rng, closed_frac)) {
        double clients = floor(between(rng, 4, 400)), think_us = happens(rng, 0.5) ? 0 : between(rng, 1, 1e3);
        snprintf(load, LOAD_BYTES, "{ clients = %.0f, think = '%.3gus' }", clients, think_us);
        return fmin(capacity_mops, clients / (think_us + 10));
    }
    if (happens(rng, 0.1)) {
        snprintf(load, LOAD_BYTES, "'saturate'");
        return capacity_mops;
    }
    *load_frac = between(rng, 0.3, 3);
    snprintf(load, LOAD_BYTES, "{ %s_mops = %.6g }", happens(rng, 0.2) ? "fixed" : "poisson",
             *load_frac * capacity_mops);
    return *load_frac * capacity_mops;
}

/* Sets objectives that are far from what the closed form says: the factor exceeds all errors that
 * docs/mechanisms.md states. */
static void draw_objectives(struct kvc_rng *rng, struct drawn *drawn)
{
    const struct kvc_result *result = &drawn->predicted->result;
    struct kvc_slo *slo = &drawn->loaded->slo;
    double hit_frac = kvc_metrics_get(&result->model, "hit_frac");
    double factor[6];
    for (int i = 0; i < 6; i++) {
        factor[i] = happens(rng, 0.5) ? 4 : 1 / 4.0;
    }
    slo->p50_ns = result->predicted.p50_us * 1e3 * factor[0];
    slo->p99_ns = result->predicted.p99_us * 1e3 * factor[1];
    slo->p999_ns = result->predicted.p999_us * 1e3 * factor[2];
    slo->mops = result->throughput_mops * factor[3];
    slo->watts = result->watts_mean > 0 ? result->watts_mean * factor[4] : NAN;
    slo->hit_frac = hit_frac * factor[5] <= 1 ? hit_frac * factor[5] : NAN;
}

/* The measured time has about 3e4 requests, and several of the batches in which stores work. */
static void draw(struct drawn *drawn, uint64_t seed, uint32_t number)
{
    struct kvc_rng rng;
    char store[STORE_BYTES], load[LOAD_BYTES];
    uint32_t design = number % DESIGNS;
    kvc_rng_init(&rng, seed, "properties", number);
    draw_store(&rng, design, store);
    double mops = draw_load(&rng, store, designs[design].closed_frac, &drawn->load_frac, load);
    struct kvc_outcome *outline = predict(store, load);
    double latency_us = outline->result.predicted.mean_us;
    kvc_outcome_free(outline);
    double several_us = isnan(latency_us) ? 0 : fmin(10 * latency_us, 2e5 / mops);
    double duration_us = fmin(fmax(fmax(3e4 / mops, several_us), fmin(2e3, 2e5 / mops)), 3e4);
    bool settles = happens(&rng, 0.7) || !(drawn->load_frac <= 0.7);
    char warmup[LOAD_BYTES] = "";
    if (settles) {
        snprintf(warmup, sizeof(warmup), ", warmup = '%.4gus'", duration_us / 2);
    }
    snprintf(drawn->text, SCENARIO_BYTES,
             "%s,\n    arrival = %s },\n  run = { duration = '%.4gus', replicas = %d, seed = %u%s } }\n",
             store, load, duration_us, happens(&rng, 0.15) ? 2 : 1, 1 + number, warmup);
    drawn->loaded = kvc_laws_load("%s", drawn->text);
    drawn->predicted = kvc_laws_answer(kvc_laws_load("%s", drawn->text), true);
    draw_objectives(&rng, drawn);
}

/* ---- contradictions that are known, each left out by name ---- */

static bool is_of(const struct drawn *drawn, const char *store)
{
    return strcmp(drawn->loaded->scenario.model->name, store) == 0;
}

/* A run of memcachedgpu under overload counts its senders as busy for more than the time there is. */
static bool has_busier_sender(const char *value)
{
    return strcmp(value, "stages.tx.utilization_frac") == 0;
}

/* The growth of the backlog comes from the second half of a run, in which bounded queues are full that were
 * not before. */
static bool fills_queues(const struct drawn *drawn)
{
    return is_of(drawn, "megakv") || is_of(drawn, "memcached") || is_of(drawn, "fpga_memcached");
}

/* Mega-KV serves up to 20 % more than its closed form says, and BlueCache up to four times as much while its
 * flash holds what a write buffer takes. */
static bool serves_more(const struct drawn *drawn)
{
    return is_of(drawn, "bluecache") || (is_of(drawn, "megakv") && drawn->load_frac < 1.2);
}

/* ---- what holds for every answer ---- */

static void expect_shares(struct findings *findings, const char *form, const struct kvc_outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->values[0].count; i++) {
        const struct kvc_value *value = &outcome->values[0].value[i];
        size_t length = strlen(value->name);
        bool is_share =
            length > 5 && strcmp(value->name + length - 5, "_frac") == 0 && !has_busier_sender(value->name);
        expect(findings, !is_share || !(value->value < 0 || value->value > 1 + rounding_frac),
               "%s: %s is %.10g", form, value->name, value->value);
    }
}

static void expect_order(struct findings *findings, const char *form, const struct kvc_outcome *outcome)
{
    static const char *const names[] = {"latency_min_us", "latency_p50_us",   "latency_p95_us",
                                        "latency_p99_us", "latency_p99.9_us", "latency_max_us"};
    double least_us = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        double us = kvc_outcome_value(outcome, 0, names[i]);
        expect(findings, !(us < least_us), "%s: %s is %.10g, less than %.10g", form, names[i], us, least_us);
        least_us = isnan(us) ? least_us : us;
    }
}

static bool is_near(double a, double b, double error_frac)
{
    return fabs(a - b) <= error_frac * fmax(fabs(a), fabs(b));
}

static void expect_power(struct findings *findings, const char *form, const struct kvc_outcome *outcome)
{
    const struct kvc_result *result = &outcome->result;
    double watts = result->watts_mean, kops_per_watt = kvc_outcome_interval(outcome, "kops_per_watt").mean;
    double joules = 0;
    if (result->watts_missing[0] != '\0' || watts <= 0) {
        expect(findings, isnan(kops_per_watt), "%s: %g kops/W without %s", form, kops_per_watt,
               result->watts_missing);
        expect(findings, isnan(kvc_outcome_whole_watts(outcome)), "%s: all of the power without %s", form,
               result->watts_missing);
    } else if (outcome->replicas <= 1) { /* The mean of quotients is not the quotient of means. */
        expect(findings, is_near(kops_per_watt, result->throughput_mops * 1e3 / watts, rounding_frac),
               "%s: %.10g kops/W of %.10g Mops and %.10g W", form, kops_per_watt, result->throughput_mops,
               watts);
    }
    for (uint32_t i = 0; i < result->device_count; i++) {
        joules += isnan(result->device[i].joules) ? 0 : result->device[i].joules;
    }
    expect(findings, is_near(joules, result->joules, rounding_frac), "%s: %.10g J, devices %.10g J", form,
           result->joules, joules);
    expect(findings, is_near(result->joules, watts * result->simulated_s, rounding_frac),
           "%s: %.10g J of %.10g W in %.10g s", form, result->joules, watts, result->simulated_s);
}

/* By Little's law, clients that wait are as many as requests and pauses. At the ends of the measured time,
 * each client has one that is not counted, or counted in part. */
static void expect_little(struct findings *findings, const char *form, const struct drawn *drawn,
                          const struct kvc_outcome *outcome, double border_frac)
{
    const struct kvc_workload *workload = &drawn->loaded->scenario.workload;
    double think_us = workload->think_ns * 1e-3, clients = (double)workload->clients;
    double cycle_us = kvc_outcome_interval(outcome, "latency_mean_us").mean + think_us;
    double found = outcome->result.throughput_mops * cycle_us;
    bool batches = is_of(drawn, "megakv") && outcome->replicas > 0; /* Few clients miss it by 1 %. */
    if (workload->arrival == KVC_ARRIVAL_CLOSED && !batches) {
        expect(findings, is_near(found, clients, border_frac),
               "%s: %.8g Mops, each for %.8g us, make %.8g of %.0f clients, within %.2g", form,
               outcome->result.throughput_mops, cycle_us, found, clients, border_frac);
    }
}

/* ---- a run ---- */

/* Requests that are in the store at a moment were sent within the longest latency before it. */
static double in_flight_most(const struct kvc_outcome *ran, double mops)
{
    double sent = mops * kvc_outcome_interval(ran, "latency_max_us").mean;
    return sent + errors_most * sqrt(sent + 1);
}

static void expect_counts(struct findings *findings, const struct drawn *drawn, const struct kvc_outcome *ran)
{
    const struct kvc_result *result = &ran->result;
    const struct kvc_workload *workload = &drawn->loaded->scenario.workload;
    double offered = (double)result->offered, completed = (double)result->completed, most = ran->replicas;
    double kept = offered - (double)result->dropped - completed, growth = result->growth_frac * offered;
    expect(findings, result->completed == result->gets + result->sets + result->deletes,
           "run: %.0f answers, but %.0f by operation", completed,
           (double)(result->gets + result->sets + result->deletes));
    expect(findings, result->gets == result->hits + result->misses, "run: %.0f GETs, %.0f hits and misses",
           (double)result->gets, (double)(result->hits + result->misses));
    if (kvc_workload_clients_wait(workload)) {
        return;
    }
    double expected = workload->rate_mops * result->simulated_s * 1e6;
    most *= in_flight_most(ran, workload->rate_mops);
    double chance = errors_most * sqrt(expected);
    expect(findings, offered <= expected + chance && offered >= expected - chance - most,
           "run: %.0f requests sent, not %.0f; %.0f in flight", offered, expected, most);
    expect(findings, completed <= offered + most, "run: %.0f answers of %.0f requests, %.0f in flight",
           completed, offered, most);
    expect(findings, result->growth_frac > 0 || fabs(kept) <= most || isnan(result->growth_frac),
           "run: %.0f requests, %.0f lost, %.0f answers, but no backlog; %.0f in flight", offered,
           (double)result->dropped, completed, most);
    /* The growth exceeds four of its standard errors. */
    kept = expected - (double)result->dropped - completed;
    growth = result->growth_frac * expected;
    expect(findings, !(growth > 0) || fills_queues(drawn) || fabs(kept - growth) <= growth / 4 + chance,
           "run: %.0f of %.0f requests stay behind, the backlog grows by %.0f", kept, expected, growth);
}

/* ---- the closed form ---- */

static void expect_same(struct findings *findings, const char *name, double forecast, double predicted)
{
    expect(findings, (isnan(forecast) && isnan(predicted)) || is_near(forecast, predicted, rounding_frac),
           "predict: %s is %.10g, in sweeps and plans %.10g", name, predicted, forecast);
}

/* Sweeps, plans and capacities take the closed form by its forecast. */
static void expect_forecast(struct findings *findings, const struct drawn *drawn)
{
    const struct kvc_scenario *scenario = &drawn->loaded->scenario;
    const struct kvc_outcome *outcome = drawn->predicted;
    const struct kvc_result *result = &outcome->result;
    const struct kvc_service service = kvc_service_of(drawn->loaded, outcome);
    const struct kvc_price price = kvc_scenario_price(scenario);
    struct kvc_forecast forecast;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_scenario_forecast(scenario, &forecast, &diag);
    expect(findings, status == KVC_OK, "predict: %s", diag.message);
    expect_same(findings, "throughput", forecast.throughput_mops, result->throughput_mops);
    expect_same(findings, "unserved share", forecast.unserved_frac, service.unserved_frac);
    expect_same(findings, "mean latency", forecast.latency.mean_us, result->predicted.mean_us);
    expect_same(findings, "p50", forecast.latency.p50_us, result->predicted.p50_us);
    expect_same(findings, "p95", forecast.latency.p95_us, result->predicted.p95_us);
    expect_same(findings, "p99", forecast.latency.p99_us, result->predicted.p99_us);
    expect_same(findings, "p99.9", forecast.latency.p999_us, result->predicted.p999_us);
    expect_same(findings, "hit ratio", forecast.hit_frac, kvc_metrics_get(&result->model, "hit_frac"));
    expect_same(findings, "power", forecast.watts_mean, kvc_outcome_whole_watts(outcome));
    expect_same(findings, "kops/W", forecast.kops_per_watt,
                kvc_outcome_interval(outcome, "kops_per_watt").mean);
    expect_same(findings, "price", forecast.price_usd, kvc_price_whole_usd(&price));
    expect(findings, strcmp(forecast.bottleneck_stage, result->bottleneck_stage) == 0,
           "predict: %s is the bottleneck, in sweeps and plans %s", result->bottleneck_stage,
           forecast.bottleneck_stage);
}

/* ---- both ---- */

static void expect_same_service(struct findings *findings, const struct drawn *drawn,
                                const struct kvc_outcome *ran)
{
    const struct kvc_service run = kvc_service_of(drawn->loaded, ran);
    const struct kvc_service closed = kvc_service_of(drawn->loaded, drawn->predicted);
    double load_frac = drawn->load_frac;
    expect(findings, isnan(load_frac) || closed.served_mops <= closed.offered_mops * (1 + rounding_frac),
           "predict: serves %.10g of %.10g Mops", closed.served_mops, closed.offered_mops);
    expect(findings,
           !(load_frac >= 1.1) || serves_more(drawn) || (run.unserved_frac != 0 && closed.unserved_frac > 0),
           "at %.3g of the capacity, %g is not served by a run, %g by the closed form", load_frac,
           run.unserved_frac, closed.unserved_frac);
    expect(findings, !(load_frac <= 0.7) || (!(run.unserved_frac > 0) && closed.unserved_frac == 0),
           "at %.3g of the capacity, %g is not served by a run, %g by the closed form", load_frac,
           run.unserved_frac, closed.unserved_frac);
}

static void expect_same_verdict(struct findings *findings, const struct drawn *drawn,
                                const struct kvc_outcome *ran)
{
    struct kvc_slo_windows windows;
    if (!(drawn->load_frac <= 0.7)) { /* Clients that wait move together, which the closed form leaves out. */
        return;
    }
    const struct kvc_slo_verdict run = kvc_slo_judge(drawn->loaded, ran, &windows);
    const struct kvc_slo_verdict closed = kvc_slo_judge(drawn->loaded, drawn->predicted, &windows);
    expect(findings, run.count == closed.count, "%u and %u objectives", run.count, closed.count);
    for (uint32_t i = 0; i < run.count; i++) {
        const struct kvc_judged *a = &run.judged[i], *b = &closed.judged[i];
        bool known = a->state != KVC_SLO_UNKNOWN && b->state != KVC_SLO_UNKNOWN;
        expect(findings, !known || a->state == b->state || !a->is_stated,
               "%s of a bound of %g: %g by a run, %g by the closed form",
               kvc_objective_kinds[a->objective].label, a->bound, a->found, b->found);
    }
}

static void expect_same_hits(struct findings *findings, const struct drawn *drawn,
                             const struct kvc_outcome *ran)
{
    struct kvc_interval run = kvc_outcome_interval(ran, "hit_frac");
    double closed = kvc_metrics_get(&drawn->predicted->result.model, "hit_frac");
    expect(findings, isnan(closed) || fabs(run.mean - closed) <= 0.01,
           "%.6g of the GETs hit by a run, %.6g by the closed form", run.mean, closed);
}

/* Runs in a child. */
static enum kvc_status hold(void *data, uint32_t number, const struct kvc_progress *progress, void *answer,
                            struct kvc_diag *diag)
{
    const struct drawn *drawn = &((const struct drawn *)data)[number];
    const struct kvc_run_options options = {.jobs = 1};
    struct findings *findings = answer;
    struct kvc_outcome *ran;
    (void)progress;
    expect_shares(findings, "predict", drawn->predicted);
    expect_order(findings, "predict", drawn->predicted);
    expect_power(findings, "predict", drawn->predicted);
    expect_little(findings, "predict", drawn, drawn->predicted, rounding_frac);
    expect_forecast(findings, drawn);
    enum kvc_status status = kvc_driver_run(&drawn->loaded->scenario, &options, &ran, diag);
    if (status != KVC_OK) {
        expect(findings, false, "run: %s", diag->message);
        return KVC_OK;
    }
    double cycle_us =
        kvc_outcome_interval(ran, "latency_max_us").mean + drawn->loaded->scenario.workload.think_ns * 1e-3;
    expect_shares(findings, "run", ran);
    expect_order(findings, "run", ran);
    expect_power(findings, "run", ran);
    expect_little(findings, "run", drawn, ran, cycle_us * ran->replicas / (ran->result.simulated_s * 1e6));
    expect_counts(findings, drawn, ran);
    expect_same_service(findings, drawn, ran);
    expect_same_verdict(findings, drawn, ran);
    expect_same_hits(findings, drawn, ran);
    kvc_outcome_free(ran);
    return KVC_OK;
}

static enum kvc_status take(void *data, uint32_t number, const void *answer, struct kvc_diag *diag)
{
    const struct drawn *drawn = &((const struct drawn *)data)[number];
    const struct findings *findings = answer;
    (void)diag;
    cr_expect_str_eq(findings->text, "", "%s%.3g of the capacity, scenario %u: %s", findings->text,
                     drawn->load_frac, number, drawn->text);
    return KVC_OK;
}

static uint64_t number_of(const char *variable, uint64_t usual)
{
    const char *text = getenv(variable);
    return text != NULL ? strtoull(text, NULL, 10) : usual;
}

Test(properties, hold_for_random_scenarios)
{
    uint64_t seed = number_of("KVCAST_PROPERTIES_SEED", 1);
    uint32_t count = (uint32_t)number_of("KVCAST_PROPERTIES_COUNT", 60);
    struct drawn *drawn = calloc(count, sizeof(*drawn));
    struct kvc_diag diag = {0};
    for (uint32_t i = 0; i < count; i++) {
        draw(&drawn[i], seed, i);
    }
    const struct kvc_pool_options pool = {.tasks = count,
                                          .jobs = kvc_pool_processors(),
                                          .answer_bytes = sizeof(struct findings),
                                          .noun = "scenario",
                                          .data = drawn,
                                          .body = hold,
                                          .take = take};
    cr_expect_eq(kvc_pool_run(&pool, NULL, &diag), KVC_OK, "%s", diag.message);
    for (uint32_t i = 0; i < count; i++) {
        kvc_loaded_free(drawn[i].loaded);
        kvc_outcome_free(drawn[i].predicted);
    }
    free(drawn);
}
