#include "sim/devices/page_pool.h"

#include <stdlib.h>

#include "sim/base/array.h"

void kvc_page_pool_open(struct kvc_page_pool *pool, uint32_t pages, uint32_t room)
{
    *pool = (struct kvc_page_pool){.older = kvc_array_of(pages, sizeof(*pool->older)),
                                   .younger = kvc_array_of(pages, sizeof(*pool->younger)),
                                   .youngest = room - 1};
    for (uint32_t page = 0; page < pages; page++) {
        pool->older[page] = page > 0 ? page - 1 : page;
        pool->younger[page] = page + 1 < room ? page + 1 : page;
    }
}

void kvc_page_pool_close(struct kvc_page_pool *pool)
{
    free(pool->older);
    free(pool->younger);
}

static bool holds(const struct kvc_page_pool *pool, uint32_t page)
{
    return pool->younger[page] != page || pool->youngest == page;
}

/* Takes a page that is not the youngest out of the list. */
static void take_out(struct kvc_page_pool *pool, uint32_t page)
{
    uint32_t younger = pool->younger[page];
    if (page == pool->oldest) {
        pool->oldest = younger;
    } else {
        uint32_t older = pool->older[page];
        pool->younger[older] = younger;
        pool->older[younger] = older;
    }
    pool->younger[page] = page;
}

bool kvc_page_pool_use(struct kvc_page_pool *pool, uint32_t page)
{
    bool held = holds(pool, page);
    if (page == pool->youngest) {
        return true;
    }
    uint32_t leaves = held ? page : pool->oldest;
    if (leaves == pool->youngest) { /* It has room for one page. */
        pool->oldest = pool->youngest = page;
        return false;
    }
    take_out(pool, leaves);
    pool->younger[pool->youngest] = page;
    pool->older[page] = pool->youngest;
    pool->youngest = page;
    return held;
}
