/* Tests costs of stages: launches, responses, frames, and the load of a discrete GPU on the PCIe link. */
#include "models/dido/costs.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/devices/pcie.h"
#include "sim/devices/pcie_fixture.h"

enum { QUERIES = 20000 };

static const struct kvc_cpu cpu = {
    .cores = 8, .clock_hz = 2e9, .instructions_per_cycle = 2, .llc_bytes = 1 << 20, .llc_hit_cycles = 20};

static const struct kvc_dram dram = {
    .random_line_ns = 80, .next_line_ns = 10, .line_bytes = 64, .bytes_per_s = 1e12};

/* A GPU whose kernels are bound by the link, because it has instructions and waves enough. */
static const struct kvc_gpu gpu = {.sms = 1000,
                                   .threads_per_sm = 2048,
                                   .wave_threads = 32,
                                   .wave_issue = 100,
                                   .wave_gap_cycles = 1,
                                   .access_ns = 400,
                                   .launch_ns = 8500,
                                   .clock_count = 1,
                                   .clocks = {{.core_hz = 1e10}}};

static const struct kvc_dido_mix mix = {.get_frac = 0.95,
                                        .set_frac = 0.05,
                                        .hit_frac = 1,
                                        .insert_frac = 0.05,
                                        .erase_frac = 0.05,
                                        .key_bytes = 16,
                                        .value_bytes = 64,
                                        .search_lines = 1.2,
                                        .insert_lines = 2.5,
                                        .erase_lines = 1.2};

static struct kvc_dido_config config_of(const struct kvc_pcie *pcie)
{
    return (struct kvc_dido_config){.cpu = &cpu,
                                    .dram = &dram,
                                    .gpu = &gpu,
                                    .pcie = pcie,
                                    .link_ns = pcie != NULL ? kvc_pcie_read_ns(pcie, dram.line_bytes) : 0,
                                    .index_bytes = 1e9,
                                    .slab_bytes = 1e9};
}

/* Returns the cost of a stage on the GPU. */
static struct kvc_dido_cost cost_of(const struct kvc_pcie *pcie, const char *text, double queries)
{
    struct kvc_dido_config config = config_of(pcie);
    struct kvc_dido_pipeline pipeline;
    struct kvc_diag diag;
    cr_assert_eq(kvc_dido_pipeline_parse(text, &pipeline, &diag), KVC_OK, "%s", diag.message);
    return kvc_dido_cost_of(&config, &pipeline, pipeline.stage[1].tasks, true, &mix, queries);
}

static const char *const pipelines[] = {
    "cpu RV PP MM > gpu search insert delete > cpu KC RD WR SD",
    "cpu RV PP MM insert delete > gpu search KC RD > cpu WR SD",
    "cpu RV > gpu PP MM search insert delete KC RD WR > cpu SD",
};

/* search, insert and delete have a kernel each. */
Test(dido_costs, each_kernel_is_launched)
{
    cr_expect_float_eq(cost_of(NULL, pipelines[0], QUERIES).launch_ns, 3 * 8500, 1e-6);
    cr_expect_float_eq(cost_of(NULL, pipelines[1], QUERIES).launch_ns, 8500, 1e-6);
}

/* Returns the cost of tasks on a core, of a node whose port sends and receives 1.25 bytes in a nanosecond. */
static struct kvc_dido_cost on_core(uint32_t tasks, double cycles_ratio)
{
    static const struct kvc_nic nic = {.ports = 1,
                                       .bytes_per_s = 1.25e9,
                                       .mtu_bytes = 1500,
                                       .frame_overhead_bytes = 38,
                                       .packet_header_bytes = 28};
    const struct kvc_dido_options options = {
        .receive_cycles = 2000, .send_cycles = 2000, .cycles_ratio = cycles_ratio};
    struct kvc_dido_config config = config_of(NULL);
    struct kvc_dido_pipeline pipeline = {.stages = 1, .stage = {{.tasks = ~0u, .cores = 1}}};
    config.options = &options;
    config.nic = &nic;
    config.request_bytes = 24;
    config.response_bytes = 72;
    config.frame_mean = 50;
    return kvc_dido_cost_of(&config, &pipeline, tasks, false, &mix, QUERIES);
}

