#include "plots/pipeline.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "plots/document.h"
#include "plots/graph.h"
#include "sim/base/text/printable.h"

/* Characters of a line of a stage, and of what stands beside an arrow; stages that a page has room for side
 * by side. */
enum { STAGE_LINE = 26, ARROW_LINE = 18, ABREAST = 8, TEXT_MAX = 512 };

/* A result, and the parts of it that the picture shows. */
struct picture {
    const json_t *document;
    const json_t *pipeline; /* NULL: the store says nothing about it. */
    const json_t *stages;   /* Of the pipeline, or else of the result. */
    const json_t *batch;    /* NULL: there are no batches. */
    double pipelines, sockets;
    bool wide;
    FILE *out;
};

/* ---- texts ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void put_html(const char *text, size_t bytes, FILE *out)
{
    char part[TEXT_MAX];
    snprintf(part, sizeof(part), "%.*s", (int)(bytes < TEXT_MAX ? bytes : TEXT_MAX - 1), text);
    kvc_put_html(part, out);
}

/* Writes text with breaks between words, so that lines have at most `most` characters if words allow. */
static void put_wrapped(const char *text, size_t most, FILE *out)
{
    while (strlen(text) > most) {
        size_t at = most;
        while (at > 0 && text[at] != ' ') {
            at--;
        }
        at = at > 0 ? at : strcspn(text, " ");
        put_html(text, at, out);
        text += at + strspn(text + at, " ");
        if (text[0] != '\0') {
            fprintf(out, "<br/>");
        }
    }
    put_html(text, strlen(text), out);
}

/* Writes a line of a node behind others. */
static void put_line(const char *text, FILE *out)
{
    if (text[0] != '\0') {
        fprintf(out, "<br/>");
        put_wrapped(text, STAGE_LINE, out);
    }
}

static void put_lines(const json_t *lines, FILE *out)
{
    size_t index;
    json_t *line;
    json_array_foreach(lines, index, line)
    {
        put_line(json_is_string(line) ? json_string_value(line) : "", out);
    }
}

static void put_size(double bytes, FILE *out)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(*units)) {
        bytes /= 1024;
        unit++;
    }
    fprintf(out, "%.3g %s", bytes, units[unit]);
}

/* ---- stages ---- */

static void put_percent(double frac, FILE *out)
{
    fprintf(out, frac > 0 && frac < 0.0095 ? "%.2g %%" : "%.0f %%", 100 * fmin(frac, 1));
}

/* Returns the entry of a stage in the result, which has its utilization. */
static const json_t *result_of(const struct picture *picture, const char *name)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(picture->document, "stages"), index, entry)
    {
        if (strcmp(text_of(entry, "name"), name) == 0) {
            return entry;
        }
    }
    return NULL;
}

/* Writes where a stage works and on how many servers. */
static void put_place(const struct picture *picture, const json_t *stage)
{
    char line[TEXT_MAX];
    const char *servers = text_of(stage, "servers"), *pool = text_of(stage, "pool");
    const char *place = text_of(stage, picture->pipeline != NULL ? "place" : "device");
    bool is_shared = json_is_true(json_object_get(stage, "of_node")) && picture->pipelines > 1;
    snprintf(line, sizeof(line), "%s%s%s%s%s%s", place, servers[0] != '\0' ? ": " : "", servers,
             pool[0] != '\0' ? ", pool " : "", pool, is_shared ? ", one for all" : "");
    put_line(line, picture->out);
}

static double busy_of(const struct picture *picture, const char *stage)
{
    return kvc_document_number(result_of(picture, stage), "utilization_frac");
}

/* Returns how busy the servers of a stage are with all stages that share them. */
static double pool_busy_of(const struct picture *picture, const json_t *stage)
{
    const char *pool = text_of(stage, "pool"), *place = text_of(stage, "place");
    bool of_node = json_is_true(json_object_get(stage, "of_node"));
    double sum = 0;
    size_t index;
    json_t *other;
    json_array_foreach(picture->stages, index, other)
    {
        bool shares = pool[0] != '\0' ? strcmp(pool, text_of(other, "pool")) == 0
                                      : of_node && strcmp(place, text_of(other, "place")) == 0;
        sum += shares || other == stage ? busy_of(picture, text_of(other, "name")) : 0;
    }
    return sum;
}

