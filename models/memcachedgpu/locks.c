/* The lock of a set: a SET or DELETE holds it exclusively, and GETs of the set wait for it (sec. 4.2.1).
 *
 * Not modelled: a writer that waits for the readers of a set, each of which holds it for two accesses. */
#include <math.h>

#include "models/memcachedgpu/simulation.h"
#include "models/memcachedgpu/text_key.h"

static bool has_locks(const struct kvc_memcachedgpu_server *server)
{
    return server->shard != NULL && server->simulation->config->index == KVC_MEMCACHEDGPU_SETS;
}

static uint64_t set_of(const struct kvc_memcachedgpu_server *server, uint64_t key_id, uint32_t key_bytes)
{
    uint8_t key[KVC_MEMCACHEDGPU_PACKET_KEY_MAX + 8];
    kvc_memcachedgpu_text_key(key, key_id, key_bytes);
    return kvc_memcachedgpu_tables_set(&server->shard->tables, key, key_bytes);
}

void kvc_memcachedgpu_run_locked(struct kvc_memcachedgpu_server *server,
                                 const struct kvc_memcachedgpu_write *write, struct kvc_gpu_grid grid)
{
    struct kvc_memcachedgpu_lock *lock = &server->lock;
    if (has_locks(server)) {
        lock->set = set_of(server, write->key_id, write->key_bytes);
        grid.placed_ns = &lock->since_ns;
    }
    kvc_gpu_blocks_run(server->blocks, &grid);
    lock->since_ns = NAN;
    for (; lock->waiting > 0; lock->waiting--) {
        kvc_gate_post(lock->released);
    }
}

static bool is_locked(const struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (set_of(server, batch->key_id[i], batch->key_bytes[i]) == server->lock.set) {
            return true;
        }
    }
    return false;
}

void kvc_memcachedgpu_wait_for_lock(struct kvc_memcachedgpu_server *server, const struct kvc_batch *batch)
{
    struct kvc_memcachedgpu_lock *lock = &server->lock;
    while (!isnan(lock->since_ns) && is_locked(server, batch)) {
        lock->waiting++;
        if (kvc_engine_now_ns() >= server->simulation->replica.recorder.from_ns) {
            server->simulation->lock_waits++;
        }
        kvc_gate_wait(lock->released);
    }
}
