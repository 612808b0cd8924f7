#include "scenarios/load/profile_cache.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/load/decode/hardware.h"
#include "scenarios/load/decode/load_fixture.h"
#include "sim/devices/cpu.h"
#include "sim/devices/pcie.h"

static void tear_down(void)
{
    kvc_profile_cache_clear();
    kvc_test_remove_folder();
}

TestSuite(profile_cache, .init = kvc_test_make_folder, .fini = tear_down);

static const char with_own_link[] = "return { system = { kind = 'megakv' }, node = { pcie = 'p.lua' } }";

static void write_link(const char *rate)
{
    char text[256];
    snprintf(text, sizeof(text),
             "return { kind = 'pcie', h2d = { '%s', source = 'x' }, d2h = { '1GB/s', source = 'x' },"
             " latency = { '1us', source = 'x' } }",
             rate);
    kvc_test_write_file("p.lua", text);
}

static void expect_link(const char *rate)
{
    struct kvc_loaded *loaded = kvc_test_accepts(with_own_link, NULL);
    kvc_test_expect_parameter(loaded, "node.pcie.h2d", rate, false, "x");
    kvc_loaded_free(loaded);
}

static bool knows_link(void)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/p.lua", kvc_test_folder);
    return kvc_profile_cache_find(path, &kvc_pcie_kind) != NULL;
}

static void expect_same(const struct kvc_parameters *a, const struct kvc_parameters *b)
{
    cr_assert_eq(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        cr_expect_str_eq(a->entry[i].path, b->entry[i].path);
        cr_expect_str_eq(a->entry[i].value, b->entry[i].value);
        cr_expect_str_eq(a->entry[i].source, b->entry[i].source);
        cr_expect_eq(memcmp(&a->entry[i].interval, &b->entry[i].interval, sizeof(struct kvc_bounds)), 0);
    }
}

Test(profile_cache, gives_what_the_file_gives)
{
    struct kvc_loaded *read = kvc_test_accepts(KVC_TEST_MINIMAL, NULL);
    struct kvc_loaded *kept = kvc_test_accepts(KVC_TEST_MINIMAL, NULL);
    char path[512];
    snprintf(path, sizeof(path), "%s/xeon-e5-2650v2.lua", kvc_hardware_dir());
    cr_assert_not_null(kvc_profile_cache_find(path, &kvc_cpu_kind), "the second load read the file again");
    expect_same(&read->parameters, &kept->parameters);
    expect_same(&read->provenance, &kept->provenance);
    for (const struct kvc_device *device = read->scenario.node.device; device->kind != NULL; device++) {
        cr_expect_eq(memcmp(device->values, kvc_node_device(&kept->scenario.node, device->kind),
                            device->kind->options->size),
                     0, "%s", device->kind->name);
    }
    kvc_loaded_free(read);
    kvc_loaded_free(kept);
}

Test(profile_cache, sees_that_a_file_changed)
{
    write_link("1GB/s");
    expect_link("1GB/s");
    cr_expect_not(knows_link(), "a file of this second may change without a trace");
    usleep(2100000); /* Now the file counts as settled. */
    expect_link("1GB/s");
    cr_expect(knows_link());
    write_link("2GB/s");
    cr_expect_not(knows_link());
    expect_link("2GB/s");
}

Test(profile_cache, keeps_no_more_than_its_limit)
{
    char slashes[KVC_PROFILE_CACHE_MAX + 2], path[512], first[512] = "";
    struct stat seen;
    memset(slashes, '/', sizeof(slashes));
    for (int i = 1; i <= KVC_PROFILE_CACHE_MAX + 1; i++) { /* The same file by another path each time. */
        struct kvc_profile profile = {.kind = &kvc_pcie_kind,
                                      .values = calloc(1, kvc_pcie_kind.options->size)};
        snprintf(path, sizeof(path), "%s%.*spcie5-x16.lua", kvc_hardware_dir(), i, slashes);
        if (i == 1) {
            strcpy(first, path);
        }
        cr_assert_eq(stat(path, &seen), 0);
        cr_assert(kvc_profile_cache_keep(path, &seen, &profile), "%d", i);
        bool knows_first = kvc_profile_cache_find(first, &kvc_pcie_kind) != NULL;
        cr_assert_eq(knows_first, i <= KVC_PROFILE_CACHE_MAX, "%d: the first one is the oldest", i);
    }
}

/* A profile that is known as a device's own is still refused where a machine file must stand. */
Test(profile_cache, does_not_take_a_device_for_a_machine)
{
    char path[512], text[768];
    struct kvc_loaded *loaded;
    struct kvc_diag diag;
    snprintf(path, sizeof(path), "%s/pcie5-x16.lua", kvc_hardware_dir());
    snprintf(text, sizeof(text), "return { system = { kind = 'megakv' }, node = { pcie = '%s' } }", path);
    kvc_loaded_free(kvc_test_accepts(text, NULL));
    cr_assert_not_null(kvc_profile_cache_find(path, &kvc_pcie_kind));
    snprintf(text, sizeof(text), "return { system = { kind = 'megakv' }, node = { machine = '%s' } }", path);
    cr_expect_eq(kvc_test_load(text, NULL, &loaded, &diag), KVC_ERR_SCENARIO);
    cr_expect(strstr(diag.message, "found \"pcie\"") != NULL, "%s", diag.message);
}
