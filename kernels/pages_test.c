#include "kernels/pages.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Twice the memory of the machine, of which one page in a thousand is touched. */
Test(pages, sparse_ones_take_memory_where_they_are_touched)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), count = 2 * (uint64_t)sysconf(_SC_PHYS_PAGES);
    uint8_t *memory = kvc_pages_alloc_sparse(count * page_bytes);
    if (memory == NULL) {
        cr_skip_test("this system reserves what it maps");
    }
    for (uint64_t page = 0; page < count; page += 1000) {
        cr_assert_eq(memory[page * page_bytes]++, 0);
    }
    unsigned char there[1000];
    cr_assert_eq(mincore(memory, sizeof(there) * page_bytes, there), 0);
    cr_expect_eq(there[0] & 1, 1);
    for (size_t page = 1; page < sizeof(there); page++) {
        cr_expect_eq(there[page] & 1, 0, "page %zu", page);
    }
    kvc_pages_free(memory, count * page_bytes);
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

/* The child writes to its copies, which are at the same addresses; pages that nobody touched stay so. */
Test(pages, a_child_gets_copies_of_its_own)
{
    uint64_t bytes = UINT64_C(6) << 20, huge = UINT64_C(2) << 20;
    uint8_t *memory = kvc_pages_alloc(bytes), *freed = kvc_pages_alloc(bytes);
    int status;
    memory[0] = 7;
    memory[huge - 1] = 9;
    kvc_pages_free(freed, bytes);
    pid_t child = fork();
    if (child == 0) {
        unsigned char present[512];
        kvc_pages_unshare();
        bool untouched = mincore(memory + 2 * huge, huge, present) == 0 && (present[0] & 1) == 0;
        bool same = memory[0] == 7 && memory[huge - 1] == 9 && memory[1] == 0;
        memset(memory, 1, bytes);
        _exit(untouched && same ? 0 : 1);
    }
    cr_assert(child > 0 && waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect(memory[0] == 7 && memory[1] == 0 && memory[bytes - 1] == 0);
    kvc_pages_free(memory, bytes);
}

Test(pages, memory_is_told_in_whole_pages)
{
    cr_expect_eq(kvc_pages_front_bytes(1 << 20, 1), 4096);
    cr_expect_eq(kvc_pages_front_bytes(1 << 20, 4097), 8192);
    cr_expect_eq(kvc_pages_front_bytes(8192, 1000000000), 8192);
    cr_expect_eq(kvc_pages_front_bytes(8192, 0), 0);
    cr_expect_eq(kvc_pages_random_bytes(1 << 20, 0), 0);
    cr_expect_float_eq((double)kvc_pages_random_bytes(1 << 20, 1), 4096, 10);
    cr_expect_float_eq((double)kvc_pages_random_bytes(1 << 20, 1000000), 1 << 20, 1);
    /* With as many touches as pages, 1/e of the pages stay untouched. */
    cr_expect_float_eq((double)kvc_pages_random_bytes(1 << 20, 256) / (1 << 20), 1 - 0.36716, 1e-5);
}

/* Returns how many of the small pages of an allocation are there [bytes]. */
static double present_bytes(const uint8_t *memory, uint64_t bytes)
{
    static unsigned char present[1 << 16];
    double pages = 0;
    cr_assert_eq(mincore((void *)memory, bytes, present), 0);
    for (uint64_t i = 0; i < bytes / 4096; i++) {
        pages += present[i] & 1;
    }
    return pages * 4096;
}

Test(pages, memory_is_told_as_the_system_provides_it)
{
    const uint64_t sizes[] = {1 << 20, UINT64_C(64) << 20};
    for (size_t i = 0; i < 2; i++) {
        uint64_t bytes = sizes[i], used = bytes / 3;
        uint8_t *front = kvc_pages_alloc(bytes), *random = kvc_pages_alloc(bytes);
        memset(front, 1, used);
        uint64_t place = 1;
        for (int touch = 0; touch < 100; touch++) {
            place = place * UINT64_C(6364136223846793005) + 1442695040888963407;
            random[(place >> 32) % bytes] = 1;
        }
        cr_expect_float_eq(present_bytes(front, bytes) / (double)kvc_pages_front_bytes(bytes, used), 1, 0.01);
        cr_expect_float_eq(present_bytes(random, bytes) / (double)kvc_pages_random_bytes(bytes, 100), 1, 0.1);
        kvc_pages_free(front, bytes);
        kvc_pages_free(random, bytes);
    }
}

/* Returns whether any part of this process's memory that the address lies in is on huge pages. */
static bool has_huge(const uint8_t *memory)
{
    char line[256];
    unsigned long start, end, huge_kib = 0;
    bool inside = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    cr_assert_not_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            inside = start <= (uintptr_t)memory && (uintptr_t)memory < end;
        }
        if (inside && sscanf(line, "AnonHugePages: %lu", &huge_kib) == 1) {
            break;
        }
    }
    fclose(maps);
    return huge_kib > 0;
}

Test(pages, are_small_on_request)
{
    const uint64_t bytes = UINT64_C(8) << 20;
    kvc_pages_use_huge(false);
    uint8_t *memory = kvc_pages_alloc(bytes);
    kvc_pages_use_huge(true);
    memset(memory, 1, bytes);
    cr_expect_not(has_huge(memory));
    kvc_pages_free(memory, bytes);
    memory = kvc_pages_alloc(bytes);
    memset(memory, 1, bytes);
    cr_expect(has_huge(memory) || !kvc_pages_has_huge());
    kvc_pages_free(memory, bytes);
}
