#include "models/megakv/real/launches.h"

#include "kernels/megakv/cuckoo.h"
#include "models/megakv/real/device.h"
#include "sim/base/rng.h"
#include "sim/probes/timing.h"

enum {
    TABLE_BYTES = 64 << 20,
    SLOT_BYTES = 8,
    SLOTS = TABLE_BYTES / SLOT_BYTES,
    JOBS_MAX = 65536,
    SIZES = 5
};

static const uint32_t jobs_of[SIZES] = {256, 1024, 4096, 16384, JOBS_MAX};
static const double loads[] = {0.3, 0.6, 0.9};
static const struct {
    const char *name;
    enum kvc_megakv_cuckoo_layout layout;
    uint32_t slots;
} layouts[] = {{"8 slots, apart", KVC_MEGAKV_CUCKOO_APART, 8},
               {"4 slots, interleaved", KVC_MEGAKV_CUCKOO_INTERLEAVED, 4}};
enum { LOADS = sizeof(loads) / sizeof(*loads), LAYOUTS = sizeof(layouts) / sizeof(*layouts) };

/* An index and the jobs of a launch. Elements [0, held) are in the table; element i has hash mix(i + 1) and
 * location i. */
struct table {
    struct kvc_index *index;
    uint64_t *hash;
    uint32_t *location, *found;
    uint32_t jobs, held;
};

static void choose_elements(struct table *table, uint32_t first)
{
    for (uint32_t i = 0; i < table->jobs; i++) {
        table->hash[i] = kvc_mix64(first + i + 1);
        table->location[i] = first + i;
    }
}

static void choose_held(void *data, uint32_t repetition)
{
    struct table *table = data;
    for (uint32_t i = 0; i < table->jobs; i++) {
        uint32_t element = (uint32_t)(kvc_mix64(i + (uint64_t)repetition * JOBS_MAX) % table->held);
        table->hash[i] = kvc_mix64(element + 1);
    }
}

/* Chooses the elements that an operation adds to the held ones. They are always the same, so that the next
 * operation can remove them. */
static void choose_others(void *data, uint32_t repetition)
{
    struct table *table = data;
    (void)repetition;
    choose_elements(table, table->held);
}

static void search(void *data, uint32_t repetition)
{
    struct table *table = data;
    struct kvc_index_stats stats = {0};
    (void)repetition;
    kvc_index_search(table->index, table->hash, table->jobs, table->found, &stats);
}

static void insert(void *data, uint32_t repetition)
{
    struct table *table = data;
    struct kvc_index_stats stats = {0};
    (void)repetition;
    kvc_index_insert(table->index, table->hash, table->location, table->jobs, NULL, &stats);
}

static void erase(void *data, uint32_t repetition)
{
    struct table *table = data;
    struct kvc_index_stats stats = {0};
    (void)repetition;
    kvc_index_erase(table->index, table->hash, table->location, table->jobs, table->found, &stats);
}

static void make_absent(void *data, uint32_t repetition)
{
    choose_others(data, repetition);
    erase(data, repetition);
}

static void make_present(void *data, uint32_t repetition)
{
    choose_others(data, repetition);
    insert(data, repetition);
}

static const struct {
    const char *name;
    kvc_timing_fn *prepare, *work;
} operations[] = {
    {"search", choose_held, search}, {"insert", make_absent, insert}, {"delete", make_present, erase}};
enum { OPERATIONS = sizeof(operations) / sizeof(*operations) };

/* Inserts elements until the table holds `held` of them. */
static void fill(struct table *table, uint32_t held)
{
    table->jobs = JOBS_MAX;
    for (; table->held < held; table->held += table->jobs) {
        if (held - table->held < table->jobs) {
            table->jobs = held - table->held;
        }
        choose_elements(table, table->held);
        insert(table, 0);
    }
}

static enum kvc_status fit_operation(struct table *table, int operation, struct kvc_fit *fit,
                                     struct kvc_diag *diag)
{
    double jobs[SIZES], ns[SIZES];
    for (int i = 0; i < SIZES; i++) {
        table->jobs = jobs_of[i];
        jobs[i] = table->jobs;
        ns[i] = 1e9 *
                kvc_timing_measure(operations[operation].prepare, operations[operation].work, table).median_s;
    }
    table->jobs = JOBS_MAX; /* Removes the elements that the last operation left behind. */
    make_absent(table, 0);
    return kvc_fit_line(jobs, ns, SIZES, fit, diag);
}

static enum kvc_status fit_layout(struct table *table, int layout, struct kvc_megakv_launch_fit *fit,
                                  struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (int l = 0; l < LOADS; l++) {
        fill(table, (uint32_t)(loads[l] * SLOTS));
        for (int o = 0; status == KVC_OK && o < OPERATIONS; o++, fit++) {
            *fit = (struct kvc_megakv_launch_fit){layouts[layout].name, operations[o].name, loads[l], {0}};
            status = fit_operation(table, o, &fit->fit, diag);
        }
    }
    return status;
}

enum kvc_status kvc_megakv_measure_launches(bool on_gpu, struct kvc_megakv_launch_fits *fits,
                                            struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    fits->table_bytes = TABLE_BYTES;
    for (int layout = 0; status == KVC_OK && layout < LAYOUTS; layout++) {
        const struct kvc_megakv_cuckoo_params params = {.bytes = TABLE_BYTES,
                                                        .layout = layouts[layout].layout,
                                                        .slots = layouts[layout].slots,
                                                        .max_displacements = 100};
        struct table table = {.index = kvc_megakv_real_device_index(on_gpu, &params),
                              .hash = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint64_t)),
                              .location = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint32_t)),
                              .found = kvc_megakv_real_device_array(on_gpu, JOBS_MAX * sizeof(uint32_t))};
        if (table.index == NULL || table.hash == NULL || table.location == NULL || table.found == NULL) {
            status =
                kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for an index of %d MiB", TABLE_BYTES >> 20);
        } else {
            status = fit_layout(&table, layout, &fits->fit[layout * LOADS * OPERATIONS], diag);
        }
        kvc_index_free(table.index);
        kvc_megakv_real_device_array_free(on_gpu, table.hash);
        kvc_megakv_real_device_array_free(on_gpu, table.location);
        kvc_megakv_real_device_array_free(on_gpu, table.found);
    }
    return status;
}
