#include "sim/workload/source/rows.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096 };

struct kvc_columns kvc_columns_at(const struct kvc_columns *columns, uint32_t first)
{
    struct kvc_columns at = *columns;
    at.op += first;
    at.key_id += first;
    at.hash += first;
    if (at.keys != NULL) {
        at.keys += (size_t)first * at.key_stride;
    }
    if (at.key_bytes != NULL) {
        at.key_bytes += first;
    }
    if (at.value_bytes != NULL) {
        at.value_bytes += first;
    }
    if (at.sent_ns != NULL) {
        at.sent_ns += first;
    }
    return at;
}

static bool grow(void *column_address, size_t bytes)
{
    void *old, *grown;
    memcpy(&old, column_address, sizeof(old));
    grown = realloc(old, bytes);
    if (grown == NULL) {
        return false;
    }
    memcpy(column_address, &grown, sizeof(grown));
    return true;
}

bool kvc_columns_grow(struct kvc_columns *columns, uint32_t capacity, unsigned kept)
{
    size_t rows = capacity;
    return grow(&columns->op, rows * sizeof(*columns->op)) &&
           grow(&columns->key_id, rows * sizeof(*columns->key_id)) &&
           grow(&columns->hash, rows * sizeof(*columns->hash)) &&
           (!(kept & KVC_ROWS_SIZES) ||
            (grow(&columns->key_bytes, rows * sizeof(*columns->key_bytes)) &&
             grow(&columns->value_bytes, rows * sizeof(*columns->value_bytes)))) &&
           (!(kept & KVC_ROWS_KEYS) || grow(&columns->keys, rows * columns->key_stride)) &&
           (!(kept & KVC_ROWS_SENT) || grow(&columns->sent_ns, rows * sizeof(*columns->sent_ns)));
}

void kvc_columns_free(struct kvc_columns *columns)
{
    free(columns->op);
    free(columns->key_bytes);
    free(columns->value_bytes);
    free(columns->keys);
    free(columns->key_id);
    free(columns->hash);
    free(columns->sent_ns);
    *columns = (struct kvc_columns){.key_stride = columns->key_stride};
}

void kvc_rows_init(struct kvc_rows *rows, uint32_t key_stride, unsigned kept)
{
    *rows = (struct kvc_rows){.all.key_stride = key_stride, .kept = kept};
}

void kvc_rows_free(struct kvc_rows *rows)
{
    kvc_columns_free(&rows->all);
}

static void move_to_front(struct kvc_rows *rows)
{
    size_t count = kvc_rows_count(rows);
    struct kvc_columns *all = &rows->all, from = kvc_columns_at(all, rows->head);
    memmove(all->op, from.op, count * sizeof(*all->op));
    memmove(all->key_id, from.key_id, count * sizeof(*all->key_id));
    memmove(all->hash, from.hash, count * sizeof(*all->hash));
    if (rows->kept & KVC_ROWS_SIZES) {
        memmove(all->key_bytes, from.key_bytes, count * sizeof(*all->key_bytes));
        memmove(all->value_bytes, from.value_bytes, count * sizeof(*all->value_bytes));
    }
    if (rows->kept & KVC_ROWS_KEYS) {
        memmove(all->keys, from.keys, count * all->key_stride);
    }
    if (rows->kept & KVC_ROWS_SENT) {
        memmove(all->sent_ns, from.sent_ns, count * sizeof(*all->sent_ns));
    }
    rows->head = 0;
    rows->tail = (uint32_t)count;
}

double kvc_rows_memory_bytes(uint32_t count)
{
    const struct kvc_columns *columns = NULL;
    double capacity = FIRST_CAPACITY;
    while (capacity < 2.0 * count) {
        capacity *= 2;
    }
    return capacity * (sizeof(*columns->op) + sizeof(*columns->key_id) + sizeof(*columns->hash));
}

bool kvc_rows_reserve(struct kvc_rows *rows, uint32_t extra)
{
    if (rows->head == rows->tail) {
        rows->head = rows->tail = 0;
    }
    if (rows->capacity - rows->tail >= extra) {
        return true;
    }
    uint64_t needed = (uint64_t)kvc_rows_count(rows) + extra;
    if (rows->head > 0) {
        move_to_front(rows);
    }
    /* At least half of the rows are free after a move, so that moving costs O(1) per row. */
    uint64_t capacity = rows->capacity != 0 ? rows->capacity : FIRST_CAPACITY;
    while (capacity < 2 * needed) {
        capacity *= 2;
    }
    if (capacity > UINT32_MAX ||
        !(capacity == rows->capacity || kvc_columns_grow(&rows->all, (uint32_t)capacity, rows->kept))) {
        return false;
    }
    rows->capacity = (uint32_t)capacity;
    return true;
}
