/* Tests of option resolution and its error messages. */
#include "models/memcached/config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "models/memcached/memcached.h"
#include "models/memcached/server_fixture.h"

static void expect_refusal(struct kvc_test_memcached *test, const char *part)
{
    struct kvc_diag diag = {0};
    enum kvc_status status = test->scenario.model->resolve(&test->scenario, &test->config, &diag);
    if (status == KVC_OK) {
        status = kvc_memcached_check(&test->scenario, &diag);
    }
    cr_expect_eq(status, KVC_ERR_SCENARIO);
    cr_expect_not_null(strstr(diag.message, part), "found \"%s\", not \"%s\"", diag.message, part);
    cr_expect_null(strchr(diag.message, '\n'));
}

static void describe(struct kvc_test_memcached *test, const struct kvc_model *model)
{
    kvc_test_memcached_describe(test, model);
    kvc_test_memcached_resolve(test);
}

Test(memcached_config, refuses_what_it_cannot_serve)
{
    static struct kvc_test_memcached test;
    describe(&test, &kvc_memcached_model);
    test.options.threads = 5;
    expect_refusal(&test, "system.threads: found 5, allowed are 1 to 4");
    describe(&test, &kvc_memcached_model);
    test.scenario.workload.key_bytes = 251;
    expect_refusal(&test, "workload.key: found keys of up to 251 bytes, allowed are 250");
    describe(&test, &kvc_memcached_model);
    test.scenario.workload.arrival = KVC_ARRIVAL_CLOSED;
    test.scenario.cluster.nodes = 2;
    expect_refusal(&test, "workload.arrival: found clients that send again 0 ns after");
    describe(&test, &kvc_memcached_mica_model);
    test.options.feed = KVC_MEMCACHED_FROM_MEMORY;
    test.scenario.workload.arrival = KVC_ARRIVAL_CLOSED;
    expect_refusal(&test, "workload.arrival: found clients, allowed with system.feed");
    describe(&test, &kvc_memcached_model);
    test.scenario.workload.frame_requests = 2;
    expect_refusal(&test, "workload.per_frame: found 2, allowed is 1");
    describe(&test, &kvc_memcached_model);
    test.scenario.run.functional = KVC_FUNCTIONAL_SAMPLED;
    expect_refusal(&test, "run.functional: found sampled, allowed with memcached: compact or full");
    describe(&test, &kvc_memcached_model);
    test.options.loopback = true;
    test.options.network = KVC_MEMCACHED_PF_RING;
    expect_refusal(&test, "system.loopback: found true, allowed is false with system.network = \"pf_ring\"");
    describe(&test, &kvc_memcached_model);
    test.options.network = KVC_MEMCACHED_TCP;
    test.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    expect_refusal(&test, "workload.arrival: found an open load, allowed over TCP");
    describe(&test, &kvc_memcached_mica_model);
    test.options.log_bytes = 100000;
    expect_refusal(&test, "system.log: found 100000 bytes, allowed is a power of two");
    describe(&test, &kvc_memcached_mica_model);
    test.scenario.workload.value_bytes = 2 << 20;
    expect_refusal(&test, "workload: found pairs of up to");
    describe(&test, &kvc_memcached_mica_model);
    test.options.feed = KVC_MEMCACHED_FROM_MEMORY;
    test.options.client_assisted = false;
    expect_refusal(&test, "system.client_assisted: found false");
    describe(&test, &kvc_memcached_mica_model);
    test.options.feed = KVC_MEMCACHED_FROM_MEMORY;
    test.scenario.workload.arrival = KVC_ARRIVAL_POISSON;
    expect_refusal(&test, "workload.arrival: found an open load");
    describe(&test, &kvc_memcached_mica_model);
    test.nic.queues = 3;
    expect_refusal(&test, "queues");
    describe(&test, &kvc_memcached_fatcache_model);
    test.options.disk_bytes = 0x1p40;
    expect_refusal(&test, "system.disk: found 1024 GiB, allowed are 0.007812 to 1 GiB");
    describe(&test, &kvc_memcached_fatcache_model);
    test.flash.page_bytes = 12288; /* A slab takes 86 of these pages. */
    test.options.disk_bytes = 0x1.8p30;
    expect_refusal(&test, "system.disk: found 1.5 GiB, allowed are 0.007812 to 1.484 GiB");
    describe(&test, &kvc_memcached_fatcache_model);
    test.scenario.workload.value_bytes = 1 << 20;
    expect_refusal(&test, "workload: found items of up to");
    describe(&test, &kvc_memcached_fatcache_model);
    test.flash.over_provisioning = 0.1;
    test.flash.sector_bytes = 4096;
    test.flash.channels = 256; /* The drive has 1024 chips. */
    test.options.disk_bytes = 0x1p25;
    expect_refusal(&test, "flash.over_provisioning: the store uses 4096 pages of a drive with 1024 chips");
    describe(&test, &kvc_memcached_fpga_model);
    test.options.ways = 3;
    expect_refusal(&test, "system.ways: found 3");
}

Test(memcached_config, the_table_grows_with_its_keys_up_to_its_entries)
{
    static struct kvc_test_memcached test;
    describe(&test, &kvc_memcached_model);
    cr_expect_eq(test.config.buckets, 16384, "20000 keys");
    test.scenario.workload.keys = 1000000;
    kvc_test_memcached_resolve(&test);
    cr_expect_eq(test.config.buckets, 32768, "40000 entries");
}

Test(memcached_config, caches_hold_what_fits)
{
    static struct kvc_test_memcached test;
    describe(&test, &kvc_memcached_model);
    cr_expect_eq(test.config.llc_frac, 0);
    cr_expect_float_eq(test.config.line_ns, 67, 1e-9);
    test.cpu.llc_bytes = 1e9;
    kvc_test_memcached_resolve(&test);
    cr_expect_float_eq(test.config.llc_frac, 1, 1e-6);
    cr_expect_float_eq(test.config.line_ns, 36 / 3.5, 1e-6);
}
