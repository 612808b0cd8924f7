/* Laws of sharing: what actors get of devices and links that they use at the same time. */
#include <criterion/criterion.h>
#include <math.h>

#include "sim/engine_fixture.h"

/* Event times are rounded to SimGrid's picosecond. */
#define EXPECT_NS(found, expected)                                                                           \
    cr_expect_float_eq((found), (expected), 1e-3 + 1e-9 * (expected), "%.9g", (found))

Test(engine, two_equal_draws_on_a_host_get_half_each)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = kvc_test_add_host(platform, "gpu", 1);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 1000), kvc_test_work(0, gpu, 1000, 1000)};
    kvc_test_run_jobs(platform, jobs, 2);
    EXPECT_NS(jobs[0].end_ns, 2000);
    EXPECT_NS(jobs[1].end_ns, 2000);
    kvc_platform_free(platform);
}

Test(engine, draws_on_cores_of_their_own_do_not_meet)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t cpu = kvc_test_add_host(platform, "cpu", 2);
    struct kvc_test_job jobs[] = {kvc_test_work(0, cpu, 1000, 1000), kvc_test_work(0, cpu, 1000, 1000),
                                  kvc_test_work(5000, cpu, 1000, 1000), kvc_test_work(5000, cpu, 1000, 1000),
                                  kvc_test_work(5000, cpu, 1000, 1000)};
    kvc_test_run_jobs(platform, jobs, 5);
    EXPECT_NS(jobs[0].end_ns, 1000);
    EXPECT_NS(jobs[1].end_ns, 1000);
    EXPECT_NS(jobs[4].end_ns, 6500); /* Three draws share two cores. */
    kvc_platform_free(platform);
}

Test(engine, a_bounded_draw_runs_at_its_bound)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = kvc_test_add_host(platform, "gpu", 1);
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 4000)};
    kvc_test_run_jobs(platform, jobs, 1);
    EXPECT_NS(jobs[0].end_ns, 4000);
    EXPECT_NS(kvc_engine_work_done_ns(gpu), 1000);
    kvc_platform_free(platform);
}

Test(engine, a_bounded_and_an_unbounded_draw_share_max_min)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t gpu = kvc_test_add_host(platform, "gpu", 1);
    /* A quarter of the device for the first, so the second gets three quarters. */
    struct kvc_test_job jobs[] = {kvc_test_work(0, gpu, 1000, 4000), kvc_test_work(0, gpu, 1500, 1500),
                                  kvc_test_work(10000, gpu, 600, 800), kvc_test_work(10000, gpu, 800, 800)};
    kvc_test_run_jobs(platform, jobs, 4);
    EXPECT_NS(jobs[0].end_ns, 4000);
    EXPECT_NS(jobs[1].end_ns, 2000);
    /* A bound of three quarters is above the half. Afterwards the device is free. */
    EXPECT_NS(jobs[2].end_ns, 11200);
    EXPECT_NS(jobs[3].end_ns, 11400);
    kvc_platform_free(platform);
}

Test(engine, work_on_several_devices_ends_with_the_slowest)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t cpu = kvc_test_add_host(platform, "cpu", 1), memory = kvc_test_add_host(platform, "memory", 1);
    struct kvc_test_job jobs[] = {
        {.draws = 2, .draw = {{cpu, 1000, 1000}, {memory, 700, 1000}}},
        {.begin_ns = 2000, .draws = 2, .draw = {{cpu, 100, 100}, {memory, 700, 700}}},
        {.begin_ns = 2000, .draws = 1, .draw = {{memory, 700, 700}}},
    };
    kvc_test_run_jobs(platform, jobs, 3);
    EXPECT_NS(jobs[0].end_ns, 1000);
    EXPECT_NS(jobs[1].end_ns, 3400);
    EXPECT_NS(jobs[2].end_ns, 3400);
    EXPECT_NS(kvc_engine_work_done_ns(memory), 2100);
    kvc_platform_free(platform);
}

/* One batch through an idle machine: copy in, kernel, copy out. */
static void batch_main(void *data)
{
    const uint32_t *hosts = data;
    kvc_engine_transfer(hosts[0], hosts[1], 12345);
    kvc_engine_work(&(struct kvc_draw){hosts[1], 321.5, 643}, 1);
    kvc_engine_transfer(hosts[1], hosts[0], 777);
    kvc_engine_work(&(struct kvc_draw){hosts[0], 98.75, 98.75}, 1);
}

