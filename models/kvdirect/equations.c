#include "models/kvdirect/equations.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <string.h>

#include "kernels/kvdirect/table.h"
#include "models/kvdirect/dispatch.h"
#include "sim/base/array.h"
#include "sim/base/memo.h"
#include "sim/workload/keys/popularity_blocks.h"

/* ---- layout ---- */

enum { SLOTS = 10, SLOT_BYTES = 5, METADATA_BYTES = 2, SECONDARY_HASHES = 512, BISECTIONS = 40 };

/* Fraction of the memory left free for the stacks of free slabs and for random variation. */
static const double spare_frac = 0.01;

static const double least_index_frac = 0.001;

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
    double probability = exp(-mean), before = 0;
    struct chains chains = {0};
    uint32_t most = (uint32_t)(mean + 12 * sqrt(mean) + 20);
    for (uint32_t keys = 1; keys <= most; keys++) {
        double last = floor((keys - 1) / room); /* Bucket of the last key. */
        before += last;
        probability =
            mean > 500 ? exp(keys * log(mean) - mean - lgamma(keys + 1.0)) : probability * mean / keys;
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

enum {
    BLOCKS_MAX = 4096, /* Popularity blocks; 2^32 keys make fewer than 1300. */
    KEPT = 64,         /* Results that a thread keeps of a function. */
};

/* ---- results that a thread keeps ---- */

/* The latest results of a function of a few numbers, which equal computed ones bit for bit. They are too
 * large for a memo. */
struct kept {
    double argument[KEPT][KVC_KVDIRECT_REUSE_ARGUMENTS]; /* All 0: none is asked for. */
    void *result[KEPT];                                  /* NULL: free. */
    uint32_t next;                                       /* Its place is taken next. */
};

/* Returns the result for these arguments, if one is kept, and otherwise the room of the oldest result, into
 * which the caller computes it. If `argument` is NULL, the result is for nobody else. */
static void *kept_of(struct kept *kept, const double *argument, size_t bytes, bool *found)
{
    uint32_t at = 0;
    while (argument != NULL && at < KEPT &&
           memcmp(kept->argument[at], argument, sizeof(*kept->argument)) != 0) {
        at++;
    }
    *found = argument != NULL && at < KEPT;
    if (!*found) {
        at = kept->next;
        kept->next = (at + 1) % KEPT;
        memset(kept->argument[at], 0, sizeof(*kept->argument));
        if (argument != NULL) {
            memcpy(kept->argument[at], argument, sizeof(*kept->argument));
        }
    }
    if (kept->result[at] == NULL) {
        kept->result[at] = kvc_array_of(1, bytes);
    }
    return kept->result[at];
}

/* ---- popularity ---- */

/* Fraction of the keys not used within t requests, and its first two derivatives. */
struct unused {
    double frac, first, second;
};

/* Blocks of keys with nearly equal popularity, and how many keys are unused at each step of the reuse. */
struct kvc_kvdirect_popularity {
    uint32_t count;
    double keys;
    double frac[BLOCKS_MAX], mass[BLOCKS_MAX], each[BLOCKS_MAX];
    double step; /* Ratio of the requests of two steps, as a logarithm. */
    double requests[KVC_KVDIRECT_REUSE_STEPS];
    struct unused unused[KVC_KVDIRECT_REUSE_STEPS]; /* Filled in when a reuse is asked for. */
    bool has_unused;
};

static void set_blocks(struct kvc_kvdirect_popularity *all, const struct kvc_workload *workload)
{
    struct kvc_popularity_blocks blocks;
    struct kvc_popularity_block block;
    all->count = 0;
    all->has_unused = false;
    all->keys = (double)workload->keys;
    kvc_popularity_blocks_open(&blocks, workload);
    while (kvc_popularity_blocks_next(&blocks, &block)) {
        if (all->count == BLOCKS_MAX) {
            KVC_BUG("more than %d blocks of keys", BLOCKS_MAX);
        }
        all->frac[all->count] = block.keys / all->keys;
        all->mass[all->count] = block.mass;
        all->each[all->count++] = block.mass / block.keys;
    }
    kvc_popularity_blocks_close(&blocks);
}

static struct kvc_kvdirect_popularity *popularity_of(const struct kvc_workload *workload)
{
    static _Thread_local struct kept kept;
    const double argument[KVC_KVDIRECT_REUSE_ARGUMENTS] = {(double)workload->keys, workload->popularity,
                                                           workload->zipf_s};
    bool found;
    struct kvc_kvdirect_popularity *all =
        kept_of(&kept, workload->action_count == 0 ? argument : NULL, sizeof(*all), &found);
    if (!found) {
        set_blocks(all, workload);
    }
    return all;
}

const struct kvc_kvdirect_popularity *kvc_kvdirect_popularity_of(const struct kvc_workload *workload)
{
    return popularity_of(workload);
}

double kvc_kvdirect_merged_frac(const struct kvc_kvdirect_popularity *all, double stay_ns, double per_ns)
{
    double merged = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        double others = all->each[i] * per_ns * stay_ns;
        merged += all->mass[i] * others / (1 + others);
    }
    return merged;
}

