/* What composed stores do at the same time, and in which order. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "scenarios/run/laws_fixture.h"

/* Simulates a store of these stages between the ports, whose clients send `mops` requests of `workload`. */
static struct kvc_outcome *answer(const char *system, const char *stages, const char *workload, double mops)
{
    return kvc_laws_answer(kvc_laws_load("return { system = { kind = 'composed', %s stages = {\n"
                                         "  { name = 'receive', on = 'nic.rx' },\n%s\n"
                                         "  { name = 'send', on = 'nic.tx' } } },\n"
                                         "node = { sockets = 1, gpu = 'h200' }, workload = { keys = 1e4, %s\n"
                                         "  arrival = { poisson_mops = %g } },\n"
                                         "run = { duration = '4ms', warmup = '1ms' } }\n",
                                         system, stages, workload, mops),
                           false);
}

static double value_of(const char *system, const char *stages, const char *workload, double mops,
                       const char *value)
{
    struct kvc_outcome *ran = answer(system, stages, workload, mops);
    double found = kvc_laws_value(ran, value);
    kvc_outcome_free(ran);
    return found;
}

/* A job takes as long as the slowest of the stages beside each other that work for it. */
Test(composition_order, waits_for_the_slowest_of_stages_beside_each_other)
{
    static const char
        end[] = "{ name = 'z', on = 'cpu', ns = 10 },",
        *loads[] = {"get = 1, set = 0, per_frame = 1,", "get = 0, set = 1, per_frame = 1,"},
        *slowest[] = {"{ name = 'a', on = 'cpu', ns = 700 },", "{ name = 'a', on = 'cpu', ns = 900 },"},
        *beside =
            "{ name = 'a', on = 'cpu', ns = 500 }, { name = 'b', on = 'cpu', ns = 700, beside = 'a' },\n"
            "{ name = 'c', on = 'cpu', ns = 900, beside = 'a', of = 'set' },";
    for (size_t i = 0; i < 2; i++) {
        char all[512], one[512];
        snprintf(all, sizeof(all), "%s %s", beside, end);
        snprintf(one, sizeof(one), "%s %s", slowest[i], end);
        double expected = value_of("", one, loads[i], 0.1, "latency_min_us"),
               found = value_of("", all, loads[i], 0.1, "latency_min_us");
        cr_expect_float_eq(found, expected, 1e-3, "%.6g us, %.6g for the slowest one", found, expected);
    }
}

/* A batch in front of the port holds the responses of all branches until it closes. Most requests are the
 * first ones of their batch. */
Test(composition_order, waits_for_batches_in_front_of_the_port)
{
    static const char *stages = "{ name = 'a', on = 'cpu', ns = 10, when = 'get' },";
    double us = value_of("batch = { before = 'send', timeout = '50us' },", stages,
                         "get = 0.5, set = 0.5, per_frame = 1,", 0.01, "latency_p50_us");
    cr_expect_geq(us, 50, "%.6g us", us);
}

/* Points on a straight line are a time for a batch and one for each of its requests, also beyond the last
 * point; jobs smaller than the first point take its time. */
Test(composition_order, takes_times_between_the_points_of_a_curve)
{
    static const char *frames[] = {"per_frame = 4, fill = 'at_once',", "per_frame = 32, fill = 'at_once',",
                                   "per_frame = 8, fill = 'at_once',"},
                      *sums = "{ name = 'a', on = 'cpu', ns = 10, work = { { ns = 100, per = 'batch' } } },",
                      *curve = "{ name = 'a', on = 'cpu', curve = { { requests = 4, ns = 140 },\n"
                               "  { requests = 6, ns = 160 }, { requests = 16, ns = 260 } } },",
                      *first = "{ name = 'a', on = 'cpu', curve = { { requests = 8, ns = 180 },\n"
                               "  { requests = 9, ns = 300 } } },";
    for (size_t i = 0; i < 3; i++) {
        double expected = value_of("", sums, frames[i], 1, "latency_mean_us"),
               found = value_of("", i < 2 ? curve : first, frames[i], 1, "latency_mean_us");
        cr_expect_float_eq(found, expected, 1e-6 * expected, "%.9g us, %.9g by sums", found, expected);
    }
}

