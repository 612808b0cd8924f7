#include "models/composed/closed_form/reads.h"

#include <math.h>

#include "models/composed/costs.h"

struct kvc_flash_load kvc_composed_mix_flash(const struct kvc_composed_config *config,
                                             const struct kvc_composed_mix *mix)
{
    struct kvc_flash_load sum = {0};
    for (uint32_t i = 0; i < config->stages; i++) {
        if (config->stage[i].place == KVC_COMPOSED_FLASH) {
            const struct kvc_composed_counts counts = kvc_composed_mix_counts(config, mix, i, 1);
            struct kvc_flash_load load = kvc_composed_flash_load(config, i, &counts);
            sum.read_bytes = load.read_bytes;
            sum.reads += load.reads;
            sum.programs += load.programs;
            sum.erases += load.erases;
        }
    }
    return sum;
}

/* Returns the queue of a chip for the operations of a request, at a rate of a socket. */
static struct kvc_latency_queue chips_of(const struct kvc_composed_config *config,
                                         const struct kvc_flash_load *load, double per_ns)
{
    const struct kvc_flash *flash = config->flash;
    const double ns[] = {flash->read_ns + kvc_flash_transfer_ns(flash, load->read_bytes),
                         flash->program_ns + kvc_flash_transfer_ns(flash, flash->page_bytes),
                         flash->erase_ns};
    const double times[] = {load->reads, load->programs, load->erases};
    double all = 0, sum_ns = 0, sum_ns2 = 0;
    for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
        all += times[i];
        sum_ns += times[i] * ns[i];
        sum_ns2 += times[i] * ns[i] * ns[i];
    }
    if (all <= 0) {
        return (struct kvc_latency_queue){0};
    }
    return (struct kvc_latency_queue){.group = KVC_LATENCY_PARALLEL,
                                      .name = "the chips of the flash",
                                      .servers = 1,
                                      .job_ns = sum_ns / all,
                                      .job_cv2 = fmax(sum_ns2 * all / (sum_ns * sum_ns) - 1, 0),
                                      .utilization_frac = per_ns * kvc_flash_busy_of(flash, load).chips_ns,
                                      .share = 1.0 / kvc_flash_chips(flash),
                                      .equals_frac = 1,
                                      .visits = 1};
}

/* Returns the mean of the longest time that a chip is behind, of those of `reads` reads [ns]. Chips fall
 * behind and catch up again in turn, so that the time is longest for one age, and shorter on both sides of
 * it. */
static double behind_ns(const struct kvc_composed_mix *mix, double reads)
{
    int low = 0, high;
    double left = 1, none = 1,
           sum_ns = 0; /* Shares: of the other chips, and of jobs with reads of these only. */
    for (int i = 1; i < KVC_COMPOSED_NEWEST; i++) {
        low = mix->newest[i].behind_ns > mix->newest[low].behind_ns ? i : low;
    }
    for (high = low + 1; low >= 0 || high < KVC_COMPOSED_NEWEST;) {
        bool younger = high == KVC_COMPOSED_NEWEST ||
                       (low >= 0 && mix->newest[low].behind_ns >= mix->newest[high].behind_ns);
        const struct kvc_composed_page *page = &mix->newest[younger ? low-- : high++];
        left = fmax(left - page->read_frac, 0);
        double others = pow(left, reads);
        sum_ns += page->behind_ns * (none - others);
        none = others;
    }
    return sum_ns;
}

double kvc_composed_meet_ns(const struct kvc_composed_config *config, const struct kvc_composed_mix *mix,
                            double reads)
{
    const struct kvc_flash *flash = config->flash;
    if (reads <= 0) {
        return 0;
    }
    const struct kvc_flash_load one = {
        .reads = 1, .read_bytes = kvc_composed_fetched_bytes(config, config->means.item_bytes)};
    double carry_ns = kvc_flash_transfer_ns(flash, one.read_bytes),
           longest_ns = fmax(reads - 1, 0) * kvc_composed_flash_busy_ns(config, &one), newest_frac = 0;
    for (int i = 0; i < KVC_COMPOSED_NEWEST; i++) {
        newest_frac = fmax(newest_frac, mix->newest[i].read_frac);
    }
    const double among[] = {kvc_flash_chips(flash), kvc_flash_channels(flash)};
    const double ns[] = {flash->read_ns + carry_ns, carry_ns};
    for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
        double mean = reads / among[i], most = mean + sqrt(2 * mean * log(among[i]));
        most = fmin(fmax(most, reads * newest_frac), reads);
        longest_ns = fmax(longest_ns, fmax(most - 1, 0) * ns[i]);
    }
    return fmax(longest_ns, behind_ns(mix, reads));
}

void kvc_composed_add_flash(struct kvc_composed_network *network, const struct kvc_scenario *scenario,
                            const struct kvc_composed_mix *mix, double per_ns)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    const struct kvc_flash *flash = config->flash;
    if (!config->on_flash) {
        return;
    }
    const struct kvc_flash_load load = kvc_composed_mix_flash(config, mix);
    const struct kvc_flash_busy busy = kvc_flash_busy_of(flash, &load);
    uint32_t stages = 0;
    for (uint32_t i = 0; i < config->stages; i++) {
        bool reads = (config->stage[i].does & KVC_COMPOSED_READ) != 0;
        stages |= reads && config->stage[i].place == KVC_COMPOSED_FLASH ? 1u << i : 0;
    }
    struct kvc_latency_queue chips = chips_of(config, &load, per_ns);
    chips.visits = load.reads;
    kvc_composed_network_add(network, &scenario->workload, &chips, mix->in_flight, stages);
    double carried = load.reads + load.programs, channels = kvc_flash_channels(flash);
    const struct kvc_latency_queue buses = {.group = KVC_LATENCY_IN_LINE,
                                            .name = "the channels of the flash",
                                            .servers = 1,
                                            .job_ns = busy.channels_ns * channels / fmax(carried, 1e-300),
                                            .utilization_frac = per_ns * busy.channels_ns,
                                            .share = 1 / channels,
                                            .equals_frac = 1,
                                            .visits = load.reads};
    kvc_composed_network_add(network, &scenario->workload, &buses, mix->in_flight, stages);
}