/* Returns what a stage is to the throughput. Without a limit among the stages, one is still the busiest. */
static const char *mark_of(const struct picture *picture, const json_t *stage)
{
    const char *name = text_of(stage, "name");
    const char *limit = text_of(json_object_get(picture->document, "bottleneck"), "stage");
    size_t index;
    json_t *other;
    if (result_of(picture, limit) != NULL) {
        return strcmp(limit, name) == 0 ? "bottleneck" : "";
    }
    json_array_foreach(picture->stages, index, other)
    {
        if (pool_busy_of(picture, other) > pool_busy_of(picture, stage)) {
            return "";
        }
    }
    return "the busiest";
}

static void put_stage(const struct picture *picture, const json_t *stage, size_t number)
{
    FILE *out = picture->out;
    const char *name = text_of(stage, "name"), *mark = mark_of(picture, stage),
               *does = text_of(stage, "does");
    double busy = busy_of(picture, name), shown = isnan(busy) ? 0 : busy;
    fprintf(out,
            "  stage%zu [label=<<font color=\"%s\"><table border=\"%d\" color=\"black\" cellborder=\"0\" "
            "cellspacing=\"0\" cellpadding=\"4\" bgcolor=\"",
            number, kvc_graph_needs_white(shown) ? "white" : "black",
            strcmp(mark, "bottleneck") == 0 ? 4 : 1);
    kvc_graph_put_colour(shown, out);
    fprintf(out, "\"><tr><td><b>");
    put_wrapped(name, STAGE_LINE, out);
    fprintf(out, "</b>");
    put_place(picture, stage);
    put_lines(json_object_get(stage, "work"), out);
    put_lines(json_object_get(stage, "others"), out);
    if (does[0] != '\0') {
        fprintf(out, "<i>");
        put_line(does, out);
        fprintf(out, "</i>");
    }
    if (!isnan(busy)) {
        double of_pool = pool_busy_of(picture, stage);
        fprintf(out, "<br/>");
        put_percent(busy, out);
        fprintf(out, " busy");
        if (of_pool > busy) {
            fprintf(out, ", pool ");
            put_percent(of_pool, out);
        }
        fprintf(out, mark[0] != '\0' ? "<br/><b>%s</b>" : "%s", mark);
    }
    fprintf(out, "</td></tr></table></font>>];\n");
}

static void put_batch(const struct picture *picture)
{
    FILE *out = picture->out;
    size_t index;
    json_t *line;
    double buffers = kvc_document_number(picture->batch, "buffers");
    fprintf(out,
            "  batch [shape=folder, style=filled, fillcolor=\"#eeeeee\", margin=\"0.06,0.03\", label=<batch");
    json_array_foreach(json_object_get(picture->batch, "closes"), index, line)
    {
        fprintf(out, index > 0 ? "<br/>or " : "<br/>");
        put_wrapped(json_is_string(line) ? json_string_value(line) : "", STAGE_LINE, out);
    }
    if (buffers >= 1) {
        fprintf(out, "<br/>%.0f buffer%s", buffers, buffers > 1 ? "s" : "");
    }
    fprintf(out, ">];\n");
}

/* ---- the flow ---- */

