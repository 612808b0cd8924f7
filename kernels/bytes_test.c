#include "kernels/bytes.h"

#include <criterion/criterion.h>

enum { MOST = 2 * KVC_BYTES_SHORT, ROOM = MOST + 2 };

Test(bytes, copies_exactly_its_bytes)
{
    uint8_t from[ROOM], to[ROOM];
    for (int i = 0; i < ROOM; i++) {
        from[i] = (uint8_t)(i + 1);
    }
    for (uint32_t bytes = 0; bytes <= MOST; bytes++) {
        memset(to, 0, sizeof(to));
        kvc_bytes_copy(to + 1, from + 1, bytes);
        cr_expect_arr_eq(to + 1, from + 1, bytes, "%u bytes", bytes);
        cr_expect(to[0] == 0 && to[bytes + 1] == 0, "%u bytes", bytes);
    }
}

Test(bytes, sees_every_difference)
{
    uint8_t a[ROOM] = {0}, b[ROOM] = {0};
    for (uint32_t bytes = 0; bytes <= MOST; bytes++) {
        b[bytes + 1] = 1; /* Beyond the bytes. */
        cr_expect(kvc_bytes_same(a + 1, b + 1, bytes), "%u bytes", bytes);
        b[bytes + 1] = 0;
        for (uint32_t i = 1; i <= bytes; i++) {
            b[i] = 1;
            cr_expect_not(kvc_bytes_same(a + 1, b + 1, bytes), "byte %u of %u", i, bytes);
            b[i] = 0;
        }
    }
}
