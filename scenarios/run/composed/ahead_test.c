/* Frames that are sent in blocks ahead of time, so that the lines which they need are fetched together
 * (models/composed/flow/frames.h). Frames of clients that fill what misses are not sent ahead, because
 * these clients depend on answers. If the store has all keys, they ask for the same. */
#include <criterion/criterion.h>
#include <string.h>

#include "scenarios/run/laws_fixture.h"

static struct kvc_outcome *answer(const char *kernel, const char *values, const char *misses,
                                  const char *mops)
{
    return kvc_laws_answer(
        kvc_laws_load(
            "return { system = { kind = 'composed', index = { kernel = '%s', size = '8MiB' },\n"
            "%s stages = { { name = 'receive', on = 'nic.rx' },\n"
            "{ name = 'serve', on = 'cpu', cores = 2, ns = 50, does = { %s 'search', 'insert' } },\n"
            "{ name = 'send', on = 'nic.tx' } } }, node = { sockets = 1 },\n"
            "workload = { keys = 2e4, key = 8, value = 8, get = 0.9, set = 0.1, per_frame = 1,\n"
            "  fill = 'at_once', arrival = { misses = '%s', poisson_mops = %s } },\n"
            "run = { duration = '2ms', warmup = '1ms' } }\n",
            kernel, values, strstr(values, "slab") != NULL ? "'write', 'read'," : "", misses, mops),
        false);
}

static void expect_same(const char *kernel, const struct kvc_outcome *ahead, const struct kvc_outcome *alone)
{
    const struct kvc_values *a = &ahead->values[0], *b = &alone->values[0];
    cr_assert_eq(a->count, b->count, "%s", kernel);
    for (uint32_t i = 0; i < a->count; i++) {
        cr_expect_arr_eq(&a->value[i].value, &b->value[i].value, sizeof(a->value[i].value),
                         "%s: %s is %.17g ahead, %.17g one by one", kernel, a->value[i].name,
                         a->value[i].value, b->value[i].value);
    }
}

/* A load that the cores bear, and one that they do not. */
Test(composition_ahead, answers_as_if_frames_came_one_by_one)
{
    static const char *const kernels[] = {
        "cuckoo",   "cuckoo-interleaved", "set-assoc", "hopscotch", "chained",
        "kvdirect", "bluecache",          "mica",      "memc3",     "farm"};
    static const char *const slab = "values = { kernel = 'slab', size = '16MiB' },",
                             *const pairs = "values = { kernel = 'inline', inline = '16B' },";
    for (size_t i = 0; i < 2 * sizeof(kernels) / sizeof(*kernels); i++) {
        const char *kernel = kernels[i / 2], *mops = i % 2 == 0 ? "5" : "30";
        const char *items = i % 2 == 0 ? slab : strcmp(kernel, "kvdirect") == 0 ? pairs : "";
        struct kvc_outcome *ahead = answer(kernel, items, "leave", mops),
                           *alone = answer(kernel, items, "fill", mops);
        cr_expect(alone->result.gets > 1000 && alone->result.misses == 0, "%s has %llu misses", kernel,
                  (unsigned long long)alone->result.misses);
        expect_same(kernel, ahead, alone);
        kvc_outcome_free(ahead);
        kvc_outcome_free(alone);
    }
}
