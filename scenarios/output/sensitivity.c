#include "scenarios/output/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/json_value.h"

const char *const kvc_sensitivity_metric_names[KVC_SENSITIVITY_METRICS] = {
    [KVC_SENSITIVITY_THROUGHPUT] = "throughput_mops", [KVC_SENSITIVITY_MEAN] = "latency_mean_us",
    [KVC_SENSITIVITY_P50] = "latency_p50_us",         [KVC_SENSITIVITY_P95] = "latency_p95_us",
    [KVC_SENSITIVITY_P99] = "latency_p99_us",
};

int kvc_sensitivity_latency_of(const struct kvc_sensitivity_parameter *parameter, int latency)
{
    while (latency > KVC_SENSITIVITY_MEAN && isnan(parameter->elasticity[latency].mean)) {
        latency--;
    }
    return latency;
}

void kvc_sensitivity_free(struct kvc_sensitivity *sensitivity)
{
    if (sensitivity != NULL) {
        free(sensitivity->parameter);
        free(sensitivity);
    }
}

static json_t *intervals(const struct kvc_interval by_metric[KVC_SENSITIVITY_METRICS])
{
    json_t *object = json_object();
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        json_t *interval = json_object();
        json_object_set_new(interval, "mean", kvc_json_number(by_metric[i].mean));
        json_object_set_new(interval, "ci95", kvc_json_number(by_metric[i].half_width));
        json_object_set_new(object, kvc_sensitivity_metric_names[i], interval);
    }
    return object;
}

