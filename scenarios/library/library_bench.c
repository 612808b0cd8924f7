/* Predictions per second of the library while plain options change: the cycle of Mega-KV, or the load, or
 * both. Usage: scenarios_library_bench [SCENARIO.lua] */
#include <kvcast.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/clock.h"

enum { PREDICTIONS = 50000 };

static struct kvcast *scenario;

static void must(int status)
{
    if (status != 0) {
        fprintf(stderr, "%s\n", kvcast_error(scenario));
        exit(status);
    }
}

static void predict(int number, int cycle, int load)
{
    char text[32];
    double part = number * 0.6180339887 - (int)(number * 0.6180339887), value;
    snprintf(text, sizeof(text), "%.6gus", 160 + 100 * part);
    if (cycle) {
        must(kvcast_set(scenario, "system.cycle", text));
    }
    snprintf(text, sizeof(text), "%.6g", 10 + 80 * part);
    if (load) {
        must(kvcast_set(scenario, "workload.arrival.poisson_mops", text));
    }
    must(kvcast_predict(scenario));
    must(kvcast_get(scenario, "latency_us.percentiles[p=0.99].us", &value));
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"", "system.cycle", "workload.arrival.poisson_mops", "both"};
    for (int changes = 1; changes < 4; changes++) {
        must(kvcast_open(argc > 1 ? argv[1] : "scenarios/examples/first.lua", &scenario));
        double start_s = 0;
        for (int i = -100; i < PREDICTIONS; i++) { /* The first ones find out what is plain. */
            start_s = i == 0 ? kvc_clock_wall_s() : start_s;
            predict(i + 100, changes & 1, changes & 2);
        }
        double took_s = kvc_clock_wall_s() - start_s;
        printf("%-30s %8.0f predictions/s, %.1f us each\n", names[changes], PREDICTIONS / took_s,
               1e6 * took_s / PREDICTIONS);
        kvcast_free(scenario);
    }
    return 0;
}
