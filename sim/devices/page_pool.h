/** @file
 * A page pool is the memory in which a database keeps pages of its drives, such as InnoDB's buffer pool.
 *
 * It keeps the pages that were used last. At first, it holds pages from the beginning of the data.
 *
 * Not modelled: InnoDB's lists for old and for young pages, pages that are written back, and read-ahead. */
#ifndef KVC_SIM_DEVICES_PAGE_POOL_H
#define KVC_SIM_DEVICES_PAGE_POOL_H

#include <stdbool.h>
#include <stdint.h>

/** A pool of at least one page. */
struct kvc_page_pool {
    uint32_t *older;   /**< Of each page in the pool: the one that was used before it. */
    uint32_t *younger; /**< Likewise after it; a page that is not in the pool is its own. */
    uint32_t oldest;   /**< The page that leaves next. */
    uint32_t youngest; /**< The page that was used last. */
};

/** Opens a pool with room for `room` of `pages` pages, 1 <= room <= pages. Exits with status 3 if memory is
 * short. */
void kvc_page_pool_open(struct kvc_page_pool *pool, uint32_t pages, uint32_t room);

/** Returns the memory of a pool [bytes]. */
static inline double kvc_page_pool_bytes(uint32_t pages)
{
    return 2.0 * sizeof(uint32_t) * pages;
}

/** Frees the lists. A zeroed pool is allowed. */
void kvc_page_pool_close(struct kvc_page_pool *pool);

/** Uses a page. Returns whether it was in the pool; it is afterwards, in place of the oldest one. */
bool kvc_page_pool_use(struct kvc_page_pool *pool, uint32_t page);

#endif