/* Writes which requests go along an arrow, how many they are, and what waits at its end. */
static void put_arrow_label(const json_t *stage, FILE *out)
{
    const char *when = text_of(stage, "when"), *separator = "";
    double share = kvc_document_number(stage, "share_frac"), queue = kvc_document_number(stage, "queue");
    double every = kvc_document_number(stage, "every");
    fprintf(out, " label=<&#160;");
    if (when[0] != '\0') {
        put_wrapped(when, ARROW_LINE, out);
        if (!isnan(share)) {
            fprintf(out, ": ");
            put_percent(share, out);
        }
        separator = "<br/>";
    }
    if (json_is_true(json_object_get(stage, "background"))) {
        fprintf(out, "%sin the background", separator);
        separator = "<br/>";
    }
    if (every > 1) {
        fprintf(out, "%sonce for %.0f batches", separator, every);
        separator = "<br/>";
    }
    if (queue > 0) {
        bool drops = json_is_true(json_object_get(stage, "drops"));
        fprintf(out, "%squeue of %.0f,<br/>%s if full", separator, queue, drops ? "lost" : "waits");
    }
    fprintf(out, ">");
}

/* Writes the arrows from a node to a stage, and returns in `from` the node that the next ones come from:
 * those whom a stage is not for pass it by. */
static void put_arrows(const struct picture *picture, const json_t *stage, size_t number, char from[32])
{
    FILE *out = picture->out;
    bool aside = json_is_true(json_object_get(stage, "background"));
    fprintf(out, "  %s -> stage%zu [", from, number);
    put_arrow_label(stage, out);
    fprintf(out, "%s];\n", aside ? ", style=dashed" : "");
    if (aside) {
        return;
    }
    if (text_of(stage, "when")[0] != '\0') {
        fprintf(out,
                "  join%zu [shape=point, width=0.06];\n    %s -> join%zu [arrowhead=none];\n"
                "  stage%zu -> join%zu [arrowhead=none];\n",
                number, from, number, number, number);
        snprintf(from, 32, "join%zu", number);
        return;
    }
    snprintf(from, 32, "stage%zu", number);
}

static void put_flow(const struct picture *picture)
{
    FILE *out = picture->out;
    char from[32] = "clients";
    size_t index;
    json_t *stage;
    fprintf(out, "  clients [shape=plaintext, label=\"requests\"];\n");
    fprintf(out, "  answered [shape=plaintext, label=\"responses\"];\n");
    json_array_foreach(picture->stages, index, stage)
    {
        if (picture->batch != NULL &&
            strcmp(text_of(picture->batch, "before"), text_of(stage, "name")) == 0) {
            put_batch(picture);
            fprintf(out, "  %s -> batch;\n", from);
            snprintf(from, sizeof(from), "batch");
        }
        put_stage(picture, stage, index);
        put_arrows(picture, stage, index, from);
    }
    fprintf(out, "  %s -> answered;\n", from);
}

