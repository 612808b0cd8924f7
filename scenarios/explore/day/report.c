#include "scenarios/explore/day/report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "models/model.h"
#include "scenarios/output/accuracy.h"
#include "scenarios/output/json.h"
#include "scenarios/output/json_value.h"
#include "scenarios/output/table.h"
#include "scenarios/run/answer.h"
#include "sim/base/version.h"

enum { COMMAND_LINE_MAX = 4096, CLOCK_TEXT = 8 };

struct report {
    const char *command_line; /* Command that repeats the result, without jobs and output files. */
    const struct kvc_day_options *options;
    const struct kvc_day_answer *answer;
};

static struct kvc_accuracy_kind kind_of(const struct report *report)
{
    struct kvc_accuracy_kind kind = kvc_accuracy_kind_of(
        report->options->loaded,
        report->options->predict ? KVC_ACCURACY_CLOSED_FORM : KVC_ACCURACY_SIMULATION, false);
    kind.load = KVC_ACCURACY_OPEN;
    return kind;
}

static const struct kvc_row *row_of(const struct kvc_day_answer *answer, uint32_t window)
{
    return &answer->run[answer->window[window].run];
}

/* Returns the devices without watts of the first run that has some, or "". */
static const char *watts_missing(const struct kvc_day_answer *answer)
{
    uint32_t run = 0;
    while (run + 1 < answer->runs && answer->run[run].watts_missing[0] == '\0') {
        run++;
    }
    return answer->run[run].watts_missing;
}

/* Returns the verdict on the whole day: missed if a window misses an objective, else unknown if one is
 * unknown. */
static enum kvc_slo_state state_of(const struct kvc_day_answer *answer)
{
    bool unknown = answer->window[0].verdict.count == 0;
    for (uint32_t i = 0; i < answer->count; i++) {
        unknown = unknown || answer->window[i].verdict.state == KVC_SLO_UNKNOWN;
    }
    return answer->missed_hours > 0 ? KVC_SLO_MISSED : unknown ? KVC_SLO_UNKNOWN : KVC_SLO_MET;
}

/* ---- files ---- */

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *met(enum kvc_slo_state state, bool has_objective)
{
    return !has_objective || state == KVC_SLO_UNKNOWN ? json_null() : json_boolean(state == KVC_SLO_MET);
}

static json_t *window_json(const struct report *report, uint32_t number)
{
    const struct kvc_day_answer *answer = report->answer;
    const struct kvc_slo *slo = &report->options->loaded->slo;
    const struct kvc_day_window *window = &answer->window[number];
    json_t *object = json_object();
    set(object, "window", kvc_json_count(number + 1));
    set(object, "from_hour", kvc_json_number(window->from_hour));
    set(object, "to_hour", kvc_json_number(window->to_hour));
    set(object, "rate_mops", kvc_json_number(window->rate_mops));
    set(object, "run", kvc_json_count(window->run + 1));
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        set(object, kvc_row_kinds[i].name, kvc_json_number(row_of(answer, number)->number[i]));
    }
    for (uint32_t i = 0; i < row_of(answer, number)->tenants; i++) {
        for (int k = 0; k < KVC_ROW_TENANT_COLUMNS; k++) {
            char name[KVC_TENANT_NAME_MAX];
            kvc_row_tenant_name(&slo->workload->tenants[i], k, name);
            set(object, name, kvc_json_number(row_of(answer, number)->tenant[i][k]));
        }
    }
    set(object, "bottleneck_stage", kvc_json_text_or_null(row_of(answer, number)->bottleneck_stage));
    set(object, "energy_kwh", kvc_json_number(window->kwh));
    set(object, "cost_usd", kvc_json_number(window->usd));
    set(object, "slo_met", met(window->verdict.state, window->verdict.count > 0));
    set(object, "margin_frac", kvc_json_number(kvc_day_margin_frac(&window->verdict)));
    for (uint32_t i = 0; i < window->verdict.count; i++) {
        const struct kvc_judged *judged = &window->verdict.judged[i];
        if (judged->tenant != NULL) {
            char key[KVC_TENANT_NAME_MAX], name[KVC_TENANT_NAME_MAX + 16];
            kvc_judged_name(judged, kvc_objective_kinds[judged->objective].key, key);
            snprintf(name, sizeof(name), "slo_%s_margin_frac", key);
            set(object, name, kvc_json_number(judged->margin_frac));
        }
    }
    return object;
}

