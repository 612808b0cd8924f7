#include <criterion/criterion.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/metrics/queueing.h"

/* Enough requests that the mean wait at 80 % load is within a few percent: its samples are correlated over about
 * 1/(1 - load)^2 requests. */
enum { REQUESTS = 1000000, CHUNK = 4096 };

struct station {
    uint32_t servers;
    double load;  /* offered, per server */
    bool fixed;   /* all services take equally long; else exponential */
    double *ready, *service, *done;
    double wait;  /* mean, in mean services */
    double in_system; /* time average of the number in the station */
    double busy;  /* share of the servers' time */
    double throughput;
};

static double mean_wait(const struct station *station)
{
    double sum = 0;
    for (uint32_t i = 0; i < REQUESTS; i++)
        sum += station->done[i] - station->service[i] - station->ready[i];
    return sum / REQUESTS;
}

/* Time average of the number in the station, from sorted arrivals and departures alone. */
static double mean_in_system(const struct station *station, double end)
{
    double *left = malloc(REQUESTS * sizeof *left), area = 0, before = 0;
    uint32_t arrived = 0, gone = 0;
    cr_assert_not_null(left);
    for (uint32_t i = 0; i < REQUESTS; i++)
        left[i] = station->done[i];
    gsl_sort(left, 1, REQUESTS);
    while (gone < REQUESTS) {
        bool arrival = arrived < REQUESTS && station->ready[arrived] <= left[gone];
        double now = arrival ? station->ready[arrived] : left[gone];
        area += (now - before) * (arrived - gone);
        before = now;
        if (arrival)
            arrived++;
        else
            gone++;
    }
    free(left);
    return area / end;
}

static void simulate(struct station *station, uint64_t seed)
{
    struct kvc_rng arrivals, services;
    double now = 0, end = 0, work = 0, *free_at = calloc(station->servers, sizeof *free_at);
    station->ready = malloc(REQUESTS * sizeof(double));
    station->service = malloc(REQUESTS * sizeof(double));
    station->done = malloc(REQUESTS * sizeof(double));
    cr_assert(free_at != NULL && station->ready != NULL && station->service != NULL && station->done != NULL);
    kvc_rng_init(&arrivals, seed, "arrivals", 0);
    kvc_rng_init(&services, seed, "services", 0);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        now += kvc_rng_exponential(&arrivals, 1 / (station->load * station->servers));
        station->ready[i] = now;
        station->service[i] = station->fixed ? 1 : kvc_rng_exponential(&services, 1);
        work += station->service[i];
    }
    for (uint32_t i = 0; i < REQUESTS; i += CHUNK) {
        uint32_t count = REQUESTS - i < CHUNK ? REQUESTS - i : CHUNK;
        if (station->servers == 1)
            end = free_at[0] = kvc_fifo_serve(free_at[0], station->ready + i, station->service + i, count,
                                              station->done + i);
        else
            end = fmax(end, kvc_multiserver_serve(free_at, station->servers, station->ready + i,
                                                  station->service + i, count, station->done + i));
    }
    free(free_at);
    station->wait = mean_wait(station);
    station->in_system = mean_in_system(station, end);
    station->busy = work / (end * station->servers);
    station->throughput = REQUESTS / end;
}

static void finish(struct station *station)
{
    free(station->ready);
    free(station->service);
    free(station->done);
}

/* Probability of waiting with c servers at load a = c * rho (Erlang's second formula). */
static double erlang_c(uint32_t servers, double load)
{
    double a = load * servers, term = 1, sum = 0;
    for (uint32_t k = 0; k < servers; k++) {
        sum += term;
        term *= a / (k + 1);
    }
    return term / (1 - load) / (sum + term / (1 - load));
}

/* What holds at every station, whatever the distributions. */
static void expect_laws(const struct station *station)
{
    cr_expect_leq(station->busy, 1);
    cr_expect_float_eq(station->busy, station->load, 0.01, "busy %g at load %g", station->busy, station->load);
    double little = station->throughput * (station->wait + (station->busy * station->servers) / station->throughput);
    cr_expect_float_eq(station->in_system, little, 1e-9 * little, "%g in the system, Little says %g",
                       station->in_system, little);
    for (uint32_t i = 0; i < REQUESTS; i++)
        cr_assert_geq(station->done[i] - station->ready[i], station->service[i] * (1 - 1e-9) - 1e-9);
}

