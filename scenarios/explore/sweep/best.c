#include "scenarios/explore/sweep/best.h"

#include <jansson.h>
#include <math.h>

#include "scenarios/explore/sweep/database_internal.h"
#include "scenarios/output/json_value.h"

const struct kvc_best_value *kvc_best_value_of(const struct kvc_slo *slo, const struct kvc_plan_request *plan)
{
    static const struct kvc_best_value by_plan[] = {
        [KVC_PLAN_BY_PRICE] = {KVC_ROW_PRICE, "price", "USD", false, true},
        [KVC_PLAN_BY_WATTS] = {KVC_ROW_WATTS, "power", "W", false, false},
        [KVC_PLAN_BY_NODES] = {KVC_ROW_NODES, "number of nodes", "nodes", false, true},
    };
    static const struct kvc_best_value p999 = {KVC_ROW_P999, "p99.9 latency", "us", false, false},
                                       p99 = {KVC_ROW_P99, "p99 latency", "us", false, false},
                                       p95 = {KVC_ROW_P95, "p95 latency", "us", false, false},
                                       p50 = {KVC_ROW_P50, "p50 latency", "us", false, false},
                                       throughput = {KVC_ROW_THROUGHPUT, "throughput", "Mops", true, false};
    if (plan != NULL && plan->is_stated) {
        return &by_plan[plan->minimise];
    }
    return !isnan(slo->p999_ns)  ? &p999
           : !isnan(slo->p99_ns) ? &p99
           : !isnan(slo->p95_ns) ? &p95
           : !isnan(slo->p50_ns) ? &p50
                                 : &throughput;
}

/* Parts of SQL: the value, half the width of its interval, and the condition of a candidate. */
struct terms {
    const char *value, *candidate;
    char half_width[64];
};

static struct terms terms_of(const struct kvc_database *database, const struct kvc_best *best)
{
    struct terms terms = {.value = kvc_row_kinds[best->by->column].name,
                          .candidate = best->judged ? "slo_met = 1" : "1"};
    if (best->by->is_exact || database->layout->predict) {
        snprintf(terms.half_width, sizeof(terms.half_width), "0");
    } else {
        snprintf(terms.half_width, sizeof(terms.half_width), "coalesce(%s, 9e999)",
                 kvc_row_kinds[best->by->column + 1].name);
    }
    return terms;
}

static enum kvc_status count_candidates(struct kvc_database *database, const struct terms *terms,
                                        struct kvc_best *best, struct kvc_diag *diag)
{
    char sql[256];
    int64_t candidates = 0, known = 0;
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM points WHERE %s", terms->candidate);
    enum kvc_status status = kvc_database_query(database, sql, &candidates, diag);
    if (status == KVC_OK) {
        snprintf(sql, sizeof(sql), "SELECT count(%s) FROM points WHERE %s", terms->value, terms->candidate);
        status = kvc_database_query(database, sql, &known, diag);
    }
    best->candidates = (uint32_t)candidates;
    best->left_out = (uint32_t)(candidates - known);
    return status;
}

