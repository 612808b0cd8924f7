/* Laws of the four servers: conservation, Little's law, rates that follow from the costs, drops only from
 * full queues, and the closed form next to the simulation. */
#include <criterion/criterion.h>
#include <math.h>

#include "models/memcached/costs.h"
#include "models/memcached/memcached.h"
#include "models/memcached/predict.h"
#include "models/memcached/server_fixture.h"

static const struct kvc_model *const stores[] = {&kvc_memcached_model, &kvc_memcached_mica_model,
                                                 &kvc_memcached_fpga_model, &kvc_memcached_fatcache_model};
enum { STORES = sizeof(stores) / sizeof(*stores) };

static struct kvc_test_memcached_outcome simulate(struct kvc_test_memcached *test, double ms)
{
    kvc_test_memcached_resolve(test);
    return kvc_test_memcached_simulate(test, ms, 1);
}

static double predicted_mops(const struct kvc_test_memcached *test)
{
    static struct kvc_result result;
    struct kvc_diag diag = {0};
    result = (struct kvc_result){0};
    cr_assert_eq(kvc_memcached_predict(&test->scenario, &result, &diag), KVC_OK);
    return result.throughput_mops;
}

static void offer(struct kvc_test_memcached *test, double mops)
{
    test->scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    test->scenario.workload.rate_mops = mops;
}

static double get_ns(const struct kvc_test_memcached *test)
{
    const struct kvc_memcached_message get = {
        .op = KVC_OP_GET, .hit = true, .key_bytes = 16, .value_bytes = 2};
    struct kvc_memcached_cost cost = kvc_memcached_cost_of(&test->config, &get);
    return cost.receive_ns + cost.serve_ns;
}

Test(memcached, little_holds_and_the_closed_form_agrees_at_saturation)
{
    static struct kvc_test_memcached test;
    for (int i = 0; i < STORES; i++) {
        kvc_test_memcached_describe(&test, stores[i]);
        struct kvc_test_memcached_outcome outcome = simulate(&test, 2);
        double in_flight = (double)test.options.outstanding, mops = predicted_mops(&test);
        cr_expect_eq(outcome.dropped, 0);
        cr_expect_eq(outcome.in_flight, test.options.outstanding);
        cr_expect_float_eq(outcome.mean_ns * outcome.mops / 1e3, in_flight, 0.03 * in_flight,
                           "%s: %g in flight", stores[i]->name, outcome.mean_ns * outcome.mops / 1e3);
        cr_expect_float_eq(outcome.mops, mops, 0.1 * mops, "%s: %g Mops, closed form %g", stores[i]->name,
                           outcome.mops, mops);
    }
}

static void close_loop(struct kvc_test_memcached *test, uint64_t clients)
{
    test->nic.latency_ns = 3000;
    test->scenario.workload.arrival = KVC_ARRIVAL_CLOSED;
    test->scenario.workload.clients = clients;
}

/* Clients of a closed loop wait for their answers, so their number determines the load. */
Test(memcached, clients_send_again_after_an_answer)
{
    static struct kvc_test_memcached test;
    for (int i = 0; i < STORES; i++) {
        kvc_test_memcached_describe(&test, stores[i]);
        close_loop(&test, 1);
        struct kvc_test_memcached_outcome one = simulate(&test, 5);
        cr_expect_float_eq(one.mops * one.mean_ns, 1e3, 2, "%s: one client, %g requests at a time",
                           stores[i]->name, one.mops * one.mean_ns / 1e3);
        cr_expect_float_eq(predicted_mops(&test), one.mops, 0.03 * one.mops, "%s: %g, closed form %g",
                           stores[i]->name, one.mops, predicted_mops(&test));
        test.scenario.workload.think_ns = 20000;
        struct kvc_test_memcached_outcome slow = simulate(&test, 5);
        cr_expect_float_eq(slow.mops * (slow.mean_ns + 20000), 1e3, 10, "%s", stores[i]->name);
        cr_expect_float_eq(slow.mean_ns, one.mean_ns, 0.02 * one.mean_ns, "%s", stores[i]->name);
    }
}