/* A pipeline with short kernels waits for one with long kernels, whose keys are more popular. */
Test(composition_order, waits_for_the_kernels_of_all_pipelines)
{
    const char *system = "pipelines = 2, spread = 'keys', batch = { every = '100us' },",
               *apart = "{ name = 'k', on = 'gpu', ns = 20 }, { name = 'a', on = 'cpu', ns = 1 },",
               *together =
                   "{ name = 'k', on = 'gpu', ns = 20 }, { name = 'a', on = 'cpu', ns = 1, after = 'k' },";
    double before = value_of(system, apart, "per_frame = 1, dist = { zipf = 1.2 },", 10, "latency_mean_us"),
           after = value_of(system, together, "per_frame = 1, dist = { zipf = 1.2 },", 10, "latency_mean_us");
    cr_expect(after > 1.01 * before, "%.4g us, and %.4g if kernels wait", before, after);
    cr_expect(after < 1.2 * before, "%.4g us, and %.4g if kernels wait", before, after);
}

/* Keys are skewed, and each pipeline has its own. */
Test(composition_order, steals_from_busy_pipelines)
{
    const char *system = "pipelines = 4, spread = 'keys',",
               *skewed = "per_frame = 1, dist = { zipf = 0.99 },",
               *apart = "{ name = 'a', on = 'cpu', ns = 500 },",
               *steals = "{ name = 'a', on = 'cpu', ns = 500, steal = '50ns' },";
    double before = value_of(system, apart, skewed, 5, "latency_mean_us"),
           after = value_of(system, steals, skewed, 5, "latency_mean_us");
    cr_expect(after < 0.8 * before, "%.4g us, and %.4g if idle cores help", before, after);
}

/* Who serves what has come furthest has fewer jobs at a time. */
Test(composition_order, serves_the_higher_priority_first)
{
    const char *
        same =
           "{ name = 'a', on = 'cpu', ns = 300, pool = 'p' }, { name = 'b', on = 'cpu', ns = 100, pool = 'p' },",
       *later = "{ name = 'a', on = 'cpu', ns = 300, pool = 'p' },\n"
                "{ name = 'b', on = 'cpu', ns = 100, pool = 'p', priority = 1 },",
       *frames = "per_frame = 1,";
    double before = value_of("", same, frames, 2.2, "latency_mean_us"),
           after = value_of("", later, frames, 2.2, "latency_mean_us");
    cr_expect(after < 0.95 * before, "%.4g us, and %.4g with priority", before, after);
}

/* A multiget is one frame, whose requests are answered together. */
Test(composition_order, answers_multigets_with_their_last_request)
{
    struct kvc_outcome *ran = answer("", "{ name = 'a', on = 'cpu', cores = 4, ns = 500 },",
                                     "get = 1, set = 0, multiget = 8, per_frame = 8,", 4);
    double each_us = kvc_laws_value(ran, "latency_mean_us");
    double all_us = kvc_metrics_get(&ran->result.model, "multiget_mean_us");
    cr_expect(fabs(all_us - each_us) <= 0.02 * each_us, "%.6g us, multigets %.6g us", each_us, all_us);
    kvc_outcome_free(ran);
}

