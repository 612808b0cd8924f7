#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "scenarios/run/sensitivity.h"
#include "sim/base/rng.h"

/* A store whose answer is a formula: cores serve requests that take some time and some bytes of a link each.
 *
 *     throughput = min(cores / time, rate / 100 bytes),  latency = time + other + 100 bytes / rate */
struct part {
    double rate_bytes_per_s, time_ns, other_ns, price;
    uint64_t cores, line;
};

enum { REQUEST_BYTES = 100 };

#define ROW(called, kind, field, dimension, low, high)                                                       \
    {                                                                                                        \
        .name = called, .type = kind, .offset = offsetof(struct part, field), .unit = dimension, .min = low, \
        .max = high                                                                                          \
    }

static const struct kvc_option rows[] = {
    ROW("rate", KVC_OPTION_REAL, rate_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e12),
    ROW("time", KVC_OPTION_REAL, time_ns, KVC_UNIT_NS, 0, 1e9),
    ROW("other", KVC_OPTION_REAL, other_ns, KVC_UNIT_NS, 0, 1e9),
    ROW("cores", KVC_OPTION_COUNT, cores, KVC_UNIT_NONE, 1, 64),
    ROW("line", KVC_OPTION_COUNT, line, KVC_UNIT_NONE, 1, 4096),
    ROW("price", KVC_OPTION_REAL, price, KVC_UNIT_NONE, 0, 1e6),
};

static const struct kvc_option_table table = {
    .name = "part", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct part)};

/* A line is a power of two. */
static enum kvc_status check_part(const void *device, struct kvc_diag *diag)
{
    const struct part *part = device;
    return (part->line & (part->line - 1)) == 0
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO, "part.line: found no power");
}

static const struct kvc_device_kind part_kind = {.name = "part", .options = &table, .check = check_part};

static enum kvc_status predict(const struct kvc_scenario *scenario, struct kvc_result *result,
                               struct kvc_diag *diag)
{
    const struct part *part = kvc_node_device(&scenario->node, &part_kind);
    (void)diag;
    result->throughput_mops =
        fmin((double)part->cores / part->time_ns * 1e3, part->rate_bytes_per_s / REQUEST_BYTES / 1e6);
    double mean_us = (part->time_ns + part->other_ns) / 1e3 + REQUEST_BYTES / part->rate_bytes_per_s * 1e6;
    result->predicted = (struct kvc_latencies){mean_us, NAN, NAN, NAN, NAN};
    return KVC_OK;
}

/* The simulated throughput is the formula's plus noise that depends on the seed. */
static enum kvc_status run(const struct kvc_run_context *context, struct kvc_diag *diag)
{
    struct kvc_rng rng;
    kvc_rng_init(&rng, context->seed, "noise", 0);
    enum kvc_status status = predict(context->scenario, context->result, diag);
    context->result->throughput_mops *= 1 + 0.1 * kvc_rng_unit(&rng);
    return status;
}

static const struct kvc_model model = {.name = "formula", .predict = predict, .run = run};

static struct part part;
static struct kvc_loaded *loaded;

static void state(const char *name, double low, double high)
{
    struct kvc_parameter parameter = {.source = "made up", .interval = {low, high}};
    snprintf(parameter.path, sizeof(parameter.path), "node.part.%s", name);
    cr_assert(kvc_parameters_put(&loaded->provenance, &parameter));
}

/* Limited by the link at 10 Mops, as the cores could serve 20 Mops. */
static void set_up(void)
{
    part = (struct part){.rate_bytes_per_s = 1e9, .time_ns = 200, .other_ns = 300, .cores = 4, .line = 64};
    loaded = calloc(1, sizeof(*loaded));
    loaded->scenario.model = &model;
    loaded->scenario.cluster.nodes = 1;
    loaded->scenario.run.replicas = 3;
    loaded->scenario.run.seed = 7;
    loaded->scenario.node.device[0] = (struct kvc_device){&part_kind, &part};
}

