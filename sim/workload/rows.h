/* Requests that wait for their shard: a growing first-in first-out queue, struct of arrays. */
#ifndef KVC_SIM_WORKLOAD_ROWS_H
#define KVC_SIM_WORKLOAD_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Columns that not everybody keeps. A key's bytes follow from its id unless it comes from a trace. */
enum { KVC_ROWS_SIZES = 1, KVC_ROWS_KEYS = 2, KVC_ROWS_SENT = 4 };

/* Columns of some requests: of a queue, of a batch, or of scratch memory. NULL: the column is not kept. */
struct kvc_columns {
    uint8_t *op;
    uint8_t *key_bytes;
    uint32_t *value_bytes;
    uint8_t *keys; /* key_stride bytes each, zero behind the key up to its last word */
    uint64_t *key_id;
    uint64_t *hash;
    double *sent_ns;
    uint32_t key_stride; /* a multiple of 8 */
    bool zero_behind;    /* keys are to be zero up to key_stride, as in a batch */
};

struct kvc_rows {
    struct kvc_columns all;
    uint32_t head, tail, capacity; /* rows head .. tail - 1 wait; the memory behind them is in one piece */
    unsigned kept;                 /* KVC_ROWS_... */
};

/* Columns from row `first` on. */
struct kvc_columns kvc_columns_at(const struct kvc_columns *columns, uint32_t first);

/* Makes room for `capacity` rows; false when memory is short. Set key_stride and zero the rest before. */
bool kvc_columns_grow(struct kvc_columns *columns, uint32_t capacity, unsigned kept);

void kvc_columns_free(struct kvc_columns *columns);

/* Begins an empty queue. */
void kvc_rows_init(struct kvc_rows *rows, uint32_t key_stride, unsigned kept);
void kvc_rows_free(struct kvc_rows *rows);

/* Makes room for `extra` rows at the tail; false when memory is short. */
bool kvc_rows_reserve(struct kvc_rows *rows, uint32_t extra);

static inline uint32_t kvc_rows_count(const struct kvc_rows *rows)
{
    return rows->tail - rows->head;
}

#endif