/* Nobody waits for copies in the background, which reach the other node all the same. */
Test(composition_order, copies_in_the_background)
{
    const char *local = "{ name = 'a', on = 'cpu', cores = 4, ns = 100 },",
               *waits = "{ name = 'a', on = 'cpu', cores = 4, ns = 100 },\n"
                        "{ name = 'copy', on = 'node', bytes = 64, ns = 5000 },",
               *later =
                   "{ name = 'a', on = 'cpu', cores = 4, ns = 100 },\n"
                   "{ name = 'copy', on = 'node', bytes = 64, ns = 5000, background = true, every = 4 },";
    struct kvc_outcome *none = answer("", local, "per_frame = 1,", 2),
                       *now = answer("", waits, "per_frame = 1,", 2),
                       *deferred = answer("", later, "per_frame = 1,", 2);
    double alone_us = kvc_laws_value(none, "latency_mean_us"),
           waited_us = kvc_laws_value(now, "latency_mean_us"),
           deferred_us = kvc_laws_value(deferred, "latency_mean_us");
    double copies = (double)deferred->result.stage[2].served, sent = (double)now->result.stage[2].served;
    cr_expect(waited_us > alone_us + 5, "%.4g us, %.4g with copies", alone_us, waited_us);
    cr_expect(deferred_us < 1.1 * alone_us,
              /* They share the wire. */ "%.4g us, %.4g with copies in the background", alone_us,
              deferred_us);
    cr_expect(fabs(copies - sent) <= 0.02 * sent, "%.0f copies, %.0f in the background", sent, copies);
    kvc_outcome_free(none);
    kvc_outcome_free(now);
    kvc_outcome_free(deferred);
}

/* An insert gives up after so many displacements, and its key is missing from then on. */
Test(composition_order, drops_keys_that_find_no_slot)
{
    const char *stages = "{ name = 'a', on = 'cpu', cores = 4, ns = 100, does = { 'search', 'insert' } },";
    double none = value_of("index = { kernel = 'cuckoo', size = '64KiB', max_displacements = 0 },", stages,
                           "", 2, "hit_frac"),
           all = value_of("index = { kernel = 'cuckoo', size = '64KiB', max_displacements = 200 },", stages,
                          "", 2, "hit_frac");
    cr_expect_lt(none, all - 0.01, "%.4g of the GETs hit, %.4g with displacements", none, all);
}

