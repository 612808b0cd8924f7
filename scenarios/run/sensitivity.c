#include "scenarios/run/sensitivity.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/forecast.h"
#include "models/model.h"
#include "scenarios/run/pairs.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"

/* ---- the numbers of the hardware ----
 *
 * The list has the place of each number in its device's struct, so that a copy of the scenario can get
 * another value without being loaded again. It has the numbers that a profile or the scenario states with a
 * source. The elements of a list, such as the points of a cost curve, have the same fields; all numbers of
 * one field are one parameter, because they become faster together. The conditions under which an element
 * applies are no parameters.
 *
 * The members of a cluster have the same numbers or their own ones, which change by the same factor as those
 * of the scenario's node. A member's list of another length, such as the clocks of another GPU, has no
 * counterparts and stays unchanged. */

/* One number. */
struct value {
    const struct kvc_parameter *origin; /* Path, source and interval. */
    uint32_t device;                    /* Position in node.device. */
    size_t offset;                      /* Offset in the device's struct [bytes]. */
    double number;                      /* Number in the base unit of its option. */
};

/* The numbers of one field: one, or one for each element of a list. */
struct parameter {
    char path[KVC_PATH_MAX];       /* "node.gpu.launch", or "node.gpu.clocks.*.core" for several elements. */
    const struct kvc_option *row;  /* REAL or COUNT. */
    const struct kvc_option *list; /* The list that has the field, or NULL. */
    uint32_t first, count;         /* Range of the numbers in `value`. */
};

struct values {
    const struct kvc_scenario *scenario; /* The scenario that has the numbers. */
    uint32_t count, parameter_count;
    struct value *value; /* In the order of the parameters. */
    struct parameter *parameter;
};

/* The list under construction. */
struct listing {
    const struct kvc_parameters *provenance;
    struct values *values;
};

static double number_at(const struct kvc_option *row, const void *field)
{
    return row->type == KVC_OPTION_COUNT ? (double)*(const uint64_t *)field : *(const double *)field;
}

static bool is_number(const struct kvc_option *row)
{
    return (row->type == KVC_OPTION_REAL || row->type == KVC_OPTION_COUNT) && !row->is_condition;
}

/* Returns whether it is a number, and not a word that stands for one. */
static bool is_stated(const struct kvc_option *row, double number)
{
    return !isnan(number) && (row->auto_word == NULL || number != row->auto_value);
}

/* Adds a number to the parameter that is last in the list. */
static void add_value(struct listing *listing, const struct kvc_option *row, const char *path,
                      uint32_t device, size_t offset, const void *object)
{
    struct values *values = listing->values;
    double number = number_at(row, (const char *)object + offset);
    const struct kvc_parameter *origin =
        is_stated(row, number) ? kvc_parameters_find(listing->provenance, path) : NULL;
    if (origin == NULL) {
        return;
    }
    values->value = kvc_array_grown(values->value, values->count + 1, sizeof(*values->value));
    values->value[values->count++] =
        (struct value){.origin = origin, .device = device, .offset = offset, .number = number};
    values->parameter[values->parameter_count - 1].count++;
}

static void begin_parameter(struct values *values, const struct kvc_option *row,
                            const struct kvc_option *list)
{
    values->parameter =
        kvc_array_grown(values->parameter, values->parameter_count + 1, sizeof(*values->parameter));
    values->parameter[values->parameter_count++] =
        (struct parameter){.row = row, .list = list, .first = values->count};
}

/* Names the parameter that is last in the list, or removes it if it has no numbers. */
static void end_parameter(struct values *values, const char *path)
{
    struct parameter *parameter = &values->parameter[values->parameter_count - 1];
    if (parameter->count == 0) {
        values->parameter_count--;
        return;
    }
    snprintf(parameter->path, sizeof(parameter->path), "%s",
             parameter->count == 1 ? values->value[parameter->first].origin->path : path);
}

static uint32_t length_of(const struct kvc_option *list, const void *object)
{
    return *(const uint32_t *)(const void *)((const char *)object + list->count_offset);
}

static void add_list(struct listing *listing, const struct kvc_option *list, uint32_t device,
                     const char *path, const void *object)
{
    uint32_t length = length_of(list, object);
    char element[KVC_PATH_MAX];
    for (size_t i = 0; i < list->element->count; i++) {
        const struct kvc_option *row = &list->element->rows[i];
        if (!is_number(row)) {
            continue;
        }
        begin_parameter(listing->values, row, list);
        for (uint32_t j = 0; j < length; j++) {
            snprintf(element, sizeof(element), "%.80s.%u.%.32s", path, j + 1, row->name);
            add_value(listing, row, element, device, list->offset + j * list->element->size + row->offset,
                      object);
        }
        snprintf(element, sizeof(element), "%.80s.*.%.32s", path, row->name);
        end_parameter(listing->values, element);
    }
}

