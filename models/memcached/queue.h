/* A queue of requests with a limited room, such as a ring of the NIC or a socket. */
#ifndef KVC_MODELS_MEMCACHED_QUEUE_H
#define KVC_MODELS_MEMCACHED_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/array.h"

struct kvc_memcached_queue {
    uint32_t *request;
    uint32_t first, count, room;
};

/* Makes room for the larger number of requests. Exits with status 3 if memory is short. */
static inline void kvc_memcached_queue_open(struct kvc_memcached_queue *queue, uint32_t room, uint32_t least)
{
    queue->room = room > least ? room : least;
    queue->request = kvc_array_of(queue->room, sizeof(*queue->request));
}

/* Adds a request. Returns false if there is no room. */
static inline bool kvc_memcached_queue_push(struct kvc_memcached_queue *queue, uint32_t number)
{
    if (queue->count == queue->room) {
        return false;
    }
    queue->request[(queue->first + queue->count++) % queue->room] = number;
    return true;
}

/* Takes the oldest request; there must be one. */
static inline uint32_t kvc_memcached_queue_pop(struct kvc_memcached_queue *queue)
{
    uint32_t number = queue->request[queue->first];
    queue->first = (queue->first + 1) % queue->room;
    queue->count--;
    return number;
}

#endif