static enum kvc_status find_leader(struct kvc_database *database, const struct terms *terms,
                                   struct kvc_best *best, struct kvc_diag *diag)
{
    char sql[256];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof(sql),
             "SELECT point, %s, %s FROM points WHERE %s AND %s IS NOT NULL ORDER BY %s %s, point LIMIT 1",
             terms->value, terms->half_width, terms->candidate, terms->value, terms->value,
             best->by->highest ? "DESC" : "ASC");
    enum kvc_status status = kvc_database_prepare(database, sql, &statement, diag);
    if (status == KVC_OK && sqlite3_step(statement) == SQLITE_ROW) {
        best->leader = (uint32_t)sqlite3_column_int64(statement, 0);
        best->value = sqlite3_column_double(statement, 1);
        best->half_width = sqlite3_column_double(statement, 2);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Finds the points whose intervals overlap the leader's. Values that differ by rounding errors are equal. */
static enum kvc_status find_tied(struct kvc_database *database, const struct terms *terms,
                                 struct kvc_best *best, struct kvc_diag *diag)
{
    char sql[256];
    sqlite3_stmt *statement;
    snprintf(sql, sizeof(sql),
             "SELECT point, %s FROM points WHERE %s AND abs(%s - ?1) <= %s + ?2 + abs(?1) * 1e-9"
             " ORDER BY point",
             terms->half_width, terms->candidate, terms->value, terms->half_width);
    enum kvc_status status = kvc_database_prepare(database, sql, &statement, diag);
    if (status == KVC_OK) {
        sqlite3_bind_double(statement, 1, best->value);
        sqlite3_bind_double(statement, 2, best->half_width);
    }
    while (status == KVC_OK && sqlite3_step(statement) == SQLITE_ROW) {
        if (best->tied < KVC_BEST_SHOWN) {
            best->point[best->tied] = (uint32_t)sqlite3_column_int64(statement, 0);
        }
        best->tied++;
        best->without_interval += isinf(sqlite3_column_double(statement, 1)) != 0;
    }
    sqlite3_finalize(statement);
    return status;
}

enum kvc_status kvc_best_find(struct kvc_database *database, struct kvc_best *best, struct kvc_diag *diag)
{
    const struct kvc_database_layout *layout = database->layout;
    *best = (struct kvc_best){.by = kvc_best_value_of(layout->slo, layout->plan),
                              .by_closed_form = layout->predict,
                              .judged = database->objectives.count > 0};
    const struct terms terms = terms_of(database, best);
    enum kvc_status status = count_candidates(database, &terms, best, diag);
    if (status == KVC_OK) {
        status = find_leader(database, &terms, best, diag);
    }
    if (status == KVC_OK && best->leader > 0) {
        status = find_tied(database, &terms, best, diag);
    }
    return status;
}

/* Writes the numbers of the tied points: "1, 2 and 3", or "1, 2, ..., 16 and 5 more". */
static void write_points(const struct kvc_best *best, FILE *out)
{
    uint32_t shown = best->tied < KVC_BEST_SHOWN ? best->tied : KVC_BEST_SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        fprintf(out, "%s%u", i == 0 ? "" : i + 1 == best->tied ? " and " : ", ", best->point[i]);
    }
    if (best->tied > shown) {
        fprintf(out, " and %u more", best->tied - shown);
    }
}

static void write_value(const struct kvc_best *best, FILE *out)
{
    fprintf(out, "%.4g", best->value);
    if (isfinite(best->half_width) && best->half_width > 0) {
        fprintf(out, " +- %.2g", best->half_width);
    }
    fprintf(out, " %s%s", best->by->unit, best->by_closed_form ? " by closed form" : "");
}

void kvc_best_write(const struct kvc_best *best, const char *values, FILE *out)
{
    if (best->candidates == 0) {
        fputs(best->judged ? "best: none, because no point is known to meet the slo\n" : "", out);
        return;
    }
    if (best->tied == 0) {
        fprintf(out, "best: not known, because no point has a value for its %s\n", best->by->label);
        return;
    }
    if (best->tied == 1) {
        fprintf(out, "best: point %u with %s %s of ", best->leader,
                best->by->highest ? "the highest" : "the lowest", best->by->label);
        write_value(best, out);
        fprintf(out, " (%s)", values);
    } else {
        fprintf(out, "best: no difference in %s between points ", best->by->label);
        write_points(best, out);
        fprintf(out, ": point %u has ", best->leader);
        write_value(best, out);
        if (best->without_interval > 0) {
            fprintf(out, "; %u without an interval, which replicas give", best->without_interval);
        }
    }
    if (best->left_out > 0) {
        fprintf(out, "; %u left out for want of that value", best->left_out);
    }
    fputc('\n', out);
}

void kvc_best_write_json(const struct kvc_best *best, FILE *out)
{
    json_t *object = json_object(), *points = json_array();
    for (uint32_t i = 0; i < best->tied && i < KVC_BEST_SHOWN; i++) {
        json_array_append_new(points, kvc_json_count(best->point[i]));
    }
    bool known = best->tied > 0, has_interval = known && !best->by_closed_form && isfinite(best->half_width);
    json_object_set_new(object, "by", kvc_json_text(kvc_row_kinds[best->by->column].name));
    json_object_set_new(object, "highest", json_boolean(best->by->highest));
    json_object_set_new(object, "value", kvc_json_number(known ? best->value : NAN));
    json_object_set_new(object, "ci95", kvc_json_number(has_interval ? best->half_width : NAN));
    json_object_set_new(object, "tied", kvc_json_count(best->tied));
    json_object_set_new(object, "points", points);
    json_object_set_new(object, "left_out", kvc_json_count(best->left_out));
    json_dumpf(object, out, JSON_REAL_PRECISION(KVC_JSON_DIGITS));
    json_decref(object);
}
