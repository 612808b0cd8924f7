/* Laws that hold for MemcachedGPU on any hardware, and mechanisms that the paper describes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/memcachedgpu/config.h"
#include "models/memcachedgpu/costs.h"
#include "models/model.h"
#include "scenarios/run/laws_fixture.h"

/* A small store whose GETs all hit, measured for 10 ms from 2 ms on; `system` and `workload` add to the
 * tables. */
static struct kvc_loaded *load(const char *system, const char *workload, const char *run)
{
    return kvc_laws_load("return { name = \"laws\", system = { kind = \"memcachedgpu\", entries = 2e5, %s },"
                         " workload = { keys = 1e5, key = 16, value = 2, get = 1, set = 0, %s },"
                         " run = { warmup = \"2ms\", duration = \"10ms\", %s } }",
                         system, workload, run);
}

static struct kvc_outcome *simulate(const char *system, const char *workload, const char *run)
{
    return kvc_laws_answer(load(system, workload, run), false);
}

/* Simulates and returns one value. */
static double value(const char *system, const char *workload, const char *name)
{
    struct kvc_outcome *outcome = simulate(system, workload, "");
    double found = kvc_laws_value(outcome, name);
    kvc_outcome_free(outcome);
    return found;
}

#define POISSON(mops) "arrival = { poisson_mops = " #mops " }"

/* memcachedgpu.batch.delay.2 and .8: a packet waits for half of a batch on average. */
Test(memcachedgpu_laws, packets_wait_for_half_of_a_batch)
{
    cr_expect_float_eq(value("", POISSON(8), "model.batching_mean_us"), 511 / 2.0 / 8, 1);
    cr_expect_float_eq(value("", POISSON(2), "model.batching_mean_us"), 511 / 2.0 / 2, 6);
    cr_expect_float_eq(value("batch = 256", POISSON(8), "model.batching_mean_us"), 255 / 2.0 / 8, 1);
    double limited = value("batch_timeout = \"50us\"", POISSON(2), "model.batching_mean_us");
    cr_expect(limited > 20 && limited < 30, "a limit of 50 us leaves %g us", limited);
}

Test(memcachedgpu_laws, what_is_offered_is_served_below_capacity)
{
    struct kvc_outcome *outcome = simulate("", POISSON(9), "");
    cr_expect_float_eq(kvc_laws_value(outcome, "throughput_mops"), 9, 0.15);
    cr_expect_eq(kvc_laws_value(outcome, "lost_frac"), 0);
    cr_expect_eq(kvc_laws_value(outcome, "kernel.bad_packets"), 0);
    kvc_outcome_free(outcome);
}

/* Drops follow from buffers: with fewer of them, more packets are lost, and none without overload. */
Test(memcachedgpu_laws, packets_are_lost_when_the_buffers_run_out)
{
    const char *slow = "post_threads = 1, receive_memory = \"4MiB\"";
    double few = value(slow, POISSON(12), "lost_frac");
    double capacity = value(slow, POISSON(12), "throughput_mops");
    cr_expect_float_eq(few, 1 - capacity / 12, 0.02);
    cr_expect_gt(few, 0.05);
    cr_expect_eq(value("post_threads = 2, receive_memory = \"16MiB\"", POISSON(12), "lost_frac"), 0);
}

/* Little's law: saturated streams hold a batch each, whose packets leave one by one while it is answered,
 * which is half of its time here. */
Test(memcachedgpu_laws, streams_times_batch_are_in_flight)
{
    struct kvc_outcome *outcome =
        simulate("receive = \"host\", feed = \"memory\", streams = 2", "arrival = \"saturate\"", "");
    double inside = kvc_laws_value(outcome, "throughput_mops") * kvc_laws_value(outcome, "latency_mean_us");
    cr_expect(inside > 1.4 * 512 && inside < 1.6 * 512, "%g packets are inside", inside);
    kvc_outcome_free(outcome);
}

Test(memcachedgpu_laws, copies_to_the_gpu_take_longer_than_direct_writes)
{
    double direct = value("receive = \"gpu\"", POISSON(8), "latency_mean_us");
    double copied = value("receive = \"host\"", POISSON(8), "latency_mean_us");
    cr_expect_gt(copied, direct + 5);
}