/* Lists the numbers of a loaded scenario's node, in the order of its devices. The scenario must outlive them.
 * If memory is short, the program ends. */
static void list_values(const struct kvc_loaded *loaded, struct values *values)
{
    struct listing listing = {.provenance = &loaded->provenance, .values = values};
    const struct kvc_device *devices = loaded->scenario.node.device;
    char path[KVC_PATH_MAX];
    *values = (struct values){.scenario = &loaded->scenario};
    for (uint32_t device = 0; devices[device].kind != NULL; device++) {
        const struct kvc_option_table *options = devices[device].kind->options;
        for (size_t i = 0; i < options->count; i++) {
            const struct kvc_option *row = &options->rows[i];
            snprintf(path, sizeof(path), "node.%.40s.%.40s", devices[device].kind->name, row->name);
            if (row->type == KVC_OPTION_LIST) {
                add_list(&listing, row, device, path, devices[device].values);
            } else if (is_number(row)) {
                begin_parameter(values, row, NULL);
                add_value(&listing, row, path, device, row->offset, devices[device].values);
                end_parameter(values, path);
            }
        }
    }
}

static void free_values(struct values *values)
{
    free(values->value);
    free(values->parameter);
    *values = (struct values){0};
}

/* Writes a number that is within the range of the option. Returns what was written. */
static double write_number(const struct kvc_option *row, double number, void *field)
{
    double within = fmin(fmax(number, row->min), row->max);
    if (row->type == KVC_OPTION_COUNT) {
        within = round(within);
        *(uint64_t *)field = (uint64_t)within;
    } else {
        *(double *)field = within;
    }
    return within;
}

/* Returns the member's device of the kind that a parameter belongs to, or NULL. */
static void *device_of_member(const struct values *values, const struct parameter *parameter,
                              const struct kvc_scenario *of, uint32_t member)
{
    uint32_t device = values->value[parameter->first].device;
    return kvc_node_device(&of->cluster.member[member].node, values->scenario->node.device[device].kind);
}

/* Returns whether a member of the cluster has the parameter in a list of another length, which stays
 * unchanged. */
static bool stays(const struct values *values, const struct parameter *parameter, uint32_t member)
{
    const struct kvc_device *device = &values->scenario->node.device[values->value[parameter->first].device];
    const void *own = device_of_member(values, parameter, values->scenario, member);
    return own != NULL && parameter->list != NULL &&
           length_of(parameter->list, own) != length_of(parameter->list, device->values);
}

/* Changes a member's number by the same factor as the node's. */
static void set_member(const struct values *values, const struct parameter *parameter, uint32_t index,
                       double set, uint32_t member, struct kvc_scenario *copy)
{
    const struct value *value = &values->value[parameter->first + index];
    const char *own = device_of_member(values, parameter, values->scenario, member);
    char *changed = device_of_member(values, parameter, copy, member);
    if (own == NULL || stays(values, parameter, member)) {
        return;
    }
    double number = number_at(parameter->row, own + value->offset);
    if (number == value->number) {
        write_number(parameter->row, set, changed + value->offset);
    } else if (is_stated(parameter->row, number) && value->number != 0) {
        write_number(parameter->row, number * (set / value->number), changed + value->offset);
    }
}

/* Writes number `index` of a parameter into a copy of the scenario (models/resource.h), and scales the
 * members' numbers. A COUNT is rounded. A number beyond the range of the option becomes the end of the range.
 * Returns what was written to the node. */
static double set_value(const struct values *values, const struct parameter *parameter, uint32_t index,
                        double number, struct kvc_scenario *copy)
{
    const struct value *value = &values->value[parameter->first + index];
    char *field = (char *)copy->node.device[value->device].values + value->offset;
    double set = write_number(parameter->row, number, field);
    for (uint32_t member = 0; member < copy->cluster.member_count; member++) {
        set_member(values, parameter, index, set, member, copy);
    }
    return set;
}

/* Writes the original numbers of a parameter back. */
static void restore_values(const struct values *values, const struct parameter *parameter,
                           struct kvc_scenario *copy)
{
    for (uint32_t i = 0; i < parameter->count; i++) {
        set_value(values, parameter, i, values->value[parameter->first + i].number, copy);
    }
}

static enum kvc_status check_node(const struct kvc_node *node, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (const struct kvc_device *device = node->device; device->kind != NULL && status == KVC_OK; device++) {
        status = device->kind->check != NULL ? device->kind->check(device->values, diag) : KVC_OK;
    }
    return status;
}