static json_t *document(const struct report *report)
{
    const struct kvc_day_answer *answer = report->answer;
    const struct kvc_loaded *loaded = report->options->loaded;
    const struct kvc_accuracy_kind kind = kind_of(report);
    json_t *object = json_object(), *windows = json_array(), *warnings = json_array();
    for (uint32_t i = 0; i < answer->count; i++) {
        json_array_append_new(windows, window_json(report, i));
    }
    for (uint32_t i = 0; i < loaded->warning_count; i++) {
        json_array_append_new(warnings, kvc_json_text(loaded->warning[i]));
    }
    set(object, "schema", kvc_json_text("kvcast.day/1"));
    set(object, "scenario", kvc_json_text_or_null(loaded->scenario.name));
    set(object, "system", kvc_json_text(loaded->scenario.model->name));
    set(object, "seed", kvc_json_count(loaded->scenario.run.seed));
    set(object, "version", kvc_json_text_or_null(kvc_version));
    set(object, "command", kvc_json_text("day"));
    set(object, "command_line", kvc_json_text_or_null(report->command_line));
    set(object, "by", kvc_json_text(report->options->predict ? "closed form" : "simulation"));
    set(object, "usd_per_kwh", kvc_json_number(loaded->day.usd_per_kwh));
    set(object, "runs", kvc_json_count(answer->runs));
    set(object, "slo_met", met(state_of(answer), answer->window[0].verdict.count > 0));
    set(object, "slo_p99_us", kvc_json_number(kvc_slo_bound(&loaded->slo, KVC_OBJECTIVE_P99)));
    set(object, "requests", kvc_json_number(answer->requests));
    set(object, "energy_kwh", kvc_json_number(answer->kwh));
    set(object, "energy_ci95_kwh", kvc_json_number(answer->kwh_ci95));
    set(object, "cost_usd", kvc_json_number(answer->usd));
    set(object, "missed_hours", kvc_json_number(answer->missed_hours));
    set(object, "watts_missing", kvc_json_text_or_null(watts_missing(answer)));
    set(object, "worst", kvc_json_count(answer->worst + 1));
    set(object, "windows", windows);
    set(object, "accuracy", kvc_accuracy_json(&kind));
    set(object, "warnings", warnings);
    set(object, "parameters", kvc_json_values(&loaded->parameters));
    set(object, "provenance", kvc_json_sources(&loaded->provenance));
    return object;
}

static enum kvc_status write_json(const void *report, FILE *out, struct kvc_diag *diag)
{
    json_t *object = document(report);
    enum kvc_status status = kvc_json_write_document(object, "day", out, diag);
    json_decref(object);
    return status;
}

/* Writes the members of the windows as columns. */
static void write_csv(const void *data, FILE *out)
{
    const struct kvc_day_answer *answer = ((const struct report *)data)->answer;
    const char *key;
    json_t *value;
    for (uint32_t i = 0; i < answer->count; i++) {
        json_t *window = window_json(data, i);
        for (const char *separator = ""; i == 0 && separator != NULL; separator = NULL) {
            json_object_foreach(window, key, value)
            {
                fprintf(out, "%s%s", separator, key);
                separator = ",";
            }
            fputc('\n', out);
        }
        const char *separator = "";
        json_object_foreach(window, key, value)
        {
            fputs(separator, out);
            if (json_is_number(value)) {
                fprintf(out, "%.12g", json_number_value(value));
            } else if (json_is_boolean(value)) {
                fprintf(out, "%d", json_is_true(value));
            } else if (json_is_string(value)) {
                fputs(json_string_value(value), out);
            }
            separator = ",";
        }
        fputc('\n', out);
        json_decref(window);
    }
}

/* ---- table ---- */