/* 20 responses of 72 bytes and 66 bytes around them are 1506 bytes, 50 requests 1266. */
Test(dido_costs, frames_take_their_time_on_the_wire)
{
    const uint32_t receives = kvc_dido_bit(KVC_DIDO_RV), sends = kvc_dido_bit(KVC_DIDO_SD);
    cr_expect_float_eq(on_core(sends, 1).up_ns, QUERIES * 1506 / 20.0 / 1.25, 1);
    cr_expect_eq(on_core(sends, 1).down_ns, 0);
    cr_expect_float_eq(on_core(receives, 1).down_ns, QUERIES * 1266 / 50.0 / 1.25, 1);
    cr_expect_eq(on_core(kvc_dido_bit(KVC_DIDO_WR), 1).up_ns, 0);
}

/* A frame of 20 responses takes 2000 cycles of 0.5 ns, more on cores that need more of them. */
Test(dido_costs, other_cores_take_other_cycles)
{
    double once_ns = on_core(kvc_dido_bit(KVC_DIDO_SD), 1).core_ns;
    double more_ns = on_core(kvc_dido_bit(KVC_DIDO_SD), 2.5).core_ns;
    cr_expect_float_eq(more_ns - once_ns, 1.5 * QUERIES * 2000 * 0.5 / 20, 1);
}

/* A value that RD copies straight into the response fills its lines, as it does if WR copies it. */
Test(dido_costs, a_copied_value_is_written)
{
    const uint32_t reads = kvc_dido_bit(KVC_DIDO_RD), writes = kvc_dido_bit(KVC_DIDO_WR);
    double apart_ns = on_core(reads, 1).channel_ns + on_core(writes, 1).channel_ns;
    cr_expect_float_eq(on_core(reads | writes, 1).channel_ns, apart_ns, 1e-6 * apart_ns);
    cr_expect_lt(on_core(reads | writes, 1).core_ns, on_core(reads, 1).core_ns + on_core(writes, 1).core_ns,
                 "WR executes less");
}

/* A search reads a line or two of the index, a hit compares a key: no fewer bytes can cross. */
Test(dido_link, stages_take_at_least_the_time_of_their_bytes)
{
    double link_per_ns = kvc_pcie_link_bytes_per_s(&kvc_test_published_pcie) * 1e-9;
    for (int i = 0; i < 3; i++) {
        struct kvc_dido_cost cost = cost_of(&kvc_test_published_pcie, pipelines[i], QUERIES);
        double lines = mix.get_frac * mix.search_lines * QUERIES;
        cr_expect_geq(cost.kernel_ns, fmax(cost.down_ns, cost.up_ns), "%s", pipelines[i]);
        cr_expect_geq(cost.down_ns, lines * (64 + 26) / link_per_ns, "%s", pipelines[i]);
        cr_expect_geq(cost.up_ns, lines * 26 / link_per_ns, "%s", pipelines[i]);
    }
}

Test(dido_link, a_link_of_twice_the_rate_halves_what_it_bounds)
{
    struct kvc_pcie slow = kvc_test_published_pcie;
    slow.tags = slow.read_credits = 4096;
    slow.completion_credits = slow.write_credits = slow.write_data_credits = 1 << 20;
    slow.root_bytes_per_s = 1e13;
    struct kvc_pcie fast = slow;
    fast.lanes = 2 * slow.lanes;
    for (int i = 0; i < 3; i++) {
        double slow_ns = cost_of(&slow, pipelines[i], QUERIES).kernel_ns;
        double fast_ns = cost_of(&fast, pipelines[i], QUERIES).kernel_ns;
        cr_expect_float_eq(fast_ns, slow_ns / 2, 1e-6 * slow_ns, "%s: %.0f and %.0f ns", pipelines[i],
                           slow_ns, fast_ns);
    }
}

/* 16 reads in flight for 1050 ns each limit the rate to 15 reads a microsecond, independently of the link's
 * bandwidth. */
