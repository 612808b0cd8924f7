#include "sim/devices/page_pool.h"

#include <criterion/criterion.h>

#include "sim/base/rng.h"

Test(page_pool, keeps_the_pages_that_were_used_last)
{
    enum { PAGES = 40, ROOM_MAX = 7, USES = 20000 };
    for (uint32_t room = 1; room <= ROOM_MAX; room++) {
        struct kvc_page_pool pool;
        struct kvc_rng rng;
        uint64_t used[PAGES];
        for (uint32_t page = 0; page < PAGES; page++) { /* Page room - 1 was used last, at time ROOM_MAX. */
            used[page] = page < room ? page + ROOM_MAX + 1 - room : 0;
        }
        kvc_rng_init(&rng, room, "test", 0);
        kvc_page_pool_open(&pool, PAGES, room);
        for (uint64_t now = ROOM_MAX + 1; now < USES; now++) {
            uint32_t page = (uint32_t)(kvc_rng_below(&rng, PAGES) * kvc_rng_below(&rng, PAGES) / PAGES),
                     after = 0;
            for (uint32_t other = 0; other < PAGES; other++) {
                after += used[other] > used[page];
            }
            bool held = kvc_page_pool_use(&pool, page);
            cr_assert_eq(held, used[page] > 0 && after < room, "page %u after %u others, room for %u", page,
                         after, room);
            used[page] = now;
        }
        kvc_page_pool_close(&pool);
    }
}