static enum kvc_status check_member(const struct kvc_scenario *copy, uint32_t member, struct kvc_diag *diag)
{
    enum kvc_status status = check_node(&copy->cluster.member[member].node, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_scenario *class = kvc_cluster_class_scenario(copy, member, diag);
    status = class != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK && class->model->check != NULL) {
        status = class->model->check(class, diag);
    }
    kvc_cluster_free_class(class);
    return status;
}

/* Resolves a copy whose numbers were changed and checks it, and each class of nodes, as the loader does. */
static enum kvc_status settle(struct kvc_scenario *copy, struct kvc_diag *diag)
{
    enum kvc_status status = check_node(&copy->node, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_resolve(copy, diag);
    }
    if (status == KVC_OK && copy->model->check != NULL) {
        status = copy->model->check(copy, diag);
    }
    for (uint32_t i = 0; i < copy->cluster.member_count && status == KVC_OK; i++) {
        status = check_member(copy, i, diag);
    }
    return status;
}

/* An analysis: parameter i of `found` is parameter i of `values` until they are ranked. */
struct analysis {
    const struct kvc_scenario *scenario;
    struct values values;
    struct kvc_sensitivity *found;
    struct kvc_scenario *copy; /* The hardware that is varied. */
};

/* The values of an answer, by enum kvc_sensitivity_metric. */
struct answer {
    double metric[KVC_SENSITIVITY_METRICS];
};

/* A parameter in two places. */
struct step {
    double log_ratio; /* Logarithm of the upper place over the lower one, the mean over its numbers. */
    double lower,
        upper; /* Powers of the step's factor that the numbers are multiplied by, such as -1 and 1. */
};

/* ---- elasticities by the closed form ---- */

static const double FACTOR = 1.05;

/* Asks the closed form about the copy as its hardware is now. Returns false if it is refused. */
static bool ask_closed_form(struct kvc_scenario *copy, struct answer *answer)
{
    struct kvc_diag diag = {0};
    struct kvc_forecast forecast;
    if (settle(copy, &diag) != KVC_OK || kvc_scenario_forecast(copy, &forecast, &diag) != KVC_OK) {
        return false;
    }
    answer->metric[KVC_SENSITIVITY_THROUGHPUT] = forecast.throughput_mops;
    answer->metric[KVC_SENSITIVITY_MEAN] = forecast.latency.mean_us;
    answer->metric[KVC_SENSITIVITY_P50] = forecast.latency.p50_us;
    answer->metric[KVC_SENSITIVITY_P95] = forecast.latency.p95_us;
    answer->metric[KVC_SENSITIVITY_P99] = forecast.latency.p99_us;
    return true;
}

/* Returns a number multiplied by a power of the step's factor. A whole number changes by 1 at least unless
 * the power is 0. The result is within the range of the option. */
static double stepped(const struct kvc_option *row, double number, double power)
{
    double wanted = number * pow(FACTOR, power);
    if (row->type == KVC_OPTION_COUNT) {
        wanted = power > 0   ? fmax(round(wanted), number + 1)
                 : power < 0 ? fmin(round(wanted), number - 1)
                             : number;
    }
    return fmin(fmax(wanted, row->min), row->max);
}

/* Multiplies all numbers of a parameter by a power of the step's factor. Returns the mean logarithm of the
 * change; NaN if nothing changes. */
static double move(const struct analysis *analysis, uint32_t parameter, double power,
                   struct kvc_scenario *copy)
{
    const struct parameter *moved = &analysis->values.parameter[parameter];
    double sum = 0;
    uint32_t changed = 0;
    for (uint32_t i = 0; i < moved->count; i++) {
        double number = analysis->values.value[moved->first + i].number;
        double set = set_value(&analysis->values, moved, i, stepped(moved->row, number, power), copy);
        if (set > 0 && number > 0 && set != number) {
            sum += log(set / number);
            changed++;
        }
    }
    return changed > 0 ? sum / changed : NAN;
}

/* Asks for the answer with the parameter moved by a power of the factor, or of 2 for a whole number that has
 * to be a power of two. Returns the logarithm of the change; NaN if it cannot be moved that way. */
static double ask_beside(struct analysis *analysis, uint32_t parameter, double *power, struct answer *answer)
{
    const struct parameter *moved = &analysis->values.parameter[parameter];
    double log_ratio = move(analysis, parameter, *power, analysis->copy);
    bool answered = !isnan(log_ratio) && ask_closed_form(analysis->copy, answer);
    if (!answered && moved->row->type == KVC_OPTION_COUNT) {
        *power *= log(2) / log(FACTOR);
        log_ratio = move(analysis, parameter, *power, analysis->copy);
        answered = !isnan(log_ratio) && ask_closed_form(analysis->copy, answer);
    }
    restore_values(&analysis->values, moved, analysis->copy);
    return answered ? log_ratio : NAN;
}