Test(memcached, many_clients_get_what_saturating_ones_get)
{
    static struct kvc_test_memcached test;
    for (int i = 0; i < STORES; i++) {
        kvc_test_memcached_describe(&test, stores[i]);
        test.nic.latency_ns = 3000;
        double most = simulate(&test, 2).mops;
        close_loop(&test, test.options.outstanding);
        struct kvc_test_memcached_outcome outcome = simulate(&test, 2);
        double clients = (double)test.options.outstanding;
        cr_expect_eq(outcome.dropped, 0);
        cr_expect_float_eq(outcome.mops, most, 0.05 * most, "%s: %g, not %g", stores[i]->name, outcome.mops,
                           most);
        cr_expect_float_eq(outcome.mean_ns * outcome.mops / 1e3, clients, 0.03 * clients, "%s",
                           stores[i]->name);
    }
}

static void describe_tcp(struct kvc_test_memcached *test, bool loopback)
{
    kvc_test_memcached_describe(test, &kvc_memcached_model);
    test->options.network = KVC_MEMCACHED_TCP;
    test->options.loopback = loopback;
}

/* A connection has one thread, so few connections keep few threads at work. */
Test(memcached, connections_belong_to_threads)
{
    static struct kvc_test_memcached test;
    double mops[5] = {0};
    for (uint32_t connections = 1; connections <= 4; connections++) {
        describe_tcp(&test, true);
        test.scenario.workload.connections = connections;
        mops[connections] = simulate(&test, 2).mops;
    }
    cr_expect_leq(mops[1], 1e3 / get_ns(&test));
    cr_expect_gt(mops[1], 0.9e3 / get_ns(&test));
    cr_expect_float_eq(mops[2], 2 * mops[1], 0.01 * mops[2], "%g and %g", mops[1], mops[2]);
    cr_expect_float_eq(mops[4], 4 * mops[1], 0.01 * mops[4], "%g and %g", mops[1], mops[4]);
    cr_expect_float_eq(predicted_mops(&test), mops[4], 0.03 * mops[4]);
}

/* A lone client waits for its own kernel, its own wake-up, and the thread's wake-up. */
Test(memcached, a_lone_client_over_tcp_waits_for_wake_ups)
{
    static struct kvc_test_memcached test;
    for (int loopback = 0; loopback <= 1; loopback++) {
        describe_tcp(&test, loopback);
        close_loop(&test, 1);
        struct kvc_test_memcached_outcome outcome = simulate(&test, 5);
        double kernel_ns = kvc_memcached_tcp_cycles(&test.config) / 3.5;
        double alone_ns = get_ns(&test) + kernel_ns + 2 * test.options.wake_cycles / 3.5 + 2.5 * 67;
        alone_ns += loopback ? 0 : 2 * test.nic.latency_ns + 2 * 60;
        cr_expect_float_eq(outcome.mean_ns, alone_ns, 100, "%g, not %g", outcome.mean_ns, alone_ns);
        double mops = predicted_mops(&test);
        cr_expect_float_eq(outcome.mops, mops, 0.02 * mops, "%g, closed form %g", outcome.mops, mops);
    }
}

/* Costs in round numbers, and a machine of two cores. */
static struct kvc_memcached_cost_profile *describe_measured(struct kvc_test_memcached *test, bool tcp,
                                                            uint64_t outstanding)
{
    static struct kvc_memcached_cost_profile profile;
    kvc_test_memcached_describe(test, &kvc_memcached_model);
    const struct kvc_memcached_transport_costs costs = {.get_ns = 5000,
                                                        .set_ns = 6000,
                                                        .get_byte_ns = tcp ? 1 : 0,
                                                        .key_ns = 3000,
                                                        .send_ns = 3000,
                                                        .receive_ns = 1000,
                                                        .notify_ns = 4000,
                                                        .wake_ns = 7000};
    profile = (struct kvc_memcached_cost_profile){
        .udp = costs, .tcp = costs, .datagram_ns = 2000, .switch_ns = 500};
    test->options.network = tcp ? KVC_MEMCACHED_TCP : KVC_MEMCACHED_KERNEL;
    test->options.loopback = true;
    test->options.threads = 1;
    test->options.outstanding = outstanding;
    test->scenario.workload.keys = KVC_MEMCACHED_FEW_KEYS;
    test->cpu.cores = 2;
    test->scenario.node.device[5] = (struct kvc_device){&kvc_memcached_cost_profile_kind, &profile};
    return &profile;
}

