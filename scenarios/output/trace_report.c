#include "scenarios/output/trace_report.h"

#include <math.h>

#include "plots/document.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/table.h"
#include "sim/base/version.h"

enum { POINTS_PER_OCTAVE = 4, OCTAVES = 14 };

static void put(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, kvc_json_number(value));
}

/* Returns the curve, from a pair to the footprint: sizes ascend, a quarter of an octave apart. */
static json_t *curve_of(const struct kvc_trace_profile *profile)
{
    json_t *curve = json_array();
    for (int i = POINTS_PER_OCTAVE * OCTAVES; i >= 0; i--) {
        double bytes = profile->footprint_bytes * exp2(-(double)i / POINTS_PER_OCTAVE);
        if (bytes < profile->facts.key_bytes + profile->facts.value_bytes) {
            continue; /* Not even one pair. */
        }
        json_t *point = json_object();
        put(point, "cache_bytes", bytes);
        put(point, "footprint_frac", bytes / profile->footprint_bytes);
        put(point, "miss_frac", 1 - kvc_trace_hit_frac(profile, &profile->bytes, bytes));
        json_array_append_new(curve, point);
    }
    return curve;
}

json_t *kvc_trace_report(const char *path, const struct kvc_trace_profile *profile)
{
    static const double quantiles[] = {0.1, 0.5, 0.9, 0.99};
    const struct kvc_trace_facts *facts = &profile->facts;
    json_t *report = json_object(), *reuse = json_array();
    json_object_set_new(report, "schema", json_string("kvcast.trace/1"));
    json_object_set_new(report, "version", kvc_json_text(kvc_version));
    json_object_set_new(report, "trace", kvc_json_text(path));
    json_object_set_new(report, "format", json_string(facts->format));
    put(report, "requests", facts->requests);
    put(report, "keys", facts->keys);
    put(report, "duration_s", facts->is_timed ? facts->end_ns * 1e-9 : NAN);
    put(report, "mops", facts->is_timed && facts->end_ns > 0 ? facts->requests / facts->end_ns * 1e3 : NAN);
    put(report, "busiest_s_requests", facts->is_timed ? profile->busiest_s_requests : NAN);
    put(report, "get_frac", facts->get_frac);
    put(report, "set_frac", facts->set_frac);
    put(report, "delete_frac", facts->delete_frac);
    json_object_set_new(report, "expires", json_boolean(facts->expires));
    put(report, "repeated_get_frac", profile->gets > 0 ? profile->repeated_gets / profile->gets : NAN);
    put(report, "key_bytes_mean", facts->key_bytes);
    put(report, "key_bytes_max", facts->key_bytes_max);
    put(report, "value_bytes_mean", facts->value_bytes);
    put(report, "value_bytes_max", facts->value_bytes_max);
    put(report, "footprint_bytes", profile->footprint_bytes);
    put(report, "zipf", profile->zipf_s);
    put(report, "zipf_ks_distance", profile->zipf_distance);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles) && profile->repeated_gets > 0; i++) {
        json_t *point = json_object();
        put(point, "p", quantiles[i]);
        put(point, "keys", rint(kvc_trace_reuse_quantile(profile, &profile->keys, quantiles[i])));
        put(point, "bytes", rint(kvc_trace_reuse_quantile(profile, &profile->bytes, quantiles[i])));
        json_array_append_new(reuse, point);
    }
    json_object_set_new(report, "reuse_distance", reuse);
    json_object_set_new(report, "miss_ratio_curve", profile->gets > 0 ? curve_of(profile) : json_array());
    return report;
}

void kvc_trace_report_add_twin(json_t *report, const char *path, const struct kvc_trace_profile *twin)
{
    const json_t *point;
    size_t index;
    double off = 0, off_at_bytes = 0;
    json_array_foreach(json_object_get(report, "miss_ratio_curve"), index, point)
    {
        double bytes = kvc_document_number(point, "cache_bytes");
        double miss_frac = 1 - kvc_trace_hit_frac(twin, &twin->bytes, bytes);
        double apart = fabs(miss_frac - kvc_document_number(point, "miss_frac"));
        off_at_bytes = apart > off ? bytes : off_at_bytes;
        off = fmax(off, apart);
    }
    json_object_set_new(report, "twin", kvc_json_text(path));
    put(report, "twin_miss_frac_off_max", off);
    put(report, "twin_off_max_at_bytes", off_at_bytes);
}