Test(engine, a_batch_through_an_idle_machine_takes_the_sum_of_its_parts)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t hosts[] = {kvc_test_add_host(platform, "cpu", 4), kvc_test_add_host(platform, "gpu", 1)};
    uint32_t up = kvc_test_add_link(platform, "up", 3), down = kvc_test_add_link(platform, "down", 7);
    kvc_platform_add_route(platform, hosts[0], hosts[1], &down, 1);
    kvc_platform_add_route(platform, hosts[1], hosts[0], &up, 1);
    kvc_test_open(platform);
    kvc_engine_spawn("batch", batch_main, hosts);
    kvc_engine_run();
    double sum_ns = 12345 / 7.0 + 643 + 777 / 3.0 + 98.75;
    cr_expect_float_eq(kvc_engine_now_ns() / sum_ns, 1, 1e-3);
    EXPECT_NS(kvc_engine_now_ns(), sum_ns);
    kvc_platform_free(platform);
}

/* ---- transfers ---- */

/* Three hosts: a and b reach c over links of their own and one that they share. */
struct star {
    struct kvc_platform *platform;
    uint32_t a, b, c, a_link, b_link, shared;
};

static struct star star_of(double a_per_ns, double b_per_ns, double shared_per_ns)
{
    struct star star = {.platform = kvc_test_platform()};
    star.a = kvc_test_add_host(star.platform, "a", 1);
    star.b = kvc_test_add_host(star.platform, "b", 1);
    star.c = kvc_test_add_host(star.platform, "c", 1);
    star.a_link = kvc_test_add_link(star.platform, "a-link", a_per_ns);
    star.b_link = kvc_test_add_link(star.platform, "b-link", b_per_ns);
    star.shared = kvc_test_add_link(star.platform, "shared", shared_per_ns);
    kvc_platform_add_route(star.platform, star.a, star.c, (uint32_t[]){star.a_link, star.shared}, 2);
    kvc_platform_add_route(star.platform, star.b, star.c, (uint32_t[]){star.b_link, star.shared}, 2);
    return star;
}

Test(engine, a_route_is_as_fast_as_its_slower_link)
{
    struct star star = star_of(5, 20, 10);
    struct kvc_test_job jobs[] = {kvc_test_transfer(0, star.a, star.c, 10000),
                                  kvc_test_transfer(5000, star.b, star.c, 10000)};
    kvc_test_run_jobs(star.platform, jobs, 2);
    EXPECT_NS(jobs[0].end_ns, 2000);
    EXPECT_NS(jobs[1].end_ns, 6000);
    kvc_platform_free(star.platform);
}

Test(engine, transfers_share_a_link_max_min)
{
    struct star star = star_of(2, 20, 10);
    struct kvc_test_job jobs[] = {
        kvc_test_transfer(0, star.a, star.c, 10000), kvc_test_transfer(0, star.b, star.c, 40000),
        kvc_test_transfer(20000, star.b, star.c, 10000), kvc_test_transfer(20000, star.b, star.c, 10000)};
    kvc_test_run_jobs(star.platform, jobs, 4);
    EXPECT_NS(jobs[0].end_ns, 5000); /* 2 of 10 bytes/ns: its own link is slower than half the shared one. */
    EXPECT_NS(jobs[1].end_ns, 5000); /* The rest, 8. */
    EXPECT_NS(jobs[2].end_ns, 22000);
    EXPECT_NS(jobs[3].end_ns, 22000);
    kvc_platform_free(star.platform);
}

/* The links of their own differ, but only the shared one limits. */
Test(engine, equal_transfers_over_unequal_routes_get_half_each)
{
    struct star star = star_of(10, 1000, 10);
    struct kvc_test_job jobs[] = {kvc_test_transfer(0, star.a, star.c, 10000),
                                  kvc_test_transfer(0, star.b, star.c, 10000)};
    kvc_test_run_jobs(star.platform, jobs, 2);
    EXPECT_NS(jobs[0].end_ns, 2000);
    EXPECT_NS(jobs[1].end_ns, 2000);
    kvc_platform_free(star.platform);
}

Test(engine, bytes_in_are_bytes_out)
{
    struct star star = star_of(3, 7, 8);
    struct kvc_test_job jobs[40];
    double a_bytes = 0, b_bytes = 0;
    for (uint32_t i = 0; i < 40; i++) {
        double bytes = 1000 + 137 * i;
        jobs[i] = kvc_test_transfer(100 * (i % 7), i % 2 == 0 ? star.a : star.b, star.c, bytes);
        *(i % 2 == 0 ? &a_bytes : &b_bytes) += bytes;
    }
    kvc_test_run_jobs(star.platform, jobs, 40);
    cr_expect_float_eq(kvc_engine_bytes_carried(star.a_link) / a_bytes, 1, 1e-9);
    cr_expect_float_eq(kvc_engine_bytes_carried(star.b_link) / b_bytes, 1, 1e-9);
    cr_expect_float_eq(kvc_engine_bytes_carried(star.shared) / (a_bytes + b_bytes), 1, 1e-9);
    cr_expect_leq(kvc_engine_bytes_carried(star.shared), 8 * kvc_engine_now_ns() * (1 + 1e-9));
    kvc_platform_free(star.platform);
}