/* Returns the throughput of measured costs, which is the closed form's. */
static double measured_mops(struct kvc_test_memcached *test)
{
    double mops = simulate(test, 5).mops;
    cr_expect_float_eq(predicted_mops(test), mops, 0.02 * mops, "%g, closed form %g", mops,
                       predicted_mops(test));
    return mops;
}

Test(memcached, measured_costs_of_clients_on_the_node)
{
    static struct kvc_test_memcached test;
    struct kvc_memcached_cost_profile *profile = describe_measured(&test, false, 16);
    cr_expect_float_eq(measured_mops(&test), 1e3 / 5000, 0.004); /* The server is what limits it. */
    describe_measured(&test, false, 16);
    test.options.threads = 2; /* They share the one core that the clients leave. */
    cr_expect_float_eq(measured_mops(&test), 1e3 / 5000, 0.004);
    test.cpu.cores = 3;
    profile->udp.notify_ns = 0;                                  /* Threads fall asleep. */
    cr_expect_float_eq(measured_mops(&test), 1e3 / 4000, 0.004); /* The core of the clients is. */
    describe_measured(&test, false, 16);
    test.scenario.workload.value_bytes = 4000; /* Two datagrams more. */
    cr_expect_float_eq(measured_mops(&test), 1e3 / 9000, 0.004);
    profile = describe_measured(&test, false, 16);
    profile->doubling_ns = 500;
    profile->doubling_byte_ns = 250;
    profile->key_byte_ns = 10;
    test.scenario.workload.keys = 4 * KVC_MEMCACHED_FEW_KEYS;
    test.options.entries = 2 * test.scenario.workload.keys;
    cr_expect_float_eq(measured_mops(&test), 1e3 / (5000 + 2 * (500 + 2 * 250) + 160), 0.004);
}

/* A lone request finds its thread asleep, which costs the core that sends it, too. */
Test(memcached, a_lone_request_wakes_its_thread)
{
    static struct kvc_test_memcached test;
    struct kvc_memcached_cost_profile *profile = describe_measured(&test, true, 1);
    profile->tcp.look_ns = profile->wait_ns = 2000;
    double alone_ns = 3000 + 4000 + 7000 + 5000 + 2 + 2000 + 1000;
    cr_expect_float_eq(simulate(&test, 5).mops, 1e3 / alone_ns, 0.001);
    cr_expect_float_eq(predicted_mops(&test), 1e3 / alone_ns, 0.001);
    profile = describe_measured(&test, true, 1);
    profile->wait_ns = 6000; /* It still looks when the next request arrives. */
    cr_expect_float_eq(simulate(&test, 5).mops, 1e3 / (5002 + 6000 + 1000 - 1000), 0.002);
}

/* A thread serves all connections that are ready after one look. */
Test(memcached, more_connections_share_a_look)
{
    static struct kvc_test_memcached test;
    for (uint64_t connections = 8; connections <= 32; connections *= 4) {
        struct kvc_memcached_cost_profile *profile = describe_measured(&test, true, connections);
        profile->wait_ns = 2000;
        test.scenario.workload.value_bytes = 1000;
        double mops = simulate(&test, 5).mops;
        cr_expect_leq(mops, 1.005e3 / (6000 + 2000.0 / (double)connections), "%g", mops);
        cr_expect_geq(mops, 1e3 / (6000 + 2000.0 / 4), "%g", mops);
    }
}

/* Two threads take turns on one core: each turn costs a switch, once neither has more to do. */
Test(memcached, threads_that_share_a_core_switch)
{
    static struct kvc_test_memcached test;
    for (int dear = 0; dear <= 1; dear++) {
        struct kvc_memcached_cost_profile *profile = describe_measured(&test, true, 2);
        profile->tcp.send_ns = 10; /* Both requests arrive before the first one is served. */
        profile->tcp.receive_ns = 10;
        profile->tcp.notify_ns = 0;
        profile->switch_ns = dear ? 5000 : 0;
        test.options.threads = 2;
        cr_expect_float_eq(simulate(&test, 5).mops, 1e3 / (5002 + profile->switch_ns), 0.01, "%g",
                           simulate(&test, 5).mops);
    }
}