/* ---- the cache ---- */

static struct unused unused_after(const struct kvc_kvdirect_popularity *all, double requests)
{
    static const double exponent_most = 746; /* exp() of less than -745.14 is 0. */
    struct unused unused = {0};
    for (uint32_t i = 0; i < all->count; i++) {
        double exponent = all->each[i] * requests;
        if (exponent > exponent_most) {
            continue;
        }
        double left = exp(-exponent);
        unused.frac += all->frac[i] * left;
        unused.first -= all->mass[i] / all->keys * left;
        unused.second += all->mass[i] * all->each[i] / all->keys * left;
    }
    return unused;
}

static void set_unused(struct kvc_kvdirect_popularity *all)
{
    const double first = log(0.01), last = log(1e4 * all->keys);
    all->step = (last - first) / KVC_KVDIRECT_REUSE_STEPS;
    for (uint32_t i = 0; i < KVC_KVDIRECT_REUSE_STEPS; i++) {
        all->requests[i] = exp(first + (i + 0.5) * all->step);
        all->unused[i] = unused_after(all, all->requests[i]);
    }
    all->has_unused = true;
}

/* Computes what kvc_kvdirect_reuse_of() returns. A line whose keys are requested with probability P is reused
 * after t requests with density P exp(-P t). It is still cached if none of the other lines of its place was
 * used since. Summed over all lines, P^2 exp(-P t) is the second derivative of exp(-P t). Keys fall into
 * buckets at random. */
static void compute_reuse(const struct kvc_workload *workload, const struct kvc_kvdirect_accesses *accesses,
                          double buckets, struct kvc_kvdirect_reuse *reuse)
{
    double keys = (double)workload->keys, mean = accesses->pairs_per_bucket, lines = accesses->slab_lines;
    struct kvc_kvdirect_popularity *all = popularity_of(workload);
    if (!all->has_unused) {
        set_unused(all);
    }
    for (uint32_t i = 0; i < reuse->steps; i++) {
        const struct unused unused = all->unused[i];
        double left = exp(-mean * (1 - unused.frac)); /* Fraction of the buckets without a used key. */
        double bucket_density =
            buckets * left * (mean * mean * unused.first * unused.first + mean * unused.second);
        double slab_density = keys * unused.second;
        reuse->weight[i] =
            (bucket_density + lines * slab_density) / (1 + lines) * all->requests[i] * all->step;
        reuse->lines[i] = buckets * (1 - left) + keys * lines * (1 - unused.frac);
    }
}

/* A configuration and its prediction need the same reuse, as do those that differ only in other devices. */
const struct kvc_kvdirect_reuse *kvc_kvdirect_reuse_of(const struct kvc_workload *workload,
                                                       const struct kvc_kvdirect_accesses *accesses,
                                                       double buckets, double places)
{
    static _Thread_local struct kept kept;
    const double argument[KVC_KVDIRECT_REUSE_ARGUMENTS] = {
        (double)workload->keys,     workload->popularity, workload->zipf_s, buckets, places,
        accesses->pairs_per_bucket, accesses->slab_lines};
    bool found, can_keep = workload->action_count == 0;
    struct kvc_kvdirect_reuse *reuse = kept_of(&kept, can_keep ? argument : NULL, sizeof(*reuse), &found);
    if (!found) {
        *reuse = (struct kvc_kvdirect_reuse){
            .steps = KVC_KVDIRECT_REUSE_STEPS, .places = places, .can_keep = can_keep};
        memcpy(reuse->argument, argument, sizeof(argument));
        compute_reuse(workload, accesses, buckets, reuse);
    }
    return reuse;
}

