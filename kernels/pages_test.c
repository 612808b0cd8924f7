#include "kernels/pages.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

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

Test(pages, touched_memory_keeps_its_contents)
{
    uint64_t bytes = (UINT64_C(2) << 20) + 12345;
    uint8_t *memory = kvc_pages_alloc(bytes);
    unsigned char present[1];
    memory[0] = 7;
    memory[8192] = 9;
    kvc_pages_touch(memory, bytes);
    cr_assert_eq(mincore((void *)((uintptr_t)(memory + bytes - 1) & ~(uintptr_t)4095), 4096, present), 0);
    cr_expect(present[0] & 1, "the last page is there");
    cr_expect_eq(memory[0], 7);
    cr_expect_eq(memory[8192], 9);
    cr_expect_eq(memory[bytes - 1], 0);
    kvc_pages_free(memory, bytes);
}
