#include "sim/engine_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct kvc_test_job kvc_test_work(double begin_ns, uint32_t host, double amount_ns, double alone_ns)
{
    return (struct kvc_test_job){.begin_ns = begin_ns, .draws = 1, .draw = {{host, amount_ns, alone_ns}}};
}

struct kvc_test_job kvc_test_transfer(double begin_ns, uint32_t from, uint32_t to, double bytes)
{
    return (struct kvc_test_job){.begin_ns = begin_ns, .from = from, .to = to, .bytes = bytes};
}

struct kvc_platform_host kvc_test_host(const char *name, uint32_t cores, double idle_w, double one_w,
                                       double all_w)
{
    struct kvc_platform_host host = {.device = "cpu",
                                     .cores = cores,
                                     .pstates = 1,
                                     .pstate = {{.speed = 1, .watts = {idle_w, one_w, all_w}}}};
    snprintf(host.name, sizeof(host.name), "%s", name);
    return host;
}

uint32_t kvc_test_add_host(struct kvc_platform *platform, const char *name, uint32_t cores)
{
    struct kvc_platform_host host = kvc_test_host(name, cores, 0, 0, 0);
    return kvc_platform_add_host(platform, 0, &host);
}

uint32_t kvc_test_add_link(struct kvc_platform *platform, const char *name, double bytes_per_ns)
{
    struct kvc_platform_link link = {.device = "pcie", .bytes_per_s = bytes_per_ns * 1e9};
    snprintf(link.name, sizeof(link.name), "%s", name);
    return kvc_platform_add_link(platform, 0, &link);
}

struct kvc_platform *kvc_test_platform(void)
{
    struct kvc_platform *platform = kvc_platform_create();
    kvc_platform_add_zone(platform, "node0");
    return platform;
}

void kvc_test_open(const struct kvc_platform *platform)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(kvc_engine_open(NULL, platform, &diag), KVC_OK, "%s", diag.message);
}

static void job_main(void *data)
{
    struct kvc_test_job *job = data;
    kvc_engine_sleep_until_ns(job->begin_ns);
    if (job->draws > 0) {
        kvc_engine_work(job->draw, job->draws);
    } else {
        kvc_engine_transfer(job->from, job->to, job->bytes);
    }
    job->end_ns = kvc_engine_now_ns();
}

void kvc_test_spawn(struct kvc_test_job *jobs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        jobs[i].end_ns = -1;
        kvc_engine_spawn("job", job_main, &jobs[i]);
    }
}

void kvc_test_run_jobs(const struct kvc_platform *platform, struct kvc_test_job *jobs, uint32_t count)
{
    kvc_test_open(platform);
    kvc_test_spawn(jobs, count);
    kvc_engine_run();
}