Test(dido_link, tags_bound_reads)
{
    struct kvc_pcie few = kvc_test_published_pcie;
    few.tags = 16;
    const struct kvc_dido_link_load reads = {.reads = 1000, .read_bytes = 64e3};
    double tags_ns = 1000 * 1050.0 / 16;
    cr_expect_float_eq(kvc_dido_link_time_of(&few, &reads).down_ns, tags_ns, 1);
    few.tags = 32;
    cr_expect_float_eq(kvc_dido_link_time_of(&few, &reads).down_ns, tags_ns / 2, 1);
    few.tags = 8;
    double eight_ns = cost_of(&few, pipelines[1], QUERIES).kernel_ns;
    few.tags = 16;
    double sixteen_ns = cost_of(&few, pipelines[1], QUERIES).kernel_ns;
    cr_expect_float_eq(eight_ns, 2 * sixteen_ns, 1e-6 * eight_ns, "%.0f and %.0f ns", eight_ns, sixteen_ns);
}

/* One query, whose accesses follow each other, waits for a round trip with each of them. */
Test(dido_link, a_query_alone_waits_for_round_trips)
{
    double with_ns = cost_of(&kvc_test_published_pcie, pipelines[0], 1).kernel_ns;
    double without_ns = cost_of(NULL, pipelines[0], 1).kernel_ns;
    cr_expect_gt(with_ns - without_ns, mix.search_lines * 1050 * mix.get_frac, "%.0f and %.0f ns", with_ns,
                 without_ns);
}

Test(dido_link, a_shared_memory_has_no_link)
{
    struct kvc_dido_cost cost = cost_of(NULL, pipelines[2], QUERIES);
    cr_expect_eq(cost.down_ns, 0);
    cr_expect_eq(cost.up_ns, 0);
    cr_expect_gt(cost.kernel_ns, 0);
}

/* Returns the time of a packet with `clients` packets in flight at all times. */
static double engine_ns(const struct kvc_pcie *pcie, uint32_t bytes, bool write)
{
    enum { CLIENTS = 500, PACKETS = 100000 };
    struct kvc_events events = {0};
    struct kvc_pcie_root root = {0};
    struct kvc_pcie_engine engine;
    double now_ns = 0;
    uint32_t tag;
    kvc_pcie_engine_open(&engine, pcie, &root, &events, 0, 1);
    for (uint32_t done = 0, asked = 0; done < PACKETS;) {
        for (; asked < done + CLIENTS; asked++) {
            (write ? kvc_pcie_engine_write : kvc_pcie_engine_read)(&engine, now_ns, bytes, asked);
        }
        struct kvc_event event = kvc_events_pop(&events);
        now_ns = event.time_ns;
        done += kvc_pcie_engine_handle(&engine, &event, &tag);
    }
    kvc_pcie_engine_close(&engine);
    kvc_events_free(&events);
    return now_ns / PACKETS;
}

static void expect_like_engine(const struct kvc_pcie *pcie, uint32_t bytes, const char *bound)
{
    const struct kvc_dido_link_load read = {.reads = 1, .read_bytes = bytes},
                                    write = {.writes = 1, .written_bytes = bytes};
    double read_ns = engine_ns(pcie, bytes, false), write_ns = engine_ns(pcie, bytes, true);
    cr_expect_float_eq(kvc_dido_link_time_of(pcie, &read).down_ns, read_ns, 0.04 * read_ns, "%s: %.2f ns",
                       bound, read_ns);
    cr_expect_float_eq(kvc_dido_link_time_of(pcie, &write).up_ns, write_ns, 0.04 * write_ns, "%s: %.2f ns",
                       bound, write_ns);
}

/* Simulates the packets one by one. The time of a packet on the link adds to the time for which it holds its
 * tag or credit, which the closed form leaves out. */
Test(dido_link, the_times_are_those_of_simulated_packets)
{
    struct kvc_pcie pcie = kvc_test_published_pcie;
    expect_like_engine(&pcie, 64, "tags, link");
    pcie.tags = pcie.read_credits = 1024;
    expect_like_engine(&pcie, 64, "link");
    pcie.lanes = 16;
    pcie.write_credits = pcie.write_data_credits = pcie.completion_credits = 4096;
    expect_like_engine(&pcie, 256, "root");
    pcie.completion_credits = 256;
    pcie.write_credits = 32;
    expect_like_engine(&pcie, 64, "room, credits");
}
