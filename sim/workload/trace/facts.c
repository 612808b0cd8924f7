#include "sim/workload/trace/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/hash.h"
#include "sim/base/array.h"
#include "sim/workload/batch.h"
#include "sim/workload/trace/key_sample.h"
#include "sim/workload/trace/trace.h"

enum { ROWS_MAX = 1 << 22, KEPT = 8, PATH_BYTES = 1024 };

void kvc_trace_sums_close(struct kvc_trace_sums *sums)
{
    kvc_key_sample_close(&sums->keys);
}

void kvc_trace_sums_open(struct kvc_trace_sums *sums)
{
    *sums = (struct kvc_trace_sums){.rows = 0};
    kvc_key_sample_open(&sums->keys);
}

struct kvc_sampled_key *kvc_trace_sums_add(struct kvc_trace_sums *sums, const struct kvc_trace_row *row,
                                           void (*left)(void *data, const struct kvc_sampled_key *key),
                                           void *data)
{
    sums->rows++;
    sums->op[row->op]++;
    sums->end_ns = row->time_ns;
    sums->expires |= row->ttl_ns > 0;
    sums->key_bytes_max = row->key_bytes > sums->key_bytes_max ? row->key_bytes : sums->key_bytes_max;
    sums->value_bytes_max =
        row->value_bytes > sums->value_bytes_max ? row->value_bytes : sums->value_bytes_max;
    struct kvc_sampled_key *key =
        kvc_key_sample_find(&sums->keys, kvc_hash(row->key, row->key_bytes, 0), left, data);
    if (key != NULL) {
        key->key_bytes = row->key_bytes;
        key->value_bytes = row->value_bytes > 0 ? row->value_bytes : key->value_bytes;
        key->is_written |= row->op == KVC_OP_SET;
    }
    return key;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct kvc_pair_sizes *left = a, *right = b;
    uint64_t left_bytes = (uint64_t)left->key_bytes + left->value_bytes;
    uint64_t right_bytes = (uint64_t)right->key_bytes + right->value_bytes;
    if (left_bytes != right_bytes) {
        return left_bytes < right_bytes ? -1 : 1;
    }
    return (left->key_bytes > right->key_bytes) - (left->key_bytes < right->key_bytes);
}

/* Sets the quantiles of the sizes, at the middles of equal parts of the keys. */
static void set_pairs(const struct kvc_key_sample *keys, struct kvc_trace_facts *facts)
{
    struct kvc_pair_sizes *all = kvc_array_of(keys->count, sizeof(*all));
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * KVC_KEY_SAMPLE_MAX; i++) {
        if (keys->key[i].hash != 0) {
            all[count++] = (struct kvc_pair_sizes){keys->key[i].key_bytes, keys->key[i].value_bytes};
        }
    }
    qsort(all, count, sizeof(*all), compare_pairs);
    facts->pairs = count < KVC_SIZE_PAIRS_MAX ? count : KVC_SIZE_PAIRS_MAX;
    for (uint32_t i = 0; i < facts->pairs; i++) {
        facts->pair[i] = all[(2 * (uint64_t)i + 1) * count / (2 * facts->pairs)];
    }
    free(all);
}

struct kvc_trace_facts kvc_trace_sums_facts(const struct kvc_trace_sums *sums, const struct kvc_trace *trace,
                                            bool is_whole)
{
    double rows = (double)sums->rows, keys = sums->keys.count, key_bytes = 0, value_bytes = 0, written = 0;
    for (uint32_t i = 0; i < 2 * KVC_KEY_SAMPLE_MAX; i++) {
        const struct kvc_sampled_key *key = &sums->keys.key[i];
        if (key->hash != 0) {
            key_bytes += key->key_bytes;
            value_bytes += key->value_bytes;
            written += key->is_written;
        }
    }
    double more = is_whole ? 1 : 1 / fmax(kvc_trace_read_frac(trace), 1e-6);
    double scale = kvc_key_sample_scale(&sums->keys) * more;
    struct kvc_trace_facts facts = {.format = kvc_trace_format(trace),
                                    .requests = rows * more,
                                    .keys = rint(keys * scale),
                                    .written_keys = rint(written * scale),
                                    .end_ns = sums->end_ns * more,
                                    .get_frac = (double)sums->op[KVC_OP_GET] / rows,
                                    .set_frac = (double)sums->op[KVC_OP_SET] / rows,
                                    .delete_frac = (double)sums->op[KVC_OP_DELETE] / rows,
                                    .key_bytes = key_bytes / keys,
                                    .value_bytes = value_bytes / keys,
                                    .key_bytes_max = sums->key_bytes_max,
                                    .value_bytes_max = sums->value_bytes_max,
                                    .is_timed = kvc_trace_is_timed(trace),
                                    .has_writes = kvc_trace_has_writes(trace),
                                    .expires = sums->expires,
                                    .is_whole = is_whole};
    set_pairs(&sums->keys, &facts);
    return facts;
}

static enum kvc_status read_facts(const char *path, struct kvc_trace_facts *facts, struct kvc_diag *diag)
{
    struct kvc_trace *trace = kvc_trace_open(path, diag);
    struct kvc_trace_row row;
    struct kvc_trace_sums sums;
    enum kvc_trace_next next = KVC_TRACE_ROW;
    if (trace == NULL) {
        return KVC_ERR_SCENARIO;
    }
    kvc_trace_sums_open(&sums);
    while (sums.rows < ROWS_MAX && (next = kvc_trace_read(trace, &row, diag)) == KVC_TRACE_ROW) {
        kvc_trace_sums_add(&sums, &row, NULL, NULL);
    }
    enum kvc_status status = next == KVC_TRACE_ERROR                   ? KVC_ERR_SCENARIO
                             : next == KVC_TRACE_END && sums.rows == 0 ? kvc_trace_fail_empty(path, diag)
                                                                       : KVC_OK;
    if (status == KVC_OK) {
        *facts = kvc_trace_sums_facts(&sums, trace, next == KVC_TRACE_END);
    }
    kvc_trace_sums_close(&sums);
    kvc_trace_close(trace);
    return status;
}

/* The facts of a file that was read before. */
struct kept {
    char path[PATH_BYTES];
    struct stat file;
    struct kvc_trace_facts facts;
};

bool kvc_trace_is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

enum kvc_status kvc_trace_facts_read(const char *path, struct kvc_trace_facts *facts, struct kvc_diag *diag)
{
    static _Thread_local struct kept kept[KEPT]; /* A sweep loads the same scenario for each value. */
    static _Thread_local uint32_t next;
    struct stat file;
    bool keeps = stat(path, &file) == 0 && S_ISREG(file.st_mode) && strlen(path) < PATH_BYTES;
    for (uint32_t i = 0; keeps && i < KEPT; i++) {
        if (strcmp(kept[i].path, path) == 0 && kvc_trace_is_same_file(&kept[i].file, &file)) {
            *facts = kept[i].facts;
            return KVC_OK;
        }
    }
    enum kvc_status status = read_facts(path, facts, diag);
    if (status == KVC_OK && keeps) {
        strcpy(kept[next].path, path);
        kept[next].file = file;
        kept[next].facts = *facts;
        next = (next + 1) % KEPT;
    }
    return status;
}