/* Keeps what a step brought; a power of 0: there is none. */
static void take_step(const struct analysis *analysis, uint32_t parameter, double power,
                      const struct answer *answer, const struct answer *usual,
                      struct kvc_sensitivity_step *step)
{
    const struct kvc_sensitivity_parameter *found = &analysis->found->parameter[parameter];
    const struct kvc_option *row = analysis->values.parameter[parameter].row;
    step->to = power == 0 ? NAN : stepped(row, found->number, power);
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        double change_frac = answer->metric[i] / usual->metric[i] - 1;
        step->change_frac[i] = (struct kvc_interval){isfinite(change_frac) ? change_frac : NAN, NAN};
    }
}

static void find(struct analysis *analysis, uint32_t parameter, const struct answer *usual, struct step *step)
{
    struct kvc_sensitivity_parameter *found = &analysis->found->parameter[parameter];
    struct answer lower = *usual, upper = *usual;
    *step = (struct step){.lower = -1, .upper = 1};
    double down = ask_beside(analysis, parameter, &step->lower, &lower);
    double up = ask_beside(analysis, parameter, &step->upper, &upper);
    if (isnan(down)) {
        lower = *usual;
        step->lower = 0;
    }
    if (isnan(up)) {
        upper = *usual;
        step->upper = 0;
    }
    take_step(analysis, parameter, step->lower, &lower, usual, &found->step[KVC_SENSITIVITY_DOWN]);
    take_step(analysis, parameter, step->upper, &upper, usual, &found->step[KVC_SENSITIVITY_UP]);
    step->log_ratio = (isnan(up) ? 0 : up) - (isnan(down) ? 0 : down);
    found->by = step->log_ratio > 0 ? KVC_SENSITIVITY_CLOSED_FORM : KVC_SENSITIVITY_FIXED;
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        double elasticity = log(upper.metric[i] / lower.metric[i]) / step->log_ratio;
        found->elasticity[i] = (struct kvc_interval){isfinite(elasticity) ? elasticity : NAN, NAN};
    }
}

/* Finds the elasticities of all parameters by the closed form, and in step[i] how parameter i can be varied.
 */
static void find_by_closed_form(struct analysis *analysis, struct step *step)
{
    struct answer usual;
    if (!ask_closed_form(analysis->copy, &usual)) {
        for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
            usual.metric[i] = NAN;
        }
    }
    analysis->found->step_frac = FACTOR - 1;
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        find(analysis, i, &usual, &step[i]);
    }
}

/* ---- the uncertainty of an answer: Monte Carlo over the intervals of the hardware's values ---- */

/* Draws that tell whether a parameter matters at all. */
enum { FIRST_DRAWS = 20 };

/* The upper end of a 95 % interval of the standard normal distribution. */
static const double Z95 = 1.959963984540054;

/* The answers of some draws, by metric. */
struct answers {
    uint32_t count, refused;
    double *metric[KVC_SENSITIVITY_METRICS];
};

static bool is_uncertain(const struct value *value)
{
    return !isnan(value->origin->interval.low);
}

/* Draws a value. Its stream has the value's path as name, so that draws do not depend on the other values. */
static double draw_value(const struct value *value, uint64_t seed, uint32_t draw)
{
    const struct kvc_bounds *interval = &value->origin->interval;
    struct kvc_rng rng;
    kvc_rng_init(&rng, seed, value->origin->path, draw);
    double z = gsl_cdf_ugaussian_Pinv(kvc_rng_unit(&rng) + 0x1p-54);
    double half = z < 0 ? value->number - interval->low : interval->high - value->number;
    return value->number + z * half / Z95;
}

static void set_drawn(const struct analysis *analysis, const struct parameter *parameter, uint32_t draw)
{
    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct value *value = &analysis->values.value[parameter->first + i];
        if (is_uncertain(value)) {
            set_value(&analysis->values, parameter, i, draw_value(value, analysis->scenario->run.seed, draw),
                      analysis->copy);
        }
    }
}

static void ask(const struct analysis *analysis, struct answers *answers)
{
    struct answer answer;
    if (!ask_closed_form(analysis->copy, &answer)) {
        answers->refused++;
        return;
    }
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        answers->metric[i][answers->count] = answer.metric[i];
    }
    answers->count++;
}

static struct answers answers_of(uint32_t draws)
{
    struct answers answers = {0};
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        answers.metric[i] = kvc_array_of(draws, sizeof(double));
    }
    return answers;
}

static void free_answers(struct answers *answers)
{
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        free(answers->metric[i]);
    }
}

/* Returns the variance; NaN if an answer is unknown. */
static double variance(const struct answers *answers, int metric)
{
    return answers->count > 1 ? gsl_stats_variance(answers->metric[metric], 1, answers->count) : NAN;
}

