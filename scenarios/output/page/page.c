#include "scenarios/output/page/page.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/json_value.h"
#include "scenarios/output/page/page_writer.h"
#include "sim/base/version.h"

/* A value of a result: its paths, and the factor to its unit. */
struct measure {
    const char *name, *path, *interval;
    double factor;
};

static void put_measures(const struct kvc_page_writer *to, const struct measure *measures)
{
    for (; measures->name != NULL; measures++) {
        double value = kvc_page_number(to->document, measures->path) * measures->factor;
        if (!isnan(value)) {
            kvc_page_begin_row(to, measures->name);
            kvc_page_put_value(to, value,
                               kvc_page_number(to->document, measures->interval) * measures->factor);
            kvc_page_end_row(to);
        }
    }
}

/* ---- parts that several kinds have ---- */

static void begin_section(const struct kvc_page_writer *to, const char *id, const char *title)
{
    kvc_page_mark(to, "<section id=\"");
    kvc_page_put(to, "%s", id);
    kvc_page_mark(to, "\"><h2>");
    kvc_page_put(to, "%s", title);
    kvc_page_mark(to, "</h2>\n");
}

static void end_section(const struct kvc_page_writer *to)
{
    kvc_page_mark(to, "</section>\n");
}

static void put_notes(const struct kvc_page_writer *to)
{
    const json_t *notes = kvc_page_at(to->document, "notes"), *note;
    size_t i;
    kvc_page_mark(to, json_array_size(notes) > 0 ? "<h3>Notes</h3>\n<ul>\n" : "");
    json_array_foreach(notes, i, note)
    {
        kvc_page_mark(to, "<li>");
        kvc_page_put(to, "%s", json_is_string(note) ? json_string_value(note) : "");
        kvc_page_mark(to, "</li>\n");
    }
    kvc_page_mark(to, json_array_size(notes) > 0 ? "</ul>\n" : "");
}

/* The worst case of a metric or, where only bounds were published, how many of them forecasts kept. */
static void put_bounds(const struct kvc_page_writer *to, const json_t *metric)
{
    char text[64];
    double bounds = kvc_page_number(metric, "bounds");
    snprintf(text, sizeof(text), "%.0f of %.0f bounds held", kvc_page_number(metric, "bounds_held"), bounds);
    kvc_page_put_cell(to, kvc_page_number(metric, "points") > 0 ? kvc_page_text(metric, "worst_case")
                          : bounds > 0                          ? text
                                                                : "No case was measured.");
}

/* How far forecasts of this kind were from measured values. */
static void put_accuracy(const struct kvc_page_writer *to)
{
    const json_t *metrics = kvc_page_at(to->document, "accuracy.metrics"), *metric;
    char caption[256];
    size_t i;
    if (json_array_size(metrics) == 0) {
        return;
    }
    snprintf(caption, sizeof(caption),
             "How far forecasts of this kind were from measured values (%.60s, %.60s)",
             kvc_page_text(to->document, "accuracy.answer"), kvc_page_text(to->document, "accuracy.load"));
    kvc_page_begin_table(to, caption,
                         "Metric|#Scored cases|#Median error, %|#Worst error, %|Worst case, or bounds");
    json_array_foreach(metrics, i, metric)
    {
        kvc_page_begin_row(to, kvc_page_text(metric, "metric"));
        kvc_page_put_value(to, kvc_page_number(metric, "points"), NAN);
        kvc_page_put_value(to, 100 * kvc_page_number(metric, "median_abs_frac"), NAN);
        kvc_page_put_value(to, 100 * kvc_page_number(metric, "worst_abs_frac"), NAN);
        put_bounds(to, metric);
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

static void put_parameters(const struct kvc_page_writer *to)
{
    json_t *parameters = json_object_get(to->document, "parameters"), *value;
    const json_t *provenance = kvc_page_at(to->document, "provenance");
    const char *key;
    if (json_object_size(parameters) == 0) {
        return;
    }
    begin_section(to, "parameters", "Parameters and their sources");
    kvc_page_mark(to, "<details><summary>");
    kvc_page_put(to, "All %zu parameters of the scenario", json_object_size(parameters));
    kvc_page_mark(to, "</summary>\n");
    if (to->page->kind == KVC_DOCUMENT_SWEEP) {
        kvc_page_mark(to, "<p>These are the values of the scenario. The points change what is swept.</p>\n");
    }
    kvc_page_begin_table(to, "Parameters", "Parameter|Value|Source");
    json_object_foreach(parameters, key, value)
    {
        char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS));
        const char *source = json_string_value(json_object_get(provenance, key));
        kvc_page_begin_row(to, key);
        kvc_page_put_cell(to, json_is_string(value) ? json_string_value(value) : dump != NULL ? dump : "");
        kvc_page_put_cell(
            to, source != NULL ? source : "the scenario, or the default of kvcast where it says nothing");
        kvc_page_end_row(to);
        free(dump);
    }
    kvc_page_end_table(to);
    kvc_page_mark(to, "</details>\n");
    end_section(to);
}