/* Returns whether a stage uses a structure. */
static bool uses(const json_t *stage, const char *structure)
{
    size_t index;
    json_t *name;
    json_array_foreach(json_object_get(stage, "structures"), index, name)
    {
        if (json_is_string(name) && strcmp(json_string_value(name), structure) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes the structures, each beside the first stage that uses it. */
static void put_structures(const struct picture *picture)
{
    FILE *out = picture->out;
    size_t number, index;
    json_t *structure, *stage;
    json_array_foreach(json_object_get(picture->pipeline, "structures"), number, structure)
    {
        const char *name = text_of(structure, "name");
        bool is_first = true;
        fprintf(
            out,
            "  structure%zu [shape=cylinder, style=filled, fillcolor=white, label=<<font point-size=\"4\"> <br/></font><b>",
            number);
        put_wrapped(name, STAGE_LINE, out);
        fprintf(out, "</b><br/>");
        put_wrapped(text_of(structure, "kernel"), STAGE_LINE, out);
        fprintf(out, "<br/>");
        put_size(kvc_document_number(structure, "size_bytes"), out);
        fprintf(out, "<br/>in ");
        put_wrapped(text_of(structure, "memory"), STAGE_LINE, out);
        fprintf(out, ">];\n");
        json_array_foreach(picture->stages, index, stage)
        {
            if (!uses(stage, name)) {
                continue;
            }
            if (is_first) {
                fprintf(out, "  {rank=same; stage%zu; structure%zu}\n", index, number);
            }
            fprintf(out, "  stage%zu -> structure%zu [style=dotted, arrowhead=none, constraint=false];\n",
                    index, number);
            is_first = false;
        }
    }
}

/* ---- the whole picture ---- */

static double percentile_of(const json_t *latency, double p)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(latency, "percentiles"), index, entry)
    {
        if (kvc_document_number(entry, "p") == p) {
            return kvc_document_number(entry, "us");
        }
    }
    return NAN;
}

/* Writes the name of the scenario, what it serves, and the scale of the colours. */
static void put_title(const struct picture *picture)
{
    FILE *out = picture->out;
    const json_t *latency = json_object_get(picture->document, "latency_us");
    double mean_us = kvc_document_number(latency, "mean"), p99_us = percentile_of(latency, 0.99);
    fprintf(out, "<table border=\"0\" cellspacing=\"0\"><tr><td>");
    put_wrapped(text_of(picture->document, "scenario"), 60, out);
    fprintf(out, "</td></tr><tr><td>%.4g Mops",
            kvc_document_number(json_object_get(picture->document, "throughput_mops"), "mean"));
    if (!isnan(mean_us)) {
        fprintf(out, ", mean %.4g µs", mean_us);
    }
    if (!isnan(p99_us)) {
        fprintf(out, ", p99 %.4g µs", p99_us);
    }
    if (picture->pipelines > 1 || picture->sockets > 1) {
        fprintf(out, "</td></tr><tr><td>%.0f pipeline%s", picture->pipelines,
                picture->pipelines > 1 ? "s" : "");
        if (picture->sockets > 1) {
            fprintf(out, " in each of %.0f sockets", picture->sockets);
        }
    }
    fprintf(out, "</td></tr><tr><td>");
    kvc_graph_put_scale(out);
    fprintf(out, "</td></tr></table>");
}

static void write_picture(const struct picture *picture)
{
    FILE *out = picture->out;
    bool in_line = picture->wide && json_array_size(picture->stages) <= ABREAST;
    fprintf(
        out,
        "digraph pipeline {\n  graph [rankdir=%s, fontname=\"Sans\", fontsize=9, nodesep=0.15, ranksep=0.2, "
        "bgcolor=white, size=\"%s\", labelloc=t, label=<",
        in_line ? "LR" : "TB", picture->wide ? "6.89,9" : "3.35,9");
    put_title(picture);
    fprintf(out, ">];\n  node [shape=plain, color=\"#404040\", margin=\"0.05,0.02\", height=0.2, width=0.3, "
                 "fontname=\"Sans\", fontsize=9];\n  edge [fontname=\"Sans\", fontsize=8, arrowsize=0.6, "
                 "color=\"#404040\"];\n");
    put_flow(picture);
    put_structures(picture);
    fprintf(out, "}\n");
}

enum kvc_status kvc_pipeline_extract(const char *path, bool wide, FILE *out, struct kvc_diag *diag)
{
    char file[PATH_MAX];
    json_t *document = NULL;
    enum kvc_status status = kvc_document_find(path, KVC_DOCUMENT_RESULT, file, diag);
    if (status == KVC_OK) {
        status = kvc_document_load(file, KVC_DOCUMENT_RESULT, &document, diag);
    }
    if (status == KVC_OK) {
        status = kvc_document_check_result(file, document, diag);
    }
    if (status == KVC_OK) {
        const json_t *pipeline = json_object_get(document, "pipeline");
        const json_t *batch = json_object_get(pipeline, "batch");
        const struct picture picture = {.document = document,
                                        .pipeline = pipeline,
                                        .stages =
                                            json_object_get(pipeline != NULL ? pipeline : document, "stages"),
                                        .batch = json_is_object(batch) ? batch : NULL,
                                        .pipelines = kvc_document_number(pipeline, "pipelines"),
                                        .sockets = kvc_document_number(pipeline, "sockets"),
                                        .wide = wide,
                                        .out = out};
        if (json_array_size(picture.stages) == 0) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0, "has no stages to draw");
        } else {
            write_picture(&picture);
        }
    }
    json_decref(document);
    return status;
}