static json_t *steps(const struct kvc_sensitivity_parameter *parameter)
{
    json_t *array = json_array();
    for (int side = 0; side < KVC_SENSITIVITY_SIDES; side++) {
        const struct kvc_sensitivity_step *step = &parameter->step[side];
        if (isnan(step->to)) {
            continue;
        }
        json_t *object = json_object();
        json_object_set_new(object, "from", kvc_json_number(parameter->number));
        json_object_set_new(object, "to", kvc_json_number(step->to));
        json_object_set_new(object, "change_frac", intervals(step->change_frac));
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *variance_shares(const struct kvc_sensitivity_parameter *parameter)
{
    json_t *object = json_object();
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        json_object_set_new(object, kvc_sensitivity_metric_names[i],
                            kvc_json_number(parameter->variance_share_frac[i]));
    }
    return object;
}

static json_t *parameters(const struct kvc_sensitivity *sensitivity)
{
    static const char *const by[] = {[KVC_SENSITIVITY_FIXED] = "",
                                     [KVC_SENSITIVITY_CLOSED_FORM] = "closed form",
                                     [KVC_SENSITIVITY_RUNS] = "paired runs"};
    json_t *array = json_array();
    for (uint32_t i = 0; i < sensitivity->count; i++) {
        const struct kvc_sensitivity_parameter *parameter = &sensitivity->parameter[i];
        json_t *object = json_object();
        json_object_set_new(object, "path", kvc_json_text(parameter->path));
        json_object_set_new(object, "values", kvc_json_count(parameter->values));
        json_object_set_new(object, "value", kvc_json_text(parameter->value));
        json_object_set_new(object, "source", kvc_json_text(parameter->source));
        json_object_set_new(object, "by", kvc_json_text_or_null(by[parameter->by]));
        json_object_set_new(object, "not_run", json_boolean(parameter->not_run));
        json_object_set_new(object, "has_interval", json_boolean(parameter->has_interval));
        json_object_set_new(object, "elasticity", intervals(parameter->elasticity));
        json_object_set_new(object, "steps", parameter->is_whole ? steps(parameter) : json_null());
        json_object_set_new(object, "variance_share_frac",
                            parameter->has_interval ? variance_shares(parameter) : json_null());
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *uncertainty(const struct kvc_uncertainty *uncertainty)
{
    json_t *object = json_object();
    json_object_set_new(object, "draws", kvc_json_count(uncertainty->draws));
    json_object_set_new(object, "refused", kvc_json_count(uncertainty->refused));
    json_object_set_new(object, "values", kvc_json_count(uncertainty->values));
    json_object_set_new(object, "values_with_interval", kvc_json_count(uncertainty->with_interval));
    for (int i = 0; i < KVC_SENSITIVITY_METRICS && uncertainty->draws > 0; i++) {
        json_t *range = json_object();
        json_object_set_new(range, "low", kvc_json_number(uncertainty->range[i].low));
        json_object_set_new(range, "median", kvc_json_number(uncertainty->range[i].median));
        json_object_set_new(range, "high", kvc_json_number(uncertainty->range[i].high));
        json_object_set_new(object, kvc_sensitivity_metric_names[i], range);
    }
    return object;
}

json_t *kvc_sensitivity_json(const struct kvc_sensitivity *sensitivity)
{
    json_t *object = json_object();
    json_object_set_new(object, "latency_metric",
                        kvc_json_text(kvc_sensitivity_metric_names[sensitivity->latency]));
    json_object_set_new(object, "step_frac", kvc_json_number(sensitivity->step_frac));
    json_object_set_new(object, "replicas", kvc_json_count(sensitivity->replicas));
    json_object_set_new(object, "without_effect", kvc_json_count(sensitivity->without_effect));
    json_object_set_new(object, "fixed", kvc_json_count(sensitivity->fixed));
    json_object_set_new(object, "not_run", kvc_json_count(sensitivity->not_run));
    json_object_set_new(object, "parameters", parameters(sensitivity));
    json_object_set_new(object, "uncertainty", uncertainty(&sensitivity->uncertainty));
    return object;
}

enum { LINES_MAX = 24 };

/* Smaller elasticities are only counted. */
static const double LEAST = 0.005;

/* The gain column assumes a parameter that is better by 10 %, and that the elasticity holds that far. */
static const double BETTER = 1.1;

/* "latency_p99_us" as "p99". */
static void short_name(int metric, char name[16])
{
    const char *full = kvc_sensitivity_metric_names[metric], *begin = strchr(full, '_');
    bool is_latency = strncmp(full, "latency_", strlen("latency_")) == 0;
    const char *from = is_latency ? begin + 1 : full;
    snprintf(name, 16, "%.*s", (int)strcspn(from, "_"), from);
}

static void write_elasticity(const struct kvc_interval *elasticity, FILE *out)
{
    char interval[24] = "";
    if (isnan(elasticity->mean)) {
        fprintf(out, "%8s%-10s", "-", "");
        return;
    }
    if (!isnan(elasticity->half_width)) {
        snprintf(interval, sizeof(interval), " +- %.1g", elasticity->half_width);
    }
    fprintf(out, "%+8.3f%-10s", fabs(elasticity->mean) < 5e-4 ? 0 : elasticity->mean, interval);
}

/* Returns the elasticity or the change, or 0 for one that is small or that chance explains. */
static double certain(const struct kvc_interval *interval, double least)
{
    double chance = isnan(interval->half_width) ? least : fmax(interval->half_width, least);
    return fabs(interval->mean) > chance ? interval->mean : 0;
}

/* Writes what a change brings, without the sign of what is rounded to 0. */
static void write_gain(const char *change, double throughput_frac, double latency_frac, int latency,
                       FILE *out)
{
    char name[16];
    short_name(latency, name);
    fprintf(out, "%-14s%+7.1f %% throughput  %+7.1f %% %s", change,
            fabs(throughput_frac) < 5e-4 ? 0 : 100 * throughput_frac,
            fabs(latency_frac) < 5e-4 ? 0 : 100 * latency_frac, name);
}

/* Writes the step of a whole number that gains throughput or, if none does, latency. */
static void write_step(const struct kvc_sensitivity_parameter *parameter, int latency, FILE *out)
{
    const double least_frac = LEAST * log(BETTER);
    double best_throughput = 0, best_delay = 0;
    int best = -1;
    bool has_effect = false;
    char change[48];
    for (int side = KVC_SENSITIVITY_SIDES - 1; side >= 0; side--) {
        const struct kvc_sensitivity_step *step = &parameter->step[side];
        double throughput = certain(&step->change_frac[KVC_SENSITIVITY_THROUGHPUT], least_frac);
        double delay = certain(&step->change_frac[latency], least_frac);
        has_effect |= !isnan(step->to) && (throughput != 0 || delay != 0);
        if (!isnan(step->to) &&
            (throughput > best_throughput || (throughput == best_throughput && delay < best_delay))) {
            best = side;
            best_throughput = throughput;
            best_delay = delay;
        }
    }
    if (best < 0) {
        fputs(has_effect ? "no step gains" : "not beyond chance", out);
        return;
    }
    snprintf(change, sizeof(change), "%.6g -> %.6g%s", parameter->number, parameter->step[best].to,
             parameter->values > 1 ? ", ..." : "");
    write_gain(change, best_throughput, best_delay, latency, out);
}

/* Writes the gain of a better value. The throughput decides which direction is better or, if it does not
 * change, the latency, of which less is better. */
static void write_better(const struct kvc_sensitivity_parameter *parameter, int latency, FILE *out)
{
    double throughput = certain(&parameter->elasticity[KVC_SENSITIVITY_THROUGHPUT], LEAST);
    double delay = certain(&parameter->elasticity[latency], LEAST);
    bool higher = throughput != 0 ? throughput > 0 : delay < 0;
    double log_factor = higher ? log(BETTER) : -log(BETTER);
    if (throughput == 0 && delay == 0) {
        fputs("not beyond chance", out);
        return;
    }
    write_gain(higher ? "10 % higher" : "10 % lower", expm1(throughput * log_factor),
               expm1(delay * log_factor), latency, out);
}

static void write_parameter(const struct kvc_sensitivity *sensitivity,
                            const struct kvc_sensitivity_parameter *parameter, FILE *out)
{
    int latency = kvc_sensitivity_latency_of(parameter, sensitivity->latency);
    char value[40], name[16];
    if (parameter->values > 1) {
        snprintf(value, sizeof(value), "%u values", parameter->values);
    } else {
        snprintf(value, sizeof(value), "%.30s", parameter->value);
    }
    fprintf(out, "%-38s%14s", parameter->path, value);
    write_elasticity(&parameter->elasticity[KVC_SENSITIVITY_THROUGHPUT], out);
    write_elasticity(&parameter->elasticity[latency], out);
    (parameter->is_whole ? write_step : write_better)(parameter, latency, out);
    if (sensitivity->by_runs && parameter->by == KVC_SENSITIVITY_CLOSED_FORM) {
        short_name(latency, name);
        fprintf(out, "  (closed form, %s)", name);
    }
    fputc('\n', out);
}

static void write_head(const struct kvc_sensitivity *sensitivity, FILE *out)
{
    char latency[16];
    short_name(sensitivity->latency, latency);
    fprintf(out, "\n%-14selasticity to each number of the hardware, %s, +-%.0f %% or a whole step",
            "sensitivity", sensitivity->by_runs ? "by paired runs" : "by the closed form",
            100 * sensitivity->step_frac);
    if (sensitivity->by_runs) {
        fprintf(out, ", %u replica%s", sensitivity->replicas, sensitivity->replicas == 1 ? "" : "s");
    }
    fprintf(out, "\n%-38s%14s  %-16s  %-16s%s\n", "parameter", "value", "throughput", latency, "better");
}

/* Names the parameters that have a value, but cannot be varied alone. */
static void write_fixed(const struct kvc_sensitivity *sensitivity, FILE *out)
{
    const char *separator = "cannot be varied alone: ";
    for (uint32_t i = 0; i < sensitivity->count; i++) {
        const struct kvc_sensitivity_parameter *parameter = &sensitivity->parameter[i];
        if (parameter->by == KVC_SENSITIVITY_FIXED && !parameter->is_zero) {
            fprintf(out, "%s%s", separator, parameter->path);
            separator = ", ";
        }
    }
    fputs(separator[0] == ',' ? "\n" : "", out);
}

static void write_rest(const struct kvc_sensitivity *sensitivity, uint32_t shown, FILE *out)
{
    uint32_t others = sensitivity->count - shown - sensitivity->without_effect - sensitivity->fixed;
    fprintf(out,
            "%u parameters: %u shown, %u with less effect, %u without, %u that are 0 or cannot be varied\n",
            sensitivity->count, shown, others, sensitivity->without_effect, sensitivity->fixed);
    write_fixed(sensitivity, out);
    if (sensitivity->not_run > 0) {
        fprintf(
            out,
            "%u parameters with an effect by the closed form were not run: runs are spent on %u at most\n",
            sensitivity->not_run, sensitivity->runs_most);
    }
}

/* Writes the parameters that explain most of the variance of a metric. */
static void write_shares(const struct kvc_sensitivity *sensitivity, int metric, FILE *out)
{
    enum { SHOWN = 3 };
    double above = INFINITY;
    for (int place = 0; place < SHOWN; place++) {
        const struct kvc_sensitivity_parameter *next = NULL;
        for (uint32_t i = 0; i < sensitivity->count; i++) {
            double share_frac = sensitivity->parameter[i].variance_share_frac[metric];
            if (share_frac < above && share_frac >= 0.01 &&
                (next == NULL || share_frac > next->variance_share_frac[metric])) {
                next = &sensitivity->parameter[i];
            }
        }
        if (next == NULL) {
            break;
        }
        above = next->variance_share_frac[metric];
        fprintf(out, "%s%s %.0f %%", place == 0 ? "   of its variance: " : ", ", next->path, 100 * above);
    }
    fputc('\n', out);
}

static void write_uncertainty(const struct kvc_sensitivity *sensitivity, FILE *out)
{
    const struct kvc_uncertainty *uncertainty = &sensitivity->uncertainty;
    char name[16];
    fprintf(out, "\n%-14s%u of %u numbers of the hardware state an interval; the others count as exact\n",
            "uncertainty", uncertainty->with_interval, uncertainty->values);
    if (uncertainty->draws == 0) {
        return;
    }
    fprintf(out, "%-14s95 %% of %u draws by the closed form", "", uncertainty->draws - uncertainty->refused);
    if (uncertainty->refused > 0) {
        fprintf(out, "; it refused %u more", uncertainty->refused);
    }
    fputc('\n', out);
    for (int i = 0; i < KVC_SENSITIVITY_METRICS; i++) {
        if (isnan(uncertainty->range[i].low)) {
            continue;
        }
        short_name(i, name);
        fprintf(out, "%-14s%.4g .. %.4g %s", name, uncertainty->range[i].low, uncertainty->range[i].high,
                i == KVC_SENSITIVITY_THROUGHPUT ? "Mops" : "us");
        write_shares(sensitivity, i, out);
    }
}

void kvc_sensitivity_write_table(const struct kvc_sensitivity *sensitivity, FILE *out)
{
    uint32_t shown = 0;
    write_head(sensitivity, out);
    while (shown < sensitivity->count && shown < LINES_MAX &&
           (sensitivity->parameter[shown].rank >= LEAST ||
            sensitivity->parameter[shown].by == KVC_SENSITIVITY_RUNS)) {
        write_parameter(sensitivity, &sensitivity->parameter[shown++], out);
    }
    write_rest(sensitivity, shown, out);
    write_uncertainty(sensitivity, out);
}
