#include "models/dido/tasks.h"

#include <math.h>

#include "kernels/megakv/packet.h"
#include "kernels/megakv/slab.h"

enum { LINE_BYTES = 64, POSITIONS = 4, HASH_BLOCK_BYTES = 16 };

const char *const kvc_dido_task_names[KVC_DIDO_TASKS] = {
    [KVC_DIDO_RV] = "RV",         [KVC_DIDO_PP] = "PP",         [KVC_DIDO_MM] = "MM",
    [KVC_DIDO_SEARCH] = "search", [KVC_DIDO_INSERT] = "insert", [KVC_DIDO_ERASE] = "delete",
    [KVC_DIDO_KC] = "KC",         [KVC_DIDO_RD] = "RD",         [KVC_DIDO_WR] = "WR",
    [KVC_DIDO_SD] = "SD",
};

/* ---- instructions ---- */

/* Instructions of a query: some at any size, and some for each byte. PP and MM hash a key in blocks of 16
 * bytes, so their keys count as whole blocks. The numbers are least-squares fits to the counts for the four
 * sizes of the paper; the largest distance from a count is given. */
struct instructions {
    double base, per_key_byte, per_value_byte;
};

// clang-format off
static const struct instructions on_core[KVC_DIDO_TASKS] = {
    [KVC_DIDO_PP] = {64.9, 0.470, 0},         /* 4 %; a SET 6 % */
    [KVC_DIDO_MM] = {251.7, 0, 0.170},        /* 4 % */
    [KVC_DIDO_SEARCH] = {210.8, 0, 0},
    [KVC_DIDO_INSERT] = {684.6, 0, 0},
    [KVC_DIDO_ERASE] = {301.2, 0, 0},
    [KVC_DIDO_KC] = {126.4, 0.660, 0},        /* 9 % */
    [KVC_DIDO_RD] = {194.4, 0, 0.152},        /* 3 % */
    [KVC_DIDO_WR] = {22.5, 0, 0.096},         /* 14 %: the C library copies in steps */
};

static const struct instructions on_gpu_thread[KVC_DIDO_TASKS] = {
    [KVC_DIDO_PP] = {840.3, 51.6, 0},         /* C code without AES */
    [KVC_DIDO_MM] = {1027.1, 51.7, 0.542},    /* a core's, with PP's hash and WR's copies */
    [KVC_DIDO_SEARCH] = {291.8, 0, 0},
    [KVC_DIDO_INSERT] = {1970.0, 0, 0},       /* of which 1427.8 in the kernel that displaces elements */
    [KVC_DIDO_ERASE] = {327.5, 0, 0},
    [KVC_DIDO_KC] = {45.0, 1.750, 0},
    [KVC_DIDO_RD] = {92.7, 0, 1.085},         /* 5 % */
    [KVC_DIDO_WR] = {44.5, 0, 0.542},         /* 13 % */
};
// clang-format on

/* WR without a value. */
static const double header_on_core = 7.4, header_on_gpu_thread = 22;

static bool has_value(enum kvc_op op, uint32_t value_bytes)
{
    return op == KVC_OP_GET && value_bytes > 0;
}

static double instructions_of(enum kvc_dido_task task, enum kvc_op op, uint32_t key_bytes,
                              uint32_t value_bytes, bool on_gpu)
{
    const struct instructions *cost = on_gpu ? &on_gpu_thread[task] : &on_core[task];
    if (task == KVC_DIDO_WR && !has_value(op, value_bytes)) {
        return on_gpu ? header_on_gpu_thread : header_on_core;
    }
    const bool hashes = task == KVC_DIDO_PP || task == KVC_DIDO_MM;
    const uint32_t blocks = (key_bytes + HASH_BLOCK_BYTES - 1) / HASH_BLOCK_BYTES;
    return cost->base + cost->per_key_byte * (hashes ? blocks * HASH_BLOCK_BYTES : key_bytes) +
           cost->per_value_byte * value_bytes;
}

/* ---- lines ---- */

/* Buckets that an operation reads in a table at load 0.9 whose elements have all been replaced several times,
 * the oldest first: the table's own counts. The paper takes 1.5 for search and delete (sec. IV.B), as if an
 * element were as often in its second bucket as in its first. A search of the real table reads 1.28 at load
 * 0.8, and 1.04 at 0.5.
 */
static const double search_lines = 1.432, insert_lines = 2.652, erase_lines = 1.464;

