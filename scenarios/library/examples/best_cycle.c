/* Finds the cycle of Mega-KV at which a node serves most with a 99th percentile of 400 us, by 320
 * predictions. Usage: best_cycle SCENARIO.lua. Build: cc best_cycle.c $(pkg-config --cflags --libs kvcast) */
#include <kvcast.h>
#include <stdio.h>
#include <stdlib.h>

static struct kvcast *scenario;

static void must(int status)
{
    if (status != 0) {
        fprintf(stderr, "%s\n", kvcast_error(scenario));
        exit(status);
    }
}

static void set(const char *option, const char *format, double number)
{
    char text[32];
    snprintf(text, sizeof(text), format, number);
    must(kvcast_set(scenario, option, text));
}

/* Returns the 99th percentile of the latency [us]; NaN where the store does not serve the load. */
static double p99_us(double cycle_us, double mops)
{
    double value;
    set("system.cycle", "%.6gus", cycle_us);
    set("workload.arrival.poisson_mops", "%.6g", mops);
    must(kvcast_predict(scenario));
    must(kvcast_get(scenario, "latency_us.percentiles[p=0.99].us", &value));
    return value;
}

int main(int argc, char **argv)
{
    double best_mops = 0, best_us = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s SCENARIO.lua\n", argv[0]);
        return 2;
    }
    must(kvcast_open(argv[1], &scenario));
    for (double cycle_us = 100; cycle_us < 300; cycle_us += 10) {
        double low = 1, high = 200;
        for (int i = 0; i < 16; i++) {
            double middle = (low + high) / 2;
            *(p99_us(cycle_us, middle) <= 400 ? &low : &high) = middle;
        }
        if (low >= best_mops) {
            best_mops = low;
            best_us = cycle_us;
        }
    }
    printf("cycle %g us: %.2f million requests/s\n", best_us, best_mops);
    kvcast_free(scenario);
    return 0;
}
