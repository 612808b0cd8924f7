#include "scenarios/output/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/output/json_value.h"
#include "sim/base/array.h"
#include "sim/base/text/printable.h"
#include "sim/base/version.h"

enum { KEY_TEXT = 160 };

struct writer {
    const struct kvc_page *page;
    const json_t *document;
    FILE *out;
};

/* ---- text ---- */

static void put_bytes(const char *text, size_t bytes, FILE *out)
{
    for (size_t i = 0; i < bytes; i++) {
        switch (text[i]) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(text[i], out);
        }
    }
}

/* Puts a text that a stranger may have written. */
static void put_text(const char *text, FILE *out)
{
    char *copy = kvc_array_of_text(text);
    kvc_make_printable(copy);
    put_bytes(copy, strlen(copy), out);
    free(copy);
}

__attribute__((format(printf, 2, 3))) static void put(const struct writer *to, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        kvc_out_of_memory("the text of a page");
    }
    va_end(arguments);
    put_text(text, to->out);
    free(text);
}

/* Puts markup of this file. */
static void mark(const struct writer *to, const char *markup)
{
    fputs(markup, to->out);
}

/* ---- values ---- */

/* Returns the value at a path such as "latency_us.percentiles.3.us", or NULL. */
static const json_t *at(const json_t *value, const char *path)
{
    while (value != NULL && *path != '\0') {
        char key[KEY_TEXT];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
                                     : json_object_get(value, key);
        path += length + (path[length] == '.');
    }
    return value;
}

static double number(const json_t *value, const char *path)
{
    const json_t *found = at(value, path);
    return json_is_number(found) ? json_number_value(found) : NAN;
}

/* Returns the text at a path, or "". */
static const char *text(const json_t *value, const char *path)
{
    const char *found = json_string_value(at(value, path));
    return found != NULL ? found : "";
}

/* Puts a number of the answer with its unit, and its interval unless that is unknown or none. */
static void put_number(const struct writer *to, const char *path, const char *interval, const char *unit)
{
    double value = number(to->document, path), half = number(to->document, interval);
    char exact[KVC_NUMBER_TEXT_MAX];
    kvc_number_text(value, exact);
    mark(to, "<data value=\"");
    put(to, "%s", exact);
    mark(to, "\" data-key=\"");
    put(to, "%s", path);
    mark(to, "\">");
    put(to, "%.4g", value);
    mark(to, "</data>");
    if (half > 0) {
        put(to, " ± %.2g", half);
    }
    put(to, " %s", unit);
}

/* ---- tables ---- */

