#include "sim/base/ring.h"

#include <criterion/criterion.h>

Test(ring, keeps_the_order_while_it_grows_and_wraps)
{
    struct kvc_ring ring = {0};
    uint32_t next = 0, oldest = 0;
    for (uint32_t round = 0; round < 300; round++) { /* Three come and two leave. */
        for (int i = 0; i < 3; i++, next++) {
            kvc_ring_push(&ring, UINT64_C(1) << 40 | next, next);
        }
        for (int i = 0; i < 2; i++, oldest++) {
            struct kvc_ring_entry first = *kvc_ring_first(&ring), entry = kvc_ring_pop(&ring);
            cr_assert_eq(first.tag, oldest);
            cr_assert_eq(first.value, entry.value);
            cr_assert_eq(entry.tag, oldest);
            cr_assert_eq(entry.value, UINT64_C(1) << 40 | oldest);
        }
    }
    cr_expect_eq(ring.count, 300);
    cr_expect_eq(ring.room, 512);
    kvc_ring_free(&ring);
    cr_expect_eq(ring.count, 0);
}
