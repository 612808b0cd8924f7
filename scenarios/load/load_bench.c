/* Measures how many scenarios a second one core loads, again and again in one process, as a fuzzer or a sweep
 * does.
 *
 *   load_bench SCENARIO.lua...
 *
 * Prints the median of 20 rounds for each file. A round lasts at least 50 ms and counts processor time, so
 * that other work on the machine does not matter. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scenarios/load/load.h"

enum { ROUNDS = 20 };

static const double round_s = 0.05;

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Loads the file for one round. Returns the loads per second, or a negative number if it cannot be loaded. */
static double load_round(const char *file, struct kvc_diag *diag)
{
    double start_s = processor_s(), now_s = start_s;
    uint32_t loads = 0;
    for (; now_s - start_s < round_s; now_s = processor_s()) {
        struct kvc_loaded *loaded;
        if (kvc_scenario_load(file, NULL, &loaded, diag) != KVC_OK) {
            return -1;
        }
        kvc_loaded_free(loaded);
        loads++;
    }
    return loads / (now_s - start_s);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        double rate[ROUNDS];
        struct kvc_diag diag = {0};
        for (int j = 0; j < ROUNDS; j++) {
            rate[j] = load_round(argv[i], &diag);
            if (rate[j] < 0) {
                fprintf(stderr, "load_bench: %s:%d: %s\n", diag.file, diag.line, diag.message);
                return 2;
            }
        }
        qsort(rate, ROUNDS, sizeof(*rate), compare);
        printf("%-44s %8.0f loads/s\n", argv[i], (rate[ROUNDS / 2 - 1] + rate[ROUNDS / 2]) / 2);
    }
    return 0;
}