/* Clients on the node share its cores with the server, and keep some of its threads busy themselves. */
Test(memcached, a_thread_that_shares_its_core_with_clients_is_slower)
{
    static struct kvc_test_memcached test;
    double mops[2][2];
    for (int loopback = 0; loopback <= 1; loopback++) {
        for (int shares = 0; shares <= 1; shares++) {
            describe_tcp(&test, loopback);
            close_loop(&test, 64);
            test.nic.bytes_per_s = 1e12;
            test.dram.random_line_ns = test.dram.next_line_ns = 0;
            test.options.core_share = shares ? 0.5 : 1;
            mops[loopback][shares] = simulate(&test, 2).mops;
            cr_expect_float_eq(predicted_mops(&test), mops[loopback][shares], 0.03 * mops[loopback][shares]);
        }
        double ratio = mops[loopback][1] / mops[loopback][0];
        cr_expect_float_eq(ratio, loopback ? 0.5 : 1, 0.02, "%g", ratio);
    }
    struct kvc_result result = {0};
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_memcached_predict(&test.scenario, &result, &diag), KVC_OK);
    double busy = 4 + result.throughput_mops * 1e-3 * kvc_memcached_tcp_cycles(&test.config) / 3.5 / 0.5;
    double found = kvc_metrics_get(&result.model, "node_cpu_frac");
    cr_expect_float_eq(found, busy / 4, 0.02, "%g, not %g", found, busy / 4);
}

/* Without a NIC between them, the ports cannot bound clients. */
Test(memcached, the_ports_bound_only_clients_behind_them)
{
    static struct kvc_test_memcached test;
    for (int loopback = 0; loopback <= 1; loopback++) {
        describe_tcp(&test, loopback);
        close_loop(&test, 64);
        test.nic.bytes_per_s = 1e7;
        double mops = simulate(&test, 2).mops, most = 2 * 10.0 / (2 + 16 + 27 + 28 + 38);
        cr_expect_float_eq(predicted_mops(&test), mops, 0.03 * mops);
        if (loopback) {
            cr_expect_gt(mops, 2 * most);
        } else {
            cr_expect_float_eq(mops, most, 0.02 * most, "%g, not %g", mops, most);
        }
    }
}

/* Halving the slice must not matter: no request leaves its client in a slice that is over. */
Test(memcached, the_slice_is_no_longer_than_a_turn)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_model);
    close_loop(&test, 64);
    kvc_test_memcached_resolve(&test);
    cr_expect_eq(kvc_memcached_slice_ns(&test.scenario), KVC_MEMCACHED_WINDOW_NS, "a server alone knows");
    test.scenario.cluster.nodes = 2;
    kvc_test_memcached_resolve(&test);
    cr_expect_leq(kvc_memcached_slice_ns(&test.scenario), 3000);
    cr_expect_float_eq(fmod(KVC_MEMCACHED_WINDOW_NS, kvc_memcached_slice_ns(&test.scenario)), 0, 1e-6);
}

Test(memcached, what_is_offered_below_capacity_is_served)
{
    static struct kvc_test_memcached test;
    for (int i = 0; i < STORES; i++) {
        kvc_test_memcached_describe(&test, stores[i]);
        kvc_test_memcached_resolve(&test);
        if (test.config.tcp) { /* Servers over TCP take no open load. */
            continue;
        }
        double mops = predicted_mops(&test) / 2;
        offer(&test, mops);
        struct kvc_test_memcached_outcome outcome = simulate(&test, 10);
        cr_expect_eq(outcome.dropped, 0, "%s", stores[i]->name);
        cr_expect_float_eq(outcome.mops, mops, 4 * sqrt(mops / 1e4), "%s: %g Mops, not %g", stores[i]->name,
                           outcome.mops, mops);
        cr_expect_float_eq(predicted_mops(&test), mops, 1e-9);
    }
}

