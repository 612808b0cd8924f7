#include "scenarios/run/memory_cause.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/lua/locate.h"
#include "scenarios/run/memory_plan.h"

enum { HALVINGS_MAX = 64, BISECTIONS = 4 };

static const double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

/* What the scenario was loaded from. */
struct origin {
    const char *path;
    const struct kvc_overrides *set;
};

/* A number with its unit: "64MiB". */
struct quantity {
    double number;
    const char *unit;
};

/* Only what users size counts, neither the hardware nor how full the store is; a sample is smaller at a
 * higher rate. */
static bool is_candidate(const char *path)
{
    static const char *const sections[] = {"system.", "workload.", "run.", "cluster."};
    static const char *const others[] = {"run.seed", "run.replicas", "run.sample_rate", "run.sample_memory",
                                         "workload.preload"};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (strcmp(path, others[i]) == 0) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        if (strncmp(path, sections[i], strlen(sections[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool quantity_of(const char *text, struct quantity *quantity)
{
    char *end;
    quantity->number = strtod(text, &end);
    quantity->unit = end;
    return end != text && isfinite(quantity->number) && quantity->number > 0;
}

/* Whole numbers stay whole. */
static void write_scaled(const struct quantity *quantity, double factor, char text[KVC_TEXT_MAX])
{
    double scaled = quantity->number * factor;
    if (quantity->number == floor(quantity->number)) {
        snprintf(text, KVC_TEXT_MAX, "%.0f%s", floor(scaled), quantity->unit);
    } else {
        snprintf(text, KVC_TEXT_MAX, "%.6g%s", scaled, quantity->unit);
    }
}

/* Returns the memory with another value of an option, or infinity if the scenario is wrong with it [bytes].
 */
static double bytes_with(const struct origin *origin, const char *path, const char *value)
{
    struct kvc_overrides set = {0};
    struct kvc_loaded *loaded = NULL;
    struct kvc_diag unused = {0};
    double bytes = INFINITY;
    if (kvc_overrides_join(&set, origin->set, &unused) == KVC_OK &&
        kvc_overrides_add(&set, path, value, &unused) == KVC_OK &&
        kvc_scenario_load_point(origin->path, &set, &loaded, &unused) == KVC_OK) {
        bytes = kvc_memory_needed_bytes(&loaded->scenario);
    }
    kvc_loaded_free(loaded);
    kvc_overrides_clear(&set);
    return bytes;
}

/* Returns the option that saves most memory if it is halved, or NULL if none saves any. */
static const struct kvc_parameter *find_cause(const struct kvc_loaded *loaded, const struct origin *origin,
                                              double needed)
{
    const struct kvc_parameter *cause = NULL;
    double least = needed;
    for (uint32_t i = 0; i < loaded->parameters.count; i++) {
        const struct kvc_parameter *parameter = &loaded->parameters.entry[i];
        struct quantity quantity;
        char half[KVC_TEXT_MAX];
        if (!is_candidate(parameter->path) || !quantity_of(parameter->value, &quantity)) {
            continue;
        }
        write_scaled(&quantity, 0.5, half);
        double bytes = bytes_with(origin, parameter->path, half);
        if (bytes < least) {
            least = bytes;
            cause = parameter;
        }
    }
    return cause;
}

/* Finds about the largest value of the option that fits. Returns false if none does. */
static bool find_fitting(const struct origin *origin, const struct kvc_parameter *cause, double available,
                         char fitting[KVC_TEXT_MAX])
{
    struct quantity quantity;
    char text[KVC_TEXT_MAX];
    double low = 1;
    quantity_of(cause->value, &quantity);
    for (int i = 0; i < HALVINGS_MAX; i++) {
        low /= 2;
        write_scaled(&quantity, low, text);
        if (bytes_with(origin, cause->path, text) <= available) {
            break;
        }
        if (quantity.number * low < 1) {
            return false;
        }
    }
    double high = 2 * low;
    write_scaled(&quantity, low, fitting);
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        write_scaled(&quantity, middle, text);
        if (bytes_with(origin, cause->path, text) <= available) {
            low = middle;
            strcpy(fitting, text);
        } else {
            high = middle;
        }
    }
    return true;
}

enum kvc_status kvc_memory_check(const struct kvc_loaded *loaded, const char *path,
                                 const struct kvc_overrides *set, double available, struct kvc_diag *diag)
{
    const struct origin origin = {path, set};
    const struct kvc_scenario *scenario = &loaded->scenario;
    double needed = kvc_memory_needed_bytes(scenario);
    char fitting[KVC_TEXT_MAX] = "", advice[2 * KVC_TEXT_MAX] = "", sampled[64] = "";
    if (available <= 0 || needed <= available) {
        return KVC_OK;
    }
    const struct kvc_parameter *cause = find_cause(loaded, &origin, needed);
    if (scenario->run.functional == KVC_FUNCTIONAL_FULL &&
        bytes_with(&origin, "run.functional", "sampled") <= available) {
        snprintf(sampled, sizeof(sampled), "run.functional = \"sampled\"");
    }
    if (cause != NULL && find_fitting(&origin, cause, available, fitting)) {
        snprintf(advice, sizeof(advice), "%s = %s fits", cause->path, fitting);
    }
    return kvc_diag_fail_at(
        diag, KVC_ERR_SCENARIO, scenario->file,
        kvc_locate_line(scenario->file, cause != NULL ? cause->path : ""),
        "%s: found %s, with which the run needs %.1f GiB, but this machine has %.1f GiB available; %s%s%s",
        cause != NULL ? cause->path : "scenario", cause != NULL ? cause->value : "no option to reduce",
        needed / bytes_per_gib, available / bytes_per_gib,
        advice[0] == '\0' && sampled[0] == '\0' ? "no smaller value fits" : advice,
        sampled[0] == '\0'  ? ""
        : advice[0] != '\0' ? ", and so does "
                            : "what fits is ",
        sampled);
}
