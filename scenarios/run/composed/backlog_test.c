/* Saturating clients that see how much waits in front of a store (system.backlog). */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/run/composed/composition_fixture.h"
#include "scenarios/run/laws_fixture.h"

/* Answers a store with two pipelines. */
static struct kvc_outcome *answer(const char *options, const char *stages, const char *arrival, bool predict)
{
    return kvc_laws_answer(
        kvc_laws_load("return { system = { kind = 'composed', pipelines = 2, spread = 'turns', %s,\n"
                      "stages = { %s } }, node = { sockets = 1, nic = { base = 'x520-t2', ports = 1 } },\n"
                      "workload = { keys = 1e4, key = 200, value = 8, per_frame = 1, arrival = %s },\n"
                      "run = { duration = '4ms', warmup = '1ms' } }\n",
                      options, stages, arrival),
        predict);
}

static double value_of(const char *options, const char *stages, const char *arrival, const char *name)
{
    struct kvc_outcome *ran = answer(options, stages, arrival, false);
    double value = kvc_laws_value(ran, name);
    kvc_outcome_free(ran);
    return value;
}

static const char all[] = "'saturate'", rare[] = "{ fixed_mops = 0.1 }", mean[] = "latency_mean_us",
                  rate[] = "throughput_mops", core[] = "{ name = 'a', on = 'cpu', ns = 1000 }",
                  ports[] = "{ name = 'receive', on = 'nic.rx' }, { name = 'a', on = 'cpu', ns = 300 }";

/* A frame takes longer than in an idle store by those that its client found, and the one in service. */
Test(composition_backlog, is_what_a_frame_waits_for)
{
    double idle_us = value_of("backlog = 1", core, rare, mean);
    double one_us = value_of("backlog = 1", core, all, mean),
           five_us = value_of("backlog = 5", core, all, mean),
           mops = value_of("backlog = 1", core, all, rate);
    cr_expect_float_eq(one_us, idle_us + 1, 1e-2, "%g us, %g in an idle store", one_us, idle_us);
    cr_expect_float_eq(five_us, idle_us + 5, 1e-2, "%g us, %g in an idle store", five_us, idle_us);
    cr_expect_float_eq(mops, 2, 1e-2, "%g Mops", mops);
}

/* Clients send no more than they may have in flight. */
Test(composition_backlog, counts_within_the_requests_in_flight)
{
    double us = value_of("backlog = 500, outstanding = 20", core, all, mean);
    cr_expect_float_eq(us, 20 / 2.0, 1e-2, "%g us", us);
}

/* No frame waits for a port that limits the store and never rests: an answer takes as long as in an idle
 * store. */
Test(composition_backlog, leaves_ports_without_a_queue)
{
    double idle_us = value_of("backlog = 1", ports, rare, mean),
           us = value_of("backlog = 1", ports, all, mean),
           blind_us = value_of("outstanding = 64", ports, all, mean);
    double mops = value_of("backlog = 1", ports, all, rate),
           blind_mops = value_of("outstanding = 64", ports, all, rate);
    cr_expect_float_eq(us, idle_us, 1e-2 * idle_us, "%g us, %g in an idle store", us, idle_us);
    cr_expect_gt(blind_us, 2 * idle_us);
    cr_expect_float_eq(mops, blind_mops, 1e-3 * mops, "%g Mops, %g with a queue", mops, blind_mops);
}

/* Returns the throughput of a random composition whose clients let `backlog` frames wait, or NaN if that is
 * refused. */
static double random_mops(uint64_t seed, unsigned backlog)
{
    static const struct kvc_composition_use use = {"'saturate'", 2e3, 1, 1};
    static const char format[] = "local s = (function() %s end)()\ns.system.backlog = %u\nreturn s\n";
    char text[KVC_COMPOSITION_BYTES], looks[KVC_COMPOSITION_BYTES + sizeof(format)];
    struct kvc_diag diag = {0};
    kvc_composition_write(seed, &use, text);
    snprintf(looks, sizeof(looks), format, text, backlog);
    struct kvc_loaded *loaded = kvc_laws_try(looks, &diag);
    if (loaded == NULL) {
        cr_expect_not_null(strstr(diag.message, "system.backlog"), "%s", diag.message);
        return NAN;
    }
    struct kvc_outcome *ran = kvc_laws_answer(loaded, false);
    double mops = kvc_outcome_value(ran, 0, rate);
    kvc_outcome_free(ran);
    return mops;
}

/* Random stores serve as much as with clients that do not look, as long as enough waits in front of them. */
Test(composition_backlog, leaves_random_stores_their_capacity)
{
    enum { SEEDS = 30 };
    uint32_t compared = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double mops = random_mops(seed, 64), blind_mops = random_mops(seed, 0);
        compared += mops > 0;
        cr_expect(!(mops < 0.9 * blind_mops), "seed %u: %g Mops, %g without", (unsigned)seed, mops,
                  blind_mops);
    }
    cr_expect_gt(compared, SEEDS / 2);
}

/* The closed form does not know how many requests are in flight, and says so. */
Test(composition_backlog, is_left_out_by_the_closed_form)
{
    struct kvc_outcome *predicted = answer("backlog = 1", core, all, true);
    cr_expect(isnan(predicted->result.predicted.mean_us));
    cr_expect_not_null(strstr(predicted->result.latency_assumes, "system.backlog"));
    cr_expect_float_eq(predicted->result.throughput_mops, 2, 0.05);
    kvc_outcome_free(predicted);
}

/* Clients choose the pipeline, and the first stage has a queue. */
Test(composition_backlog, needs_a_queue_that_clients_choose)
{
    kvc_laws_refuse("system = { kind = 'composed', pipelines = 2, spread = 'keys', backlog = 1,\n"
                    "stages = { { name = 'a', on = 'cpu', ns = 1 } } },\n"
                    "workload = { keys = 1e4, per_frame = 1 }, run = { duration = '1ms' }",
                    "system.backlog: found 1 with spread = \"keys\"");
    kvc_laws_refuse(
        "system = { kind = 'composed', backlog = 2,\n"
        "stages = { { name = 'far', on = 'node', ns = 100 }, { name = 'a', on = 'cpu', ns = 1 } } },\n"
        "workload = { keys = 1e4 }, run = { duration = '1ms' }",
        "system.backlog: found 2, allowed: 0, because \"far\" takes all requests at once");
}
