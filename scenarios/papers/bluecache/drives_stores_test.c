/* Stores on drives with a translation layer. */
#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "scenarios/run/laws_fixture.h"

/* Runs instances of Fatcache that fill a small drive, once it is full. The caller frees the outcome. */
static struct kvc_outcome *fatcache(int instances, const char *over_provisioning)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { name = \"drives\", node = { sockets = 1, flash = { base = \"samsung-950-pro\","
            " chips = 2, over_provisioning = %s } },"
            " system = { kind = \"fatcache\", loopback = true, instances = %d, entries = 1e5,"
            " slab_memory = \"4MiB\", disk = \"256MiB\" },"
            " workload = { keys = 2e5, key = 32, value = 8000, get = 0.5, set = 0.5,"
            " arrival = { clients = 64 } },"
            " run = { warmup = \"2s\", duration = \"1s\", bottleneck = \"utilization\" } }",
            over_provisioning, instances),
        false);
}

/* One log on a drive dies block by block. Several of them share blocks and die at different times, which is
 * still far better than writes at random (Yang et al., Don't stack your log on my log, INFLOW 2014). */
Test(drives_stores, several_logs_on_one_drive_are_amplified)
{
    struct kvc_outcome *one = fatcache(1, "0.0737"), *four = fatcache(4, "0.0737"),
                       *none = fatcache(4, "\"none\"");
    double alone = kvc_laws_value(one, "drive_amplification_ratio");
    double shared = kvc_laws_value(four, "drive_amplification_ratio");
    cr_log_info("one instance %.3f, four %.3f", alone, shared);
    cr_expect_float_eq(alone, 1, 0.01, "%g", alone);
    cr_expect(shared > 1.3 && shared < 4, "%g; at random, it would be 7.5", shared);
    double fast = kvc_laws_value(none, "throughput_mops"), slow = kvc_laws_value(four, "throughput_mops");
    cr_expect_gt(fast, 1.1 * slow, "%g Mops without a translation layer, %g with it", fast, slow);
    kvc_outcome_free(one);
    kvc_outcome_free(four);
    kvc_outcome_free(none);
}

/* BlueCache's log erases what it writes over, so that the drive has next to nothing to move: chips that are
 * done early get pages of the next row. */
Test(drives_stores, a_log_that_erases_is_not_amplified)
{
    struct kvc_outcome *outcome = kvc_laws_answer(
        kvc_laws_load(
            "return { name = \"drives\","
            " system = { kind = \"bluecache\", dram = \"0B\", index = \"8MiB\", flash = \"128MiB\" },"
            " node = { flash = { base = \"samsung-950-pro\", pages_per_block = 16 } },"
            " workload = { keys = 16e3, key = 32, value = 8104, get = 0.7, set = 0.3,"
            " arrival = { poisson_mops = 0.03 } },"
            " run = { warmup = \"1s\", duration = \"1s\", bottleneck = \"utilization\" } }"),
        false);
    double ratio = kvc_laws_value(outcome, "drive_amplification_ratio");
    cr_expect_float_eq(ratio, 1, 0.02, "%g", ratio);
    cr_expect_gt(kvc_laws_value(outcome, "erases"), 0);
    kvc_outcome_free(outcome);
}
