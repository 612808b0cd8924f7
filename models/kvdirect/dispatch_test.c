#include "models/kvdirect/dispatch.h"

#include <criterion/criterion.h>

static uint32_t steps_of(struct kvc_kvdirect_dispatch *dispatch, uint32_t line, uint32_t bytes, bool write,
                         struct kvc_kvdirect_step *step)
{
    const struct kvc_kvdirect_table_access access = {.line = line, .bytes = (uint16_t)bytes, .write = write};
    uint32_t count = kvc_kvdirect_dispatch_steps(dispatch, &access, KVC_KVDIRECT_OWN, step);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_eq(step[i].ends_access, i == count - 1);
    }
    return count;
}

/* If no line is cacheable, a slab of any size is one DMA operation. */
Test(dispatch, without_a_cache_everything_goes_to_the_host)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    cr_assert(kvc_kvdirect_dispatch_open(&dispatch, 0.7, 0, 2));
    cr_expect_eq(steps_of(&dispatch, 7, 64, false, step), 1);
    cr_expect_eq(step[0].kind, KVC_KVDIRECT_HOST_READ);
    cr_expect_eq(steps_of(&dispatch, 8, 500, true, step), 1);
    cr_expect_eq(step[0].kind, KVC_KVDIRECT_HOST_WRITE);
    cr_expect_eq(step[0].bytes, 500);
    kvc_kvdirect_dispatch_close(&dispatch);
}

/* Slabs of 256 bytes begin at every fourth line. */
Test(dispatch, endpoints_get_as_much_each)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    uint32_t operations[2] = {0};
    cr_assert(kvc_kvdirect_dispatch_open(&dispatch, 0, 0, 2));
    for (uint32_t slab = 0; slab < 10000; slab++) {
        steps_of(&dispatch, 4 * slab, 256, false, step);
        operations[step[0].endpoint]++;
    }
    cr_expect_float_eq((double)operations[0], 5000, 200);
    kvc_kvdirect_dispatch_close(&dispatch);
}

Test(dispatch, a_share_of_the_lines_is_cacheable)
{
    for (double share = 0.1; share < 1; share += 0.2) {
        struct kvc_kvdirect_dispatch dispatch;
        uint32_t cacheable = 0;
        cr_assert(kvc_kvdirect_dispatch_open(&dispatch, share, 65536, 1));
        for (uint32_t line = 0; line < 100000; line++) {
            cacheable += kvc_kvdirect_dispatch_cacheable(&dispatch, line);
        }
        cr_expect_float_eq(cacheable / 1e5, share, 0.01);
        kvc_kvdirect_dispatch_close(&dispatch);
    }
}

/* Looks a line up and, if it is not there or is written, puts it into its place. */
static struct kvc_kvdirect_step use(struct kvc_kvdirect_dispatch *dispatch, uint32_t line, uint32_t bytes,
                                    bool write)
{
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    cr_assert_eq(steps_of(dispatch, line, bytes, write, step), 1);
    cr_assert(step[0].open, "the state of the cache must not matter before the step starts");
    cr_assert_eq(step[0].line, line);
    kvc_kvdirect_dispatch_look(dispatch, &step[0]);
    cr_assert_not(step[0].open);
    if (step[0].kind != KVC_KVDIRECT_CACHE_READ) {
        kvc_kvdirect_dispatch_place(dispatch, line, write);
    }
    return step[0];
}

/* The cache has four places, and lines 1, 5 and 9 share one. */
Test(dispatch, a_place_holds_the_line_used_last)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step;
    cr_assert(kvc_kvdirect_dispatch_open(&dispatch, 1, 256, 1));
    step = use(&dispatch, 1, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_FETCH);
    cr_expect_not(step.evicts, "the place was empty");
    step = use(&dispatch, 1, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_READ);
    step = use(&dispatch, 2, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_FETCH, "another place");
    step = use(&dispatch, 5, 64, true);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_WRITE);
    cr_expect_not(step.evicts, "line 1 equals the host's copy");
    cr_expect_not(step.fetches, "all of line 5 is written");
    step = use(&dispatch, 9, 20, true);
    cr_expect(step.evicts, "line 5 is newer than the host's");
    cr_expect(step.fetches, "20 bytes are only a part of line 9");
    step = use(&dispatch, 9, 20, true);
    cr_expect_not(step.fetches);
    cr_expect_not(step.evicts);
    step = use(&dispatch, 1, 64, false);
    cr_expect_eq(step.kind, KVC_KVDIRECT_CACHE_FETCH);
    cr_expect(step.evicts);
    cr_expect_eq(dispatch.stats.lines, 7);
    cr_expect_eq(dispatch.stats.hits, 2);
    cr_expect_eq(dispatch.stats.writebacks, 2);
    kvc_kvdirect_dispatch_close(&dispatch);
}

/* PCIe orders the requests of a link only, so an evicted line must take the link on which it is read again.
 */
Test(dispatch, an_evicted_line_takes_its_own_link)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step;
    uint32_t other = 0;
    cr_assert(kvc_kvdirect_dispatch_open(&dispatch, 1, 256, 2));
    for (uint32_t line = 0; line < 400; line += 4) {
        struct kvc_kvdirect_step written = use(&dispatch, line, 64, true);
        step = use(&dispatch, line + 4, 64, false);
        cr_assert(step.evicts);
        cr_assert_eq(step.evicted_endpoint, written.endpoint);
        other += step.evicted_endpoint != step.endpoint;
    }
    cr_expect_gt(other, 0);
    kvc_kvdirect_dispatch_close(&dispatch);
}

/* Adjacent lines of a slab that are not cacheable form one operation. */
Test(dispatch, neighbours_on_the_host_are_one_operation)
{
    struct kvc_kvdirect_dispatch dispatch;
    struct kvc_kvdirect_step step[KVC_KVDIRECT_STEPS_MAX];
    uint64_t bytes = 0, host = 0, runs = 0;
    cr_assert(kvc_kvdirect_dispatch_open(&dispatch, 0.5, 65536, 1));
    for (uint32_t line = 0; line < 8; line++) {
        bool cacheable = kvc_kvdirect_dispatch_cacheable(&dispatch, line);
        runs += cacheable || line == 0 || kvc_kvdirect_dispatch_cacheable(&dispatch, line - 1);
        host += !cacheable;
    }
    cr_assert(host > 0 && host < 8);
    uint32_t count = steps_of(&dispatch, 0, 512, false, step);
    cr_expect_eq(count, runs);
    for (uint32_t i = 0; i < count; i++) {
        bytes += step[i].kind == KVC_KVDIRECT_HOST_READ ? step[i].bytes : 0;
    }
    cr_expect_eq(bytes, 64 * host);
    kvc_kvdirect_dispatch_close(&dispatch);
}
