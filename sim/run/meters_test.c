/* Utilization and energy of devices within the measured time. */
#include "sim/run/meters.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/engine_fixture.h"
#include "sim/metrics/statistics.h"

/* Reads the meters at given times. */
struct reader {
    struct kvc_meters *meters;
    uint32_t count;
    double at_ns[12];
    struct kvc_recorder *recorder; /* Samples the meters; NULL: none. */
};

static void reader_main(void *data)
{
    const struct reader *reader = data;
    for (uint32_t i = 0; i < reader->count; i++) {
        kvc_engine_sleep_until_ns(reader->at_ns[i]);
        kvc_meters_read(reader->meters, kvc_engine_now_ns());
        if (reader->recorder != NULL) {
            kvc_recorder_sample_begin(reader->recorder, kvc_engine_now_ns());
            kvc_meters_sample(reader->meters, reader->recorder);
        }
    }
}

/* A CPU with 8 cores of known power, a GPU of known power, memory of unknown power, and a link. */
struct machine {
    struct kvc_platform *platform;
    uint32_t cpu, gpu, memory, link;
};

static struct machine machine_of(void)
{
    struct machine machine = {.platform = kvc_test_platform()};
    struct kvc_platform_host cpu = kvc_test_host("node0.cpu", 8, 20, 40, 96);
    struct kvc_platform_host gpu = kvc_test_host("node0.gpu", 1, 30, 130, 130);
    struct kvc_platform_link link = {
        .name = "node0.pcie", .device = "pcie", .bytes_per_s = 10e9, .idle_w = 1, .busy_w = 5};
    machine.cpu = kvc_platform_add_host(machine.platform, 0, &cpu);
    machine.gpu = kvc_platform_add_host(machine.platform, 0, &gpu);
    machine.memory = kvc_test_add_host(machine.platform, "node0.memory", 1);
    machine.link = kvc_platform_add_link(machine.platform, 0, &link);
    kvc_platform_add_route(machine.platform, machine.cpu, machine.gpu, &machine.link, 1);
    return machine;
}

/* Runs jobs and reports the meters' values for the time from from_ns to until_ns. */
static struct kvc_result *metered(const struct machine *machine, struct kvc_test_job *jobs, uint32_t count,
                                  double from_ns, double until_ns)
{
    static struct kvc_result result;
    struct kvc_meters meters;
    struct reader reader = {&meters, 3, {from_ns, (from_ns + until_ns) / 2, until_ns}, NULL};
    memset(&result, 0, sizeof(result));
    kvc_test_open(machine->platform);
    kvc_meters_open(&meters, machine->platform);
    kvc_test_spawn(jobs, count);
    kvc_engine_spawn("reader", reader_main, &reader);
    kvc_engine_run();
    result.simulated_s = (until_ns - from_ns) * 1e-9;
    kvc_meters_report(&meters, &result);
    kvc_meters_close(&meters);
    return &result;
}

#define EXPECT_NEAR(found, expected)                                                                         \
    cr_expect_float_eq(found, expected, 1e-9 + 1e-6 * (expected), "%.9g", found)

Test(meters, they_see_the_measured_time_only)
{
    struct machine machine = machine_of();
    /* The jobs begin before the measured time, end after it, or both. */
    struct kvc_test_job jobs[] = {kvc_test_work(0, machine.cpu, 9000, 9000),
                                  kvc_test_work(0, machine.gpu, 3000, 4000),
                                  kvc_test_work(2000, machine.memory, 1000, 1000),
                                  kvc_test_transfer(0, machine.cpu, machine.gpu, 40000)};
    const struct kvc_result *result = metered(&machine, jobs, 4, 1000, 5000);
    cr_assert_eq(result->device_count, 4);
    const struct kvc_device_result *device = result->device;
    cr_expect_str_eq(device[machine.gpu].name, "node0.gpu");
    EXPECT_NEAR(device[machine.cpu].utilization_frac, 1 / 8.0);
    EXPECT_NEAR(device[machine.gpu].utilization_frac, 0.75 * 3000 / 4000);
    EXPECT_NEAR(device[machine.memory].utilization_frac, 0.25);
    EXPECT_NEAR(device[3].utilization_frac, 0.75);
    EXPECT_NEAR(device[machine.cpu].watts_mean, 40.0);
    EXPECT_NEAR(device[machine.gpu].watts_mean, 30 + 100 * 0.75 * 0.75);
    EXPECT_NEAR(device[3].watts_mean, 1 + 4 * 0.75);
    cr_expect(isnan(device[machine.memory].watts_mean) && isnan(device[machine.memory].joules));
    double joules = 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (!isnan(device[i].joules)) {
            joules += device[i].joules;
            EXPECT_NEAR(device[i].joules, device[i].watts_mean * 4000e-9);
        }
    }
    EXPECT_NEAR(result->joules, joules);
    EXPECT_NEAR(result->watts_mean * 4000e-9, joules);
    kvc_platform_free(machine.platform);
}