/* Varies one parameter alone. It stops after the first draws if their answers are all the same. */
static void draw_alone(const struct analysis *analysis, const struct parameter *parameter, uint32_t draws,
                       struct answers *answers)
{
    double sum = 1;
    answers->count = answers->refused = 0;
    for (uint32_t draw = 0; draw < draws && sum > 0; draw++) {
        set_drawn(analysis, parameter, draw);
        ask(analysis, answers);
        if (draw + 1 == FIRST_DRAWS) {
            sum = 0;
            for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
                sum += variance(answers, i) > 0;
            }
        }
    }
    restore_values(&analysis->values, parameter, analysis->copy);
}

static void take_ranges(struct analysis *analysis, struct answers *answers)
{
    struct kvc_uncertainty *uncertainty = &analysis->found->uncertainty;
    uncertainty->refused = answers->refused;
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        bool known = !isnan(variance(answers, i));
        double *sorted = answers->metric[i];
        if (known) {
            gsl_sort(sorted, 1, answers->count);
        }
        uncertainty->range[i].low =
            known ? gsl_stats_quantile_from_sorted_data(sorted, 1, answers->count, 0.025) : NAN;
        uncertainty->range[i].median =
            known ? gsl_stats_quantile_from_sorted_data(sorted, 1, answers->count, 0.5) : NAN;
        uncertainty->range[i].high =
            known ? gsl_stats_quantile_from_sorted_data(sorted, 1, answers->count, 0.975) : NAN;
    }
}

/* Counts the values with an interval; parameters that have some are marked. */
static void count_uncertain(struct analysis *analysis)
{
    struct kvc_uncertainty *uncertainty = &analysis->found->uncertainty;
    uncertainty->values = analysis->values.count;
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        const struct parameter *parameter = &analysis->values.parameter[i];
        for (uint32_t j = 0; j < parameter->count; j++) {
            bool uncertain = is_uncertain(&analysis->values.value[parameter->first + j]);
            uncertainty->with_interval += uncertain;
            analysis->found->parameter[i].has_interval |= uncertain;
        }
    }
}

/* Draws the uncertain values, and fills in found->uncertainty and the shares of the variance. */
static void draw_uncertainty(struct analysis *analysis, uint32_t draws)
{
    struct kvc_uncertainty *uncertainty = &analysis->found->uncertainty;
    count_uncertain(analysis);
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        for (int j = 0; j < KVC_SENSITIVITY_METRICS; j++) {
            analysis->found->parameter[i].variance_share_frac[j] = NAN;
        }
    }
    if (uncertainty->with_interval == 0) {
        return;
    }
    uncertainty->draws = draws;
    struct answers all = answers_of(draws), alone = answers_of(draws);
    for (uint32_t draw = 0; draw < draws; draw++) {
        for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
            set_drawn(analysis, &analysis->values.parameter[i], draw);
        }
        ask(analysis, &all);
    }
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        restore_values(&analysis->values, &analysis->values.parameter[i], analysis->copy);
    }
    for (uint32_t i = 0; i < analysis->values.parameter_count; i++) {
        struct kvc_sensitivity_parameter *found = &analysis->found->parameter[i];
        if (!found->has_interval) {
            continue;
        }
        draw_alone(analysis, &analysis->values.parameter[i], draws, &alone);
        for (int j = 0; j < KVC_SENSITIVITY_METRICS; j++) {
            found->variance_share_frac[j] = variance(&alone, j) / variance(&all, j);
        }
    }
    take_ranges(analysis, &all);
    free_answers(&all);
    free_answers(&alone);
}

/* Elasticities by paired runs. */

enum { REPLICAS_MAX = 10 /* More pairs hardly narrow the interval. */, SIDES = KVC_SENSITIVITY_SIDES };

/* Elasticities below this are not worth a run, nor gains below this share of the throughput. */
static const double LEAST = 0.01, LEAST_GAIN_FRAC = 0.001;

/* A side of a parameter that is run: its number among the variants, or -1 for the unchanged scenario. */
struct side {
    int32_t variant;
    struct kvc_pair_answer *answer; /* Indexed by replica. */
};

struct chosen {
    uint32_t parameter;
    struct side side[SIDES]; /* Lower and upper. */
};

struct runs {
    struct analysis *analysis;
    const struct kvc_outcome *outcome;
    uint32_t count, replicas, variants;
    struct chosen chosen[KVC_SENSITIVITY_RUNS_MOST];
    struct kvc_scenario *variant[SIDES * KVC_SENSITIVITY_RUNS_MOST];
};