/* Writes an hour of the day: 13.5 is 13:30. */
static const char *clock_of(double hour, char text[CLOCK_TEXT])
{
    int minutes = (int)lround(hour * 60);
    snprintf(text, CLOCK_TEXT, "%02d:%02d", minutes / 60 % 100, minutes % 60);
    return text;
}

static const char *word_of(const struct kvc_slo_verdict *verdict)
{
    static const char *const words[] = {
        [KVC_SLO_UNKNOWN] = "unknown", [KVC_SLO_MET] = "met", [KVC_SLO_MISSED] = "missed"};
    return verdict->count > 0 ? words[verdict->state] : "-";
}

/* Writes whether a window meets its objectives, and which tenants miss theirs. */
static void write_verdict(const struct kvc_table *table, const struct kvc_slo_verdict *verdict)
{
    bool is_missed = verdict->state == KVC_SLO_MISSED;
    const char *before = " by tenant ";
    fprintf(table->out, "  %s%s", is_missed ? table->warn : "", word_of(verdict));
    for (uint32_t i = 0; i < verdict->count; i++) {
        const struct kvc_judged *judged = &verdict->judged[i];
        if (judged->state == KVC_SLO_MISSED) { /* Those of tenants come last. */
            fprintf(table->out, "%s%s", judged->tenant != NULL ? before : "",
                    judged->tenant != NULL ? judged->tenant : "");
            before = judged->tenant != NULL ? ", " : ", also by tenant ";
        }
    }
    fprintf(table->out, "%s\n", is_missed ? table->plain : "");
}

static void write_energy(const struct kvc_table *table, const struct report *report)
{
    const struct kvc_day_answer *answer = report->answer;
    const double joules_per_kwh = 3.6e6;
    char a[KVC_TABLE_DIGITS_TEXT], b[KVC_TABLE_DIGITS_TEXT];
    double usd_per_kwh = report->options->loaded->day.usd_per_kwh;
    fprintf(table->out, "%senergy%s        ", table->bold, table->plain);
    if (isnan(answer->kwh)) {
        fprintf(table->out, "unknown; no watts are stated for %s\n", watts_missing(answer));
        return;
    }
    fputs(kvc_table_digits(answer->kwh, a), table->out);
    if (answer->kwh_ci95 > 0) {
        fprintf(table->out, " +- %.2g", answer->kwh_ci95);
    }
    fprintf(table->out, " kWh, %s W on average, %s J for a million requests\n",
            kvc_table_digits(answer->kwh / 24 * 1e3, a),
            kvc_table_digits(answer->kwh * joules_per_kwh / answer->requests * 1e6, b));
    if (!isnan(usd_per_kwh)) {
        fprintf(table->out, "%scost%s          %s USD at %.4g USD/kWh\n", table->bold, table->plain,
                kvc_table_digits(answer->usd, a), usd_per_kwh);
    }
}

static void write_worst(const struct kvc_table *table, const struct kvc_day_answer *answer)
{
    const struct kvc_day_window *worst = &answer->window[answer->worst];
    double p99_us = row_of(answer, answer->worst)->number[KVC_ROW_P99];
    double margin_frac = kvc_day_margin_frac(&worst->verdict);
    char from[CLOCK_TEXT], to[CLOCK_TEXT], rate[KVC_TABLE_DIGITS_TEXT], p99[KVC_TABLE_DIGITS_TEXT];
    fprintf(table->out, "%sworst window%s  %s to %s, %s Mops: p99 latency %s us", table->bold, table->plain,
            clock_of(worst->from_hour, from), clock_of(worst->to_hour, to),
            kvc_table_digits(worst->rate_mops, rate), kvc_table_digits(p99_us, p99));
    if (!isnan(margin_frac)) {
        fprintf(table->out, ", smallest margin of an objective %.1f %%", 100 * margin_frac);
    }
    fputc('\n', table->out);
}