/* Puts an argument of a shell command. */
static void put_argument(const struct kvc_page_writer *to, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+%@-";
    if (argument[0] != '\0' && argument[strspn(argument, plain)] == '\0') {
        kvc_page_put(to, " %s", argument);
        return;
    }
    kvc_page_put(to, " '");
    for (; *argument != '\0'; argument++) {
        kvc_page_put(to, *argument == '\'' ? "'\\''" : "%c", *argument);
    }
    kvc_page_put(to, "'");
}

static void put_trace_command(const struct kvc_page_writer *to)
{
    const char *twin = kvc_page_text(to->document, "twin");
    kvc_page_put(to, "kvcast trace");
    put_argument(to, kvc_page_text(to->document, "trace"));
    if (twin[0] != '\0') {
        kvc_page_put(to, " --twin");
        put_argument(to, twin);
    }
    kvc_page_mark(to, "\n");
}

static void put_commands(const struct kvc_page_writer *to)
{
    const json_t *results = kvc_page_at(to->document, "results"), *result;
    const char *line = kvc_page_text(to->document, "command_line"),
               *version = kvc_page_text(to->document, "version");
    size_t i;
    begin_section(to, "commands", "How to repeat this");
    kvc_page_mark(to, "<pre tabindex=\"0\"><code>");
    kvc_page_put(to, "%s", line);
    kvc_page_mark(to, line[0] != '\0' ? "\n" : "");
    if (to->page->kind == KVC_DOCUMENT_COMPARE) {
        kvc_page_put(to, "kvcast compare");
        json_array_foreach(results, i, result)
        {
            put_argument(to, kvc_page_text(result, "name"));
        }
        kvc_page_mark(to, "\n");
    }
    if (to->page->kind == KVC_DOCUMENT_TRACE) {
        put_trace_command(to);
    }
    const json_t *overrides = kvc_page_at(to->document, "overrides"), *override;
    if (to->page->kind == KVC_DOCUMENT_SWEEP && kvc_page_text(to->document, "scenario_file")[0] != '\0') {
        char folder[PATH_MAX];
        const char *source = to->page->source, *slash = strrchr(source, '/');
        bool is_file = strlen(source) > 4 && strcmp(source + strlen(source) - 4, ".csv") == 0;
        snprintf(folder, sizeof(folder), "%.*s",
                 !is_file        ? PATH_MAX - 1
                 : slash != NULL ? (int)(slash - source)
                                 : 1,
                 is_file && slash == NULL ? "." : source);
        kvc_page_put(to, "kvcast sweep");
        put_argument(to, kvc_page_text(to->document, "scenario_file"));
        json_array_foreach(overrides, i, override)
        {
            char set[512];
            snprintf(set, sizeof(set), "%.200s=%.300s", kvc_page_text(override, "0"),
                     kvc_page_text(override, "1"));
            kvc_page_put(to, " --set");
            put_argument(to, set);
        }
        kvc_page_put(to, "%s --out",
                     strcmp(kvc_page_text(to->document, "command"), "predict") == 0 ? " --predict" : "");
        put_argument(to, folder);
        kvc_page_mark(to, "\n");
    }
    kvc_page_put(to, "kvcast report");
    put_argument(to, to->page->source);
    kvc_page_mark(to, " -o page.html\n</code></pre>\n<p>");
    if (version[0] != '\0') {
        kvc_page_put(to, "kvcast %s made the answer, and kvcast %s this page.", version, kvc_version);
    } else {
        kvc_page_put(to, "kvcast %s made this page.", kvc_version);
    }
    kvc_page_mark(to, "</p>\n");
    end_section(to);
}