/* The authors' NGD has one thread that copies every packet and makes three calls: its work, and no device,
 * limits batches from memory, in both answers. The three further calls of the measured runtime are gone. */
Test(memcachedgpu_laws, the_thread_that_fills_batches_limits_their_rate)
{
    const char *system = "receive = \"host\", feed = \"memory\", fill = \"pre\", post_threads = 4",
               *saturate = "arrival = \"saturate\"";
    struct kvc_loaded *loaded = load(system, saturate, "");
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(&loaded->scenario);
    struct kvc_cpu_cost cost = kvc_memcachedgpu_receive_cost(config, 96);
    double calls_ns = kvc_memcachedgpu_launch_cpu_ns(config, true, 0), bytes = 512 * 72;
    double staged_ns = kvc_memcachedgpu_launch_cpu_ns(config, true, bytes) - calls_ns;
    cr_expect_float_eq(staged_ns, 4660 * 2.66 / 3.5, 10, "measured for this size, at another clock");
    cr_expect_eq(cost.compute_ns, 0, "no NIC is asked for packets in memory");
    cr_expect_float_eq(cost.stall_ns, 2 * config->dram->next_line_ns, 1e-9, "96 bytes are two lines");
    double limit_mops = 512 / (512 * cost.stall_ns + calls_ns + staged_ns) * 1e3;
    struct kvc_outcome *closed = kvc_laws_answer(load(system, saturate, ""), true);
    cr_expect_float_eq(kvc_laws_value(closed, "throughput_mops"), limit_mops, 0.01);
    cr_expect_float_eq(value(system, saturate, "throughput_mops"), limit_mops, 0.02 * limit_mops);
    double mean_us = kvc_laws_value(closed, "latency_mean_us");
    cr_expect_float_eq(value(system, saturate, "latency_mean_us"), mean_us, 0.1 * mean_us,
                       "no batch waits before it is filled: %g us", mean_us);
    kvc_outcome_free(closed);
    kvc_loaded_free(loaded);
    loaded = load("receive = \"host\", feed = \"memory\"", saturate, "");
    config = kvc_memcachedgpu_config_of(&loaded->scenario);
    cr_expect_float_eq(kvc_memcachedgpu_launch_cpu_ns(config, true, bytes), 2 * calls_ns, 1e-9);
    kvc_loaded_free(loaded);
}

/* Sec. 5.4: one large kernel delays packets by almost its whole time, small kernels hardly. */
Test(memcachedgpu_laws, small_kernels_of_another_task_delay_packets_less)
{
    const char *task = "background_blocks = 256, background_time = \"4ms\", background_start = \"1ms\"";
    char split[256];
    snprintf(split, sizeof(split), "%s, background_kernels = 16", task);
    struct kvc_outcome *one = simulate(task, POISSON(2), ""), *many = simulate(split, POISSON(2), "");
    cr_expect_gt(kvc_laws_value(one, "model.rtt_max_us"), 3000);
    cr_expect_lt(kvc_laws_value(many, "model.rtt_max_us"), 2 * kvc_laws_value(many, "model.rtt_before_us"));
    cr_expect_gt(kvc_laws_value(many, "model.background_ms"),
                 1.3 * kvc_laws_value(one, "model.background_ms"));
    kvc_outcome_free(one);
    kvc_outcome_free(many);
}

/* Returns the mean time between two SETs of four connections, all of which wait for their SETs all the time:
 * Little's law [us]. Up to four SETs are under way when the measured time begins or ends. */
static double between_sets_us(const char *system, const char *workload)
{
    char all[128];
    snprintf(all, sizeof(all), "set_connections = 4, %s", system);
    struct kvc_outcome *outcome = simulate(all, workload, "");
    double per_us = kvc_laws_value(outcome, "model.set_kops") / 1e3, sets = (double)outcome->result.sets;
    const struct kvc_stage_result *write = kvc_stages_find(&outcome->result, "write");
    cr_assert_not_null(write);
    cr_expect_float_eq(per_us * write->mean_us, 4, 4 * 4 / sets, "%s: %g SETs are under way", workload,
                       per_us * write->mean_us);
    kvc_outcome_free(outcome);
    return 1 / per_us;
}