/* Limits and orders that have no effect, or stop the store, and how they are refused. */
static const struct {
    const char *system, *stage, *message;
} wrong[] = {
    {"", "{ name = 'a', on = 'cpu', full = 'drop' },", "system.stages.2.full: found one without a limit"},
    {"batch = { before = 'a', count = 8 },", "{ name = 'a', on = 'cpu', queue = 8 },",
     "system.stages.2.queue: found one, but batches form in front of stage \"a\""},
    {"batch = { before = 'a', while_busy = true, buffers = 1 },", "{ name = 'a', on = 'cpu' },",
     "system.batch.buffers: found 1 with while_busy, allowed: at least 2"},
    {"batch = { before = 'a', count = 8, apart = 'receive' },", "{ name = 'a', on = 'cpu' },",
     "system.batch.apart: found \"receive\", allowed: the name of a stage behind the one in front of which"},
    {"", "{ name = 'a', on = 'cpu', curve = { { requests = 8, ns = 9 }, { requests = 8, ns = 10 } } },",
     "system.stages.2.curve.2.requests: found 8, allowed: 2 points or more"},
    {"", "{ name = 'a', on = 'cpu', after = 'receive' },",
     "system.stages.2.after: found one that stage \"a\" (cpu) cannot have, allowed: the name of an earlier stage on "
     "a GPU"},
    {"", "{ name = 'a', on = 'cpu', priority = 1 },",
     "system.stages.2.priority: found one that stage \"a\" (cpu) cannot have, allowed: if another stage"},
    {"", "{ name = 'a', on = 'cpu', steal = '50ns' },",
     "system.stages.2.steal: found one that stage \"a\" (cpu) cannot have, allowed: on cpu, with 2 pipelines"},
    {"", "{ name = 'a', on = 'cpu', ports = 1 },",
     "system.stages.2.ports: found one that stage \"a\" (cpu) cannot have, allowed: on nic.rx, or on nic.tx in the last"},
    {"", "{ name = 'a', on = 'nic.tx', ports = 1 },",
     "system.stages.2.ports: found one that stage \"a\" (nic) cannot have, allowed: on nic.rx, or on nic.tx in the last"},
    {"", "{ name = 'a', on = 'cpu', does = 'parse', streams = 2 },",
     "system.stages.2.streams: found one that stage \"a\" (cpu) cannot have, allowed: on gpu"},
    {"index = { kernel = 'mica' }, values = { kernel = 'inline' },",
     "{ name = 'a', on = 'cpu', does = { 'search', 'insert' } },",
     "system.values.kernel: found inline, which the kernel of the index cannot hold; allowed: with "
     "system.index.kernel kvdirect"},
    {"index = { kernel = 'kvdirect' },", "{ name = 'a', on = 'cpu', does = { 'search', 'insert' } },",
     "system.values.kernel: found none, but \"kvdirect\" holds pairs; allowed: inline, slab or log"},
    {"index = { kernel = 'kvdirect' }, values = { kernel = 'inline' },",
     "{ name = 'a', on = 'cpu', does = { 'search', 'read' } },",
     "system.stages.2.does: found an operation on the values, allowed: search and insert"},
    {"index = { kernel = 'kvdirect' }, values = { kernel = 'inline', inline = '60B' },",
     "{ name = 'a', on = 'cpu', does = { 'search', 'insert' } },",
     "system.values.inline: found 60 bytes, allowed: up to 50"},
    {"index = { kernel = 'kvdirect' }, values = { kernel = 'inline', size = '4MiB' },",
     "{ name = 'a', on = 'cpu', does = { 'search', 'insert' } },",
     "system.values.size: found one, but the index holds the values; allowed: system.index.size"},
    {"index = { kernel = 'mica' },",
     "{ name = 'a', on = 'cpu', does = 'search' }, { name = 'b', on = 'cpu', does = { 'read', 'search' } },",
     "system.stages.3.does: found search, which stage \"a\" does already; allowed: each in one stage"},
    {"batch = { before = 'b', count = 8 },", "{ name = 'a', on = 'cpu' },",
     "system.batch.before: found \"b\", allowed: the name of a stage, in front of which batches form: receive, "
     "a, send"},
    {"index = { kernel = 'memc3', memory = 'cxl' },",
     "{ name = 'a', on = 'cpu', does = { 'search', 'insert' } },",
     "system.index.memory: found \"cxl\", allowed: with node.cxl"},
    {"index = { kernel = 'memc3', memory = 'cxl' },",
     "{ name = 'a', on = 'card.cpu', does = { 'search', 'insert' } },", "node.card_cpu"},
    {"", "a = { on = 'cpu' },",
     "system.stages: found the key \"a\", allowed: a list of tables without keys, or"},
    {"", "{ name = 'a' },", "system.stages.2.on is missing, allowed: cpu, gpu"},
    {"", "{ name = 'a', on = 'cpu', beside = 'send' },", "system.stages.2.beside: found \"send\", allowed"},
    {"", "{ name = 'a', on = 'cpu' }, { name = 'b', on = 'cpu', beside = 'a', when = 'get' },",
     "system.stages.3.when: found one that stages beside each other cannot have"},
    {"", "{ name = 'a', on = 'cpu', beside = 'b' }, { name = 'b', on = 'cpu', beside = 'a' },",
     "system.stages.2.beside: found \"b\" in the first of stages that work beside each other"},
    {"", "{ name = 'a', on = 'cpu', when = { 'hit', 'set' } },",
     "system.stages.2.when: found a condition that no request meets"},
    {"", "{ name = 'a b', on = 'cpu' }, { name = 'a-b', on = 'cpu' },",
     "system.stages.3.name: found \"a-b\" again"},
    {"", "{ name = ' ', on = 'cpu' },", "system.stages.2.name: found \" \", allowed: a name of up to"},
    {"",
     "{ name = 'a', on = 'cpu', pool = 'p', cores = 3 }, { name = 'b', on = 'cpu', pool = 'p', cores = 2 },",
     "system.stages.3.pool: found \"p\" of stage \"a\", which has 3 on cpu, and this one has 2 on cpu"},
    {"", "{ name = 'a', on = 'cpu', cores = 2 }, { name = 'b', on = 'cpu', cores = 999 },",
     "system.stages.3.cores: found 999, and 1001 in all stages and pipelines together"},
    {"values = { kernel = 'inline' }, index = { kernel = 'cuckoo' },",
     "{ name = 'a', on = 'cpu', does = { 'parse', 'search', 'compare' } },",
     "system.values.kernel: found inline, which the kernel of the index cannot hold"},
    {"policy = 'grow',", "{ name = 'a', on = 'cpu' },", "system.policy: found no function"},
    {"policy = function() end,", "{ name = 'a', on = 'cpu' },",
     "system.policy: found one that has nothing to choose"},
    {"policy_every = '1ms',", "{ name = 'a', on = 'cpu' },",
     "system.policy_every: found one without system.policy"},
};

