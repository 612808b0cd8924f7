#include "models/kvdirect/equations.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <string.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/dispatch.h"
#include "sim/workload/line_cache.h"
#include "sim/base/array.h"
#include "sim/base/memo.h"

/* ---- layout ---- */

enum { SLOTS = 10, SLOT_BYTES = 5, METADATA_BYTES = 2, SECONDARY_HASHES = 512, BISECTIONS = 40 };

/* Fraction of the memory left free for the stacks of free slabs and for random variation. */
static const double spare_frac = 0.01;

static const double least_index_frac = 0.001;

/* Mean number of keys above which exp(-mean), the probability of an empty chain, is too small to start from.
 */
static const double many = 500;

/* Returns how many inline pairs or pointers a bucket holds. */
static double room_of(uint32_t inline_bytes, uint32_t pair_bytes)
{
    return pair_bytes <= inline_bytes ? floor(SLOTS / ceil((double)pair_bytes / SLOT_BYTES)) : SLOTS;
}

static double slab_bytes_of(uint32_t pair_bytes)
{
    return kvc_kvdirect_slab_bytes(kvc_kvdirect_slab_type(pair_bytes + METADATA_BYTES));
}

/* Lengths of chains whose number of keys is Poisson distributed. */
struct chains {
    double behind;  /* Mean distance of a key from the first bucket of its chain [buckets]. */
    double further; /* Mean number of buckets after the first one of a chain. */
};

/* Returns the lengths of chains with `mean` keys, in buckets that hold `room` keys. */
static struct chains chains_of(double mean, double room)
{
    struct chains chains = {0};
    double spread = 12 * sqrt(mean); /* Numbers farther from the mean have probabilities below 1e-30. */
    uint32_t least = mean > many ? (uint32_t)(mean - spread) : 0, most = (uint32_t)(mean + spread + 20);
    double last = least > 0 ? floor((least - 1) / room) : 0; /* Bucket of the last key. */
    double before = last * (least - room * (last + 1) / 2), probability = exp(-mean);
    for (uint32_t keys = least + 1; keys <= most; keys++) {
        last += keys > room * (last + 1);
        before += last;
        probability =
            mean > many ? exp(keys * log(mean) - mean - lgamma(keys + 1.0)) : probability * mean / keys;
        chains.behind += probability * before;
        chains.further += probability * last;
    }
    chains.behind = mean > 0 ? chains.behind / mean : 0;
    return chains;
}

struct kvc_kvdirect_accesses kvc_kvdirect_accesses_of(double keys, double buckets, uint32_t inline_bytes,
                                                      uint32_t pair_bytes)
{
    struct kvc_kvdirect_accesses accesses = {.pairs_per_bucket = keys / buckets};
    bool inlined = pair_bytes <= inline_bytes;
    double room = room_of(inline_bytes, pair_bytes);
    accesses.bucket_reads = 1 + chains_of(accesses.pairs_per_bucket, room).behind;
    if (inlined) {
        return accesses;
    }
    /* On average half of the chain is searched, and each pointer there may have the same secondary hash. */
    double looked_at = fmin(accesses.pairs_per_bucket, room * accesses.bucket_reads) / 2;
    accesses.used_lines = ceil((pair_bytes + METADATA_BYTES) / (double)KVC_KVDIRECT_LINE_BYTES);
    accesses.slab_lines = ceil(slab_bytes_of(pair_bytes) / KVC_KVDIRECT_LINE_BYTES);
    accesses.slab_reads = 1 + looked_at / SECONDARY_HASHES;
    return accesses;
}

double kvc_kvdirect_needed_frac(double keys, double bytes, double index_frac, uint32_t inline_bytes,
                                uint32_t pair_bytes)
{
    double buckets = bytes * index_frac / KVC_KVDIRECT_LINE_BYTES;
    double chained = buckets * chains_of(keys / buckets, room_of(inline_bytes, pair_bytes)).further;
    double slabs = pair_bytes <= inline_bytes ? 0 : keys * slab_bytes_of(pair_bytes) / bytes;
    return index_frac + chained * KVC_KVDIRECT_LINE_BYTES / bytes + slabs;
}