Test(queueing, m_m_1)
{
    static const double loads[] = {0.2, 0.5, 0.8};
    for (int i = 0; i < 3; i++) {
        struct station station = {.servers = 1, .load = loads[i]};
        simulate(&station, 11 + i);
        double theory = loads[i] / (1 - loads[i]);
        cr_expect_float_eq(station.wait, theory, 0.04 * theory, "waits %g, theory %g", station.wait, theory);
        expect_laws(&station);
        finish(&station);
    }
}

/* Pollaczek-Khinchine: half the wait of M/M/1. */
Test(queueing, m_d_1)
{
    static const double loads[] = {0.2, 0.5, 0.8};
    for (int i = 0; i < 3; i++) {
        struct station station = {.servers = 1, .load = loads[i], .fixed = true};
        simulate(&station, 21 + i);
        double theory = loads[i] / (2 * (1 - loads[i]));
        cr_expect_float_eq(station.wait, theory, 0.03 * theory, "waits %g, theory %g", station.wait, theory);
        expect_laws(&station);
        finish(&station);
    }
}

Test(queueing, m_m_c)
{
    static const uint32_t servers[] = {2, 5, 16};
    for (int i = 0; i < 3; i++) {
        struct station station = {.servers = servers[i], .load = 0.8};
        simulate(&station, 31 + i);
        double theory = erlang_c(servers[i], 0.8) / (servers[i] * (1 - 0.8));
        cr_expect_float_eq(station.wait, theory, 0.05 * theory, "%u servers: waits %g, theory %g", servers[i],
                           station.wait, theory);
        expect_laws(&station);
        finish(&station);
    }
}

Test(queueing, several_servers_with_one_are_one)
{
    struct kvc_rng rng;
    double ready[1000], service[1000], one[1000], several[1000], free_at[1] = {5}, now = 0;
    kvc_rng_init(&rng, 3, "test", 0);
    for (int i = 0; i < 1000; i++) {
        ready[i] = now += kvc_rng_unit(&rng);
        service[i] = kvc_rng_unit(&rng);
    }
    double last = kvc_fifo_serve(5, ready, service, 1000, one);
    cr_expect_eq(kvc_multiserver_serve(free_at, 1, ready, service, 1000, several), last);
    cr_expect_eq(free_at[0], last);
    cr_expect_arr_eq(one, several, sizeof one);
}

/* Against the definition: search for the earliest server each time. */
Test(queueing, several_servers_against_a_plain_search)
{
    enum { SERVERS = 7, COUNT = 5000 };
    struct kvc_rng rng;
    static double ready[COUNT], service[COUNT], done[COUNT];
    double free_at[SERVERS], plain[SERVERS], now = 0;
    kvc_rng_init(&rng, 4, "test", 0);
    for (int i = 0; i < SERVERS; i++)
        free_at[i] = plain[i] = i;
    for (int i = 0; i < COUNT; i++) {
        ready[i] = now += kvc_rng_unit(&rng);
        service[i] = kvc_rng_exponential(&rng, 3);
    }
    for (uint32_t i = 0; i < COUNT; i += 100)
        kvc_multiserver_serve(free_at, SERVERS, ready + i, service + i, 100, done + i);
    for (int i = 0; i < COUNT; i++) {
        int first = 0;
        for (int j = 1; j < SERVERS; j++)
            if (plain[j] < plain[first])
                first = j;
        plain[first] = fmax(plain[first], ready[i]) + service[i];
        cr_assert_eq(done[i], plain[first], "request %d", i);
    }
    gsl_sort(free_at, 1, SERVERS);
    gsl_sort(plain, 1, SERVERS);
    cr_expect_arr_eq(free_at, plain, sizeof plain);
}

Test(queueing, works_in_place_and_on_nothing)
{
    double ready[] = {0, 1, 10}, service[] = {4, 4, 4}, done[3], free_at[] = {0, 0};
    kvc_fifo_serve(2, ready, service, 3, done);
    cr_expect_eq(done[0], 6);
    cr_expect_eq(done[1], 10);
    cr_expect_eq(done[2], 14);
    kvc_fifo_serve(2, ready, service, 3, ready);
    cr_expect_arr_eq(ready, done, sizeof done);
    cr_expect_eq(kvc_fifo_serve(7, NULL, NULL, 0, NULL), 7);
    cr_expect_eq(kvc_multiserver_serve(free_at, 2, NULL, NULL, 0, NULL), -INFINITY);
}