/* Returns whether the device gains throughput when it is faster. */
static bool gains(const struct kvc_outcome *outcome, const char *device)
{
    for (uint32_t i = 0; i < outcome->gain_count; i++) {
        const struct kvc_interval *gain_frac = &outcome->gain[i].gain_frac;
        double chance_frac = isnan(gain_frac->half_width) ? 0 : gain_frac->half_width;
        if (strcmp(outcome->gain[i].device, device) == 0 &&
            gain_frac->mean > fmax(LEAST_GAIN_FRAC, chance_frac)) {
            return true;
        }
    }
    return false;
}

static bool is_worth_runs(const struct runs *runs, uint32_t parameter)
{
    const struct analysis *analysis = runs->analysis;
    const struct kvc_sensitivity_parameter *found = &analysis->found->parameter[parameter];
    uint32_t first = analysis->values.parameter[parameter].first;
    uint32_t device = analysis->values.value[first].device;
    return found->by == KVC_SENSITIVITY_CLOSED_FORM &&
           (found->rank >= LEAST || gains(runs->outcome, analysis->scenario->node.device[device].kind->name));
}

/* Chooses the parameters with the largest effects by the closed form. */
static void choose(struct runs *runs)
{
    struct kvc_sensitivity *found = runs->analysis->found;
    for (uint32_t i = 0; i < found->count; i++) {
        found->parameter[i].not_run = is_worth_runs(runs, i);
    }
    while (runs->count < KVC_SENSITIVITY_RUNS_MOST) {
        int64_t best = -1;
        for (uint32_t i = 0; i < found->count; i++) {
            if (found->parameter[i].not_run &&
                (best < 0 || found->parameter[i].rank > found->parameter[best].rank)) {
                best = i;
            }
        }
        if (best < 0) {
            return;
        }
        found->parameter[best].not_run = false;
        runs->chosen[runs->count++] = (struct chosen){.parameter = (uint32_t)best};
    }
}

/* Adds a variant with the parameter moved, unless it is not. */
static enum kvc_status add_side(struct runs *runs, uint32_t parameter, double power, struct side *side,
                                struct kvc_diag *diag)
{
    side->variant = -1;
    side->answer = kvc_array_of(runs->replicas, sizeof(*side->answer));
    if (power == 0) {
        return KVC_OK;
    }
    struct kvc_scenario *copy = kvc_scenario_copy(runs->analysis->scenario);
    move(runs->analysis, parameter, power, copy);
    side->variant = (int32_t)runs->variants;
    runs->variant[runs->variants++] = copy;
    return settle(copy, diag);
}

static void take(void *data, uint32_t variant, uint32_t replica, const struct kvc_pair_answer *answer)
{
    struct runs *runs = data;
    for (uint32_t i = 0; i < runs->count; i++) {
        for (int side = 0; side < SIDES; side++) {
            if (runs->chosen[i].side[side].variant == (int32_t)variant) {
                runs->chosen[i].side[side].answer[replica] = *answer;
            }
        }
    }
}

static double metric_of(const struct runs *runs, const struct side *side, uint32_t replica, int metric)
{
    if (side->variant < 0) { /* The usual answer. */
        return kvc_outcome_value(runs->outcome, replica, kvc_sensitivity_metric_names[metric]);
    }
    const struct kvc_pair_answer *answer = &side->answer[replica];
    const double found[KVC_SENSITIVITY_METRICS] = {[KVC_SENSITIVITY_THROUGHPUT] = answer->throughput_mops,
                                                   [KVC_SENSITIVITY_MEAN] = answer->latency_mean_us,
                                                   [KVC_SENSITIVITY_P50] = answer->latency_p50_us,
                                                   [KVC_SENSITIVITY_P95] = answer->latency_p95_us,
                                                   [KVC_SENSITIVITY_P99] = answer->latency_p99_us};
    return found[metric];
}

static struct kvc_pair_windows windows_of(const struct runs *runs, const struct side *side)
{
    const struct kvc_result *usual = &runs->outcome->result;
    const struct kvc_pair_answer *answer = side->answer;
    return side->variant >= 0 ? (struct kvc_pair_windows){answer->window_us, answer->window_count,
                                                          answer->window_mops, answer->moves}
                              : (struct kvc_pair_windows){usual->window_us, usual->window_count,
                                                          usual->window_mops, usual->moves};
}

/* Returns the elasticity of a metric between two sides or, for a log_ratio of NaN, its relative change. With
 * one replica, only the throughput has an interval, over parts of the measured time. */
