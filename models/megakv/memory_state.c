#include "models/megakv/memory_state.h"

#include "models/megakv/config.h"
#include "sim/base/array.h"

static const double small_page_bytes = 4096;

/* Returns by how much longer a random line takes than in the calibration [ns]. */
static double more_ns(const struct kvc_node *node, double footprint_bytes)
{
    const struct kvc_dram *dram = kvc_dram_of(node);
    return (node->huge_pages ? 0 : kvc_dram_small_page_ns(dram, footprint_bytes)) +
           kvc_dram_contention_ns(dram, node->co_runner_bytes_per_s, footprint_bytes);
}

/* Adds to a launch what its jobs wait longer, each of which reads `lines` buckets. */
static void add_to_launches(struct kvc_megakv_cost_curve *curve, double lines, const struct kvc_node *node)
{
    for (uint32_t i = 0; i < curve->count; i++) {
        struct kvc_megakv_cost_point *point = &curve->point[i];
        point->ns += lines * point->size * more_ns(node, point->footprint_bytes);
    }
}

/* Adds the same to reads, of which found_frac find an item; a size of 0 bytes stands for a miss. */
static void add_to_reads(struct kvc_megakv_cost_curve *curve, double found_frac, const struct kvc_node *node)
{
    for (uint32_t i = 0; i < curve->count; i++) {
        struct kvc_megakv_cost_point *point = &curve->point[i];
        double pages = point->size > 0 ? 1 + point->size / small_page_bytes : 0;
        point->ns += found_frac * pages * more_ns(node, point->footprint_bytes);
    }
}

struct kvc_megakv_cost_profile *kvc_megakv_costs_in_memory(const struct kvc_scenario *scenario)
{
    const struct kvc_megakv_config *config = kvc_megakv_config_of(scenario);
    const struct kvc_node *node = &scenario->node;
    bool small = !node->huge_pages && config->dram->page_count > 0;
    if (!small && !(node->co_runner_bytes_per_s > 0)) {
        return NULL;
    }
    struct kvc_megakv_cost_profile *costs = kvc_array_of(1, sizeof(*costs));
    *costs = *config->cost_profile;
    const struct {
        struct kvc_megakv_cost_curve *curve;
        double lines;
    } launches[] = {{&costs->search, 1}, {&costs->search_miss, 2}, {&costs->search_half_missed, 1.5},
                    {&costs->insert, 2}, {&costs->replace, 1},     {&costs->insert_half_replaced, 1.5},
                    {&costs->erase, 1},  {&costs->erase_miss, 2},  {&costs->erase_half_missed, 1.5}};
    struct kvc_megakv_cost_curve *const reads[] = {&costs->read, &costs->read_checked,
                                                   &costs->read_half_marked, &costs->read_marked,
                                                   &costs->read_slowest};
    for (size_t i = 0;
         config->index_on == KVC_MEGAKV_INDEX_ON_THREAD && i < sizeof(launches) / sizeof(*launches); i++) {
        add_to_launches(launches[i].curve, launches[i].lines, node);
    }
    for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++) {
        add_to_reads(reads[i], 1, node);
    }
    add_to_reads(&costs->read_half_missed, 0.5, node);
    return costs;
}