Test(memcached, a_thread_serves_no_faster_than_its_cost)
{
    static struct kvc_test_memcached test;
    for (int network = KVC_MEMCACHED_KERNEL; network <= KVC_MEMCACHED_PF_RING; network++) {
        kvc_test_memcached_describe(&test, &kvc_memcached_model);
        test.options.network = network;
        test.options.threads = 1;
        struct kvc_test_memcached_outcome outcome = simulate(&test, 5);
        cr_expect_leq(outcome.mops, 1e3 / get_ns(&test));
        cr_expect_leq(outcome.thread_busy_ns, 5e6 * (1 + 1e-3));
        double stall_ns = outcome.thread_busy_ns / (outcome.mops * 5e3) - get_ns(&test);
        cr_expect_float_eq(stall_ns, 2.5 * 67, 67, "a hit touches 2 to 3 lines, not %g", stall_ns / 67);
    }
}

Test(memcached, requests_are_lost_only_where_queues_are_full)
{
    static struct kvc_test_memcached test;
    for (int network = KVC_MEMCACHED_KERNEL; network <= KVC_MEMCACHED_PF_RING; network++) {
        kvc_test_memcached_describe(&test, &kvc_memcached_model);
        test.options.network = network;
        kvc_test_memcached_resolve(&test);
        double mops = predicted_mops(&test);
        offer(&test, 2 * mops);
        struct kvc_test_memcached_outcome outcome = simulate(&test, 5);
        cr_expect_gt(outcome.dropped, 0);
        if (test.config.staged) { /* Every packet that is lost at the socket was received before. */
            double left = 1 - 2 * mops * test.options.stack_receive_cycles / 3.5e3 / 4;
            double alone = 1 - mops * test.options.stack_receive_cycles / 3.5e3 / 4;
            cr_expect_float_eq(outcome.mops, mops * left / alone, 0.05 * mops);
        }
        double room = test.config.staged ? (double)test.options.backlog
                                         : test.config.threads * (double)test.nic.ring_frames;
        cr_expect_geq((double)outcome.in_flight, 0.9 * room, "%llu in queues for %g",
                      (unsigned long long)outcome.in_flight, room);
    }
}

Test(memcached, the_lock_of_the_whole_cache_bounds_all_threads)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_model);
    test.options.network = KVC_MEMCACHED_PF_RING;
    test.options.lock = KVC_MEMCACHED_LOCK_GLOBAL;
    test.options.compute_cycles = 0;
    test.dram.random_line_ns = 300;
    kvc_test_memcached_resolve(&test);
    double item_mops = simulate(&test, 2).mops, mops = predicted_mops(&test);
    double chain = 20000.0 / test.config.buckets;
    double lock_ns = kvc_memcached_handover_ns(&test.config) + (2 + chain / 2) * 300;
    cr_expect_float_eq(item_mops, 1e3 / lock_ns, 0.02 * item_mops, "%g, not %g", item_mops, 1e3 / lock_ns);
    cr_expect_float_eq(mops, item_mops, 0.02 * mops);
    test.options.lock = KVC_MEMCACHED_LOCK_ITEM;
    cr_expect_gt(simulate(&test, 2).mops, 1.5 * item_mops);
}

Test(memcached, hits_are_those_of_the_real_table)
{
    static struct kvc_test_memcached test;
    for (int i = 0; i < STORES; i++) {
        kvc_test_memcached_describe(&test, stores[i]);
        test.scenario.workload.preload_frac = 0.5;
        struct kvc_test_memcached_outcome outcome = simulate(&test, 2);
        cr_expect_float_eq((double)outcome.hits / (double)outcome.gets, 0.5, 0.02, "%s", stores[i]->name);
        if (stores[i] != &kvc_memcached_mica_model) { /* The table is too small, so it evicts. */
            test.scenario.workload.preload_frac = 1;
            test.options.entries = 5000;
            outcome = simulate(&test, 2);
            cr_expect_float_eq((double)outcome.hits / (double)outcome.gets, 0.25, 0.02, "%s",
                               stores[i]->name);
        }
    }
}

Test(memcached, one_seed_gives_one_result)
{
    static struct kvc_test_memcached test;
    for (int i = 0; i < STORES; i++) {
        kvc_test_memcached_describe(&test, stores[i]);
        test.scenario.workload.get_frac = 0.5;
        test.scenario.workload.set_frac = test.scenario.workload.delete_frac = 0.25;
        if (stores[i] != &kvc_memcached_fatcache_model) {
            offer(&test, 0.5);
        }
        kvc_test_memcached_resolve(&test);
        double first = kvc_test_memcached_simulate(&test, 1, 7).done_ns_sum;
        cr_expect_eq(kvc_test_memcached_simulate(&test, 1, 7).done_ns_sum, first);
        cr_expect_neq(kvc_test_memcached_simulate(&test, 1, 8).done_ns_sum, first);
    }
}