/* ---- pictures ---- */

/* Copies an SVG into the page: without its prologue and titles, with ids of its own. */
static void put_svg(const struct kvc_page_writer *to, const struct kvc_page_picture *picture, uint32_t which)
{
    static const char *const ids[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};
    const char *svg = strstr(picture->svg, "<svg");
    bool in_tag = false;
    if (svg == NULL) {
        return;
    }
    kvc_page_mark(to, "<svg role=\"img\" aria-label=\"");
    kvc_page_put(to, "%s", picture->caption);
    kvc_page_mark(to, "\"");
    in_tag = true;
    for (svg += strlen("<svg"); *svg != '\0';) {
        const char *title = strncmp(svg, "<title>", 7) == 0 ? strstr(svg, "</title>") : NULL;
        if (title != NULL) {
            svg = title + strlen("</title>");
            continue;
        }
        in_tag = *svg == '<' || (in_tag && *svg != '>');
        size_t length = 1;
        bool is_id = false;
        for (size_t i = 0; in_tag && !is_id && i < sizeof(ids) / sizeof(*ids); i++) {
            is_id = strncmp(svg, ids[i], strlen(ids[i])) == 0;
            length = is_id ? strlen(ids[i]) : 1;
        }
        fwrite(svg, 1, length, to->out);
        if (is_id) {
            fprintf(to->out, "p%u-", which);
        }
        svg += length;
    }
}

static void put_pictures(const struct kvc_page_writer *to)
{
    const struct kvc_page *page = to->page;
    if (page->count == 0) {
        return;
    }
    begin_section(to, "pictures", "Pictures");
    kvc_page_mark(to, "<div class=\"pictures\">\n");
    for (uint32_t i = 0; i < page->count; i++) {
        const struct kvc_page_picture *picture = &page->picture[i];
        if (picture->svg != NULL) {
            kvc_page_mark(to, "<figure>");
            put_svg(to, picture, i + 1);
            kvc_page_mark(to, "<figcaption>");
            kvc_page_put(to, "%s", picture->caption);
            kvc_page_mark(to, "</figcaption></figure>\n");
        } else {
            kvc_page_mark(to, "<p>");
            kvc_page_put(to, "A picture is missing: %s", picture->caption);
            kvc_page_put(to, " The reason: %s.", picture->why);
            kvc_page_mark(to, "</p>\n");
        }
    }
    kvc_page_mark(to, "</div>\n");
    end_section(to);
}

/* ---- a result ---- */

/* Finds the path of the percentile `p`, or returns false. */
static bool percentile_path(const json_t *document, double p, char path[KVC_PAGE_KEY],
                            char interval[KVC_PAGE_KEY])
{
    const json_t *entry;
    size_t i;
    json_array_foreach(kvc_page_at(document, "latency_us.percentiles"), i, entry)
    {
        if (kvc_page_number(entry, "p") == p) {
            snprintf(path, KVC_PAGE_KEY, "latency_us.percentiles.%zu.us", i);
            snprintf(interval, KVC_PAGE_KEY, "latency_us.percentiles.%zu.ci95", i);
            return true;
        }
    }
    return false;
}

