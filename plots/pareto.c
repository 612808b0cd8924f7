/* Extracts the Pareto front of a plan from the document of kvcast plan. */
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "plots/figure.h"

/* What stands on the x axis. */
struct x_axis {
    const char *label;
    bool is_closed_form; /* A member of `closed_form`, not of the point itself. */
    const char *key;
};

static enum kvc_status load(const char *path, json_t **document, struct kvc_diag *diag)
{
    char file[PATH_MAX];
    struct stat found;
    json_error_t error;
    bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    snprintf(file, sizeof(file), "%.3000s%s", path, is_folder ? "/plan.json" : "");
    *document = json_load_file(file, 0, &error);
    if (*document == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, error.line > 0 ? error.line : 0,
                                "cannot be read as a JSON document of kvcast plan: %s", error.text);
    }
    const char *schema = json_string_value(json_object_get(*document, "schema"));
    if (schema != NULL && strcmp(schema, "kvcast.plan/1") == 0) {
        return KVC_OK;
    }
    json_decref(*document);
    *document = NULL;
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                            "is not a document of kvcast plan, whose schema is kvcast.plan/1");
}

/* Returns a member that is a number, or NaN. */
static double member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double closed_form(const json_t *point, const char *metric)
{
    return member(json_object_get(point, "closed_form"), metric);
}

static struct x_axis choose_x(const json_t *front)
{
    if (json_is_true(json_object_get(front, "has_price"))) {
        return (struct x_axis){"price (US dollars)", false, "price_usd"};
    }
    if (json_is_true(json_object_get(front, "has_watts"))) {
        return (struct x_axis){"power (W)", true, "watts_mean"};
    }
    return (struct x_axis){"nodes", false, "nodes"};
}

static void put_point(struct kvc_figure_data *figure, const json_t *point, const struct x_axis *x, double us,
                      double half_width_us)
{
    double watts = closed_form(point, "watts_mean");
    fprintf(figure->data, "%.12g %.12g %.12g %.12g\n",
            x->is_closed_form ? closed_form(point, x->key) : member(point, x->key), us,
            isnan(watts) ? 0 : watts, isnan(half_width_us) ? 0 : half_width_us);
}

/* Writes the chosen point with its simulated latency. */
static void put_chosen(struct kvc_figure_data *figure, const json_t *document, const struct x_axis *x,
                       const char *metric)
{
    const json_t *chosen = json_object_get(document, "chosen");
    const json_t *latency = json_object_get(json_object_get(chosen, "simulated"), metric);
    double us = member(latency, "mean");
    if (!isnan(us)) {
        kvc_figure_begin_block(figure, "chosen, simulated");
        put_point(figure, chosen, x, us, member(latency, "half_width"));
    }
}

/* Writes what is written on the y axis: latency_p95_us is the latency p95. */
static void name_latency(const char *metric, char text[32])
{
    size_t prefix = strlen("latency_"), suffix = strlen("_us"), length = strlen(metric);
    snprintf(text, 32, "%.*s", (int)(length - prefix - suffix), metric + prefix);
}

enum kvc_status kvc_pareto_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    json_t *document, *point;
    size_t index;
    char name[32], title[80];
    enum kvc_status status = load(path, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const json_t *front = json_object_get(document, "front"), *points = json_object_get(front, "points");
    const char *metric = json_string_value(json_object_get(front, "latency"));
    if (metric == NULL || strlen(metric) <= strlen("latency__us") || json_array_size(points) == 0) {
        json_decref(document);
        return kvc_diag_fail_at(
            diag, KVC_ERR_SCENARIO, path, 0,
            "has no front with a latency: the closed form knows none, or no point may meet "
            "the slo");
    }
    struct x_axis x = choose_x(front);
    name_latency(metric, name);
    snprintf(figure->x_label, KVC_AXIS_TEXT, "%s", x.label);
    figure->x_numeric = json_is_true(json_object_get(front, "has_watts")) && !x.is_closed_form; /* Colours. */
    snprintf(title, sizeof(title), "front by closed form, latency %s", name);
    kvc_figure_begin_block(figure, title);
    json_array_foreach(points, index, point)
    {
        put_point(figure, point, &x, closed_form(point, metric), NAN);
    }
    put_chosen(figure, document, &x, metric);
    json_decref(document);
    return KVC_OK;
}