Test(memcached, an_fpga_takes_a_packet_in_its_words)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_fpga_model);
    struct kvc_test_memcached_outcome outcome = simulate(&test, 2);
    cr_expect_float_eq(outcome.mops, 156.25 / 12, 1e-3 * outcome.mops, "96 bytes are 12 words, not %g",
                       156.25 / outcome.mops);
    test.options.outstanding = 1;
    outcome = simulate(&test, 2);
    double alone_ns = 96 / 2.5 + 12 * 6.4 + 625 * 6.4 + 111 / 2.5;
    cr_expect_float_eq(outcome.mean_ns, alone_ns, 1e-3 * alone_ns, "%g, not %g", outcome.mean_ns, alone_ns);
}

Test(memcached, clients_that_know_the_core_make_the_threads_faster)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_mica_model);
    test.nic.bytes_per_s *= 100;
    double assisted = simulate(&test, 1).mops;
    test.options.client_assisted = false;
    double alone = simulate(&test, 1).mops;
    cr_expect_lt(alone, 0.95 * assisted, "%g and %g", alone, assisted);
    double mops = predicted_mops(&test);
    cr_expect_float_eq(alone, mops, 0.1 * mops, "%g, closed form %g", alone, mops);
}

Test(memcached, requests_from_memory_take_no_packets)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_mica_model);
    test.options.feed = KVC_MEMCACHED_FROM_MEMORY;
    struct kvc_test_memcached_outcome outcome = simulate(&test, 1);
    double get_cycles = test.options.compute_cycles / 3.5, stall_ns = 3.5 * 67 / 10;
    double mops = 4e3 / (get_cycles + stall_ns);
    cr_expect_float_eq(predicted_mops(&test), mops, 0.02 * mops);
    cr_expect_float_eq(outcome.mops, mops, 0.1 * mops, "%g, not %g", outcome.mops, mops);
}

/* The owner of the most popular keys bounds all clients, which wait instead of losing requests. */
Test(memcached, saturating_clients_wait_for_the_hottest_thread)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_mica_model);
    test.nic.bytes_per_s *= 100;
    double uniform = simulate(&test, 1).mops;
    test.scenario.workload.popularity = KVC_POPULARITY_ZIPF;
    test.scenario.workload.zipf_s = 1.2;
    struct kvc_test_memcached_outcome outcome = simulate(&test, 1);
    cr_expect_eq(outcome.dropped, 0);
    cr_expect_lt(outcome.mops, 0.8 * uniform, "%g and %g", outcome.mops, uniform);
    cr_expect_float_eq(outcome.thread_busy_ns, 1e6, 1e4);
}

/* A burst overlaps its stalls; single requests do not. */
Test(memcached, bursts_overlap_stalls)
{
    static struct kvc_test_memcached test;
    kvc_test_memcached_describe(&test, &kvc_memcached_mica_model);
    kvc_test_memcached_resolve(&test);
    double one_ns = kvc_memcached_stall_ns(&test.config, 3),
           burst_ns = kvc_memcached_stall_ns(&test.config, 96);
    cr_expect_float_eq(one_ns, 2 * 67, 1e-9);
    cr_expect_float_eq(burst_ns, 9.6 * 67, 1e-9);
}

static void describe_fatcache(struct kvc_test_memcached *test, uint64_t instances, uint64_t clients)
{
    kvc_test_memcached_describe(test, &kvc_memcached_fatcache_model);
    test->options.threads = instances;
    test->options.loopback = true;
    test->options.entries = 200000;
    test->scenario.workload.value_bytes = 1000;
    close_loop(test, clients);
}