static void answer_result(const struct kvc_page_writer *to)
{
    const char *command = kvc_page_text(to->document, "command");
    char path[KVC_PAGE_KEY], interval[KVC_PAGE_KEY];
    bool has_mean = !isnan(kvc_page_number(to->document, "latency_us.mean"));
    bool has_p99 =
        percentile_path(to->document, 0.99, path, interval) && !isnan(kvc_page_number(to->document, path));
    kvc_page_put(to, "%s", kvc_page_text(to->document, "system"));
    kvc_page_put(to, "%s ",
                 strcmp(command, "measure") == 0   ? ", measured on this machine, answers"
                 : strcmp(command, "predict") == 0 ? ", by its closed form, answers"
                                                   : ", simulated, answers");
    kvc_page_put_number(to, "throughput_mops.mean", "throughput_mops.ci95", "Mops");
    if (has_mean) {
        kvc_page_put(to, " with a mean latency of ");
        kvc_page_put_number(to, "latency_us.mean", "latency_us.ci95", "µs");
    }
    if (has_p99) {
        kvc_page_put(to, has_mean ? " and a 99th percentile of " : " with a 99th percentile of ");
        kvc_page_put_number(to, path, interval, "µs");
    }
    if (!isnan(kvc_page_number(to->document, "energy.watts_mean"))) {
        kvc_page_put(to, ", and takes ");
        kvc_page_put_number(to, "energy.watts_mean", "energy.watts_mean_ci95", "W");
    }
    if (json_is_boolean(kvc_page_at(to->document, "slo.met"))) {
        kvc_page_put(to, "; it %s its objectives",
                     json_is_true(kvc_page_at(to->document, "slo.met")) ? "meets" : "does not meet");
    }
    kvc_page_put(to, ".");
}

static void put_latency(const struct kvc_page_writer *to)
{
    const json_t *latency = kvc_page_at(to->document, "latency_us"), *entry;
    size_t i;
    if (isnan(kvc_page_number(latency, "mean"))) {
        return;
    }
    kvc_page_begin_table(to, "Latency with 95 % intervals", "Of the requests|#Latency, µs");
    kvc_page_begin_row(to, "mean");
    kvc_page_put_value(to, kvc_page_number(latency, "mean"), kvc_page_number(latency, "ci95"));
    kvc_page_end_row(to);
    json_array_foreach(kvc_page_at(latency, "percentiles"), i, entry)
    {
        char name[64];
        snprintf(name, sizeof(name), "%.6g %% take at most", 100 * kvc_page_number(entry, "p"));
        kvc_page_begin_row(to, name);
        kvc_page_put_value(to, kvc_page_number(entry, "us"), kvc_page_number(entry, "ci95"));
        kvc_page_end_row(to);
    }
    kvc_page_begin_row(to, "slowest");
    kvc_page_put_value(to, kvc_page_number(latency, "max"), kvc_page_number(latency, "max_ci95"));
    kvc_page_end_row(to);
    kvc_page_end_table(to);
}

