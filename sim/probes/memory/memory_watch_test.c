#include "sim/probes/memory/memory_watch.h"

#include <criterion/criterion.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kernels/pages.h"
#include "sim/probes/cores.h"
#include "sim/probes/pin.h"

enum { CORES = 2, READINGS = 8, SLOW_LINE = 3, SLOW_HANDOFF = 5, ENOUGH = 15, ATTEMPTS = 100 };

static uint32_t counts[CORES] = {READINGS, READINGS};
static struct kvc_memory_rates rates[CORES * READINGS];

/* Readings of a machine whose lines take 40 ns, of which one reading has a slow core and one slow handoffs.
 */
static struct kvc_memory_watch watch_of_two_states(void)
{
    for (int i = 0; i < CORES * READINGS; i++) {
        rates[i] = (struct kvc_memory_rates){40 + i % READINGS % 2, 250, 20e9, 25, 1.8};
    }
    rates[READINGS + SLOW_LINE].line_ns = 60;
    rates[SLOW_HANDOFF].handoff_ns = rates[READINGS + SLOW_HANDOFF].handoff_ns = 150;
    return (struct kvc_memory_watch){.cores = CORES, .room = READINGS, .count = counts, .rates = rates};
}

static struct kvc_memory_rates rates_of(const struct kvc_memory_watch *watch)
{
    bool usual[ATTEMPTS];
    kvc_memory_watch_usual(watch, KVC_MEMORY_STATE, usual);
    return kvc_memory_watch_rates(watch, usual);
}

static double line_of(const struct kvc_memory_watch *watch, uint32_t core)
{
    bool usual[ATTEMPTS];
    kvc_memory_watch_usual(watch, KVC_MEMORY_STATE, usual);
    return kvc_memory_watch_line_ns(watch, usual, core);
}

Test(memory_watch, readings_in_another_state_are_not_usual)
{
    struct kvc_memory_watch watch = watch_of_two_states();
    bool usual[READINGS];
    kvc_memory_watch_usual(&watch, KVC_MEMORY_STATE, usual);
    for (int i = 0; i < READINGS; i++) {
        cr_expect_eq(usual[i], i != SLOW_LINE && i != SLOW_HANDOFF, "reading %d", i);
    }
    cr_expect_float_eq(rates_of(&watch).handoff_ns, 25, 1e-9);
    kvc_memory_watch_usual(&watch, KVC_MEMORY_HANDOFFS, usual);
    for (int i = 0; i < READINGS; i++) {
        cr_expect_eq(usual[i], i != SLOW_HANDOFF, "handoffs of reading %d", i);
    }
}

Test(memory_watch, lines_are_told_by_core)
{
    struct kvc_memory_watch watch = watch_of_two_states();
    for (int i = 0; i < READINGS; i++) {
        rates[i].line_ns = 59;
    }
    cr_expect_float_eq(line_of(&watch, 0), 59, 1e-9);
    cr_expect_float_eq(line_of(&watch, 1), 40, 1);
    cr_expect_float_eq(rates_of(&watch).line_ns, 49.5, 0.5);
    cr_expect_float_eq(kvc_memory_watch_fast(&watch).line_ns, 41, 1);
}

Test(memory_watch, core_that_sleeps_is_not_slow)
{
    struct kvc_memory_watch watch = watch_of_two_states();
    bool usual[READINGS];
    watch.count[1] = 0;
    for (int i = 0; i < READINGS; i++) {
        kvc_memory_watch_skip(&watch, 1);
    }
    kvc_memory_watch_usual(&watch, KVC_MEMORY_STATE, usual);
    cr_expect(usual[SLOW_LINE], "only core 1 was slow");
    cr_expect_float_eq(rates_of(&watch).line_ns, 40, 1e-9);
}

/* On a busy machine, one reading may tell anything, and a neighbour may come too late to a handoff. */
Test(memory_watch, readings_have_all_rates)
{
    struct kvc_diag diag = {0};
    struct kvc_memory_watch watch;
    double speed[KVC_CORES_MAX];
    uint32_t cores = kvc_cores_watch(speed);
    cr_assert_eq(kvc_memory_watch_open(&watch, cores, ATTEMPTS, &diag), KVC_OK, "%s", diag.message);
    struct kvc_memory_rates found = {0};
    for (int i = 0; i < ATTEMPTS && (i < ENOUGH || (cores > 1 && isnan(found.handoff_ns))); i++) {
        kvc_cores_read_memory(&watch);
        found = rates_of(&watch);
    }
    cr_expect(found.line_ns > 0 && found.bytes_per_s > 0);
    cr_expect_gt(found.latency_ns, found.line_ns);
    cr_expect(cores == 1 || found.handoff_ns > 0);
    kvc_memory_watch_close(&watch);
}

static atomic_bool is_over;

static void *keep_core_busy(void *unused)
{
    kvc_pin_core(0);
    while (!atomic_load(&is_over)) {
        ;
    }
    return unused;
}

/* A thread that shares its core waits for milliseconds, in which thousands of lines could be read. */
Test(memory_watch, waiting_for_the_core_is_not_the_memory)
{
    enum { READINGS_BESIDE = 1500 };
    const uint64_t bytes = 64 << 20;
    static double line_ns[READINGS_BESIDE];
    uint8_t *buffer = kvc_pages_alloc_sparse(bytes);
    kvc_pages_touch(buffer, bytes);
    kvc_pin_core(0);
    pthread_t neighbour;
    cr_assert_eq(pthread_create(&neighbour, NULL, keep_core_busy, NULL), 0);
    for (int i = 0; i < READINGS_BESIDE; i++) {
        line_ns[i] = kvc_memory_prefetched_ns(buffer, bytes, (uint64_t)i << 32);
    }
    atomic_store(&is_over, true);
    pthread_join(neighbour, NULL);
    /* One in six is interrupted. Of the others, some meet a host that is busy itself. */
    gsl_sort(line_ns, 1, READINGS_BESIDE);
    cr_expect_lt(line_ns[READINGS_BESIDE * 19 / 20], 10 * line_ns[READINGS_BESIDE / 2]);
    kvc_pages_free(buffer, bytes);
}
