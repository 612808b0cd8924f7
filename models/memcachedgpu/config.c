#include "models/memcachedgpu/config.h"

#include <math.h>

#include "kernels/memcachedgpu/packet.h"
#include "kernels/megakv/slab.h"
#include "models/memcachedgpu/costs.h"
#include "models/memcachedgpu/tables.h"
#include "sim/devices/gpu_blocks.h"
#include "sim/workload/sizes.h"

/* Key sizes of the classes for Facebook's pool ETC (memcachedgpu.ht.etc.share). */
static const uint32_t class_key_bytes[KVC_MEMCACHEDGPU_CLASSES_MAX] = {16, 32, 64, 128, 250};

enum { KEYS_ASKED = 16384 /* Keys whose sizes give the shares of the classes: to 0.4 % of all keys. */ };

/* Sets the entries of the classes to their shares of the keys, at least one set each. */
static void divide_entries(struct kvc_memcachedgpu_config *config, const struct kvc_workload *workload)
{
    static uint64_t id[KEYS_ASKED];
    static uint8_t key_bytes[KEYS_ASKED];
    static uint32_t value_bytes[KEYS_ASKED];
    uint64_t asked = workload->keys < KEYS_ASKED ? workload->keys : KEYS_ASKED;
    uint64_t keys[KVC_MEMCACHEDGPU_CLASSES_MAX + 1] = {0};
    struct kvc_sizes *sizes = kvc_workload_sizes(workload);
    if (sizes == NULL) {
        kvc_out_of_memory("the sizes of keys");
    }
    for (uint64_t i = 0; i < asked; i++) {
        id[i] = i * (workload->keys / asked);
    }
    kvc_sizes_fill(sizes, id, asked, key_bytes, value_bytes);
    kvc_sizes_free(sizes);
    config->class_count = KVC_MEMCACHEDGPU_CLASSES_MAX;
    for (uint32_t i = 0; i < config->class_count; i++) {
        config->classes[i].key_bytes_max = class_key_bytes[i];
    }
    for (uint64_t i = 0; i < asked; i++) {
        keys[kvc_memcachedgpu_class_of(config, key_bytes[i])]++;
    }
    for (uint32_t i = 0; i < config->class_count; i++) {
        double share = (double)keys[i] / (double)asked;
        config->classes[i].entries =
            (uint64_t)fmax(ceil(share * (double)config->options->entries), KVC_MEMCACHEDGPU_WAYS_MAX);
    }
}

static void set_classes(struct kvc_memcachedgpu_config *config, const struct kvc_workload *workload)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (options->tables == KVC_MEMCACHEDGPU_BY_KEY_SIZE) {
        divide_entries(config, workload);
    } else {
        config->class_count = 1;
        config->classes[0] = (struct kvc_memcachedgpu_class){(uint32_t)options->key_room, options->entries};
    }
    for (uint32_t i = 0; i < config->class_count; i++) {
        config->table_bytes += kvc_memcachedgpu_table_bytes(config, i);
    }
}

/* Returns room for as many items as there are entries or keys, whichever are fewer, and for a few slabs. */
static double slab_bytes_auto(const struct kvc_memcachedgpu_config *config,
                              const struct kvc_workload *workload)
{
    double item_bytes = kvc_megakv_slab_item_bytes(kvc_workload_key_bytes_max(workload),
                                                   kvc_workload_value_bytes_max(workload));
    double items = fmin((double)config->options->entries, (double)workload->keys);
    return fmax(ceil(1.1 * items * item_bytes), 16.0 * KVC_MEGAKV_SLAB_BYTES);
}