static void tear_down(void)
{
    kvc_parameters_clear(&loaded->provenance);
    free(loaded);
}

TestSuite(sensitivity, .init = set_up, .fini = tear_down);

static void state_all(void)
{
    for (size_t i = 0; i < table.count; i++) {
        state(rows[i].name, NAN, NAN);
    }
}

static struct kvc_sensitivity *find(bool by_runs)
{
    const struct kvc_run_options options = {.jobs = 2};
    struct kvc_outcome *outcome = NULL;
    struct kvc_sensitivity *found = NULL;
    struct kvc_diag diag = {0};
    enum kvc_status status = by_runs ? kvc_driver_run(&loaded->scenario, &options, &outcome, &diag)
                                     : kvc_driver_predict(&loaded->scenario, &outcome, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    status = kvc_sensitivity_find(loaded, by_runs ? &options : NULL, outcome, &found, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    kvc_outcome_free(outcome);
    return found;
}

static const struct kvc_sensitivity_parameter *of(const struct kvc_sensitivity *found, const char *name)
{
    for (uint32_t i = 0; i < found->count; i++) {
        if (strcmp(found->parameter[i].path + strlen("node.part."), name) == 0) {
            return &found->parameter[i];
        }
    }
    cr_assert_fail("no parameter %s", name);
    return NULL;
}

static double elasticity(const struct kvc_sensitivity *found, const char *name, int metric)
{
    return of(found, name)->elasticity[metric].mean;
}

/* Returns what the table says about a better value, with single blanks. */
static const char *gain_of(const struct kvc_sensitivity *found, const char *name)
{
    enum { BEFORE = 38 + 14 + 2 * 18 };
    static char gain[128];
    char *shown, path[64];
    size_t bytes, length = 0;
    FILE *out = open_memstream(&shown, &bytes);
    kvc_sensitivity_write_table(found, out);
    fclose(out);
    snprintf(path, sizeof(path), "\nnode.part.%s ", name);
    const char *line = strstr(shown, path);
    cr_assert_not_null(line, "%s", shown);
    for (const char *at = line + 1 + BEFORE; *at != '\n'; at++) {
        if (*at != ' ' || at[1] != ' ') {
            gain[length++] = *at;
        }
    }
    gain[length] = '\0';
    free(shown);
    return gain;
}

Test(sensitivity, of_a_formula_is_that_of_its_derivative)
{
    state_all();
    struct kvc_sensitivity *found = find(false);
    cr_expect_float_eq(elasticity(found, "rate", KVC_SENSITIVITY_THROUGHPUT), 1, 1e-9);
    cr_expect_float_eq(elasticity(found, "cores", KVC_SENSITIVITY_THROUGHPUT), 0, 1e-9);
    cr_expect_float_eq(elasticity(found, "time", KVC_SENSITIVITY_THROUGHPUT), 0, 1e-9);
    /* The latency is 600 ns: 200 + 300 + 100. */
    cr_expect_float_eq(elasticity(found, "rate", KVC_SENSITIVITY_MEAN), -1.0 / 6, 1e-3);
    cr_expect_float_eq(elasticity(found, "time", KVC_SENSITIVITY_MEAN), 2.0 / 6, 1e-3);
    cr_expect_float_eq(elasticity(found, "other", KVC_SENSITIVITY_MEAN), 3.0 / 6, 1e-3);
    cr_expect_eq(of(found, "price")->by, KVC_SENSITIVITY_FIXED, "a price of 0 has no relative change");
    cr_expect_eq(of(found, "line")->by, KVC_SENSITIVITY_CLOSED_FORM, "it is doubled and halved");
    cr_expect_eq(found->latency, KVC_SENSITIVITY_MEAN, "the formula knows no percentiles");
    cr_expect_str_eq(found->parameter[0].path, "node.part.rate");
    cr_expect_str_eq(found->parameter[1].path, "node.part.other");
    cr_expect_eq(found->without_effect, 2, "cores and line");
    cr_expect_eq(found->fixed, 1);
    kvc_sensitivity_free(found);
}

/* If everything is twice as fast, throughput doubles and latency halves: rates minus times sum up to 1 and
 * -1. */
Test(sensitivity, obeys_the_law_of_scales)
{
    state_all();
    for (part.cores = 1; part.cores <= 4; part.cores *= 4) {
        struct kvc_sensitivity *found = find(false);
        for (int metric = KVC_SENSITIVITY_THROUGHPUT; metric <= KVC_SENSITIVITY_MEAN; metric++) {
            double sum = elasticity(found, "rate", metric) - elasticity(found, "time", metric) -
                         elasticity(found, "other", metric);
            cr_expect_float_eq(sum, metric == KVC_SENSITIVITY_THROUGHPUT ? 1 : -1, 1e-3);
        }
        kvc_sensitivity_free(found);
    }
}

/* Two cores of 200 ns serve the 10 Mops of the link: more of either gains nothing, less of either costs. */
Test(sensitivity, whole_numbers_change_by_whole_steps)
{
    state_all();
    part.cores = 2;
    struct kvc_sensitivity *found = find(false);
    cr_expect_float_eq(elasticity(found, "cores", KVC_SENSITIVITY_THROUGHPUT), log(2) / log(3), 1e-9,
                       "1 and 3 cores");
    const struct kvc_sensitivity_step *step = of(found, "cores")->step;
    cr_expect(step[KVC_SENSITIVITY_DOWN].to == 1 && step[KVC_SENSITIVITY_UP].to == 3);
    cr_expect_float_eq(step[KVC_SENSITIVITY_DOWN].change_frac[KVC_SENSITIVITY_THROUGHPUT].mean, -0.5, 1e-9);
    cr_expect_float_eq(step[KVC_SENSITIVITY_UP].change_frac[KVC_SENSITIVITY_THROUGHPUT].mean, 0, 1e-9);
    cr_expect_str_eq(gain_of(found, "cores"), "no step gains", "a third core finds no work");
    cr_expect(of(found, "cores")->is_whole && !of(found, "rate")->is_whole);
    kvc_sensitivity_free(found);
    part.cores = 1;
    found = find(false);
    cr_expect_float_eq(elasticity(found, "cores", KVC_SENSITIVITY_THROUGHPUT), 1, 1e-9, "1 core and 2");
    cr_expect(isnan(of(found, "cores")->step[KVC_SENSITIVITY_DOWN].to), "no core is none");
    cr_expect_str_eq(gain_of(found, "cores"), "1 -> 2 +100.0 % throughput +0.0 % mean");
    cr_expect_str_eq(gain_of(found, "rate"), "10 % higher +0.0 % throughput -1.6 % mean");
    kvc_sensitivity_free(found);
}

/* The limit of the range shortens a step, and a line is doubled, because it is a power of two. */
Test(sensitivity, steps_of_whole_numbers_stay_within_their_range)
{
    state_all();
    part.cores = 63;
    part.time_ns = 200e3;
    struct kvc_sensitivity *found = find(false);
    const struct kvc_sensitivity_step *step = of(found, "cores")->step;
    cr_expect(step[KVC_SENSITIVITY_DOWN].to == 60 && step[KVC_SENSITIVITY_UP].to == 64);
    cr_expect_str_eq(gain_of(found, "cores"), "63 -> 64 +1.6 % throughput +0.0 % mean");
    step = of(found, "line")->step;
    cr_expect(step[KVC_SENSITIVITY_DOWN].to == 32 && step[KVC_SENSITIVITY_UP].to == 128);
    kvc_sensitivity_free(found);
}

/* Both replicas see the same noise, so that a step has the interval of its effect alone. */
Test(sensitivity, paired_runs_give_whole_steps_intervals)
{
    state_all();
    part.cores = 1;
    struct kvc_sensitivity *found = find(true);
    const struct kvc_interval *change_frac = of(found, "cores")->step[KVC_SENSITIVITY_UP].change_frac;
    cr_expect_eq(of(found, "cores")->by, KVC_SENSITIVITY_RUNS);
    cr_expect_float_eq(change_frac[KVC_SENSITIVITY_THROUGHPUT].mean, 1, 1e-9);
    cr_expect_lt(change_frac[KVC_SENSITIVITY_THROUGHPUT].half_width, 1e-9);
    json_t *object = kvc_sensitivity_json(found);
    const json_t *first = json_array_get(json_object_get(object, "parameters"), 0),
                 *steps = json_object_get(first, "steps");
    cr_expect_str_eq(json_string_value(json_object_get(first, "path")), "node.part.cores");
    cr_assert_eq(json_array_size(steps), 1);
    cr_expect_eq(json_number_value(json_object_get(json_array_get(steps, 0), "to")), 2);
    json_decref(object);
    kvc_sensitivity_free(found);
}

Test(sensitivity, paired_runs_see_through_the_noise)
{
    state_all();
    struct kvc_sensitivity *found = find(true);
    const struct kvc_sensitivity_parameter *rate = of(found, "rate");
    cr_expect_eq(rate->by, KVC_SENSITIVITY_RUNS);
    cr_expect_float_eq(rate->elasticity[KVC_SENSITIVITY_THROUGHPUT].mean, 1, 1e-9);
    cr_expect_lt(rate->elasticity[KVC_SENSITIVITY_THROUGHPUT].half_width, 1e-9, "the noise is 5 %%");
    cr_expect_eq(of(found, "line")->by, KVC_SENSITIVITY_CLOSED_FORM, "without effect: not worth a run");
    cr_expect_eq(found->not_run, 0);
    kvc_sensitivity_free(found);
}

/* Nodes that are simulated apart, two like the scenario's and one with a link of its own. */
static void make_cluster(struct kvc_cluster_member member[2], struct part *own)
{
    struct kvc_scenario *scenario = &loaded->scenario;
    *own = part;
    own->rate_bytes_per_s = 0.5e9;
    member[0] = (struct kvc_cluster_member){.name = "a", .nodes = 2, .weight = 1, .node = scenario->node};
    member[1] = (struct kvc_cluster_member){
        .name = "b", .nodes = 1, .weight = 1, .node = {.device = {{&part_kind, own}}}};
    scenario->cluster = (struct kvc_cluster){.nodes = 3, .member_count = 2, .member = member};
    kvc_option_table_set_defaults(&kvc_workload_option_table, &scenario->workload);
    scenario->workload.keys = 10000;
    scenario->workload.arrival = KVC_ARRIVAL_SATURATE;
    scenario->workload.clients_for = KVC_CLIENTS_FOR_SOCKET;
    cr_assert(kvc_cluster_is_apart(scenario));
}

/* The link limits all nodes, so that the throughput follows it if it is varied in all of them. */
Test(sensitivity, hardware_of_all_members_of_a_cluster_is_varied)
{
    struct kvc_cluster_member member[2];
    struct part own;
    state_all();
    make_cluster(member, &own);
    for (int by_runs = 0; by_runs < 2; by_runs++) {
        struct kvc_sensitivity *found = find(by_runs);
        const struct kvc_sensitivity_parameter *rate = of(found, "rate");
        cr_expect_eq(rate->by, by_runs ? KVC_SENSITIVITY_RUNS : KVC_SENSITIVITY_CLOSED_FORM);
        cr_expect_float_eq(rate->elasticity[KVC_SENSITIVITY_THROUGHPUT].mean, 1, 1e-9, "%g",
                           rate->elasticity[KVC_SENSITIVITY_THROUGHPUT].mean);
        cr_expect(!by_runs || rate->elasticity[KVC_SENSITIVITY_THROUGHPUT].half_width < 1e-9);
        kvc_sensitivity_free(found);
    }
    cr_expect_eq(own.rate_bytes_per_s, 0.5e9, "the scenario stays as it is");
}

/* The distance between a quantile and the distribution's quantile is within 4 standard errors of 1000 draws,
 * a third of the distribution's own standard deviation. */
Test(sensitivity, draws_of_a_linear_answer_have_the_intervals_of_its_values)
{
    state("rate", 0.9e9, 1.3e9);
    state("time", 150, 250);
    state("other", 300 - 75, 300 + 75);
    state("cores", NAN, NAN);
    struct kvc_sensitivity *found = find(false);
    const struct kvc_uncertainty *uncertainty = &found->uncertainty;
    cr_expect_eq(uncertainty->draws, KVC_SENSITIVITY_DRAWS);
    cr_expect_eq(uncertainty->refused, 0);
    cr_expect_eq(uncertainty->values, 4);
    cr_expect_eq(uncertainty->with_interval, 3);
    /* Throughput is a tenth of the rate, whose interval is wider above than below. */
    cr_expect_float_eq(uncertainty->range[KVC_SENSITIVITY_THROUGHPUT].low, 9, 1.0 / 1.96 / 3);
    cr_expect_float_eq(uncertainty->range[KVC_SENSITIVITY_THROUGHPUT].median, 10, 0.15);
    cr_expect_float_eq(uncertainty->range[KVC_SENSITIVITY_THROUGHPUT].high, 13, 3.0 / 1.96 / 3);
    cr_expect_float_eq(of(found, "rate")->variance_share_frac[KVC_SENSITIVITY_THROUGHPUT], 1, 1e-9);
    cr_expect_eq(of(found, "time")->variance_share_frac[KVC_SENSITIVITY_THROUGHPUT], 0);
    cr_expect(isnan(of(found, "cores")->variance_share_frac[KVC_SENSITIVITY_THROUGHPUT]));
    kvc_sensitivity_free(found);
}

/* The half widths of 50 and 75 ns add up to their root of squares. */
Test(sensitivity, variance_is_shared_as_in_a_sum)
{
    state("rate", NAN, NAN);
    state("time", 150, 250);
    state("other", 300 - 75, 300 + 75);
    struct kvc_sensitivity *found = find(false);
    double half_us = sqrt(50 * 50 + 75 * 75) / 1e3, slack_us = half_us / 1.96 / 3;
    cr_expect_float_eq(found->uncertainty.range[KVC_SENSITIVITY_MEAN].low, 0.6 - half_us, slack_us);
    cr_expect_float_eq(found->uncertainty.range[KVC_SENSITIVITY_MEAN].high, 0.6 + half_us, slack_us);
    double time_frac = 2500.0 / (2500 + 5625);
    cr_expect_float_eq(of(found, "time")->variance_share_frac[KVC_SENSITIVITY_MEAN], time_frac, 0.05);
    cr_expect_float_eq(of(found, "other")->variance_share_frac[KVC_SENSITIVITY_MEAN], 1 - time_frac, 0.08);
    kvc_sensitivity_free(found);
}

Test(sensitivity, without_intervals_everything_counts_as_exact)
{
    state_all();
    struct kvc_sensitivity *found = find(false);
    cr_expect_eq(found->uncertainty.draws, 0);
    cr_expect_eq(found->uncertainty.values, 6);
    cr_expect_eq(found->uncertainty.with_interval, 0);
    kvc_sensitivity_free(found);
}

static char *document(bool by_runs)
{
    struct kvc_sensitivity *found = find(by_runs);
    json_t *object = kvc_sensitivity_json(found);
    char *text = json_dumps(object, JSON_INDENT(1));
    json_decref(object);
    kvc_sensitivity_free(found);
    return text;
}

Test(sensitivity, is_the_same_each_time_and_another_with_another_seed)
{
    state("rate", 0.9e9, 1.3e9);
    char *first = document(true), *second = document(true);
    loaded->scenario.run.seed++;
    char *other = document(true);
    cr_expect_str_eq(first, second);
    cr_expect_str_neq(first, other);
    free(first);
    free(second);
    free(other);
}