static void slices_main(void *data)
{
    const struct star *star = data;
    for (uint32_t i = 0; i < 1000; i++) {
        kvc_engine_transfer(star->a, star->c, 0.25 + i % 3);
    }
}

Test(engine, parts_of_bytes_add_up)
{
    struct star star = star_of(1, 1, 1);
    kvc_test_open(star.platform);
    kvc_engine_spawn("slices", slices_main, &star);
    kvc_engine_run();
    EXPECT_NS(kvc_engine_now_ns(), 250 + 999);
    cr_expect_float_eq(kvc_engine_bytes_carried(star.shared), 250 + 999, 1e-6);
    kvc_platform_free(star.platform);
}

/* Samples the bytes that the links have carried. */
struct sampler {
    const struct star *star;
    double at_ns[4], a_bytes[4], b_bytes[4], shared_bytes[4];
};

static void sampler_main(void *data)
{
    struct sampler *sampler = data;
    for (uint32_t i = 0; i < 4; i++) {
        kvc_engine_sleep_until_ns(sampler->at_ns[i]);
        sampler->a_bytes[i] = kvc_engine_bytes_carried(sampler->star->a_link);
        sampler->b_bytes[i] = kvc_engine_bytes_carried(sampler->star->b_link);
        sampler->shared_bytes[i] = kvc_engine_bytes_carried(sampler->star->shared);
    }
}

/* The bytes of a transfer in progress count as they flow, even where the rate of one link changes because of
 * another: after b's transfer, a gets the whole shared link. */
Test(engine, links_carry_bytes_as_they_flow)
{
    struct star star = star_of(10, 10, 10);
    struct sampler sampler = {&star, {500, 1000, 3000, 9000}, {0}, {0}, {0}};
    struct kvc_test_job jobs[] = {kvc_test_transfer(0, star.a, star.c, 30000),
                                  kvc_test_transfer(0, star.b, star.c, 10000)};
    kvc_test_open(star.platform);
    kvc_test_spawn(jobs, 2);
    kvc_engine_spawn("sampler", sampler_main, &sampler);
    kvc_engine_run();
    EXPECT_NS(jobs[1].end_ns, 2000);
    EXPECT_NS(jobs[0].end_ns, 4000);
    const double a_bytes[] = {2500, 5000, 20000, 30000}, b_bytes[] = {2500, 5000, 10000, 10000};
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_float_eq(sampler.a_bytes[i], a_bytes[i], 0.1, "%g", sampler.a_bytes[i]);
        cr_expect_float_eq(sampler.b_bytes[i], b_bytes[i], 0.1, "%g", sampler.b_bytes[i]);
        cr_expect_float_eq(sampler.shared_bytes[i], a_bytes[i] + b_bytes[i], 0.1, "%g",
                           sampler.shared_bytes[i]);
    }
    kvc_platform_free(star.platform);
}

/* ---- order of creation ---- */

/* Two hosts with a link each way, a job each; `swapped` creates everything in the other order. Returns the
 * end of each job by its name, not by its place. */
static void ends_of(bool swapped, double ends_ns[4])
{
    struct kvc_platform *platform = kvc_test_platform();
    const char *names[] = {"cpu", "gpu"}, *links[] = {"down", "up"};
    uint32_t host[2], link[2];
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t which = swapped ? 1 - i : i;
        host[which] = kvc_test_add_host(platform, names[which], which == 0 ? 2 : 1);
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t which = swapped ? 1 - i : i;
        link[which] = kvc_test_add_link(platform, links[which], which + 2);
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t which = swapped ? 1 - i : i;
        kvc_platform_add_route(platform, host[which], host[1 - which], &link[which], 1);
    }
    struct kvc_test_job jobs[] = {
        kvc_test_work(0, host[0], 1000, 1500), kvc_test_work(100, host[1], 1000, 3000),
        kvc_test_transfer(0, host[0], host[1], 7000), kvc_test_transfer(50, host[0], host[1], 1000)};
    struct kvc_test_job ordered[4];
    for (uint32_t i = 0; i < 4; i++) {
        ordered[i] = jobs[swapped ? 3 - i : i];
    }
    kvc_test_run_jobs(platform, ordered, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ends_ns[i] = ordered[swapped ? 3 - i : i].end_ns;
    }
    kvc_platform_free(platform);
}

static const double expected_ends_ns[] = {1500, 3100, 4000, 1050};

Test(engine, creation_in_one_order)
{
    double ends_ns[4];
    ends_of(false, ends_ns);
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_NS(ends_ns[i], expected_ends_ns[i]);
    }
}

Test(engine, creation_in_the_other_order_changes_nothing)
{
    double ends_ns[4];
    ends_of(true, ends_ns);
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_NS(ends_ns[i], expected_ends_ns[i]);
    }
}

