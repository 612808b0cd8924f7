/* Tests the refusals of a platform, and the file that it writes. */
#include "sim/platform.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine_fixture.h"

static void expect_refused(const struct kvc_platform *platform, const char *message)
{
    struct kvc_diag diag = {0};
    cr_expect_eq(kvc_platform_check(platform, &diag), KVC_ERR_SCENARIO, "%s", message);
    cr_expect_str_eq(diag.message, message);
}

/* A CPU and a GPU, with a link each way. */
static struct kvc_platform *sound(void)
{
    struct kvc_platform *platform = kvc_test_platform();
    uint32_t cpu = kvc_test_add_host(platform, "node0.cpu", 8);
    uint32_t gpu = kvc_test_add_host(platform, "node0.gpu", 1);
    uint32_t up = kvc_test_add_link(platform, "node0.up", 10),
             down = kvc_test_add_link(platform, "node0.down", 11);
    kvc_platform_add_route(platform, cpu, gpu, &down, 1);
    kvc_platform_add_route(platform, gpu, cpu, &up, 1);
    return platform;
}

Test(platform, what_is_connected_passes)
{
    struct kvc_platform *platform = sound();
    struct kvc_diag diag = {0};
    uint32_t count = 0;
    cr_expect_eq(kvc_platform_check(platform, &diag), KVC_OK, "%s", diag.message);
    cr_expect_eq(kvc_platform_hosts(platform), 2);
    cr_expect_eq(kvc_platform_links(platform), 2);
    const uint32_t *links = kvc_platform_route(platform, 0, 1, &count);
    cr_assert_not_null(links);
    cr_expect(count == 1 && links[0] == 1);
    cr_expect_null(kvc_platform_route(platform, 1, 1, &count));
    kvc_platform_free(platform);
}

Test(platform, a_name_stands_for_one_device)
{
    struct kvc_platform *platform = sound();
    kvc_test_add_host(platform, "node0.gpu", 1);
    expect_refused(platform, "platform: two hosts have the name \"node0.gpu\"");
    kvc_platform_free(platform);
    platform = sound();
    uint32_t link = kvc_test_add_link(platform, "node0.up", 1);
    kvc_platform_add_route(platform, 1, 1, &link, 1);
    expect_refused(platform, "platform: two links have the name \"node0.up\"");
    kvc_platform_free(platform);
}

Test(platform, a_device_that_nothing_connects_is_named)
{
    struct kvc_platform *platform = sound();
    kvc_test_add_link(platform, "node0.lost", 1);
    expect_refused(platform, "platform: no route connects the link \"node0.lost\"");
    kvc_platform_free(platform);
}

Test(platform, speeds_and_bandwidths_are_positive)
{
    struct kvc_platform *platform = sound();
    struct kvc_platform_host host = kvc_test_host("node0.slow", 1, 0, 0, 0);
    host.pstates = 2;
    kvc_platform_add_host(platform, 0, &host);
    expect_refused(platform, "platform: state 1 of host \"node0.slow\" has the speed 0, allowed: above 0");
    kvc_platform_free(platform);
    platform = sound();
    uint32_t link = kvc_test_add_link(platform, "node0.zero", 0);
    kvc_platform_add_route(platform, 0, 0, &link, 1);
    expect_refused(platform, "platform: link \"node0.zero\" carries 0 bytes per second, allowed: above 0");
    kvc_platform_free(platform);
}

Test(platform, a_host_has_cores_and_begins_in_a_state_that_it_has)
{
    struct kvc_platform *platform = sound();
    kvc_test_add_host(platform, "node0.empty", 0);
    expect_refused(platform, "platform: host \"node0.empty\" begins in state 0 of 1 with 0 cores");
    kvc_platform_free(platform);
    platform = sound();
    struct kvc_platform_host host = kvc_test_host("node0.odd", 1, 0, 0, 0);
    host.first_pstate = 1;
    kvc_platform_add_host(platform, 0, &host);
    expect_refused(platform, "platform: host \"node0.odd\" begins in state 1 of 1 with 1 cores");
    kvc_platform_free(platform);
}

/* The lowest power cannot exceed the highest, and SimGrid needs all three. */
Test(platform, power_rises_with_the_busy_cores)
{
    struct kvc_platform *platform = sound();
    struct kvc_platform_host host = kvc_test_host("node0.hot", 2, 50, 40, 90);
    kvc_platform_add_host(platform, 0, &host);
    expect_refused(platform,
                   "platform: state 0 of host \"node0.hot\" takes 50 W idle, 40 W with one busy core "
                   "and 90 W with all, allowed: none below the one before");
    kvc_platform_free(platform);
}

static char *written(const struct kvc_platform *platform)
{
    static char text[1 << 14];
    FILE *out = fmemopen(text, sizeof(text), "w");
    cr_assert_not_null(out);
    kvc_platform_write(platform, out);
    cr_assert(ferror(out) == 0 && fclose(out) == 0);
    return text;
}

Test(platform, the_file_states_cores_speeds_watts_and_routes)
{
    struct kvc_platform *platform = sound();
    struct kvc_platform_host host = kvc_test_host("node0.nic", 8, 20, 40, 96);
    host.pstates = 2;
    host.first_pstate = 1;
    host.pstate[1] = (struct kvc_pstate){.speed = 0.5, .watts = {10, 20, 48}};
    kvc_platform_add_host(platform, 0, &host);
    const char *text = written(platform);
    cr_expect_not_null(strstr(text, "<host id=\"node0.nic\" core=\"8\" pstate=\"1\" speed=\"1Gf,0.5Gf\">"));
    /* The middle value is what remains of the power of one core without its share of the slope. */
    cr_expect_not_null(strstr(text, "value=\"20:32:96, 10:16:48\""), "%s", text);
    cr_expect_not_null(strstr(text, "<link id=\"node0.up\" bandwidth=\"10000000000Bps\" latency=\"0s\">"));
    cr_expect_not_null(strstr(text, "<route src=\"node0.cpu\" dst=\"node0.gpu\" symmetrical=\"NO\">"
                                    "<link_ctn id=\"node0.down\"/></route>"));
    kvc_platform_free(platform);
}

Test(platform, a_file_that_cannot_be_written_is_a_run_time_failure)
{
    struct kvc_platform *platform = sound();
    struct kvc_diag diag = {0};
    struct kvc_partial_file full = {0};
    cr_assert_eq(kvc_partial_file_open(&full, "/dev/full", &diag), KVC_OK);
    cr_expect_eq(kvc_engine_open(&full, platform, &diag), KVC_ERR_RUNTIME);
    cr_expect_str_eq(diag.file, "/dev/full");
    kvc_partial_file_discard(&full);
    kvc_platform_free(platform);
}
