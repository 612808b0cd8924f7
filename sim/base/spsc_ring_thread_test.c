/* Passes items between two threads through a ring. Each item must arrive once and in order, together with the
 * memory that was written before it was added. */
#include "sim/base/spsc_ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ITEMS = 300000, CELLS = 64 };

static struct kvc_spsc_ring ring;
static uint64_t cell[CELLS]; /* More cells than the ring holds, so that none is written while it is read. */

static void *produce(void *data)
{
    for (uint64_t i = 0; i < ITEMS; i++) {
        cell[i % CELLS] = i;
        while (!kvc_spsc_ring_push(&ring, &cell[i % CELLS])) {
            sched_yield();
        }
    }
    return data;
}

int main(void)
{
    pthread_t producer;
    uint64_t wrong = 0;
    if (kvc_spsc_ring_pop(&ring) != NULL || pthread_create(&producer, NULL, produce, NULL) != 0) {
        return 1;
    }
    for (uint64_t i = 0; i < ITEMS; i++) {
        const uint64_t *item;
        while ((item = kvc_spsc_ring_pop(&ring)) == NULL) {
            sched_yield();
        }
        wrong += *item != i;
    }
    pthread_join(producer, NULL);
    printf("%d items, %llu wrong\n", ITEMS, (unsigned long long)wrong);
    return wrong != 0 || kvc_spsc_ring_pop(&ring) != NULL;
}
