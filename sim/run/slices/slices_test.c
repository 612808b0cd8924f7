#include "sim/run/slices/slices.h"

#include <criterion/criterion.h>
#include <math.h>

#include "sim/run/replica_fixture.h"
#include "sim/workload/source/source_fixture.h"

enum { SLICE_NS = 400, DISTANCE_NS = 100, DELAY_NS = 40, BUSY_NS = 30 };

/* A server that answers a request every 100 ns; even requests are GETs that hit, odd ones SETs. */
struct steady {
    struct kvc_answers answers;
    uint64_t answered;
};

static uint64_t advance(void *data, double until_ns)
{
    struct steady *steady = data;
    uint64_t before = steady->answered;
    while ((double)(steady->answered + 1) * DISTANCE_NS <= until_ns) {
        double done_ns = (double)(++steady->answered) * DISTANCE_NS;
        kvc_answers_reserve(&steady->answers, 1);
        kvc_answers_add(&steady->answers, done_ns - DELAY_NS, done_ns,
                        steady->answered % 2 == 0 ? KVC_ANSWERED_HIT : KVC_ANSWERED_SET, 0);
    }
    return steady->answered - before;
}

static void set_busy(const void *data, double *busy_ns)
{
    const struct steady *steady = data;
    busy_ns[0] = (double)steady->answered * BUSY_NS;
    busy_ns[1] = (double)steady->answered * 2 * DISTANCE_NS; /* More than there is time for. */
}

/* Simulates some servers and reports them: servers that look at the run have one actor. */
static struct kvc_test_run *simulate(uint32_t servers, bool looks)
{
    const struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    struct kvc_test_run *run = kvc_test_run_open(&workload);
    struct kvc_slices slices = {.replica = &run->replica, .slice_ns = SLICE_NS, .stages = 2, .looks = looks};
    struct steady steady[4] = {0};
    struct kvc_slice_server server[4];
    for (uint32_t i = 0; i < servers; i++) {
        server[i] = (struct kvc_slice_server){.slices = &slices,
                                              .number = i,
                                              .answers = &steady[i].answers,
                                              .advance = advance,
                                              .busy = set_busy,
                                              .data = &steady[i]};
        if (looks && i + 1 < servers) {
            server[i].next = &server[i + 1];
        }
        if (!looks || i == 0) {
            kvc_engine_spawn("server", kvc_slice_server_main, &server[i]);
        }
    }
    cr_assert_eq(kvc_replica_run(&run->replica, !looks, NULL), KVC_OK);
    kvc_slices_totals(&slices, &run->result);
    kvc_recorder_report(&run->replica.recorder, &run->result);
    kvc_slices_report_stage(&slices, 0, "work", "cpu", servers, &run->result);
    kvc_slices_report_stage(&slices, 1, "more", "cpu", servers, &run->result);
    for (uint32_t i = 0; i < servers; i++) {
        kvc_answers_free(&steady[i].answers);
    }
    return run;
}

static void check(const struct kvc_result *result, uint32_t servers)
{
    const struct kvc_stage_result *stage = result->stage;
    uint64_t requests = servers * 20000 / DISTANCE_NS;
    cr_expect_eq(result->completed, requests, "%llu", (unsigned long long)result->completed);
    cr_expect(result->hits == requests / 2 && result->sets == requests / 2);
    cr_expect_eq(result->latency.min_ns, DELAY_NS);
    cr_expect_eq(result->latency.max_ns, DELAY_NS);
    cr_assert_eq(result->stage_count, 2);
    cr_expect_float_eq(stage[0].utilization_frac, (double)BUSY_NS / DISTANCE_NS, 1e-9);
    cr_expect_float_eq(stage[0].busy_s, (double)requests * BUSY_NS * 1e-9, 1e-12);
    cr_expect_eq(stage[0].served, requests);
    cr_expect_eq(stage[1].utilization_frac, 1);
}

Test(slices, of_several_servers_add_up)
{
    struct kvc_test_run *run = simulate(3, false);
    check(&run->result, 3);
    kvc_test_run_free(run);
}

Test(slices, of_a_single_actor_look_at_the_run)
{
    struct kvc_test_run *run = simulate(3, true);
    check(&run->result, 3);
    cr_expect_leq(kvc_engine_activities(), 5, "nothing else happens, so time passes without activities");
    kvc_test_run_free(run);
}