static double find_best_index(double keys, double bytes, uint32_t inline_bytes, uint32_t pair_bytes)
{
    double low = least_index_frac, high = 1;
    if (kvc_kvdirect_needed_frac(keys, bytes, 1, inline_bytes, pair_bytes) <= 1) {
        return 1;
    }
    /* A small index needs chained buckets, a large one needs the memory itself: the need is least in between.
     */
    while (low < 1 && kvc_kvdirect_needed_frac(keys, bytes, low, inline_bytes, pair_bytes) > 1 - spare_frac) {
        low *= 1.1;
    }
    if (low >= 1) {
        return 0;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2;
        if (kvc_kvdirect_needed_frac(keys, bytes, middle, inline_bytes, pair_bytes) <= 1 - spare_frac) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

double kvc_kvdirect_best_index(double keys, double bytes, uint32_t inline_bytes, uint32_t pair_bytes)
{
    static _Thread_local struct kvc_memo memo;
    const double argument[] = {keys, bytes, inline_bytes, pair_bytes};
    double index_frac;
    if (!kvc_memo_find(&memo, argument, &index_frac)) {
        index_frac = find_best_index(keys, bytes, inline_bytes, pair_bytes);
        kvc_memo_keep(&memo, argument, sizeof(argument) / sizeof(*argument), index_frac);
    }
    return index_frac;
}

/* Returns the layout with the fewest reads. If the pairs fit in none, kvc_kvdirect_check() reports it. */
static struct kvc_kvdirect_layout best_of(double keys, double bytes, uint32_t pair_bytes, double index_frac,
                                          uint32_t inline_least, uint32_t inline_most)
{
    struct kvc_kvdirect_layout best = {index_frac > 0 ? index_frac : 0.5, inline_least};
    double fewest = INFINITY;
    /* All thresholds below the size of the pairs give the same table, and so do all others. */
    for (uint32_t inline_bytes = inline_least; inline_bytes <= inline_most;
         inline_bytes = inline_bytes < pair_bytes ? pair_bytes : inline_most + 1) {
        double index =
            index_frac > 0 ? index_frac : kvc_kvdirect_best_index(keys, bytes, inline_bytes, pair_bytes);
        if (index <= 0) {
            continue;
        }
        struct kvc_kvdirect_accesses accesses =
            kvc_kvdirect_accesses_of(keys, bytes * index / KVC_KVDIRECT_LINE_BYTES, inline_bytes, pair_bytes);
        if (kvc_kvdirect_reads(&accesses) >= fewest) {
            continue;
        }
        fewest = kvc_kvdirect_reads(&accesses);
        best = (struct kvc_kvdirect_layout){index, inline_bytes};
    }
    return best;
}

struct kvc_kvdirect_layout kvc_kvdirect_best_layout(double keys, double bytes, uint32_t pair_bytes,
                                                    double index_frac, uint32_t inline_bytes)
{
    bool any_inline = inline_bytes == KVC_KVDIRECT_INLINE_AUTO;
    if (index_frac > 0 && !any_inline) {
        return (struct kvc_kvdirect_layout){index_frac, inline_bytes};
    }
    return best_of(keys, bytes, pair_bytes, index_frac, any_inline ? 0 : inline_bytes,
                   any_inline ? KVC_KVDIRECT_TABLE_INLINE_MAX : inline_bytes);
}

/* ---- time of each resource ---- */

/* Returns the time for which a message occupies the wire, including its share of the packet's headers. */
static double wire_ns(const struct kvc_nic *nic, double packet_requests, double message_bytes)
{
    return kvc_nic_wire_ns(nic, packet_requests * message_bytes, 1) / packet_requests;
}

struct kvc_kvdirect_loads kvc_kvdirect_loads_of(const struct kvc_kvdirect_card *card,
                                                const struct kvc_kvdirect_operation_mean *mean,
                                                const struct kvc_card_reuse *reuse, double dispatch_frac,
                                                double merged_frac)
{
    const struct kvc_fpga *fpga = card->fpga;
    const struct kvc_kvdirect_accesses *accesses = &mean->accesses;
    double l = fpga->dram_bytes > 0 ? dispatch_frac : 0;
    double hit = l > 0 ? kvc_card_hit_frac(reuse, l) : 0;
    double fetched = 1 - merged_frac, writes = fetched * mean->put_frac;
    double bucket_reads = fetched * accesses->bucket_reads, slab_reads = fetched * accesses->slab_reads;
    double slab_lines = accesses->slab_lines, used_lines = fmax(accesses->used_lines, 1);
    double written_lines = writes * used_lines;
    double read_lines = bucket_reads + slab_reads * slab_lines;
    double misses = read_lines * l * (1 - hit);
    /* Adjacent lines that are not cacheable form one DMA operation, so a slab needs one per run. */
    double slab_runs = (1 - l) * (1 + fmax(slab_lines - 1, 0) * l);
    double host_reads = bucket_reads * (1 - l) + slab_reads * slab_runs + misses;
    /* The share of lines newer than the host's copy is the share of operations that write. A write follows
     * the read of its line. */
    double evicted = misses * mean->put_frac;
    double host_writes = writes * (1 - l) * (1 + (used_lines - 1) * l) + evicted;
    double read_bytes = (read_lines * (1 - l) + misses) * KVC_KVDIRECT_LINE_BYTES;
    double write_bytes = (written_lines * (1 - l) + evicted) * KVC_KVDIRECT_LINE_BYTES;
    const struct kvc_pcie_traffic traffic = {host_reads, host_writes, read_bytes, write_bytes};
    double lines = l * (read_lines + 2 * written_lines) + misses;
    return (struct kvc_kvdirect_loads){
        .clock_ns = kvc_fpga_cycle_ns(fpga),
        .access_ns = fmax(bucket_reads + slab_reads, writes) * kvc_fpga_cycle_ns(fpga),
        .pcie_ns = kvc_pcie_traffic_ns(card->pcie, &traffic),
        .dram_ns = l > 0 ? lines * kvc_fpga_dram_ns(fpga, KVC_KVDIRECT_LINE_BYTES) : 0,
        .receive_ns = wire_ns(card->nic, mean->packet_mean, mean->request_bytes),
        .send_ns = wire_ns(card->nic, mean->packet_mean, mean->response_bytes),
        .lambda_ns = mean->lambda_clocks * kvc_fpga_cycle_ns(fpga),
        .host_reads = host_reads,
        .host_writes = host_writes,
        .host_read_bytes = read_bytes,
        .host_write_bytes = write_bytes,
        .hit_frac = hit,
        .merged_frac = merged_frac,
    };
}

double kvc_kvdirect_host_limit_per_ns(const struct kvc_kvdirect_loads *loads, const struct kvc_pcie *pcie,
                                      const struct kvc_dram *dram, double sockets, double socket_bytes_per_s,
                                      double *memory_ns)
{
    double operations = loads->host_reads + loads->host_writes;
    double bytes = loads->host_read_bytes + loads->host_write_bytes;
    const struct kvc_dram_load load = {
        .random_reads = loads->host_reads,
        .random_writes = loads->host_writes,
        .streamed_bytes = fmax(bytes - operations * KVC_KVDIRECT_LINE_BYTES, 0),
    };
    *memory_ns = kvc_dram_channel_ns(dram, &load) / (kvc_dram_channels(dram) * sockets);
    double limit_per_ns = *memory_ns > 0 ? 1 / *memory_ns : INFINITY;
    if (sockets > 1 && operations > 0) {
        /* Each socket has an equal part of the NICs and of the memory. A link between two of them carries the
         * writes of one and the reads of the other. */
        double up = bytes - loads->host_read_bytes + operations * (double)pcie->header_bytes;
        double down = loads->host_read_bytes + loads->host_reads * (double)pcie->header_bytes;
        limit_per_ns = fmin(limit_per_ns, socket_bytes_per_s * 1e-9 * sockets * sockets / (up + down));
    }
    return limit_per_ns;
}

/* ---- the dispatch ratio ---- */

struct balance {
    const struct kvc_kvdirect_card *card;
    const struct kvc_kvdirect_operation_mean *mean;
    const struct kvc_card_reuse *reuse;
};

static double dram_beyond_pcie_ns(double dispatch_frac, void *data)
{
    const struct balance *balance = data;
    struct kvc_kvdirect_loads loads =
        kvc_kvdirect_loads_of(balance->card, balance->mean, balance->reuse, dispatch_frac, 0);
    return loads.dram_ns - loads.pcie_ns;
}

double kvc_kvdirect_best_dispatch(const struct kvc_kvdirect_card *card,
                                  const struct kvc_kvdirect_operation_mean *mean,
                                  const struct kvc_card_reuse *reuse)
{
    enum { ITERATIONS = 100 };
    struct kvc_kvdirect_operation_mean reading = *mean;
    struct balance balance = {card, &reading, reuse};
    reading.put_frac = 0;
    if (card->fpga->dram_bytes <= 0) {
        return 0;
    }
    if (dram_beyond_pcie_ns(1, &balance) <= 0) {
        return 1;
    }
    gsl_function difference = {dram_beyond_pcie_ns, &balance};
    gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
    if (solver == NULL) {
        kvc_out_of_memory("a root solver");
    }
    int status = gsl_root_fsolver_set(solver, &difference, 0, 1);
    for (int i = 0; i < ITERATIONS && status == GSL_SUCCESS; i++) {
        status = gsl_root_fsolver_iterate(solver);
        if (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver), 1e-4,
                                   0) == GSL_SUCCESS) {
            break;
        }
    }
    if (status != GSL_SUCCESS) {
        kvc_give_up("no dispatch ratio balances DRAM and PCIe: %s", gsl_strerror(status));
    }
    double root = gsl_root_fsolver_root(solver);
    gsl_root_fsolver_free(solver);
    return root;
}
