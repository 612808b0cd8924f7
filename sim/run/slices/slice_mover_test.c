#include "sim/run/slices/slice_mover.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

enum { SLICE_NS = 1000, SLICES = 200, USERS_MAX = 4 };

/* A user of a memory with 4 channels, or of a link of 4 bytes a nanosecond. It posts the same after every
 * slice.
 */
struct user {
    struct kvc_slice_mover mover;
    double amount, alone_ns; /* Amount and time alone of a slice. */
    double posted;
};

static struct user user[USERS_MAX];

static void post(void *data)
{
    struct user *poster = data;
    for (int slice = 1; slice <= SLICES; slice++) {
        kvc_engine_sleep_until_ns(slice * (double)SLICE_NS);
        poster->posted += poster->amount;
        kvc_slice_mover_post(&poster->mover, poster->amount, poster->alone_ns);
    }
}

static void stop(void *data)
{
    kvc_engine_sleep_until_ns(*(double *)data);
    kvc_engine_stop();
}

/* Lets users of one device run until all of their activities have ended. */
static void share(uint32_t users, bool transfers, double end_ns)
{
    struct kvc_platform *platform = kvc_platform_create();
    struct kvc_platform_host memory = {
        .name = "memory", .device = "dram", .cores = 1, .pstates = 1, .pstate = {{.speed = 4}}};
    struct kvc_platform_host card = {
        .name = "card", .device = "fpga", .cores = 1, .pstates = 1, .pstate = {{.speed = 1}}};
    const struct kvc_platform_link link = {.name = "link", .device = "pcie", .bytes_per_s = 4e9};
    uint32_t zone = kvc_platform_add_zone(platform, "node");
    uint32_t to = kvc_platform_add_host(platform, zone, &memory);
    uint32_t from = kvc_platform_add_host(platform, zone, &card);
    uint32_t over = kvc_platform_add_link(platform, zone, &link);
    struct kvc_diag diag = {0};
    kvc_platform_add_route(platform, from, to, &over, 1);
    cr_assert_eq(kvc_engine_open(NULL, platform, &diag), KVC_OK, "%s", diag.message);
    for (uint32_t i = 0; i < users; i++) {
        user[i].mover =
            (struct kvc_slice_mover){.hosts = transfers ? 0 : 1, .host = {to}, .from = from, .to = to};
        kvc_slice_mover_open(&user[i].mover);
        kvc_engine_spawn("user", post, &user[i]);
    }
    kvc_engine_spawn("stop", stop, &end_ns);
    kvc_engine_run();
    for (uint32_t i = 0; i < users; i++) {
        cr_expect_float_eq(user[i].mover.moved, user[i].posted, 1e-6 * user[i].posted, "nothing is lost");
        kvc_slice_mover_close(&user[i].mover);
    }
    kvc_platform_free(platform);
}

static double end_of_slices_ns(void)
{
    return (SLICES + 1.5) * SLICE_NS;
}

/* A lone user gets its full rate, even if it posts little. */
Test(slice_mover, a_user_alone_is_not_slowed)
{
    user[0] = (struct user){.amount = 100, .alone_ns = 50};
    share(1, false, end_of_slices_ns());
    cr_expect_float_eq(user[0].mover.stretch, 1, 1e-6);
    cr_expect_float_eq(user[0].mover.moved_ns, SLICES * 50, 1e-3);
}

/* Users that each could draw all of it get half each, whether it is work or bytes. */
Test(slice_mover, two_equal_users_get_half_of_the_work)
{
    user[0] = user[1] = (struct user){.amount = 1000, .alone_ns = 250};
    share(2, false, end_of_slices_ns());
    cr_expect_float_eq(user[0].mover.stretch, 2, 1e-6);
    cr_expect_float_eq(user[1].mover.stretch, 2, 1e-6);
}

Test(slice_mover, two_equal_users_get_half_of_the_bytes)
{
    user[0] = user[1] = (struct user){.amount = 1000, .alone_ns = 250};
    share(2, true, end_of_slices_ns());
    cr_expect_float_eq(user[0].mover.stretch, 2, 1e-3);
    cr_expect_float_eq(user[1].mover.stretch, 2, 1e-3);
}

/* A user that cannot draw more than a quarter gets that, and the other one the rest. */
Test(slice_mover, a_bounded_user_gets_its_bound)
{
    user[0] = (struct user){.amount = 500, .alone_ns = 500};
    user[1] = (struct user){.amount = 1500, .alone_ns = 375};
    share(2, false, end_of_slices_ns());
    cr_expect_float_eq(user[0].mover.stretch, 1, 1e-6);
    cr_expect_float_eq(user[1].mover.stretch, 500.0 / 375, 1e-3);
}

