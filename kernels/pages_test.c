#include "kernels/pages.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(pages, are_zeroed_and_aligned)
{
    uint64_t sizes[] = {1, 4096, (2 << 20) - 1, 2 << 20, (6 << 20) + 1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint8_t *memory = kvc_pages_alloc(sizes[i]);
        cr_assert_not_null(memory);
        cr_assert_eq((uintptr_t)memory % (sizes[i] < 2 << 20 ? 4096 : 2 << 20), 0);
        for (uint64_t at = 0; at < sizes[i]; at++) {
            cr_assert_eq(memory[at], 0);
        }
        memset(memory, 1, sizes[i]);
        kvc_pages_free(memory, sizes[i]);
    }
    kvc_pages_free(NULL, 5);
}

Test(pages, refuse_impossible_sizes)
{
    errno = 0;
    cr_assert_null(kvc_pages_alloc(0));
    cr_assert_eq(errno, EINVAL);
    uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_MAX};
    for (size_t i = 0; i < 2; i++) {
        errno = 0;
        cr_assert_null(kvc_pages_alloc(sizes[i]));
        cr_assert_eq(errno, ENOMEM);
    }
}