void kvc_trace_report_write_csv(const json_t *report, FILE *out)
{
    const json_t *point;
    size_t index;
    fputs("cache_bytes,footprint_frac,miss_frac\n", out);
    json_array_foreach(json_object_get(report, "miss_ratio_curve"), index, point)
    {
        fprintf(out, "%.12g,%.12g,%.12g\n", kvc_document_number(point, "cache_bytes"),
                kvc_document_number(point, "footprint_frac"), kvc_document_number(point, "miss_frac"));
    }
}

/* Prints a size to four digits in a unit that people read. */
static const char *size_text(double bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 5; unit++) {
        bytes /= 1024;
    }
    snprintf(out, size, "%.4g %s", bytes, units[unit]);
    return out;
}

static void write_reuse(const json_t *report, FILE *out)
{
    const json_t *point;
    size_t index;
    char bytes[32];
    json_array_foreach(json_object_get(report, "reuse_distance"), index, point)
    {
        fprintf(out, "%s%g %% within %.0f other keys, %s", index == 0 ? "reuse       " : "            ",
                100 * kvc_document_number(point, "p"), kvc_document_number(point, "keys") - 1,
                size_text(kvc_document_number(point, "bytes"), bytes, sizeof(bytes)));
        fputc('\n', out);
    }
}

void kvc_trace_report_write_table(const json_t *report, bool color, FILE *out)
{
    const struct kvc_table table = kvc_table_begin(out, color);
    char mean[32], most[32], footprint[32];
    const json_t *point;
    size_t index;
    double seconds = kvc_document_number(report, "duration_s");
    fprintf(out, "%s%s%s  %s\n", table.bold, json_string_value(json_object_get(report, "trace")), table.plain,
            json_string_value(json_object_get(report, "format")));
    fprintf(out, "requests    %.0f", kvc_document_number(report, "requests"));
    if (!isnan(seconds)) {
        fprintf(out, " in %.6g s, %.4g in the busiest second", seconds,
                kvc_document_number(report, "busiest_s_requests"));
    }
    fprintf(out, "\nmix         GET %.2f %%, SET %.2f %%, DELETE %.2f %%; %.2f %% of the GETs repeat a key\n",
            100 * kvc_document_number(report, "get_frac"), 100 * kvc_document_number(report, "set_frac"),
            100 * kvc_document_number(report, "delete_frac"),
            100 * kvc_document_number(report, "repeated_get_frac"));
    fprintf(out, "keys        %.0f of %.4g B on average, values of %s, at most %s; %s together\n",
            kvc_document_number(report, "keys"), kvc_document_number(report, "key_bytes_mean"),
            size_text(kvc_document_number(report, "value_bytes_mean"), mean, sizeof(mean)),
            size_text(kvc_document_number(report, "value_bytes_max"), most, sizeof(most)),
            size_text(kvc_document_number(report, "footprint_bytes"), footprint, sizeof(footprint)));
    fprintf(out, "popularity  Zipf exponent %.3f, whose cumulative popularity is at most %.1f points off\n",
            kvc_document_number(report, "zipf"), 100 * kvc_document_number(report, "zipf_ks_distance"));
    write_reuse(report, out);
    if (json_object_get(report, "twin") != NULL) {
        fprintf(
            out,
            "twin        arrival = { trace = \"%s\" }; its LRU miss ratio is at most %.2f points off, at %s\n",
            json_string_value(json_object_get(report, "twin")),
            100 * kvc_document_number(report, "twin_miss_frac_off_max"),
            size_text(kvc_document_number(report, "twin_off_max_at_bytes"), mean, sizeof(mean)));
    }
    fprintf(out, "\n%sLRU cache      of all bytes   misses%s\n", table.bold, table.plain);
    json_array_foreach(json_object_get(report, "miss_ratio_curve"), index, point)
    {
        size_t from_end = json_array_size(json_object_get(report, "miss_ratio_curve")) - 1 - index;
        if (from_end % (2 * POINTS_PER_OCTAVE) == 0) {
            fprintf(out, "%-14s %10.4g %% %8.2f %%\n",
                    size_text(kvc_document_number(point, "cache_bytes"), mean, sizeof(mean)),
                    100 * kvc_document_number(point, "footprint_frac"),
                    100 * kvc_document_number(point, "miss_frac"));
        }
    }
}