/* Table 4: SETs go to the card one at a time. A SET does not wait for GETs that are answered, because the
 * authors' program compares seconds, but set_wait for each batch that the card has in hand: twice as many at
 * twice the rate. Both forms count them. */
Test(memcachedgpu_laws, gets_slow_sets_down)
{
    double alone_us = between_sets_us("", POISSON(0.05));
    cr_expect_float_eq(between_sets_us("", POISSON(10)), alone_us, 0.02 * alone_us);
    double five_us = between_sets_us("set_wait = \"20us\"", POISSON(5)) - alone_us,
           ten_us = between_sets_us("set_wait = \"20us\"", POISSON(10)) - alone_us;
    cr_expect(five_us > 3 && ten_us > 1.6 * five_us && ten_us < 2.4 * five_us, "%g and %g us", five_us,
              ten_us);
    struct kvc_outcome *closed =
        kvc_laws_answer(load("set_connections = 4, set_wait = \"20us\"", POISSON(10), ""), true);
    cr_expect_float_eq(1e3 / kvc_laws_value(closed, "model.set_limit_kops"), alone_us + ten_us,
                       0.1 * (alone_us + ten_us));
    kvc_outcome_free(closed);
}

/* The authors' program has no description of a batch, and its blocks of 256 packets take as long as one
 * multiprocessor needs for them: 256 x 60 cycles, more than the 9740 of a small block. */
Test(memcachedgpu_laws, the_published_program_has_large_blocks_and_two_calls)
{
    struct kvc_loaded *measured = load("", POISSON(6), ""),
                      *published = load("program = \"published\"", POISSON(6), "");
    const struct kvc_memcachedgpu_config *small = kvc_memcachedgpu_config_of(&measured->scenario),
                                         *large = kvc_memcachedgpu_config_of(&published->scenario);
    struct kvc_gpu_grid grid = kvc_memcachedgpu_get_grid(large, 0, 512, 16, 0);
    cr_expect_eq(grid.blocks, 2);
    cr_expect_eq(grid.threads, 512);
    cr_expect_eq(grid.shared_bytes, 21504);
    cr_expect_float_eq(grid.alone_ns - kvc_memcachedgpu_get_grid(small, 0, 512, 16, 0).alone_ns,
                       (256 * 60 - 9740) / 0.706, 1);
    cr_expect_float_eq(kvc_memcachedgpu_launch_cpu_ns(large, true, 0),
                       kvc_memcachedgpu_launch_cpu_ns(small, true, 0) * 2 / 3, 1e-9);
    cr_expect_eq(kvc_memcachedgpu_latencies(small) - kvc_memcachedgpu_latencies(large), 1);
    kvc_loaded_free(measured);
    kvc_loaded_free(published);
    /* Buffers are free once the kernel has ended, before a slow post thread has sent the responses. */
    const char *slow = "post_threads = 1, receive_memory = \"2MiB\"";
    char early[128];
    snprintf(early, sizeof(early), "%s, program = \"published\"", slow);
    cr_expect_gt(value(slow, POISSON(9), "lost_frac"), value(early, POISSON(9), "lost_frac"));
}

/* The other task copies two vectors first, which holds the driver up: their time at the staging rate and over
 * PCIe. */
Test(memcachedgpu_laws, copies_of_another_task_hold_the_driver)
{
    const char *task = "background_blocks = 16, background_time = \"1ms\", "
                       "background_start = \"1ms\", background_copy = ";
    char without[256], with[256];
    snprintf(without, sizeof(without), "%s\"0B\"", task);
    snprintf(with, sizeof(with), "%s\"2MiB\"", task);
    double each_us = 2 * 0x1p20 * (2.66 / 3.5 / 7.91e9 + 1 / 6.0387e9) * 1e6;
    cr_expect_float_eq(value(with, POISSON(2), "model.background_ms") -
                           value(without, POISSON(2), "model.background_ms"),
                       2 * each_us / 1e3, 0.2 * each_us / 1e3);
    cr_expect_gt(value(with, POISSON(2), "model.rtt_max_us"),
                 each_us + value(without, POISSON(2), "model.rtt_before_us"));
}