static void write_windows(const struct kvc_table *table, const struct kvc_day_answer *answer)
{
    char text[KVC_TABLE_DIGITS_TEXT], from[CLOCK_TEXT], to[CLOCK_TEXT];
    static const struct {
        enum kvc_row_column column;
        const char *name;
    } columns[] = {{KVC_ROW_THROUGHPUT, "served Mops"},
                   {KVC_ROW_MEAN, "mean us"},
                   {KVC_ROW_P99, "p99 us"},
                   {KVC_ROW_WATTS, "W"}};
    fprintf(table->out, "\n%s%-6s%-6s%10s", table->bold, "from", "to", "Mops");
    for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++) {
        fprintf(table->out, "%12s", columns[k].name);
    }
    fprintf(table->out, "%10s  %s%s\n", "kWh", "slo", table->plain);
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct kvc_day_window *window = &answer->window[i];
        fprintf(table->out, "%-6s%-6s%10s", clock_of(window->from_hour, from), clock_of(window->to_hour, to),
                kvc_table_digits(window->rate_mops, text));
        for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++) {
            fprintf(table->out, "%12s", kvc_table_digits(row_of(answer, i)->number[columns[k].column], text));
        }
        fprintf(table->out, "%10s", kvc_table_digits(window->kwh, text));
        write_verdict(table, &window->verdict);
    }
}

static void write_table(const void *data, bool color, FILE *out)
{
    const struct report *report = data;
    const struct kvc_day_answer *answer = report->answer;
    const struct kvc_scenario *scenario = &report->options->loaded->scenario;
    struct kvc_table table = kvc_table_begin(out, color);
    const struct kvc_accuracy_kind kind = kind_of(report);
    unsigned long long nodes = scenario->cluster.nodes;
    fprintf(out, "%s%s%s  %s on %llu node%s, a day of %u window%s, %u %s%s\n", table.bold, scenario->name,
            table.plain, scenario->model->name, nodes, nodes == 1 ? "" : "s", answer->count,
            answer->count == 1 ? "" : "s", answer->runs, report->options->predict ? "closed form" : "run",
            answer->runs == 1 ? "" : "s");
    write_energy(&table, report);
    fprintf(out, "%srequests%s      %.4g billion served\n", table.bold, table.plain, answer->requests * 1e-9);
    write_worst(&table, answer);
    if (answer->window[0].verdict.count > 0) {
        bool is_missed = answer->missed_hours > 0;
        fprintf(out, "%sslo%s           %s", table.bold, table.plain, is_missed ? table.warn : "");
        if (is_missed) {
            fprintf(out, "missed in %.4g of 24 hours%s\n", answer->missed_hours, table.plain);
        } else {
            fputs(state_of(answer) == KVC_SLO_UNKNOWN ? "unknown\n" : "met in all 24 hours\n", out);
        }
    }
    kvc_accuracy_write_line(&kind, table.bold, table.plain, out);
    write_windows(&table, answer);
}

/* ---- the command ---- */

enum kvc_status kvc_day_answer_write(const struct kvc_day_output *output, FILE *out, struct kvc_diag *diag)
{
    char command_line[COMMAND_LINE_MAX];
    const struct kvc_day_options *options = &output->options;
    struct kvc_answer_files files;
    struct kvc_day_answer answer = {.count = 0};
    const struct report report = {.command_line = command_line, .options = options, .answer = &answer};
    const struct kvc_question question = {command_line, options->loaded};
    const struct kvc_answer_forms forms = {&report,     write_json,    write_csv,
                                           write_table, output->color, output->keeps ? &question : NULL};
    snprintf(command_line, sizeof(command_line), "kvcast day %s%s", options->path,
             options->predict ? " --predict" : "");
    kvc_overrides_append(options->set, command_line, sizeof(command_line));
    enum kvc_status status = kvc_answer_files_open(&files, output->out, "day", output->json, diag);
    if (status == KVC_OK) {
        status = kvc_day_make(options, &answer, diag);
    }
    if (status == KVC_OK) {
        kvc_progress_done(options->progress);
        status = kvc_answer_files_write(&files, &forms, out, diag);
    }
    kvc_answer_files_discard(&files);
    kvc_day_free(&answer);
    return status;
}

enum kvc_status kvc_day_draw(const char *folder, struct kvc_diag *diag)
{
    return kvc_answer_files_draw(folder, "day", KVC_PLOT_DAY, &folder, 1, diag);
}
