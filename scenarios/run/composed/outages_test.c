/* Outages of the devices of composed stores. */
#include <criterion/criterion.h>
#include <math.h>

#include "scenarios/run/laws_fixture.h"

/* A device that works for some time for a request, one after the other. */
struct worker {
    const char *name, *place, *unit, *node;
    double per_us; /* Units of a microsecond of work. */
};

static const struct worker workers[] = {
    {"cpu", "cpu", "ns", "", 1e3},
    {"gpu", "gpu", "ns", "gpu = 'h200', ", 1e3},
    {"card_cpu", "card.cpu", "ns", "card_cpu = 'bluefield-3-cores', card_dram = 'bluefield-3-ddr5', ", 1e3},
    {"fpga", "fpga", "interval", "fpga = 'catapult-stratix-v', ", 180},
};

enum { WORKERS = sizeof(workers) / sizeof(*workers) };

/* Simulates a store of one such device, which is off for `off_us` of 10 ms. Clients send a request every
 * `every_us`. */
static struct kvc_outcome *answer(const struct worker *worker, double work_us, double every_us, double off_us)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', stages = { { name = 'a', on = '%s', %s = %g } } },\n"
            "node = { %ssockets = 1 },\n"
            "workload = { keys = 1e4, per_frame = 1, arrival = { fixed_mops = %.17g } },\n"
            "run = { duration = '10ms', warmup = '1ms', changes = {\n"
            "  { at = '3.1ms', device = 'node0.socket0.%s', off = '%gus' } } } }\n",
            worker->place, worker->unit, work_us * worker->per_us, worker->node, 1 / every_us, worker->name,
            off_us),
        false);
}

static void expect_to_wait(const struct worker *worker)
{
    static const double every_us = 25, off_us = 500;
    struct kvc_outcome *ran = answer(worker, 1, every_us, off_us);
    double work_us = kvc_laws_value(ran, "latency_min_us"); /* Kernels take longer to start. */
    double waiting =
        off_us / every_us; /* Requests that come meanwhile, and are served one after the other. */
    double late_us = 0;
    for (int i = 0; i < waiting * every_us / (every_us - work_us); i++) {
        late_us += fmax(off_us - i * (every_us - work_us), 0);
    }
    double expected_us = work_us + late_us / (10e3 / every_us);
    cr_expect_eq(ran->result.dropped, 0);
    cr_expect_float_eq(kvc_laws_value(ran, "latency_mean_us"), expected_us, 0.05 * expected_us,
                       "%s: %g us instead of %g", worker->name, kvc_laws_value(ran, "latency_mean_us"),
                       expected_us);
    cr_expect_float_eq(kvc_laws_value(ran, "latency_max_us"), off_us + work_us, every_us, "%s", worker->name);
    kvc_outcome_free(ran);
}

/* Requests wait until the device is back, none is lost, and those of the other time do not notice. */
Test(composition_outages, let_requests_wait)
{
    for (size_t i = 0; i < WORKERS; i++) {
        expect_to_wait(&workers[i]);
    }
}

/* What a device was at when the outage began is done again: it takes longer than the outage and itself
 * together. */
static void expect_to_work_again(const struct worker *worker)
{
    static const double every_us = 250, off_us = 100;
    struct kvc_outcome *ran = answer(worker, 200, every_us, off_us);
    double work_us = kvc_laws_value(ran, "latency_min_us");
    double most_us = kvc_laws_value(ran, "latency_max_us"), lost_us = most_us - off_us - work_us;
    cr_expect(lost_us > 1 && lost_us <= work_us, "%s: %g us at most", worker->name, most_us);
    double again_frac = ran->result.stage[0].utilization_frac - work_us / every_us;
    cr_expect_float_eq(again_frac, lost_us / 10e3, 1e-3, "%s: %g more work instead of %g", worker->name,
                       again_frac, lost_us / 10e3);
    kvc_outcome_free(ran);
}

Test(composition_outages, lose_the_work_of_the_moment)
{
    for (size_t i = 0; i < WORKERS; i++) {
        expect_to_work_again(&workers[i]);
    }
}

/* Frames of random times wait until a link is back, whose server has stood still meanwhile. */
Test(composition_outages, let_frames_wait_for_a_link, .timeout = 60)
{
    struct kvc_outcome *ran = kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', stages = { { name = 'r', on = 'nic.rx' },\n"
            "{ name = 'a', on = 'cpu', ns = 100, queue = 10000 } } },\n"
            "node = { sockets = 1 }, workload = { keys = 1e4, per_frame = 1, arrival = { poisson_mops = 2 } },\n"
            "run = { duration = '10ms', warmup = '1ms', changes = {\n"
            "  { at = '3.1ms', device = 'node0.socket0.nic-rx', off = '500us' } } } }\n"),
        false);
    double most_us = kvc_laws_value(ran, "latency_max_us");
    cr_expect_eq(ran->result.dropped, 0);
    cr_expect(most_us > 495 && most_us < 510, "%g us at most", most_us);
    kvc_outcome_free(ran);
}

/* Clients that wait get no answer while the cores are off: neither those whose batches are half done nor
 * those whose batches come meanwhile. */
Test(composition_outages, answer_nobody)
{
    struct kvc_outcome *ran = kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', batch = { before = 'a', count = 32, timeout = '100us' }, stages = {\n"
            "  { name = 'a', on = 'cpu', cores = 8, ns = 50000 }, { name = 'b', on = 'nic.tx' } } },\n"
            "node = { sockets = 1 }, workload = { keys = 1e4, per_frame = 1,\n"
            "  arrival = { clients = 128, think = '300us' } },\n"
            "run = { duration = '10ms', warmup = '1ms', changes = {\n"
            "  { at = '3ms', device = 'node0.socket0.cpu', off = '2ms' } } } }\n"),
        false);
    double window_ms = 10.0 / ran->result.window_count, before_mops = 0;
    for (uint32_t i = 0; i < ran->result.window_count; i++) {
        double from_ms = i * window_ms, until_ms = from_ms + window_ms;
        double mops = (double)ran->result.window_mops[i];
        before_mops += until_ms <= 3 ? mops : 0;
        cr_expect(from_ms < 3.1 || until_ms > 5 || mops == 0, "%g Mops from %g to %g ms", mops, from_ms,
                  until_ms);
    }
    cr_expect_gt(before_mops, 0);
    double cycle_us = kvc_laws_value(ran, "latency_mean_us") + 300,
           found = ran->result.throughput_mops * cycle_us;
    cr_expect_float_eq(found, 128, 6, "%g of 128 clients", found);
    kvc_outcome_free(ran);
}

/* Only cores that do something can fail. */
Test(composition_outages, need_a_core)
{
    kvc_laws_refuse("system = { kind = 'composed', stages = { { name = 'a', on = 'gpu', ns = 1 } } },\n"
                    "node = { gpu = 'h200' }, workload = { keys = 1e4 }, run = { duration = '1ms',\n"
                    "changes = { { at = '0s', device = 'node0.socket0.cpu', off = '1us' } } }",
                    "run.changes.1.off: node0.socket0.cpu cannot fail");
}