Test(engine, routes_that_miss_a_device_are_refused)
{
    struct kvc_platform *platform = kvc_test_platform();
    struct kvc_diag diag = {0};
    kvc_test_add_host(platform, "cpu", 1);
    kvc_test_add_link(platform, "up", 1);
    cr_expect_eq(kvc_engine_open(NULL, platform, &diag), KVC_ERR_SCENARIO);
    cr_expect_str_eq(diag.message, "platform: no route connects the link \"up\"");
    kvc_platform_free(platform);
}

struct polling {
    uint32_t host;
    struct kvc_poller *poller;
};

static void poll_and_work(void *data)
{
    const struct polling *polling = data;
    for (int i = 0; i < 10; i++) {
        kvc_engine_sleep_until_ns(kvc_engine_now_ns() + 100);
        kvc_poller_pause(polling->poller);
        kvc_engine_work(&(struct kvc_draw){polling->host, 50, 50}, 1);
        kvc_engine_sleep_until_ns(kvc_engine_now_ns() + 50);
        kvc_poller_resume(polling->poller);
    }
    kvc_poller_pause(polling->poller);
    kvc_engine_stop();
}

/* A thread that polls takes a core, but not while it is paused. */
Test(engine, polling_counts_as_far_as_it_was_done)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t cpu = kvc_test_add_host(platform, "cpu", 1);
    struct kvc_test_job job = kvc_test_work(100, cpu, 50, 50);
    kvc_test_open(platform);
    struct polling polling = {cpu, kvc_poller_create(cpu)};
    kvc_engine_spawn("poll", poll_and_work, &polling);
    kvc_test_spawn(&job, 1);
    kvc_engine_run();
    EXPECT_NS(job.end_ns, 200); /* The thread's own work takes the other half. */
    EXPECT_NS(kvc_engine_work_done_ns(cpu), 10 * (100 + 50) + 50);
    kvc_poller_free(polling.poller);
    kvc_platform_free(platform);
}

/* ---- an actor alone ---- */

/* A host, and gates that start and end the work of another actor on it. */
struct alone {
    uint32_t host;
    struct kvc_gate *begin, *ended;
    uint64_t activities; /* Activities of the sleeps. */
    double worked_ns;
};

static void wait_and_work(void *data)
{
    struct alone *alone = data;
    kvc_gate_wait(alone->begin);
    kvc_engine_work(&(struct kvc_draw){alone->host, 500, 500}, 1);
    alone->worked_ns = kvc_engine_now_ns();
    kvc_gate_post(alone->ended);
}

static void sleep_alone(void *data)
{
    struct alone *alone = data;
    kvc_engine_sleep_until_ns(1); /* The other actor gets to its gate. */
    uint64_t before = kvc_engine_activities();
    for (int i = 1; i <= 100; i++) {
        kvc_engine_sleep_until_ns(i * 10.0);
        EXPECT_NS(kvc_engine_now_ns(), i * 10.0);
    }
    kvc_engine_sleep_until_ns(500); /* It has passed. */
    alone->activities = kvc_engine_activities() - before;
    EXPECT_NS(kvc_engine_host_joules(alone->host) * 1e9, 10 * 1000.0);
    kvc_gate_post(alone->begin);
    kvc_engine_sleep_until_ns(1200); /* No longer alone. */
    EXPECT_NS(kvc_engine_work_done_ns(alone->host), 200);
    EXPECT_NS(kvc_engine_host_joules(alone->host) * 1e9, 10 * 1200.0 + 90 * 200);
    kvc_gate_wait(alone->ended);
    kvc_engine_sleep_until_ns(2000);
    kvc_engine_work(&(struct kvc_draw){alone->host, 100, 100}, 1);
    EXPECT_NS(kvc_engine_now_ns(), 2100);
}

/* While all others wait at gates, time passes without activities. Whatever happens next does so at the time
 * that it has reached. */
Test(engine, an_actor_alone_sleeps_without_activities)
{
    struct kvc_platform *platform = kvc_test_platform();
    const struct kvc_platform_host host = kvc_test_host("cpu", 1, 10, 100, 100);
    struct alone alone = {.host = kvc_platform_add_host(platform, 0, &host)};
    kvc_test_open(platform);
    alone.begin = kvc_gate_create(0);
    alone.ended = kvc_gate_create(0);
    kvc_engine_spawn("waits", wait_and_work, &alone);
    kvc_engine_spawn("sleeps", sleep_alone, &alone);
    kvc_engine_run();
    cr_expect_eq(alone.activities, 0);
    EXPECT_NS(alone.worked_ns, 1500);
    EXPECT_NS(kvc_engine_now_ns(), 2100);
    kvc_gate_free(alone.begin);
    kvc_gate_free(alone.ended);
    kvc_platform_free(platform);
}
