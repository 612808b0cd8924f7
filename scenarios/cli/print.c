#include "scenarios/cli/print.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

void kvc_grid_add_number(struct kvc_grid *grid, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof(text), format, value);
    kvc_grid_add(grid, isnan(value) ? "-" : text);
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

static const double first_after_s = 0.9, between_s = 0.1, lines_apart_most_s = 10;

/* Writes the time that is left at the present rate, or nothing if that is unknown. */
static const char *describe_left(const struct kvc_progress_bar *bar, double now_s, char text[32])
{
    double rate = (bar->fraction - bar->step_fraction) / (now_s - bar->step_s);
    text[0] = '\0';
    if (rate > 0) {
        long left_s = lrint(fmin((1 - bar->fraction) / rate, 1e8));
        snprintf(text, 32, "%ld:%02ld left", left_s / 60, left_s % 60);
    }
    return text;
}

static void draw_bar(const struct kvc_progress_bar *bar, double now_s)
{
    char cells[WIDTH + 1];
    int full = (int)lrint(bar->fraction * WIDTH);
    for (int i = 0; i < WIDTH; i++) {
        cells[i] = i < full ? '#' : '.';
    }
    cells[WIDTH] = '\0';
    char left[32];
    fprintf(stderr, "\r\033[K%s%-24s%s [%s] %5.1f %%  %s", bar->color ? "\033[1m" : "", bar->step,
            bar->color ? "\033[0m" : "", cells, 100 * bar->fraction, describe_left(bar, now_s, left));
    fflush(stderr);
}

/* Draws unless it is too early for that. */
static void draw_if_due(struct kvc_progress_bar *bar)
{
    double now_s = kvc_clock_wall_s(), elapsed_s = now_s - bar->started_s;
    double drawn_after_s = bar->drawn_s - bar->started_s;
    bool is_first = bar->drawn_s <= 0;
    if (elapsed_s < first_after_s || now_s <= bar->step_s || bar->over ||
        (!is_first &&
         elapsed_s < (bar->terminal ? drawn_after_s + between_s
                                    : drawn_after_s + fmin(drawn_after_s, lines_apart_most_s)))) {
        return;
    }
    if (bar->terminal) {
        draw_bar(bar, now_s);
        bar->visible = true;
    } else {
        char left[32];
        const char *text = describe_left(bar, now_s, left);
        fprintf(stderr, "kvcast: after %.1f s: %s, %.1f %%%s%s\n", elapsed_s, bar->step, 100 * bar->fraction,
                text[0] != '\0' ? ", " : "", text);
    }
    bar->drawn_s = now_s;
}

static void erase(struct kvc_progress_bar *bar)
{
    if (bar->visible) {
        fputs("\r\033[K", stderr);
    }
    bar->visible = false;
    bar->over = true;
}

static void report(void *data, const char *step, double fraction)
{
    struct kvc_progress_bar *bar = data;
    pthread_mutex_lock(&bar->mutex);
    fraction = fmin(fmax(fraction, 0), 1);
    if (strncmp(bar->step, step, sizeof(bar->step) - 1) != 0 && fraction <= bar->step_fraction) {
        bar->step_s = kvc_clock_wall_s();
        bar->step_fraction = fraction;
    }
    snprintf(bar->step, sizeof(bar->step), "%s", step);
    bar->fraction = fraction;
    if (step[0] == '\0') {
        erase(bar);
    } else {
        draw_if_due(bar);
    }
    pthread_mutex_unlock(&bar->mutex);
}

/* Draws while the work reports nothing. */
static void *ticker_main(void *data)
{
    struct kvc_progress_bar *bar = data;
    pthread_mutex_lock(&bar->mutex);
    bar->ticks = true;
    pthread_cond_signal(&bar->changed);
    while (!bar->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(between_s * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&bar->changed, &bar->mutex, &until);
        draw_if_due(bar);
    }
    pthread_mutex_unlock(&bar->mutex);
    return NULL;
}

/* Starts the ticker, which handles no signals. Without it, only reports draw. */
static void start_ticker(struct kvc_progress_bar *bar)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&bar->ticker, NULL, ticker_main, bar) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* A thread that begins may hold a lock of the allocator, which a child forked then would wait for. */
    pthread_mutex_lock(&bar->mutex);
    while (started && !bar->ticks) {
        pthread_cond_wait(&bar->changed, &bar->mutex);
    }
    pthread_mutex_unlock(&bar->mutex);
}

const struct kvc_progress *kvc_progress_bar_open(struct kvc_progress_bar *bar, bool quiet)
{
    double now_s = kvc_clock_wall_s();
    *bar = (struct kvc_progress_bar){.started_s = now_s,
                                     .step_s = now_s,
                                     .step = "prepare",
                                     .terminal = isatty(STDERR_FILENO),
                                     .color = kvc_table_color(stderr),
                                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                                     .changed = PTHREAD_COND_INITIALIZER};
    if (quiet) {
        return NULL;
    }
    bar->progress = (struct kvc_progress){.report = report, .data = bar};
    start_ticker(bar);
    return &bar->progress;
}

void kvc_progress_bar_close(struct kvc_progress_bar *bar)
{
    pthread_mutex_lock(&bar->mutex);
    erase(bar);
    pthread_cond_signal(&bar->changed);
    pthread_mutex_unlock(&bar->mutex);
    if (bar->ticks) {
        pthread_join(bar->ticker, NULL);
    }
}