/* An instance waits for one read at a time, even if the SSD could serve more. */
Test(memcached, an_instance_of_fatcache_blocks_for_each_read)
{
    static struct kvc_test_memcached test;
    double read_ns = 50e3 + 8192 / 0.4;
    describe_fatcache(&test, 1, 32);
    test.scenario.workload.keys = 160000;
    struct kvc_test_memcached_outcome outcome = simulate(&test, 20);
    cr_expect_eq(outcome.hits, outcome.gets);
    cr_expect_lt(outcome.mops, 1e3 / read_ns);
    cr_expect_gt(outcome.mops, 0.85e3 / read_ns);
    cr_expect_float_eq(outcome.mops, predicted_mops(&test), 0.03 * outcome.mops, "%g, closed form %g",
                       outcome.mops, predicted_mops(&test));
    double one_mops = outcome.mops;
    describe_fatcache(&test, 8, 256);
    test.scenario.workload.keys = 160000;
    outcome = simulate(&test, 20);
    cr_expect_lt(outcome.mops, 8 * one_mops, "instances wait for each other's pages: %g and %g", outcome.mops,
                 one_mops);
    cr_expect_gt(outcome.mops, 5 * one_mops, "%g and %g", outcome.mops, one_mops);
}

/* All reads of all instances cross the interface of the drive, which takes 100 us for a page. */
Test(memcached, a_drive_bounds_the_instances_of_fatcache)
{
    static struct kvc_test_memcached test;
    describe_fatcache(&test, 8, 256);
    test.scenario.workload.keys = 160000;
    test.flash.interface_bytes_per_s = 81.92e6;
    struct kvc_test_memcached_outcome outcome = simulate(&test, 50);
    double pages = 1 + 1064 / 8192.0, memory = 8 * 0.5 * 985 / 160000;
    double limit_mops = 1e-2 / pages / (1 - memory);
    cr_expect_float_eq(outcome.mops, limit_mops, 0.03 * limit_mops, "%g, not %g", outcome.mops, limit_mops);
    cr_expect_float_eq(predicted_mops(&test), limit_mops, 0.01 * limit_mops, "closed form %g, not %g",
                       predicted_mops(&test), limit_mops);
}

Test(memcached, items_in_memory_need_no_read)
{
    static struct kvc_test_memcached test;
    describe_fatcache(&test, 4, 64);
    double disk = simulate(&test, 10).mops;
    test.options.slab_memory_bytes = 32 << 20;
    double memory = simulate(&test, 10).mops;
    cr_expect_gt(memory, 5 * disk, "%g and %g", memory, disk);
    cr_expect_float_eq(memory, predicted_mops(&test), 0.1 * memory, "%g, closed form %g", memory,
                       predicted_mops(&test));
}

/* 970 items of 1081 bytes fill a slab. Its instance waits while the SSD programs it. */
Test(memcached, instances_wait_for_slabs_that_leave_the_memory)
{
    static struct kvc_test_memcached test;
    describe_fatcache(&test, 1, 8);
    test.scenario.workload.get_frac = 0;
    test.scenario.workload.set_frac = 1;
    test.scenario.workload.value_bytes = 1016;
    struct kvc_test_memcached_outcome outcome = simulate(&test, 100);
    cr_expect_float_eq(outcome.mops, predicted_mops(&test), 0.1 * outcome.mops, "%g, closed form %g",
                       outcome.mops, predicted_mops(&test));
    double stored = outcome.mops * 100e3;
    test.flash.program_ns = 3e6;
    outcome = simulate(&test, 100);
    double slabs = stored / 970, more_ns = 128 / 32 * 2.7e6;
    cr_expect_float_eq(outcome.mops * 100e3, stored / (1 + slabs * more_ns / 1e8), 0.1 * stored);
}

/* The oldest slabs are overwritten first, and their items are gone. */
Test(memcached, a_full_disk_forgets_the_oldest_slabs)
{
    static struct kvc_test_memcached test;
    describe_fatcache(&test, 2, 8);
    test.options.disk_bytes = 8 << 20;
    struct kvc_test_memcached_outcome outcome = simulate(&test, 20);
    double slab = 984.0 / 20000, found = (double)outcome.hits / (double)outcome.gets;
    cr_expect_gt(found, (8 + 2 - 2) * slab - 0.01, "%g: each instance has one slab that is not full", found);
    cr_expect_lt(found, (8 + 2) * slab + 0.01, "%g", found);
}