enum kvc_status kvc_memcachedgpu_resolve(const struct kvc_scenario *scenario, void *into,
                                         struct kvc_diag *diag)
{
    (void)diag;
    struct kvc_memcachedgpu_config *config = into;
    const struct kvc_memcachedgpu_options *options = scenario->options;
    const struct kvc_node *node = &scenario->node;
    const struct kvc_workload *workload = &scenario->workload;
    double pages = floor(options->receive_bytes / KVC_MEMCACHEDGPU_PAGE_BYTES);
    *config = (struct kvc_memcachedgpu_config){
        .options = options,
        .cpu = kvc_cpu_of(node),
        .dram = kvc_dram_of(node),
        .gpu = kvc_gpu_of(node),
        .nic = kvc_nic_of(node),
        .pcie = kvc_pcie_of(node),
        .profile = kvc_memcachedgpu_cost_profile_of(node),
        .receive = (enum kvc_memcachedgpu_receive)options->receive,
        .feed = (enum kvc_memcachedgpu_feed)options->feed,
        .index = (enum kvc_memcachedgpu_index)options->index,
        .batch = (uint32_t)options->batch,
        .streams = (uint32_t)options->streams,
        .post_threads = (uint32_t)options->post_threads,
        .shards = (uint32_t)scenario->cluster.nodes,
        .buffers = (uint64_t)(pages * floor(KVC_MEMCACHEDGPU_PAGE_BYTES / (double)options->buffer_bytes)),
        .writes = workload->get_frac < 1 || options->set_connections > 0 ||
                  options->misses == KVC_MEMCACHEDGPU_MISSES_SET,
        .block_threads = KVC_MEMCACHEDGPU_BLOCK_PACKETS * KVC_MEMCACHEDGPU_PACKET_THREADS,
    };
    set_classes(config, workload);
    config->slab_bytes = options->slab_bytes > 0 ? options->slab_bytes : slab_bytes_auto(config, workload);
    return KVC_OK;
}

static enum kvc_status check_receive(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (config->feed == KVC_MEMCACHEDGPU_MEMORY && config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "system.receive: found \"gpu\" with feed = \"memory\", allowed: \"host\", because "
            "packets in host memory are copied to the GPU");
    }
    if (config->batch > config->buffers) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.batch: found %u packets, allowed: at most %llu, the receive buffers of "
                             "%llu bytes in system.receive_memory",
                             config->batch, (unsigned long long)config->buffers,
                             (unsigned long long)options->buffer_bytes);
    }
    if (config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU && config->gpu->pinned_bytes > 0 &&
        options->receive_bytes > config->gpu->pinned_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.receive_memory: found %.4g MB, allowed: at most %.4g MB, what other "
                             "devices can write to on gpu \"%s\"",
                             options->receive_bytes / 1e6, config->gpu->pinned_bytes / 1e6,
                             config->gpu->name);
    }
    if (options->receive_ports > config->nic->ports) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.receive_ports: found %llu, allowed: at most %llu, the ports of the nic",
                             (unsigned long long)options->receive_ports,
                             (unsigned long long)config->nic->ports);
    }
    return KVC_OK;
}

static enum kvc_status check_memory(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    double buffers = config->receive == KVC_MEMCACHEDGPU_RECEIVE_GPU ? options->receive_bytes : 0;
    if (config->table_bytes + buffers > config->gpu->memory_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.entries: found %llu, whose tables take %.3g GiB beside %.3g GiB of "
                             "receive buffers, allowed: what fits the %.3g GiB of gpu \"%s\"",
                             (unsigned long long)options->entries, config->table_bytes / 0x1p30,
                             buffers / 0x1p30, config->gpu->memory_bytes / 0x1p30, config->gpu->name);
    }
    if ((options->ways & (options->ways - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "system.ways: found %llu, allowed: 1, 2, 4, 8 or 16",
                             (unsigned long long)options->ways);
    }
    for (uint32_t i = 0; i < config->class_count; i++) {
        if (kvc_memcachedgpu_table_bytes(config, i) <= 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "system.entries: found %llu, too many for one table of this kind",
                                 (unsigned long long)options->entries);
        }
    }
    return KVC_OK;
}

