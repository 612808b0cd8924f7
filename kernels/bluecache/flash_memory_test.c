#include "kernels/bluecache/flash_memory.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bluecache/flash_map_fixture.h"

/* The medium that all other tests use enforces the rules of NAND. */
Test(flash_memory, refuses_what_flash_cannot_do)
{
    struct kvc_flash_memory *memory = kvc_flash_memory_create(&flash_small);
    struct kvc_flash_medium *medium = kvc_flash_memory_medium(memory);
    uint8_t page[512] = {1}, back[512];
    cr_assert(medium->program_page(medium, 3, 1, page));
    cr_assert_not(medium->program_page(medium, 3, 1, page), "written twice");
    cr_assert_not(medium->program_page(medium, 3, 0, page), "not ascending");
    cr_assert_not(medium->program_page(medium, 3, 4, page), "no such page");
    cr_assert_not(medium->read_page(medium, 40, 0, back), "no such block");
    cr_assert_eq(kvc_flash_memory_stats(memory)->violations, 4);
    cr_assert(medium->read_page(medium, 3, 0, back));
    cr_assert_eq(back[0], 0xff);
    cr_assert(medium->erase_block(medium, 3));
    cr_assert(medium->program_page(medium, 3, 0, page));
    kvc_flash_memory_wear_out(memory, 3);
    cr_assert_not(medium->program_page(medium, 3, 1, page));
    cr_assert_not(medium->erase_block(medium, 3));
    cr_assert(medium->read_page(medium, 3, 0, back), "what was written before is still there");
    cr_assert_eq(back[0], 1);
    kvc_flash_memory_cut_power(memory, 1, 100);
    memset(page, 7, sizeof(page));
    cr_assert(medium->program_page(medium, 4, 0, page));
    cr_assert_not(medium->program_page(medium, 4, 1, page));
    cr_assert_not(medium->read_page(medium, 4, 0, back), "no power");
    kvc_flash_memory_power_on(memory);
    cr_assert(medium->read_page(medium, 4, 1, back));
    cr_assert_eq(back[99], 7);
    cr_assert_eq(back[100], 0xff);
    cr_assert_eq(kvc_flash_memory_erases(memory, 3), 1);
    cr_assert_null(kvc_flash_memory_create(&(struct kvc_flash_geometry){1, 1, 1, 1, 0}));
    kvc_flash_memory_free(memory);
}