struct kvc_dido_index_lines kvc_dido_index_lines_at(double load_frac)
{
    static const double first = 0.3, step = 0.1;
    static const struct kvc_dido_index_lines counted[] = {
        {1.002, 2.000, 1.003}, {1.012, 2.000, 1.012}, {1.035, 2.001, 1.036}, {1.080, 2.007, 1.084},
        {1.157, 2.032, 1.169}, {1.275, 2.127, 1.303}, {1.432, 2.652, 1.464},
    };
    enum { LAST = sizeof(counted) / sizeof(*counted) - 1 };
    double place = fmin(fmax((load_frac - first) / step, 0), LAST), part = place - floor(place);
    const struct kvc_dido_index_lines *at = &counted[(int)place], *next = &counted[(int)ceil(place)];
    return (struct kvc_dido_index_lines){at->search + part * (next->search - at->search),
                                         at->insert + part * (next->insert - at->insert),
                                         at->erase + part * (next->erase - at->erase)};
}

/* Returns the lines that hold bytes `from` to `to` - 1 of an item, or the header and these bytes, on average
 * over the places of items in a slab. Items are multiples of 16 bytes long, so every fourth one starts like
 * the first. */
static double item_lines(uint32_t item_bytes, uint32_t from, uint32_t to)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < POSITIONS; i++) {
        const uint32_t start = i * item_bytes % LINE_BYTES;
        const uint32_t first = (start + from) / LINE_BYTES, end = (start + to + LINE_BYTES - 1) / LINE_BYTES;
        lines += from < to ? end - first + (first > 0) : 1;
    }
    return lines / (double)POSITIONS;
}

static double streamed_lines(uint32_t bytes)
{
    return bytes / (double)LINE_BYTES;
}

/* Adds lines of which the first one is anywhere. */
static void add_item_lines(struct kvc_dido_work *work, double lines)
{
    work->random_lines += 1;
    work->next_lines += lines - 1;
}

static void add_lines(struct kvc_dido_work *work, enum kvc_dido_task task, enum kvc_op op, uint32_t key_bytes,
                      uint32_t value_bytes)
{
    const uint32_t item_bytes = kvc_megakv_slab_item_bytes(key_bytes, value_bytes);
    const uint32_t value_at = KVC_MEGAKV_SLAB_HEADER_BYTES + key_bytes;
    switch (task) {
    case KVC_DIDO_PP:
        work->next_lines = streamed_lines(KVC_MEGAKV_PACKET_HEADER_BYTES + key_bytes);
        break;
    case KVC_DIDO_MM:
        add_item_lines(work, item_lines(item_bytes, 0, value_at + value_bytes));
        work->next_lines += streamed_lines(key_bytes + value_bytes);
        break;
    case KVC_DIDO_SEARCH:
        work->random_lines = search_lines;
        break;
    case KVC_DIDO_INSERT:
        work->random_lines = insert_lines;
        break;
    case KVC_DIDO_ERASE:
        work->random_lines = erase_lines;
        break;
    case KVC_DIDO_KC:
        add_item_lines(work, item_lines(item_bytes, 0, value_at));
        work->next_lines += streamed_lines(key_bytes);
        break;
    case KVC_DIDO_RD:
        add_item_lines(work, item_lines(item_bytes, value_at, value_at + value_bytes));
        break;
    case KVC_DIDO_WR:
        work->next_lines =
            streamed_lines(KVC_MEGAKV_PACKET_HEADER_BYTES + (has_value(op, value_bytes) ? value_bytes : 0));
        break;
    default:
        break;
    }
}

/* ---- a task ---- */

static bool does(enum kvc_op op, enum kvc_dido_task task)
{
    switch (task) {
    case KVC_DIDO_SEARCH:
    case KVC_DIDO_KC:
    case KVC_DIDO_RD:
        return op == KVC_OP_GET;
    case KVC_DIDO_MM:
    case KVC_DIDO_INSERT:
        return op == KVC_OP_SET;
    case KVC_DIDO_ERASE:
        return op != KVC_OP_GET;
    case KVC_DIDO_PP:
    case KVC_DIDO_WR:
        return true;
    default:
        return false;
    }
}

struct kvc_dido_work kvc_dido_work_of(enum kvc_dido_task task, enum kvc_op op, uint32_t key_bytes,
                                      uint32_t value_bytes, bool on_gpu)
{
    struct kvc_dido_work work = {0};
    if (does(op, task)) {
        work.instructions = instructions_of(task, op, key_bytes, value_bytes, on_gpu);
        add_lines(&work, task, op, key_bytes, value_bytes);
    }
    return work;
}