Test(meters, no_device_is_used_more_than_fully)
{
    struct machine machine = machine_of();
    struct kvc_test_job jobs[60];
    for (uint32_t i = 0; i < 20; i++) {
        jobs[3 * i] = kvc_test_work(17 * i, machine.cpu, 3000 + i, 3000 + i);
        jobs[3 * i + 1] = kvc_test_work(13 * i, machine.gpu, 2000 + i, 2500);
        jobs[3 * i + 2] = kvc_test_transfer(11 * i, machine.cpu, machine.gpu, 20000 + i);
    }
    const struct kvc_result *result = metered(&machine, jobs, 60, 1234, 4321);
    EXPECT_NEAR(result->device[machine.cpu].utilization_frac, 1.0);
    EXPECT_NEAR(result->device[machine.gpu].utilization_frac, 1.0);
    EXPECT_NEAR(result->device[3].utilization_frac, 1.0);
    EXPECT_NEAR(result->device[machine.cpu].watts_mean, 96.0);
    cr_expect_eq(result->device[machine.memory].utilization_frac, 0);
    kvc_platform_free(machine.platform);
}

Test(meters, a_run_without_watts_reports_no_energy)
{
    struct kvc_platform *platform = kvc_test_platform();
    struct machine machine = {.platform = platform, .cpu = kvc_test_add_host(platform, "cpu", 1)};
    struct kvc_test_job jobs[] = {kvc_test_work(0, machine.cpu, 500, 500)};
    const struct kvc_result *result = metered(&machine, jobs, 1, 0, 1000);
    EXPECT_NEAR(result->device[0].utilization_frac, 0.5);
    cr_expect_eq(result->joules, 0);
    cr_expect_eq(result->watts_mean, 0);
    kvc_platform_free(platform);
}

/* More devices than a result holds are summed by kind. */
Test(meters, many_devices_are_summed_by_kind)
{
    enum { HOSTS = KVC_DEVICES_MAX };
    struct kvc_platform *platform = kvc_test_platform();
    struct machine machine = {.platform = platform};
    static struct kvc_test_job jobs[HOSTS + 1];
    for (uint32_t i = 0; i <= HOSTS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "cpu%u", i);
        struct kvc_platform_host host = kvc_test_host(name, 2, 10, 15, 20);
        jobs[i] = kvc_test_work(0, kvc_platform_add_host(platform, 0, &host), 1000, 1000);
    }
    const struct kvc_result *result = metered(&machine, jobs, HOSTS + 1, 0, 1000);
    cr_assert_eq(result->device_count, 1);
    cr_expect_str_eq(result->device[0].name, "cpu");
    EXPECT_NEAR(result->device[0].utilization_frac, 0.5);
    EXPECT_NEAR(result->watts_mean, 15.0 * (HOSTS + 1));
    kvc_platform_free(platform);
}

/* A GPU works for a part of each window, and a job on the CPU covers all of them. */
Test(meters, windows_give_intervals_by_device)
{
    enum { WINDOWS = 10 };
    struct machine machine = machine_of();
    struct kvc_test_job jobs[WINDOWS + 1] = {kvc_test_work(0, machine.cpu, 11000, 11000)};
    struct kvc_meters meters;
    struct kvc_recorder *recorder = calloc(1, sizeof(*recorder));
    struct kvc_result *result = calloc(1, sizeof(*result));
    struct reader reader = {&meters, WINDOWS + 1, {0}, recorder};
    static const double used[WINDOWS] = {0.2, 0.5, 0.6, 0.3, 0.2, 0.6, 0.4, 0.5, 0.1, 0.6};
    kvc_recorder_open(recorder, 1000, 1000, WINDOWS * 1000);
    for (int i = 0; i < WINDOWS; i++) {
        reader.at_ns[i + 1] = 2000 + 1000 * i;
        jobs[i + 1] = kvc_test_work(1000 + 1000 * i, machine.gpu, 1000 * used[i], 1000 * used[i]);
    }
    reader.at_ns[0] = 1000;
    kvc_test_open(machine.platform);
    kvc_meters_open(&meters, machine.platform);
    kvc_test_spawn(jobs, WINDOWS + 1);
    kvc_engine_spawn("reader", reader_main, &reader);
    kvc_engine_run();
    kvc_recorder_report(recorder, result);
    double half_width = kvc_interval_of_batches(used, WINDOWS).half_width;
    cr_expect_gt(half_width, 0.05);
    EXPECT_NEAR(kvc_result_half_width(result, "devices.node0.gpu.utilization_frac"), half_width);
    EXPECT_NEAR(kvc_result_half_width(result, "devices.node0.gpu.watts_mean"), 100 * half_width);
    EXPECT_NEAR(kvc_result_half_width(result, "devices.node0.gpu.joules"), 100 * half_width * 1e-5);
    cr_expect_lt(kvc_result_half_width(result, "devices.node0.cpu.utilization_frac"), 1e-9);
    cr_expect_eq(kvc_result_half_width(result, "devices.node0.pcie.utilization_frac"), 0);
    cr_expect(isnan(kvc_result_half_width(result, "devices.node0.memory.watts_mean")));
    kvc_meters_close(&meters);
    kvc_recorder_close(recorder);
    kvc_platform_free(machine.platform);
    free(recorder);
    free(result);
}