static struct kvc_interval compare(const struct runs *runs, const struct side *first,
                                   const struct side *second, int metric, double log_ratio)
{
    double found[REPLICAS_MAX];
    for (uint32_t i = 0; i < runs->replicas; i++) {
        double ratio = metric_of(runs, second, i, metric) / metric_of(runs, first, i, metric);
        found[i] = isnan(log_ratio) ? ratio - 1 : log(ratio) / log_ratio;
    }
    if (runs->replicas == 1 && metric == KVC_SENSITIVITY_THROUGHPUT) {
        struct kvc_pair_windows lower = windows_of(runs, first);
        struct kvc_pair_windows upper = windows_of(runs, second);
        double scale = 1 / (runs->outcome->result.throughput_mops * (isnan(log_ratio) ? 1 : log_ratio));
        struct kvc_interval difference_mops = kvc_pairs_difference_mops(&lower, &upper);
        if (!isnan(difference_mops.mean)) {
            return (struct kvc_interval){difference_mops.mean * scale, difference_mops.half_width * scale};
        }
    }
    struct kvc_interval interval = kvc_interval_of(found, runs->replicas);
    return isfinite(interval.mean) ? interval : (struct kvc_interval){NAN, NAN};
}

static void conclude(struct runs *runs, const struct step *step)
{
    const struct side usual = {.variant = -1};
    for (uint32_t i = 0; i < runs->count; i++) {
        uint32_t at = runs->chosen[i].parameter;
        struct kvc_sensitivity_parameter *found = &runs->analysis->found->parameter[at];
        found->by = KVC_SENSITIVITY_RUNS;
        for (int metric = 0; metric < KVC_SENSITIVITY_METRICS; metric++) {
            const struct side *side = runs->chosen[i].side;
            found->elasticity[metric] = compare(runs, &side[0], &side[1], metric, step[at].log_ratio);
            for (int j = 0; j < SIDES; j++) {
                found->step[j].change_frac[metric] = compare(runs, &usual, &side[j], metric, NAN);
            }
        }
    }
}

/* Replaces the elasticities of the most important parameters by results of paired runs. */
static enum kvc_status find_by_runs(struct analysis *analysis, const struct step *step,
                                    const struct kvc_run_options *options, const struct kvc_outcome *outcome,
                                    struct kvc_diag *diag)
{
    struct runs runs = {.analysis = analysis,
                        .outcome = outcome,
                        .replicas = outcome->replicas < REPLICAS_MAX ? outcome->replicas : REPLICAS_MAX};
    enum kvc_status status = KVC_OK;
    choose(&runs);
    for (uint32_t i = 0; i < runs.count; i++) {
        struct chosen *chosen = &runs.chosen[i];
        const struct step *at = &step[chosen->parameter];
        const double power[SIDES] = {at->lower, at->upper};
        for (int side = 0; side < SIDES; side++) {
            enum kvc_status added = add_side(&runs, chosen->parameter, power[side], &chosen->side[side],
                                             status == KVC_OK ? diag : NULL);
            status = status != KVC_OK ? status : added;
        }
    }
    const struct kvc_pairs pairs = {.usual = analysis->scenario,
                                    .outcome = outcome,
                                    .count = runs.variants,
                                    .variant = runs.variant,
                                    .replicas = runs.replicas,
                                    .noun = "sensitivity",
                                    .data = &runs,
                                    .take = take};
    if (status == KVC_OK && runs.variants > 0) {
        status = kvc_pairs_run(&pairs, options, diag);
    }
    if (status == KVC_OK) {
        conclude(&runs, step);
    }
    analysis->found->by_runs = true;
    analysis->found->runs_most = KVC_SENSITIVITY_RUNS_MOST;
    analysis->found->replicas = runs.replicas;
    for (uint32_t i = 0; i < runs.variants; i++) {
        kvc_scenario_free_copy(runs.variant[i]);
    }
    for (uint32_t i = 0; i < runs.count; i++) {
        free(runs.chosen[i].side[0].answer);
        free(runs.chosen[i].side[1].answer);
    }
    return status;
}

/* Smaller elasticities are rounding errors. */
static const double NOTHING = 1e-9;

static struct kvc_sensitivity *create(const struct values *values)
{
    struct kvc_sensitivity *found = kvc_array_of(1, sizeof(*found));
    found->parameter = kvc_array_of(values->parameter_count + 1, sizeof(*found->parameter));
    found->count = values->parameter_count;
    for (uint32_t i = 0; i < found->count; i++) {
        const struct parameter *parameter = &values->parameter[i];
        const struct value *first = &values->value[parameter->first];
        snprintf(found->parameter[i].path, sizeof(found->parameter[i].path), "%s", parameter->path);
        snprintf(found->parameter[i].value, sizeof(found->parameter[i].value), "%s", first->origin->value);
        found->parameter[i].number = first->number;
        found->parameter[i].is_whole = parameter->row->type == KVC_OPTION_COUNT;
        found->parameter[i].source = first->origin->source;
        found->parameter[i].values = parameter->count;
        found->parameter[i].is_zero = true;
        for (uint32_t j = 0; j < parameter->count; j++) {
            found->parameter[i].is_zero &= first[j].number == 0;
        }
    }
    return found;
}