/* Sums the shares of the accesses that hit. Without the terms that are smaller than half of its last digit,
 * the sum is the same. */
static double hit_sum(const struct kvc_kvdirect_reuse *reuse, double dispatch_frac)
{
    static const double digit_frac = 0x1p-55, exponent_most = 39; /* exp(-39) is less than 2^-55. */
    double hit = 0;
    for (uint32_t i = 0; i < reuse->steps && reuse->places > 0; i++) {
        double weight = reuse->weight[i], exponent = dispatch_frac * reuse->lines[i] / reuse->places;
        if (weight > hit || (weight > hit * digit_frac && exponent < exponent_most)) {
            hit += weight * exp(-exponent);
        }
    }
    return hit;
}

double kvc_kvdirect_hit_frac(const struct kvc_kvdirect_reuse *reuse, double dispatch_frac)
{
    static _Thread_local struct kvc_memo memo;
    double argument[KVC_KVDIRECT_REUSE_ARGUMENTS + 1], hit;
    memcpy(argument, reuse->argument, sizeof(reuse->argument));
    argument[KVC_KVDIRECT_REUSE_ARGUMENTS] = dispatch_frac;
    if (!reuse->can_keep || !kvc_memo_find(&memo, argument, &hit)) {
        hit = hit_sum(reuse, dispatch_frac);
        if (reuse->can_keep) {
            kvc_memo_keep(&memo, argument, KVC_KVDIRECT_REUSE_ARGUMENTS + 1, hit);
        }
    }
    return fmin(hit, 1);
}

/* ---- time of each resource ---- */

/* Returns the time for which a message occupies the wire, including its share of the packet's headers. */
static double wire_ns(const struct kvc_nic *nic, double packet_requests, double message_bytes)
{
    return kvc_nic_wire_ns(nic, packet_requests * message_bytes, 1) / packet_requests;
}

struct kvc_kvdirect_loads kvc_kvdirect_loads_of(const struct kvc_kvdirect_card *card,
                                                const struct kvc_kvdirect_operation_mean *mean,
                                                const struct kvc_kvdirect_reuse *reuse, double dispatch_frac,
                                                double merged_frac)
{
    const struct kvc_pcie *pcie = card->pcie;
    const struct kvc_fpga *fpga = card->fpga;
    const struct kvc_kvdirect_accesses *accesses = &mean->accesses;
    double l = fpga->dram_bytes > 0 ? dispatch_frac : 0;
    double hit = l > 0 ? kvc_kvdirect_hit_frac(reuse, l) : 0;
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
    double links = (double)pcie->endpoints * kvc_pcie_link_bytes_per_s(pcie) * 1e-9;
    double header = (double)pcie->header_bytes;
    double in_flight_ns = host_reads / ((double)pcie->endpoints * kvc_pcie_flight_reads_per_s(pcie)) * 1e9;
    double down_ns = (host_reads * header + read_bytes) / links;
    double up_ns = ((host_reads + host_writes) * header + write_bytes) / links;
    double root_ns = fmax(read_bytes, write_bytes) / pcie->root_bytes_per_s * 1e9;
    double lines = l * (read_lines + 2 * written_lines) + misses;
    return (struct kvc_kvdirect_loads){
        .clock_ns = kvc_fpga_cycle_ns(fpga),
        .access_ns = fmax(bucket_reads + slab_reads, writes) * kvc_fpga_cycle_ns(fpga),
        .pcie_ns = fmax(fmax(in_flight_ns, root_ns), fmax(down_ns, up_ns)),
        .dram_ns = l > 0 ? lines * kvc_fpga_dram_ns(fpga, KVC_KVDIRECT_LINE_BYTES) : 0,
        .receive_ns = wire_ns(card->nic, mean->packet_requests, mean->request_bytes),
        .send_ns = wire_ns(card->nic, mean->packet_requests, mean->response_bytes),
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
    const struct kvc_kvdirect_reuse *reuse;
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
                                  const struct kvc_kvdirect_reuse *reuse)
{
    enum { ITERATIONS = 100 };
    struct balance balance = {card, mean, reuse};
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