Test(composition_order, is_refused_without_an_effect)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char fields[512];
        snprintf(fields, sizeof(fields),
                 "system = { kind = 'composed', %s stages = { { name = 'receive', on = 'nic.rx' }, %s\n"
                 "{ name = 'send', on = 'nic.tx' } } }, workload = { keys = 1e4 }",
                 wrong[i].system, wrong[i].stage);
        kvc_laws_refuse(fields, wrong[i].message);
    }
    kvc_laws_refuse(
        "system = { kind = 'composed', stages = { { name = 'a', on = 'nic.rx', ports = 2 }, { name = 'b', on = "
        "'cpu' } } }",
        "system.stages.1.ports: found 2, allowed: at most 1, the ports of node.nic");
    kvc_laws_refuse("system = { kind = 'composed', batch = { count = 8 }, stages = {} }",
                    "system.stages: found none, allowed: 1 to 12 stages");
}

/* A batch whose parts go different ways takes one buffer, until the last part is answered: while the parts
 * take 10 us, there are as many batches at work as buffers. */
Test(composition_order, keeps_one_buffer_for_all_parts_of_a_batch)
{
    static const double count = 64, part_us = 10;
    for (int buffers = 1; buffers <= 4; buffers *= 2) {
        struct kvc_outcome *ran = kvc_laws_answer(
            kvc_laws_load(
                "return { system = { kind = 'composed', batch = { count = %.0f, buffers = %d, before = 'join' }, stages = {\n"
                "  { name = 'in', on = 'nic.rx' }, { name = 'join', on = 'cpu', ns = 1 },\n"
                "  { name = 'get', on = 'cpu', cores = 4, ns = %g, per = 'batch', when = 'get' },\n"
                "  { name = 'set', on = 'cpu', cores = 4, ns = %g, per = 'batch', when = 'set' },\n"
                "  { name = 'out', on = 'nic.tx' } } }, node = { sockets = 1 },\n"
                "workload = { keys = 1e4, get = 0.5, set = 0.5, arrival = 'saturate' },\n"
                "run = { duration = '4ms', warmup = '1ms' } }\n",
                count, buffers, part_us * 1e3, part_us * 1e3),
            false);
        double expected = buffers * count / part_us, found = ran->result.throughput_mops;
        cr_expect_float_eq(found, expected, 0.1 * expected, "%.4g Mops with %d buffers, not %.4g", found,
                           buffers, expected);
        kvc_outcome_free(ran);
    }
}

/* Clients send again when they have their own answers, which a core fills one after the other, and not when
 * it is done with the batch: it takes longer than a cycle for all of them and is busy all the time, so that
 * their number over its rate is their latency, instead of two cycles. */
Test(composition_order, answers_clients_while_it_fills_a_batch)
{
    static const double clients = 6500, request_us = 0.05;
    struct kvc_outcome *ran = kvc_laws_answer(
        kvc_laws_load("return { system = { kind = 'composed', batch = { every = '300us', before = 'join' },\n"
                      "stages = { { name = 'in', on = 'nic.rx' }, { name = 'join', on = 'cpu', ns = 1 },\n"
                      "  { name = 'fill', on = 'cpu', ns = %g }, { name = 'out', on = 'nic.tx' } } },\n"
                      "node = { sockets = 1 }, workload = { keys = 1e4, arrival = { clients = %.0f } },\n"
                      "run = { duration = '20ms', warmup = '5ms' } }\n",
                      1e3 * request_us, clients),
        false);
    double expected_us = clients * request_us, found_us = kvc_laws_value(ran, "latency_mean_us");
    cr_expect_float_eq(found_us, expected_us, 0.1 * expected_us, "%.4g us, not %.4g", found_us, expected_us);
    kvc_outcome_free(ran);
}