/* Returns the highest percentile for which some elasticity is known, or the mean. */
static int known_latency(const struct kvc_sensitivity *found)
{
    for (int metric = KVC_SENSITIVITY_P99; metric > KVC_SENSITIVITY_MEAN; metric--) {
        for (uint32_t i = 0; i < found->count && metric != KVC_SENSITIVITY_P50; i++) {
            if (!isnan(found->parameter[i].elasticity[metric].mean)) {
                return metric;
            }
        }
    }
    return KVC_SENSITIVITY_MEAN;
}

/* Returns the smallest size that an elasticity may have by its interval. */
static double size_of(const struct kvc_interval *elasticity)
{
    double chance = isnan(elasticity->half_width) ? NOTHING : fmax(elasticity->half_width, NOTHING);
    return fabs(elasticity->mean) > chance ? fabs(elasticity->mean) - chance : 0;
}

static void set_ranks(struct kvc_sensitivity *found)
{
    found->latency = known_latency(found);
    for (uint32_t i = 0; i < found->count; i++) {
        const struct kvc_interval *elasticity = found->parameter[i].elasticity;
        int latency = kvc_sensitivity_latency_of(&found->parameter[i], found->latency);
        found->parameter[i].rank =
            fmax(size_of(&elasticity[KVC_SENSITIVITY_THROUGHPUT]), size_of(&elasticity[latency]));
    }
}

/* Most important first; equals by path, so that the order is the same everywhere. */
static int by_rank(const void *a, const void *b)
{
    const struct kvc_sensitivity_parameter *first = a, *second = b;
    if (first->rank != second->rank) {
        return first->rank > second->rank ? -1 : 1;
    }
    return strcmp(first->path, second->path);
}

static void count_kinds(struct kvc_sensitivity *found)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const struct kvc_sensitivity_parameter *parameter = &found->parameter[i];
        found->fixed += parameter->by == KVC_SENSITIVITY_FIXED;
        found->without_effect += parameter->by == KVC_SENSITIVITY_CLOSED_FORM && parameter->rank == 0;
        found->not_run += parameter->not_run;
    }
}

/* Notes in the result which numbers of the members of a cluster are not varied. */
static void note_what_stays(const struct values *values, struct kvc_result *result)
{
    const struct kvc_cluster *cluster = &values->scenario->cluster;
    for (uint32_t member = 0; member < cluster->member_count; member++) {
        const char *first = NULL;
        uint32_t count = 0;
        for (uint32_t i = 0; i < values->parameter_count; i++) {
            if (stays(values, &values->parameter[i], member)) {
                first = first != NULL ? first : values->parameter[i].path;
                count++;
            }
        }
        if (count > 0) {
            kvc_result_note(result,
                            "sensitivity: %u parameters, such as %s, are lists of another length in member "
                            "\"%.40s\" and are varied in the other nodes only",
                            count, first, cluster->member[member].name);
        }
    }
}

enum kvc_status kvc_sensitivity_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    struct kvc_forecast forecast;
    return kvc_scenario_forecast(scenario, &forecast, diag);
}

enum kvc_status kvc_sensitivity_find(const struct kvc_loaded *loaded, const struct kvc_run_options *options,
                                     struct kvc_outcome *outcome, struct kvc_sensitivity **out,
                                     struct kvc_diag *diag)
{
    *out = NULL;
    enum kvc_status status = kvc_sensitivity_check(&loaded->scenario, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct analysis analysis = {.scenario = &loaded->scenario};
    list_values(loaded, &analysis.values);
    note_what_stays(&analysis.values, &outcome->result);
    analysis.found = create(&analysis.values);
    analysis.copy = kvc_scenario_copy(&loaded->scenario);
    struct step *step = kvc_array_of(analysis.values.parameter_count + 1, sizeof(*step));
    find_by_closed_form(&analysis, step);
    set_ranks(analysis.found);
    draw_uncertainty(&analysis, KVC_SENSITIVITY_DRAWS);
    if (options != NULL) {
        status = find_by_runs(&analysis, step, options, outcome, diag);
        set_ranks(analysis.found);
    }
    free(step);
    kvc_scenario_free_copy(analysis.copy);
    free_values(&analysis.values);
    if (status != KVC_OK) {
        kvc_sensitivity_free(analysis.found);
        return status;
    }
    qsort(analysis.found->parameter, analysis.found->count, sizeof(*analysis.found->parameter), by_rank);
    count_kinds(analysis.found);
    *out = analysis.found;
    return KVC_OK;
}