static enum kvc_status check_workload(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    const struct kvc_workload *workload = &scenario->workload;
    uint32_t room = config->classes[config->class_count - 1].key_bytes_max;
    uint32_t key_bytes = kvc_workload_key_bytes_max(workload);
    if (key_bytes > room) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.key: found keys of %u bytes, allowed: at most %u, the room of an entry "
            "(system.key_room; memcached's limit is %d)",
            key_bytes, room, KVC_MEMCACHEDGPU_PACKET_KEY_MAX);
    }
    if (workload->sizes == KVC_SIZES_FIXED && workload->arrival != KVC_ARRIVAL_TRACE &&
        pow(64, (double)workload->key_bytes) < (double)workload->keys) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.key: found %llu bytes for %llu keys, allowed: more, because a "
                             "character of a text key has 6 bits",
                             (unsigned long long)workload->key_bytes, (unsigned long long)workload->keys);
    }
    if (workload->arrival == KVC_ARRIVAL_CLOSED) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "workload.arrival: found clients, allowed with memcachedgpu: saturate, "
            "poisson_mops, fixed_mops, curve or trace, because GETs over UDP wait for nobody");
    }
    uint32_t value_bytes = kvc_workload_value_bytes_max(workload);
    uint32_t head_bytes = kvc_memcachedgpu_head_bytes(true, key_bytes, value_bytes);
    uint32_t response_bytes = kvc_memcachedgpu_response_bytes(true, head_bytes, value_bytes);
    /* Of a mix of sizes, GETs of such values are counted as bad packets. */
    if (workload->sizes == KVC_SIZES_FIXED &&
        response_bytes > KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES + KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.value: found values of %u bytes, allowed: less, because a response of "
                             "%u bytes does not fit one datagram of %d",
                             value_bytes, response_bytes - KVC_MEMCACHEDGPU_PACKET_HEADER_BYTES,
                             KVC_MEMCACHEDGPU_PACKET_PAYLOAD_MAX);
    }
    if (workload->frame_requests > 1) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "workload.per_frame: found %llu, allowed is 1, because a packet has one GET",
                             (unsigned long long)workload->frame_requests);
    }
    if (config->writes && isnan(config->profile->set_ns)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "memcachedgpu_costs.set: missing, but there are SETs: a calibration does not measure "
            "it, take it from another profile");
    }
    if (scenario->run.functional == KVC_FUNCTIONAL_SAMPLED) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "run.functional: found \"sampled\", allowed with memcachedgpu: \"full\" or "
                             "\"off\", because every packet is parsed");
    }
    return KVC_OK;
}

static enum kvc_status check_background(const struct kvc_memcachedgpu_config *config, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_options *options = config->options;
    if (options->background_blocks == 0) {
        return KVC_OK;
    }
    if (options->background_threads > config->gpu->threads_per_sm) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.background_threads: found %llu, allowed: at most %llu, what a "
                             "multiprocessor of gpu \"%s\" holds",
                             (unsigned long long)options->background_threads,
                             (unsigned long long)config->gpu->threads_per_sm, config->gpu->name);
    }
    if (options->background_kernels > options->background_blocks) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "system.background_kernels: found %llu, allowed: at most %llu, the blocks that "
                             "they are divided over",
                             (unsigned long long)options->background_kernels,
                             (unsigned long long)options->background_blocks);
    }
    return KVC_OK;
}

enum kvc_status kvc_memcachedgpu_check(const struct kvc_scenario *scenario, struct kvc_diag *diag)
{
    const struct kvc_memcachedgpu_config *config = kvc_memcachedgpu_config_of(scenario);
    if (!kvc_pcie_has_copies(config->pcie)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.pcie: \"%s\" does not state bulk copies (h2d, d2h, latency), which "
                             "memcachedgpu needs",
                             config->pcie->name);
    }
    if (config->gpu->sectors_per_s <= 0 || config->gpu->access_ns <= 0 || config->gpu->clock_count == 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.gpu: \"%s\" lacks clocks, sectors or access, which the GET kernel needs",
                             config->gpu->name);
    }
    enum kvc_status status = check_receive(config, diag);
    if (status == KVC_OK) {
        status = check_memory(config, diag);
    }
    if (status == KVC_OK) {
        status = check_workload(scenario, diag);
    }
    return status == KVC_OK ? check_background(config, diag) : status;
}