/* Begins a table whose columns are separated by bars. A column that begins with '#' has numbers. */
static void begin_table(const struct writer *to, const char *caption, const char *columns)
{
    mark(to, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
    put(to, "%s", caption);
    mark(to, "\"><table><caption>");
    put(to, "%s", caption);
    mark(to, "</caption>\n<thead><tr>");
    while (*columns != '\0') {
        size_t length = strcspn(columns, "|");
        bool is_number = *columns == '#';
        mark(to, is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        put(to, "%.*s", (int)length - is_number, columns + is_number);
        mark(to, "</th>");
        columns += length + (columns[length] == '|');
    }
    mark(to, "</tr></thead>\n<tbody>\n");
}

static void end_table(const struct writer *to)
{
    mark(to, "</tbody></table></div>\n");
}

static void begin_row(const struct writer *to, const char *name)
{
    mark(to, "<tr><th scope=\"row\">");
    put(to, "%s", name);
    mark(to, "</th>");
}

static void end_row(const struct writer *to)
{
    mark(to, "</tr>\n");
}

static void put_cell(const struct writer *to, const char *content)
{
    mark(to, "<td>");
    put(to, "%s", content);
    mark(to, "</td>");
}

/* Puts a number of which `digits` are shown, and its interval where one is known. */
static void put_value(const struct writer *to, double value, double half)
{
    mark(to, "<td class=\"n\">");
    if (isnan(value)) {
        mark(to, "–");
    } else {
        put(to, "%.4g", value);
    }
    if (half > 0) {
        put(to, " ± %.2g", half);
    }
    mark(to, "</td>");
}

/* A value of a result: its paths, and the factor to its unit. */
struct measure {
    const char *name, *path, *interval;
    double factor;
};

static void put_measures(const struct writer *to, const struct measure *measures)
{
    for (; measures->name != NULL; measures++) {
        double value = number(to->document, measures->path) * measures->factor;
        if (!isnan(value)) {
            begin_row(to, measures->name);
            put_value(to, value, number(to->document, measures->interval) * measures->factor);
            end_row(to);
        }
    }
}

/* ---- parts that several kinds have ---- */

static void begin_section(const struct writer *to, const char *id, const char *title)
{
    mark(to, "<section id=\"");
    put(to, "%s", id);
    mark(to, "\"><h2>");
    put(to, "%s", title);
    mark(to, "</h2>\n");
}

static void end_section(const struct writer *to)
{
    mark(to, "</section>\n");
}

static void put_notes(const struct writer *to)
{
    const json_t *notes = at(to->document, "notes"), *note;
    size_t i;
    mark(to, json_array_size(notes) > 0 ? "<h3>Notes</h3>\n<ul>\n" : "");
    json_array_foreach(notes, i, note)
    {
        mark(to, "<li>");
        put(to, "%s", json_is_string(note) ? json_string_value(note) : "");
        mark(to, "</li>\n");
    }
    mark(to, json_array_size(notes) > 0 ? "</ul>\n" : "");
}

/* How far forecasts of this kind were from measured values. */
static void put_accuracy(const struct writer *to)
{
    const json_t *metrics = at(to->document, "accuracy.metrics"), *metric;
    char caption[256];
    size_t i;
    if (json_array_size(metrics) == 0) {
        return;
    }
    snprintf(caption, sizeof(caption),
             "How far forecasts of this kind were from measured values (%.60s, %.60s)",
             text(to->document, "accuracy.answer"), text(to->document, "accuracy.load"));
    begin_table(to, caption, "Metric|#Scored cases|#Median error, %|#Worst error, %|Worst case");
    json_array_foreach(metrics, i, metric)
    {
        begin_row(to, text(metric, "metric"));
        put_value(to, number(metric, "points"), NAN);
        put_value(to, 100 * number(metric, "median_abs_frac"), NAN);
        put_value(to, 100 * number(metric, "worst_abs_frac"), NAN);
        put_cell(to, number(metric, "points") > 0 ? text(metric, "worst_case") : "No case was measured.");
        end_row(to);
    }
    end_table(to);
}

static void put_parameters(const struct writer *to)
{
    json_t *parameters = json_object_get(to->document, "parameters"), *value;
    const json_t *provenance = at(to->document, "provenance");
    const char *key;
    if (json_object_size(parameters) == 0) {
        return;
    }
    begin_section(to, "parameters", "Parameters and their sources");
    mark(to, "<details><summary>");
    put(to, "All %zu parameters of the scenario", json_object_size(parameters));
    mark(to, "</summary>\n");
    begin_table(to, "Parameters", "Parameter|Value|Source");
    json_object_foreach(parameters, key, value)
    {
        char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(KVC_JSON_DIGITS));
        const char *source = json_string_value(json_object_get(provenance, key));
        begin_row(to, key);
        put_cell(to, json_is_string(value) ? json_string_value(value) : dump != NULL ? dump : "");
        put_cell(to,
                 source != NULL ? source : "the scenario, or the default of kvcast where it says nothing");
        end_row(to);
        free(dump);
    }
    end_table(to);
    mark(to, "</details>\n");
    end_section(to);
}

/* Puts an argument of a shell command. */
static void put_argument(const struct writer *to, const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+%@-";
    if (argument[0] != '\0' && argument[strspn(argument, plain)] == '\0') {
        put(to, " %s", argument);
        return;
    }
    put(to, " '");
    for (; *argument != '\0'; argument++) {
        put(to, *argument == '\'' ? "'\\''" : "%c", *argument);
    }
    put(to, "'");
}

static void put_commands(const struct writer *to)
{
    const json_t *results = at(to->document, "results"), *result;
    const char *line = text(to->document, "command_line"), *version = text(to->document, "version");
    size_t i;
    begin_section(to, "commands", "How to repeat this");
    mark(to, "<pre tabindex=\"0\"><code>");
    put(to, "%s", line);
    mark(to, line[0] != '\0' ? "\n" : "");
    if (to->page->kind == KVC_DOCUMENT_COMPARE) {
        put(to, "kvcast compare");
        json_array_foreach(results, i, result)
        {
            put_argument(to, text(result, "name"));
        }
        mark(to, "\n");
    }
    put(to, "kvcast report");
    put_argument(to, to->page->source);
    mark(to, " -o page.html\n</code></pre>\n<p>");
    if (version[0] != '\0') {
        put(to, "kvcast %s made the answer, and kvcast %s this page.", version, kvc_version);
    } else {
        put(to, "kvcast %s made this page.", kvc_version);
    }
    mark(to, "</p>\n");
    end_section(to);
}

/* ---- pictures ---- */

/* Copies an SVG into the page: without its prologue and titles, with ids of its own. */
static void put_svg(const struct writer *to, const struct kvc_page_picture *picture, uint32_t which)
{
    static const char *const ids[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};
    const char *svg = strstr(picture->svg, "<svg");
    bool in_tag = false;
    if (svg == NULL) {
        return;
    }
    mark(to, "<svg role=\"img\" aria-label=\"");
    put(to, "%s", picture->caption);
    mark(to, "\"");
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

static void put_pictures(const struct writer *to)
{
    const struct kvc_page *page = to->page;
    if (page->count == 0) {
        return;
    }
    begin_section(to, "pictures", "Pictures");
    mark(to, "<div class=\"pictures\">\n");
    for (uint32_t i = 0; i < page->count; i++) {
        const struct kvc_page_picture *picture = &page->picture[i];
        if (picture->svg != NULL) {
            mark(to, "<figure>");
            put_svg(to, picture, i + 1);
            mark(to, "<figcaption>");
            put(to, "%s", picture->caption);
            mark(to, "</figcaption></figure>\n");
        } else {
            mark(to, "<p>");
            put(to, "A picture is missing: %s", picture->caption);
            put(to, " The reason: %s.", picture->why);
            mark(to, "</p>\n");
        }
    }
    mark(to, "</div>\n");
    end_section(to);
}

/* ---- a result ---- */

/* Finds the path of the percentile `p`, or returns false. */
static bool percentile_path(const json_t *document, double p, char path[KEY_TEXT], char interval[KEY_TEXT])
{
    const json_t *entry;
    size_t i;
    json_array_foreach(at(document, "latency_us.percentiles"), i, entry)
    {
        if (number(entry, "p") == p) {
            snprintf(path, KEY_TEXT, "latency_us.percentiles.%zu.us", i);
            snprintf(interval, KEY_TEXT, "latency_us.percentiles.%zu.ci95", i);
            return true;
        }
    }
    return false;
}

static void answer_result(const struct writer *to)
{
    const char *command = text(to->document, "command");
    char path[KEY_TEXT], interval[KEY_TEXT];
    bool has_mean = !isnan(number(to->document, "latency_us.mean"));
    bool has_p99 = percentile_path(to->document, 0.99, path, interval) && !isnan(number(to->document, path));
    put(to, "%s", text(to->document, "system"));
    put(to, "%s ",
        strcmp(command, "measure") == 0   ? ", measured on this machine, answers"
        : strcmp(command, "predict") == 0 ? ", by its closed form, answers"
                                          : ", simulated, answers");
    put_number(to, "throughput_mops.mean", "throughput_mops.ci95", "Mops");
    if (has_mean) {
        put(to, " with a mean latency of ");
        put_number(to, "latency_us.mean", "latency_us.ci95", "µs");
    }
    if (has_p99) {
        put(to, has_mean ? " and a 99th percentile of " : " with a 99th percentile of ");
        put_number(to, path, interval, "µs");
    }
    if (!isnan(number(to->document, "energy.watts_mean"))) {
        put(to, ", and takes ");
        put_number(to, "energy.watts_mean", "energy.watts_mean_ci95", "W");
    }
    if (json_is_boolean(at(to->document, "slo.met"))) {
        put(to, "; it %s its objectives",
            json_is_true(at(to->document, "slo.met")) ? "meets" : "does not meet");
    }
    put(to, ".");
}

static void put_latency(const struct writer *to)
{
    const json_t *latency = at(to->document, "latency_us"), *entry;
    size_t i;
    if (isnan(number(latency, "mean"))) {
        return;
    }
    begin_table(to, "Latency with 95 % intervals", "Of the requests|#Latency, µs");
    begin_row(to, "mean");
    put_value(to, number(latency, "mean"), number(latency, "ci95"));
    end_row(to);
    json_array_foreach(at(latency, "percentiles"), i, entry)
    {
        char name[64];
        snprintf(name, sizeof(name), "%.6g %% take at most", 100 * number(entry, "p"));
        begin_row(to, name);
        put_value(to, number(entry, "us"), number(entry, "ci95"));
        end_row(to);
    }
    begin_row(to, "slowest");
    put_value(to, number(latency, "max"), number(latency, "max_ci95"));
    end_row(to);
    end_table(to);
}

static void put_stages(const struct writer *to)
{
    const json_t *stages = at(to->document, "stages"), *stage;
    size_t i;
    if (json_array_size(stages) == 0) {
        return;
    }
    begin_table(to, "Stages of the store", "Stage|Device|#Busy, %|#Served, Mops|#Mean time, µs");
    json_array_foreach(stages, i, stage)
    {
        begin_row(to, text(stage, "name"));
        put_cell(to, text(stage, "device"));
        put_value(to, 100 * number(stage, "utilization_frac"), 100 * number(stage, "utilization_ci95_frac"));
        put_value(to, number(stage, "served_mops"), NAN);
        put_value(to, number(stage, "mean_us"), number(stage, "mean_ci95_us"));
        end_row(to);
    }
    end_table(to);
}

/* Says which devices a sum leaves out. */
static void put_missing(const struct writer *to, const json_t *missing, const char *what)
{
    const json_t *device;
    size_t i;
    mark(to, json_array_size(missing) > 0 ? "<p>" : "");
    json_array_foreach(missing, i, device)
    {
        put(to, i == 0 ? "The %s leaves out what no source states: %s" : "%.0s, %s", what,
            json_is_string(device) ? json_string_value(device) : "");
    }
    mark(to, json_array_size(missing) > 0 ? ".</p>\n" : "");
}

static void put_energy(const struct writer *to)
{
    const json_t *devices = at(to->document, "energy.devices"), *device,
                 *missing = at(to->document, "energy.missing");
    size_t i;
    if (json_array_size(devices) == 0) {
        return;
    }
    begin_table(to, "Energy", "Device|#Mean power, W|#Energy, J");
    json_array_foreach(devices, i, device)
    {
        begin_row(to, text(device, "device"));
        put_value(to, number(device, "watts_mean"), number(device, "watts_mean_ci95"));
        put_value(to, number(device, "joules"), number(device, "joules_ci95"));
        end_row(to);
    }
    begin_row(to, "all");
    put_value(to, number(to->document, "energy.watts_mean"), number(to->document, "energy.watts_mean_ci95"));
    put_value(to, number(to->document, "energy.joules"), number(to->document, "energy.joules_ci95"));
    end_row(to);
    end_table(to);
    put_missing(to, missing, "power");
}

static void put_objectives(const struct writer *to)
{
    const json_t *objectives = at(to->document, "slo.objectives"), *objective;
    size_t i;
    if (json_array_size(objectives) == 0) {
        return;
    }
    begin_table(to, "Objectives", "Metric|#At most|#At least|#Found|Met");
    json_array_foreach(objectives, i, objective)
    {
        begin_row(to, text(objective, "name"));
        put_value(to, number(objective, "at_most"), NAN);
        put_value(to, number(objective, "at_least"), NAN);
        put_value(to, number(objective, "found"), number(objective, "ci95"));
        put_cell(to, json_is_true(at(objective, "met")) ? "yes" : "no");
        end_row(to);
    }
    end_table(to);
}

static void details_result(const struct writer *to)
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
    begin_table(to, "Throughput, power and price with 95 % intervals", "Metric|#Value");
    put_measures(to, measures);
    end_table(to);
    put_missing(to, at(to->document, "price.missing"), "price");
    put_latency(to);
    put_objectives(to);
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
    "#parameters td,#parameters th{overflow-wrap:anywhere}\n"
    ".pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;flex:1 1 16rem;max-width:24rem;break-inside:avoid}\n"
    "figure svg{display:block;width:100%;height:auto;background:#fff;border-radius:.3rem}figcaption{font-size:.9rem}\n"
    "pre{background:var(--soft);padding:.6rem;overflow-x:auto;white-space:pre-wrap}summary{cursor:pointer}\n"
    "@media print{@page{margin:12mm}:root{--fg:#000;--bg:#fff;--soft:#eee;--line:#888;--link:#000}body{font-size:8pt;"
    "max-width:none;padding:0}nav,.skip{display:none}.tables{columns:2}figure{flex:1 1 5cm;max-width:6cm}"
    "figure svg{max-height:8cm}"
    "th,td{padding:.05rem .3rem}h2{margin:.5rem 0 .2rem}}\n";

static const struct {
    void (*answer)(const struct writer *to);
    void (*details)(const struct writer *to);
} kinds[] = {
    [KVC_DOCUMENT_RESULT] = {answer_result, details_result},
};

void kvc_page_write(const struct kvc_page *page, FILE *out)
{
    const struct writer to = {page, page->document, out};
    const char *name = text(page->document, "scenario"), *why = text(page->document, "bottleneck.why");
    name = name[0] != '\0' ? name : page->source;
    mark(
        &to,
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head><meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>");
    put(&to, "%s: a %s", name, kvc_document_noun(page->kind));
    mark(&to, "</title>\n<style>\n");
    mark(&to, style);
    mark(&to,
         "</style></head>\n<body>\n<a class=\"skip\" href=\"#answer\">Skip to the answer</a>\n<header><h1>");
    put(&to, "%s: a %s", name, kvc_document_noun(page->kind));
    mark(&to, "</h1>\n<nav aria-label=\"Parts of the page\"><ul><li><a href=\"#answer\">Answer</a></li>");
    mark(&to, page->count > 0 ? "<li><a href=\"#pictures\">Pictures</a></li>" : "");
    mark(&to, "<li><a href=\"#numbers\">Numbers</a></li>");
    mark(&to, json_object_size(at(page->document, "parameters")) > 0
                  ? "<li><a href=\"#parameters\">Parameters</a></li>"
                  : "");
    mark(&to, "<li><a href=\"#commands\">Commands</a></li></ul></nav></header>\n<main>\n");
    begin_section(&to, "answer", "Answer");
    mark(&to, "<p class=\"answer\">");
    kinds[page->kind].answer(&to);
    mark(&to, "</p>\n");
    if (why[0] != '\0') {
        mark(&to, "<p>");
        put(&to, "What binds: %s.", why);
        mark(&to, "</p>\n");
    }
    put_notes(&to);
    end_section(&to);
    put_pictures(&to);
    begin_section(&to, "numbers", "Numbers");
    mark(&to, "<div class=\"tables\">\n");
    kinds[page->kind].details(&to);
    put_accuracy(&to);
    mark(&to, "</div>\n");
    end_section(&to);
    put_parameters(&to);
    put_commands(&to);
    mark(&to, "</main>\n</body></html>\n");
}