/* Two users post 1.5 times the memory's capacity, so a backlog builds up. All of it is done later. */
Test(slice_mover, a_backlog_is_done_later)
{
    user[0] = user[1] = (struct user){.amount = 3000, .alone_ns = 750};
    share(2, false, 1.6 * SLICES * SLICE_NS);
    double moved_ns = user[0].mover.moved_ns;
    cr_expect_geq(moved_ns, 1.49 * SLICES * SLICE_NS);
    cr_expect_float_eq(moved_ns / user[0].mover.moved_alone_ns, 2, 0.02);
}

/* ---- devices of its own ---- */

enum { ACTIVITIES, QUEUE, WAYS };

/* Two hosts and two links that are alike: the movers of one work in activities, and the others own theirs. */
struct pair {
    struct kvc_slice_mover work[WAYS], transfer[WAYS];
    uint32_t host[WAYS], link[WAYS];
    uint32_t compared;
};

static void compare(struct pair *pair)
{
    const uint32_t *host = pair->host, *link = pair->link;
    cr_expect_float_eq(kvc_engine_work_done_ns(host[QUEUE]), kvc_engine_work_done_ns(host[ACTIVITIES]), 1e-2);
    cr_expect_float_eq(kvc_engine_bytes_carried(link[QUEUE]), kvc_engine_bytes_carried(link[ACTIVITIES]), 2,
                       "%g, %g", kvc_engine_bytes_carried(link[QUEUE]),
                       kvc_engine_bytes_carried(link[ACTIVITIES])); /* Activities carry whole bytes. */
    cr_expect_float_eq(kvc_engine_host_joules(host[QUEUE]), kvc_engine_host_joules(host[ACTIVITIES]), 1e-11);
    cr_expect_float_eq(kvc_engine_link_joules(link[QUEUE]), kvc_engine_link_joules(link[ACTIVITIES]), 1e-8);
    pair->compared++;
}

/* Posts amounts that now and then take longer than a slice, and compares within the slices. */
static void post_pair(void *data)
{
    struct pair *pair = data;
    for (uint32_t slice = 1; slice <= SLICES; slice++) {
        kvc_engine_sleep_until_ns(slice * (double)SLICE_NS);
        double amount = slice * 7919 % 3571, alone_ns = slice % 3 == 0 ? amount : amount / 5;
        for (int way = 0; way < WAYS; way++) {
            kvc_slice_mover_post(&pair->work[way], amount, alone_ns);
            kvc_slice_mover_post(&pair->transfer[way], 2 * amount, amount / 2);
        }
        kvc_engine_sleep_until_ns((slice + 0.37) * SLICE_NS);
        compare(pair);
    }
    kvc_engine_sleep_until_ns(2.0 * SLICES * SLICE_NS);
    compare(pair);
    kvc_engine_stop();
}

static void turn_off(void *data)
{
    kvc_engine_sleep_until_ns(50.2 * SLICE_NS);
    kvc_engine_outage_of_link(*(const uint32_t *)data, 70.6 * SLICE_NS);
}

Test(slice_mover, devices_of_its_own_do_the_same_at_the_same_times)
{
    struct kvc_platform *platform = kvc_platform_create();
    uint32_t zone = kvc_platform_add_zone(platform, "node");
    struct pair pair = {0};
    struct kvc_diag diag = {0};
    for (int way = 0; way < WAYS; way++) {
        struct kvc_platform_host host = {
            .device = "dram", .cores = 1, .pstates = 1, .pstate = {{.speed = 4, .watts = {10, 90, 90}}}};
        struct kvc_platform_link link = {.device = "nic", .bytes_per_s = 4e9, .idle_w = 1, .busy_w = 9};
        snprintf(host.name, sizeof(host.name), "host%d", way);
        snprintf(link.name, sizeof(link.name), "link%d", way);
        pair.host[way] = kvc_platform_add_host(platform, zone, &host);
        pair.link[way] = kvc_platform_add_link(platform, zone, &link);
    }
    kvc_platform_add_route(platform, pair.host[0], pair.host[1], &pair.link[ACTIVITIES], 1);
    kvc_platform_add_route(platform, pair.host[1], pair.host[0], &pair.link[QUEUE], 1);
    cr_assert_eq(kvc_engine_open(NULL, platform, &diag), KVC_OK, "%s", diag.message);
    kvc_slice_mover_open_work(&pair.work[ACTIVITIES], pair.host[ACTIVITIES]);
    kvc_slice_mover_open_transfer(&pair.transfer[ACTIVITIES], pair.host[0], pair.host[1]);
    kvc_slice_mover_own_host(&pair.work[QUEUE], pair.host[QUEUE]);
    kvc_slice_mover_own_link(&pair.transfer[QUEUE], pair.host[1], pair.host[0]);
    kvc_engine_spawn("post", post_pair, &pair);
    for (int way = 0; way < WAYS; way++) {
        kvc_engine_spawn("outage", turn_off, &pair.link[way]);
    }
    kvc_engine_run();
    cr_expect_eq(pair.compared, SLICES + 1);
    kvc_slice_mover_close(&pair.work[ACTIVITIES]);
    kvc_slice_mover_close(&pair.transfer[ACTIVITIES]);
    kvc_platform_free(platform);
}