/* A SET holds its set while its kernel runs. With a table of one set, every GET of that time waits. */
Test(memcachedgpu_laws, gets_wait_for_the_set_that_a_set_holds)
{
    const char *const one_set = "set_connections = 4, entries = 16";
    double waits = value(one_set, POISSON(10), "model.lock_waits");
    double kernel_us = value(one_set, POISSON(10), "model.t_search_us");
    cr_expect_gt(waits, 10);
    cr_expect_gt(kernel_us, 0.5 + value("set_connections = 4", POISSON(10), "model.t_search_us"));
    cr_expect_lt(value("set_connections = 4", POISSON(10), "model.lock_waits"), waits / 10);
}

/* A damaged packet is not answered, and nothing else is lost. */
/* The table takes one write at a time, 33 thousand a second: more are a backlog in both forms, and fewer are
 * served, also where no GET comes. */
Test(memcachedgpu_laws, writes_beyond_the_table_are_a_backlog)
{
    static const struct {
        const char *workload;
        double offered_mops, served_mops;
    } loads[] = {{"get = 0.5, set = 0.5, " POISSON(6), 6, 3.033},
                 {"get = 0, set = 1, " POISSON(0.02), 0.02, 0.02}};
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
        struct kvc_outcome *run = simulate("", loads[i].workload, ""),
                           *closed = kvc_laws_answer(load("", loads[i].workload, ""), true);
        double served = kvc_laws_value(run, "throughput_mops"), offered = loads[i].offered_mops;
        cr_expect_float_eq(kvc_laws_value(run, "offered_mops"), offered, 0.15 * offered);
        cr_expect_float_eq(served, loads[i].served_mops, 0.15 * loads[i].served_mops, "%g Mops", served);
        cr_expect_float_eq(kvc_laws_value(closed, "throughput_mops"), loads[i].served_mops, 0.02);
        cr_expect(loads[i].served_mops == offered || kvc_laws_value(run, "growth_frac") > 0.3);
        kvc_outcome_free(run);
        kvc_outcome_free(closed);
    }
    kvc_laws_refuse("system = { kind = 'memcachedgpu' }, "
                    "workload = { keys = 1e5, key = 16, value = 2, get = 0, set = 1, arrival = 'saturate' }",
                    "workload.get: found 0 with saturating clients");
}

Test(memcachedgpu_laws, damaged_packets_are_counted_and_dropped)
{
    struct kvc_outcome *outcome = simulate("damaged = 0.05", POISSON(4), "");
    double lost = kvc_laws_value(outcome, "lost_frac");
    cr_expect(lost > 0.01 && lost < 0.05, "%g are lost", lost);
    cr_expect_gt(kvc_laws_value(outcome, "kernel.bad_packets"), lost * 0.9 * 40000);
    kvc_outcome_free(outcome);
}

Test(memcachedgpu_laws, items_expire)
{
    cr_expect_gt(value("expiry = \"1s\"", POISSON(4), "hit_frac"), 0.99);
    cr_expect_eq(value("expiry = \"1ms\"", POISSON(4), "hit_frac"), 0);
}

/* The closed form states the same capacity and, away from it, the same latency. */
Test(memcachedgpu_laws, the_closed_form_agrees_where_nothing_queues)
{
    static const char *const systems[] = {"", "receive = \"host\"", "receive = \"host\", fill = \"pre\"",
                                          "batch = 128", "post_threads = 4"};
    for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++) {
        struct kvc_loaded *loaded = load(systems[i], POISSON(6), "");
        struct kvc_result *predicted = calloc(1, sizeof(*predicted));
        cr_assert_eq(loaded->scenario.model->predict(&loaded->scenario, predicted, NULL), KVC_OK);
        double run_us = value(systems[i], POISSON(6), "latency_mean_us");
        cr_expect_float_eq(run_us, predicted->predicted.mean_us, 0.05 * run_us, "%s: %g and %g", systems[i],
                           run_us, predicted->predicted.mean_us);
        free(predicted);
        kvc_loaded_free(loaded);
    }
}