static void put_stages(const struct kvc_page_writer *to)
{
    const json_t *stages = kvc_page_at(to->document, "stages"), *stage;
    size_t i;
    bool waits = false;
    if (json_array_size(stages) == 0) {
        return;
    }
    json_array_foreach(stages, i, stage)
    {
        waits = waits || !isnan(kvc_page_number(stage, "wait_us"));
    }
    kvc_page_begin_table(
        to, "Stages of the store",
        waits ? "Stage|Device|#Busy, %|#Served, Mops|#Requests that wait|#Wait, µs|#Mean time, µs"
              : "Stage|Device|#Busy, %|#Served, Mops|#Mean time, µs");
    json_array_foreach(stages, i, stage)
    {
        kvc_page_begin_row(to, kvc_page_text(stage, "name"));
        kvc_page_put_cell(to, kvc_page_text(stage, "device"));
        kvc_page_put_value(to, 100 * kvc_page_number(stage, "utilization_frac"),
                           100 * kvc_page_number(stage, "utilization_ci95_frac"));
        kvc_page_put_value(to, kvc_page_number(stage, "served_mops"), NAN);
        if (waits) {
            kvc_page_put_value(to, kvc_page_number(stage, "waiting_requests"),
                               kvc_page_number(stage, "waiting_ci95_requests"));
            kvc_page_put_value(to, kvc_page_number(stage, "wait_us"), kvc_page_number(stage, "wait_ci95_us"));
        }
        kvc_page_put_value(to, kvc_page_number(stage, "mean_us"), kvc_page_number(stage, "mean_ci95_us"));
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

static void put_tenants(const struct kvc_page_writer *to)
{
    const json_t *tenants = kvc_page_at(to->document, "tenants"), *tenant;
    size_t i;
    if (json_array_size(tenants) == 0) {
        return;
    }
    kvc_page_begin_table(
        to, "Tenants",
        "Tenant|#Offered, Mops|#Served, Mops|#Hits, %|#Mean latency, µs|#p99, µs|#p99 at most, µs");
    json_array_foreach(tenants, i, tenant)
    {
        kvc_page_begin_row(to, kvc_page_text(tenant, "name"));
        kvc_page_put_value(to, kvc_page_number(tenant, "offered_mops"), NAN);
        kvc_page_put_value(to, kvc_page_number(tenant, "throughput_mops"),
                           kvc_page_number(tenant, "throughput_ci95_mops"));
        kvc_page_put_value(to, 100 * kvc_page_number(tenant, "hit_frac"),
                           100 * kvc_page_number(tenant, "hit_ci95_frac"));
        kvc_page_put_value(to, kvc_page_number(tenant, "latency_mean_us"),
                           kvc_page_number(tenant, "latency_mean_ci95_us"));
        kvc_page_put_value(to, kvc_page_number(tenant, "latency_p99_us"),
                           kvc_page_number(tenant, "latency_p99_ci95_us"));
        kvc_page_put_value(to, kvc_page_number(tenant, "p99_at_most_us"), NAN);
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

/* Says which devices a sum leaves out. */
static void put_missing(const struct kvc_page_writer *to, const json_t *missing, const char *what)
{
    const json_t *device;
    size_t i;
    kvc_page_mark(to, json_array_size(missing) > 0 ? "<p>" : "");
    json_array_foreach(missing, i, device)
    {
        kvc_page_put(to, i == 0 ? "The %s leaves out what no source states: %s" : "%.0s, %s", what,
                     json_is_string(device) ? json_string_value(device) : "");
    }
    kvc_page_mark(to, json_array_size(missing) > 0 ? ".</p>\n" : "");
}

static void put_energy(const struct kvc_page_writer *to)
{
    const json_t *devices = kvc_page_at(to->document, "energy.devices"), *device,
                 *missing = kvc_page_at(to->document, "energy.missing");
    size_t i;
    if (json_array_size(devices) == 0) {
        return;
    }
    kvc_page_begin_table(to, "Energy", "Device|#Mean power, W|#Energy, J");
    json_array_foreach(devices, i, device)
    {
        kvc_page_begin_row(to, kvc_page_text(device, "device"));
        kvc_page_put_value(to, kvc_page_number(device, "watts_mean"),
                           kvc_page_number(device, "watts_mean_ci95"));
        kvc_page_put_value(to, kvc_page_number(device, "joules"), kvc_page_number(device, "joules_ci95"));
        kvc_page_end_row(to);
    }
    kvc_page_begin_row(to, "all");
    kvc_page_put_value(to, kvc_page_number(to->document, "energy.watts_mean"),
                       kvc_page_number(to->document, "energy.watts_mean_ci95"));
    kvc_page_put_value(to, kvc_page_number(to->document, "energy.joules"),
                       kvc_page_number(to->document, "energy.joules_ci95"));
    kvc_page_end_row(to);
    kvc_page_end_table(to);
    put_missing(to, missing, "power");
}

static void put_objectives(const struct kvc_page_writer *to)
{
    const json_t *objectives = kvc_page_at(to->document, "slo.objectives"), *objective;
    size_t i;
    if (json_array_size(objectives) == 0) {
        return;
    }
    kvc_page_begin_table(to, "Objectives", "Metric|#At most|#At least|#Found|Met");
    json_array_foreach(objectives, i, objective)
    {
        kvc_page_begin_row(to, kvc_page_text(objective, "name"));
        kvc_page_put_value(to, kvc_page_number(objective, "at_most"), NAN);
        kvc_page_put_value(to, kvc_page_number(objective, "at_least"), NAN);
        kvc_page_put_value(to, kvc_page_number(objective, "found"), kvc_page_number(objective, "ci95"));
        kvc_page_put_cell(to, json_is_true(kvc_page_at(objective, "met")) ? "yes" : "no");
        kvc_page_end_row(to);
    }
    kvc_page_end_table(to);
}

static void details_result(const struct kvc_page_writer *to)
{
    static const struct measure measures[] = {
        {"throughput, Mops", "throughput_mops.mean", "throughput_mops.ci95", 1},
        {"offered load, Mops", "requests.offered_mops", "requests.offered_ci95_mops", 1},
        {"lost requests, %", "requests.lost_frac", "requests.lost_ci95_frac", 100},
        {"hits of GETs, %", "requests.hit_frac", "requests.hit_ci95_frac", 100},
        {"power, W", "energy.watts_mean", "energy.watts_mean_ci95", 1},
        {"requests per joule, thousands", "energy.kops_per_watt", "energy.kops_per_watt_ci95", 1},
        {"price, USD", "price.usd", "price.ci95", 1},
        {0},
    };
    kvc_page_begin_table(to, "Throughput, power and price with 95 % intervals", "Metric|#Value");
    put_measures(to, measures);
    kvc_page_end_table(to);
    put_missing(to, kvc_page_at(to->document, "price.missing"), "price");
    put_latency(to);
    put_objectives(to);
    put_tenants(to);
    put_stages(to);
    put_energy(to);
}

/* ---- the page ---- */

static const char style[] =
    ":root{color-scheme:light dark;--fg:#1a1a1a;--bg:#fff;--soft:#f0f2f5;--line:#8a8f98;--link:#0b57a4}\n"
    "@media (prefers-color-scheme:dark){:root{--fg:#ececec;--bg:#16181c;--soft:#24272e;--line:#7b818c;--link:#8ab8f0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:72rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif;color:var(--fg);"
    "background:var(--bg);overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.4rem 0}h2{font-size:1.2rem;margin:1.4rem 0 .4rem}h3{font-size:1rem;margin:.8rem 0 .2rem}\n"
    "a{color:var(--link)}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid var(--link)}\n"
    ".skip{position:absolute;left:-99rem}.skip:focus{position:static}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;list-style:none}\n"
    ".answer{font-size:1.2rem;border-left:.3rem solid var(--link);padding:.5rem .8rem;background:var(--soft)}\n"
    ".tables{columns:2 26rem;column-gap:2rem}.wide{overflow-x:auto;break-inside:avoid;margin-bottom:1rem}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem;overflow-wrap:normal}\n"
    "caption{text-align:left;font-weight:600;padding:.2rem 0}\n"
    "th,td{text-align:left;padding:.15rem .5rem;border-bottom:1px solid var(--line);vertical-align:top;font-weight:400}\n"
    "thead th{background:var(--soft);font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".t{min-width:12rem;overflow-wrap:anywhere}\n"
    ".pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 16rem;max-width:24rem;break-inside:avoid}\n"
    "figure svg{display:block;width:100%;height:auto;background:#fff;border-radius:.3rem}figcaption{font-size:.9rem}\n"
    "pre{background:var(--soft);padding:.6rem;overflow-x:auto;white-space:pre-wrap}summary{cursor:pointer}\n"
    "@media print{@page{margin:12mm}:root{font-size:62%;--fg:#000;--bg:#fff;--soft:#eee;--line:#888;--link:#000}"
    "body{max-width:none;padding:0}.wide{overflow:visible}"
    "nav,.skip{display:none}.tables{columns:2}figure{flex:1 1 4cm;max-width:6cm}"
    "figure svg{max-height:8cm}"
    "th,td{padding:.05rem .3rem}h2{margin:.5rem 0 .2rem}}\n";

static const struct {
    void (*answer)(const struct kvc_page_writer *to);
    void (*details)(const struct kvc_page_writer *to);
} kinds[] = {
    [KVC_DOCUMENT_RESULT] = {answer_result, details_result},
    [KVC_DOCUMENT_CAPACITY] = {kvc_page_answer_capacity, kvc_page_details_capacity},
    [KVC_DOCUMENT_PLAN] = {kvc_page_answer_plan, kvc_page_details_plan},
    [KVC_DOCUMENT_WHY] = {kvc_page_answer_why, kvc_page_details_why},
    [KVC_DOCUMENT_COMPARE] = {kvc_page_answer_compare, kvc_page_details_compare},
    [KVC_DOCUMENT_DAY] = {kvc_page_answer_day, kvc_page_details_day},
    [KVC_DOCUMENT_TRACE] = {kvc_page_answer_trace, kvc_page_details_trace},
    [KVC_DOCUMENT_SWEEP] = {kvc_page_answer_sweep, kvc_page_details_sweep},
    [KVC_DOCUMENT_ERRORS] = {kvc_page_answer_errors, kvc_page_details_errors},
};

void kvc_page_write(const struct kvc_page *page, FILE *out)
{
    const struct kvc_page_writer to = {page, page->document, out};
    const char *name = kvc_page_text(page->document, "scenario"),
               *why = kvc_page_text(page->document, "bottleneck.why");
    name = name[0] != '\0' ? name : page->source;
    kvc_page_mark(
        &to,
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head><meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>");
    kvc_page_put(&to, "%s: a %s", name, kvc_document_noun(page->kind));
    kvc_page_mark(&to, "</title>\n<style>\n");
    kvc_page_mark(&to, style);
    kvc_page_mark(
        &to,
        "</style></head>\n<body>\n<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n<header><h1>");
    kvc_page_put(&to, "%s: a %s", name, kvc_document_noun(page->kind));
    kvc_page_mark(&to,
                  "</h1>\n<nav aria-label=\"Parts of the page\"><ul><li><a href=\"#answer\">Answer</a></li>");
    kvc_page_mark(&to, page->count > 0 ? "<li><a href=\"#pictures\">Pictures</a></li>" : "");
    kvc_page_mark(&to, "<li><a href=\"#numbers\">Numbers</a></li>");
    kvc_page_mark(&to, json_object_size(kvc_page_at(page->document, "parameters")) > 0
                           ? "<li><a href=\"#parameters\">Parameters</a></li>"
                           : "");
    kvc_page_mark(&to, "<li><a href=\"#commands\">Commands</a></li></ul></nav></header>\n<main>\n");
    begin_section(&to, "answer", "Answer");
    kvc_page_mark(&to, "<p class=\"answer\">");
    kinds[page->kind].answer(&to);
    kvc_page_mark(&to, "</p>\n");
    if (why[0] != '\0') {
        kvc_page_mark(&to, "<p>");
        kvc_page_put(&to, "What binds: %s.", why);
        kvc_page_mark(&to, "</p>\n");
    }
    put_notes(&to);
    end_section(&to);
    put_pictures(&to);
    begin_section(&to, "numbers", "Numbers");
    kvc_page_mark(&to, page->kind == KVC_DOCUMENT_RESULT ? "<div class=\"tables\">\n" : "<div>\n");
    kinds[page->kind].details(&to);
    put_accuracy(&to);
    kvc_page_mark(&to, "</div>\n");
    end_section(&to);
    put_parameters(&to);
    put_commands(&to);
    kvc_page_mark(&to, "</main>\n</body></html>\n");
}
