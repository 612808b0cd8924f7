#include "scenarios/cli/print.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/output/table.h"
#include "sim/base/array.h"
#include "sim/base/clock.h"
#include "sim/base/files/partial_file.h"

enum { COLUMNS_MAX = 16 };

void kvc_grid_add(struct kvc_grid *grid, const char *text)
{
    grid->cell = kvc_array_grown(grid->cell, grid->count + 1, sizeof(*grid->cell));
    grid->cell[grid->count++] = kvc_array_of_text(text);
}

void kvc_grid_print(struct kvc_grid *grid, int indent, FILE *out)
{
    int width[COLUMNS_MAX] = {0};
    for (size_t i = 0; i < grid->count; i++) {
        int bytes = (int)strlen(grid->cell[i]);
        int *column = &width[i % grid->columns];
        *column = bytes > *column ? bytes : *column;
    }
    for (size_t i = 0; i < grid->count; i++) {
        size_t column = i % grid->columns;
        bool last = column + 1 == grid->columns;
        fprintf(out, "%*s%-*s%s", column == 0 ? indent : 2, "", last ? 0 : width[column], grid->cell[i],
                last ? "\n" : "");
        free(grid->cell[i]);
    }
    free(grid->cell);
    grid->cell = NULL;
    grid->count = 0;
}

int kvc_print_failure(const struct kvc_diag *diag)
{
    fputs("kvcast: ", stderr);
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
    return diag->status;
}

static enum kvc_status put_json(const json_t *document, FILE *out, const char *name, struct kvc_diag *diag)
{
    if (json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0 || fputc('\n', out) == EOF) {
        return kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, name, 0, "cannot be written: %s", strerror(errno));
    }
    return KVC_OK;
}

static enum kvc_status write_json(const json_t *document, const char *destination, struct kvc_diag *diag)
{
    struct kvc_partial_file file = {0};
    if (strcmp(destination, "-") == 0) {
        return put_json(document, stdout, "stdout", diag);
    }
    enum kvc_status status = kvc_partial_file_open(&file, destination, diag);
    if (status == KVC_OK) {
        status = put_json(document, file.file, destination, diag);
    }
    if (status == KVC_OK) {
        status = kvc_partial_file_commit(&file, diag);
    }
    kvc_partial_file_discard(&file);
    return status;
}

int kvc_print_json(json_t *document, const char *destination)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = write_json(document, destination, &diag);
    json_decref(document);
    return status == KVC_OK ? KVC_OK : kvc_print_failure(&diag);
}

void kvc_print_warning(const struct kvc_diag *diag)
{
    fputs("kvcast: warning: ", stderr);
    kvc_diag_print(diag, stderr);
    fputc('\n', stderr);
}

void kvc_print_warnings(const struct kvc_loaded *loaded)
{
    for (uint32_t i = 0; i < loaded->warning_count; i++) {
        fprintf(stderr, "kvcast: warning: %s\n", loaded->warning[i]);
    }
}

enum { WIDTH = 28 };

static const double first_after_s = 1, between_s = 0.1;

static void draw(struct kvc_progress_bar *bar, double fraction, double now_s)
{
    char cells[WIDTH + 1];
    int full = (int)lrint(fraction * WIDTH);
    for (int i = 0; i < WIDTH; i++) {
        cells[i] = i < full ? '#' : '.';
    }
    cells[WIDTH] = '\0';
    double rate = (fraction - bar->step_fraction) / (now_s - bar->step_s);
    fprintf(stderr, "\r\033[K%s%-24s%s [%s] %5.1f %%", bar->color ? "\033[1m" : "", bar->step,
            bar->color ? "\033[0m" : "", cells, 100 * fraction);
    if (rate > 0) {
        long left_s = lrint((1 - fraction) / rate);
        fprintf(stderr, "  %.3g %%/s  %ld:%02ld left", 100 * rate, left_s / 60, left_s % 60);
    }
    fflush(stderr);
    bar->visible = true;
    bar->drawn_s = now_s;
}

static void report(void *data, const char *step, double fraction)
{
    struct kvc_progress_bar *bar = data;
    double now_s = kvc_clock_wall_s();
    fraction = fmin(fmax(fraction, 0), 1);
    if (strncmp(bar->step, step, sizeof(bar->step) - 1) != 0 && fraction <= bar->step_fraction) {
        bar->step_s = now_s;
        bar->step_fraction = fraction;
    }
    snprintf(bar->step, sizeof(bar->step), "%s", step);
    if (now_s - bar->started_s >= first_after_s && now_s - bar->drawn_s >= between_s && now_s > bar->step_s) {
        draw(bar, fraction, now_s);
    }
}

const struct kvc_progress *kvc_progress_bar_open(struct kvc_progress_bar *bar, bool quiet)
{
    double now_s = kvc_clock_wall_s();
    *bar = (struct kvc_progress_bar){.started_s = now_s, .step_s = now_s, .color = kvc_table_color(stderr)};
    bar->progress = (struct kvc_progress){.report = report, .data = bar};
    return !quiet && isatty(STDERR_FILENO) ? &bar->progress : NULL;
}

void kvc_progress_bar_close(struct kvc_progress_bar *bar)
{
    if (bar->visible) {
        fputs("\r\033[K", stderr);
    }
    bar->visible = false;
}
