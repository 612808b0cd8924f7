/* Extracts the latency over the offered load from the document of kvcast capacity. */
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "plots/figure.h"

static enum kvc_status load(const char *path, json_t **document, struct kvc_diag *diag)
{
    char file[PATH_MAX];
    struct stat found;
    json_error_t error;
    bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    snprintf(file, sizeof(file), "%.3000s%s", path, is_folder ? "/capacity.json" : "");
    *document = json_load_file(file, 0, &error);
    if (*document == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, error.line > 0 ? error.line : 0,
                                "cannot be read as a JSON document of kvcast capacity: %s", error.text);
    }
    const char *schema = json_string_value(json_object_get(*document, "schema"));
    if (schema != NULL && strcmp(schema, "kvcast.capacity/1") == 0) {
        return KVC_OK;
    }
    json_decref(*document);
    *document = NULL;
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                            "is not a document of kvcast capacity, whose schema is kvcast.capacity/1");
}

static double member(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Returns the latency of a point and half its interval: that of a metric, or for NULL the closed form's mean.
 * 0 where it is unknown. */
static double latency_us(const json_t *point, const char *metric, double *half_width_us)
{
    const json_t *latency =
        json_object_get(json_object_get(point, "latency_us"), metric != NULL ? metric : "");
    *half_width_us = metric != NULL ? member(latency, "ci95") : 0;
    return metric != NULL ? member(latency, "mean")
                          : member(json_object_get(point, "closed_form"), "latency_mean_us");
}

/* Writes one line of the figure, unless no point has its latency. Returns the number of its points. */
static uint32_t put_line(struct kvc_figure_data *figure, const json_t *points, const char *title,
                         const char *metric)
{
    size_t index;
    json_t *point;
    uint32_t written = 0;
    json_array_foreach(points, index, point)
    {
        double half_width_us, us = latency_us(point, metric, &half_width_us);
        if (!(us > 0)) {
            continue;
        }
        if (written++ == 0) {
            kvc_figure_begin_block(figure, title);
        }
        /* The axis is logarithmic: an interval does not reach below a tenth of the latency. */
        double low_us = us - half_width_us > us / 10 ? us - half_width_us : us / 10;
        fprintf(figure->data, "%.12g %.12g %.12g %.12g %d %d\n", member(point, "offered_mops"), us, low_us,
                us + half_width_us, json_is_true(json_object_get(point, "served")),
                json_is_number(json_object_get(point, "share_frac")));
    }
    return written;
}

enum kvc_status kvc_capacity_extract(const char *path, struct kvc_figure_data *figure, struct kvc_diag *diag)
{
    static const char *const metrics[] = {"mean", "p50", "p95", "p99"};
    json_t *document;
    uint32_t written = 0;
    enum kvc_status status = load(path, &document, diag);
    if (status != KVC_OK) {
        return status;
    }
    const json_t *capacity = json_object_get(document, "capacity_mops");
    const json_t *points = json_object_get(document, "points");
    kvc_figure_begin_block(figure, "capacity");
    fprintf(figure->data, "%.12g %.12g %.12g\n", member(capacity, "low"), member(capacity, "mean"),
            member(capacity, "high"));
    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
        written += put_line(figure, points, metrics[i], metrics[i]);
    }
    put_line(figure, points, "closed form, mean", NULL);
    json_decref(document);
    if (written == 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no latencies (points)");
    }
    return KVC_OK;
}
