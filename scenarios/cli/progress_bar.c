#include "scenarios/cli/progress_bar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/output/table.h"
#include "sim/base/clock.h"

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
