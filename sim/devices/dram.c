#include "sim/devices/dram.h"

#include <math.h>

#include "sim/devices/node.h"

static const struct kvc_option page_rows[] = {
    KVC_REAL_ROW(kvc_dram_pages, "footprint", footprint_bytes, KVC_UNIT_BYTES, 1, 1e15, NULL,
                 "size of the working set", .is_condition = true),
    KVC_REAL_ROW(kvc_dram_pages, "huge", huge_ns, KVC_UNIT_NS, 1e-3, 1e6, NULL,
                 "time of a random line of many that are prefetched, on huge pages"),
    KVC_REAL_ROW(kvc_dram_pages, "small", small_ns, KVC_UNIT_NS, 1e-3, 1e6, NULL,
                 "the same on small pages; a longer time costs stores without huge pages more"),
    KVC_REAL_ROW(kvc_dram_pages, "huge_latency", huge_latency_ns, KVC_UNIT_NS, 1e-3, 1e6, NULL,
                 "time of a random line whose address the line before gives, on huge pages; for people"),
    KVC_REAL_ROW(kvc_dram_pages, "small_latency", small_latency_ns, KVC_UNIT_NS, 1e-3, 1e6, NULL,
                 "the same on small pages; for people"),
};

static const struct kvc_option_table page_options =
    KVC_OPTION_TABLE(kvc_dram_pages, page_rows, "pages", .max_list = KVC_DRAM_PAGES_MAX);

static const struct kvc_option contention_rows[] = {
    KVC_REAL_ROW(kvc_dram_contention, "taken", taken_bytes_per_s, KVC_UNIT_BYTES_PER_S, 0, 1e13, NULL,
                 "bandwidth that a co-runner takes", .is_condition = true),
    KVC_REAL_ROW(kvc_dram_contention, "line", line_ns, KVC_UNIT_NS, 1e-3, 1e6, NULL,
                 "time of a random line of many that are prefetched; a longer time costs stores beside a "
                 "co-runner more"),
    KVC_REAL_ROW(kvc_dram_contention, "latency", latency_ns, KVC_UNIT_NS, 1e-3, 1e6, NULL,
                 "time of a random line whose address the line before gives; for people"),
};

static const struct kvc_option_table contention_options =
    KVC_OPTION_TABLE(kvc_dram_contention, contention_rows, "contention", .max_list = KVC_DRAM_CONTENTION_MAX);

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_dram, "name", name, "", "name of the memory"),
    KVC_REAL_ROW(
        kvc_dram, "random_line", random_line_ns, KVC_UNIT_NS, 0, 1e6, NULL,
        "time to read an object's first line, at a random place; a longer time slows receivers and senders"),
    KVC_REAL_ROW(kvc_dram, "next_line", next_line_ns, KVC_UNIT_NS, 0, 1e6, NULL,
                 "time to read each following line of the object; a longer time slows large objects"),
    KVC_REAL_ROW(
        kvc_dram, "watched_line", watched_line_ns, KVC_UNIT_NS, 0, 1e6, NULL,
        "time of a random line of several at once while all cores read, as calibrations and measurements "
        "watch it; forecasts of measured runs scale the memory's share of costs by it; left out: unknown",
        .optional = true),
    KVC_REAL_ROW(kvc_dram, "line", line_bytes, KVC_UNIT_BYTES, 16, 4096, NULL,
                 "size of a cache line; with larger lines, an object has fewer of them"),
    KVC_REAL_ROW(
        kvc_dram, "price", gb_price_usd, KVC_UNIT_NONE, 0, 1e6, NULL,
        "price of a gigabyte (10^9 bytes) in US dollars, whose source states the year; a higher one raises "
        "the price of the node; 0: another price includes it; left out: unknown",
        .optional = true),
    KVC_REAL_ROW(
        kvc_dram, "capacity", capacity_bytes, KVC_UNIT_BYTES, 1e6, 0x1p50, NULL,
        "memory of one socket; only its price depends on it, which is the price of a gigabyte times the "
        "capacity; left out: unknown",
        .optional = true),
    KVC_REAL_ROW(kvc_dram, "bandwidth", bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e14, NULL,
                 "measured bandwidth of one socket; a higher one serves more requests; left out: the "
                 "bandwidth of the channels",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_dram, "idle_power", idle_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the memory of one socket without accesses; left out: sums of power are at least what the others take",
        .optional = true),
    KVC_REAL_ROW(
        kvc_dram, "busy_power", busy_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the memory of one socket while all its channels are occupied; 0: part of another device's "
        "power or of node.power; left out: sums of power are at least what the others take",
        .optional = true),
    KVC_LIST_ROW(kvc_dram, "pages", pages, page_count, &page_options,
                 "measured lines of huge and of small pages, by ascending working sets; node.huge_pages = "
                 "false needs them"),
    KVC_LIST_ROW(
        kvc_dram, "contention", contention, contention_count, &contention_options,
        "measured lines beside a co-runner, by ascending bandwidth from 0 on; node.co_runner needs them"),
    KVC_COUNT_ROW(kvc_dram, "channels", channels, 1, 64, NULL,
                  "timing: channels of a socket; more of them serve more lines", .optional = true),
    KVC_COUNT_ROW(kvc_dram, "ranks", ranks, 1, 16, NULL,
                  "timing: ranks of a channel; more of them open more rows at once", .optional = true),
    KVC_COUNT_ROW(kvc_dram, "banks", banks, 1, 64, NULL,
                  "timing: banks of a rank; more of them open more rows at once", .optional = true),
    KVC_REAL_ROW(kvc_dram, "transfers", transfers_per_s, KVC_UNIT_NONE, 1e6, 1e11, NULL,
                 "timing: transfers per second on the data bus; more of them carry more bytes",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "bus", bus_bytes, KVC_UNIT_BYTES, 1, 128, NULL,
                 "timing: bytes of one transfer without ECC; a wider bus carries more bytes",
                 .optional = true),
    KVC_COUNT_ROW(kvc_dram, "write_queue", write_lines, 2, 4096, NULL,
                  "timing: capacity of a channel's write queue, half of which is drained at once; a longer "
                  "queue turns the bus around less often",
                  .optional = true),
    KVC_REAL_ROW(kvc_dram, "tRC", row_cycle_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: time between activations of a bank; a longer time serves fewer random lines",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "tRC_write", write_cycle_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: time between activations of a bank if a line is written, tRCD + CWL + burst + "
                 "tWR + tRP; a longer time serves fewer random writes",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "tRRD", activate_gap_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: time between activations of a rank; a longer time serves fewer random lines",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_dram, "tFAW", four_activate_ns, KVC_UNIT_NS, 0, 1e4, NULL,
        "timing: time in which a rank activates at most four rows; a longer time serves fewer random lines",
        .optional = true),
    KVC_REAL_ROW(kvc_dram, "tCL", read_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: time from a read command to its data; a longer time makes changes from writing "
                 "to reading more costly",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "tWTR", write_to_read_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: time from written data to a read command of the rank; a longer time makes "
                 "changes from writing to reading more costly",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "tRTW", read_to_write_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: idle time of the bus between read and written data; a longer time makes changes "
                 "from reading to writing more costly",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "tRTRS", rank_switch_ns, KVC_UNIT_NS, 0, 1e4, NULL,
                 "timing: idle time of the bus between data of two ranks; a longer time serves fewer random "
                 "lines",
                 .optional = true),
    KVC_REAL_ROW(kvc_dram, "tRFC", refresh_ns, KVC_UNIT_NS, 0, 1e5, NULL,
                 "timing: length of a refresh; a longer time serves fewer accesses", .optional = true),
    KVC_REAL_ROW(kvc_dram, "tREFI", refresh_every_ns, KVC_UNIT_NS, 1, 1e6, NULL,
                 "timing: time between refreshes; a longer time serves more accesses", .optional = true),
};

enum { BANDWIDTH = 7, TIMING_FIRST = 12, ROWS = sizeof(rows) / sizeof(*rows) };

static const struct kvc_option_table options = {
    .name = "dram", .rows = rows, .count = ROWS, .size = sizeof(struct kvc_dram)};

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_dram *dram = device;
    bool timing;
    enum kvc_status status = kvc_group_check(&options, dram, TIMING_FIRST, ROWS, &timing, diag);
    if (status != KVC_OK) {
        return status;
    }
    if (!timing && !(dram->bytes_per_s > 0)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "dram.%s is missing: a profile states the measured bandwidth, the timing of the channels (%s, "
            "...) or both",
            rows[BANDWIDTH].name, rows[TIMING_FIRST].name);
    }
    for (uint32_t i = 1; i < dram->page_count; i++) {
        if (dram->pages[i].footprint_bytes <= dram->pages[i - 1].footprint_bytes) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "dram.pages: found a footprint of %g after %g bytes, allowed: ascending ones",
                dram->pages[i].footprint_bytes, dram->pages[i - 1].footprint_bytes);
        }
    }
    for (uint32_t i = 0; i < dram->contention_count; i++) {
        double taken = dram->contention[i].taken_bytes_per_s;
        if (i == 0 ? taken != 0 : taken <= dram->contention[i - 1].taken_bytes_per_s) {
            return kvc_diag_fail(
                diag, KVC_ERR_SCENARIO,
                "dram.contention: found %g bytes/s as element %u, allowed: ascending ones from 0 on", taken,
                i + 1);
        }
    }
    if (dram->busy_watts < dram->idle_watts || isnan(dram->busy_watts) != isnan(dram->idle_watts)) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "dram: idle_power and busy_power are %g and %g W, allowed: both or neither, and no "
            "less when busy",
            dram->idle_watts, dram->busy_watts);
    }
    if (timing && dram->refresh_ns >= dram->refresh_every_ns) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "dram.tRFC is %g ns, and a refresh must be shorter than tREFI, %g ns",
                             dram->refresh_ns, dram->refresh_every_ns);
    }
    return KVC_OK;
}

/* Memory whose gigabytes cost nothing costs nothing, however many there are. */
static double price_usd(const void *device)
{
    const struct kvc_dram *dram = device;
    return dram->gb_price_usd == 0 ? 0 : dram->gb_price_usd * dram->capacity_bytes / 1e9;
}

const struct kvc_device_kind kvc_dram_kind = {
    .name = "dram",
    .help = "Memory of a socket: cost of random and sequential lines for a core, bandwidth and timing of the "
            "channels",
    .options = &options,
    .check = check,
    .price_usd = price_usd,
};

double kvc_dram_object_ns(const struct kvc_dram *dram, double lines)
{
    return lines > 0 ? dram->random_line_ns + (lines - 1) * dram->next_line_ns : 0;
}

double kvc_dram_stream_ns(const struct kvc_dram *dram, double bytes)
{
    return bytes / dram->line_bytes * dram->next_line_ns;
}

/* Returns the share of the memory in the time of a line of a working set, where small ones have none and the
 * largest one has all of it. */
static double memory_frac(const struct kvc_dram *dram, double footprint_bytes)
{
    const struct kvc_dram_pages *pages = dram->pages;
    uint32_t last = dram->page_count - 1, at = 0;
    if (dram->page_count < 2 || pages[last].huge_ns <= pages[0].huge_ns) {
        return 1;
    }
    while (at < last && pages[at].footprint_bytes < footprint_bytes) {
        at++;
    }
    return fmax(fmin((pages[at].huge_ns - pages[0].huge_ns) / (pages[last].huge_ns - pages[0].huge_ns), 1),
                0);
}

double kvc_dram_contention_ns(const struct kvc_dram *dram, double taken_bytes_per_s, double footprint_bytes)
{
    const struct kvc_dram_contention *points = dram->contention;
    uint32_t at = 1;
    if (dram->contention_count < 2 || !(taken_bytes_per_s > 0)) {
        return 0;
    }
    while (at + 1 < dram->contention_count && points[at].taken_bytes_per_s < taken_bytes_per_s) {
        at++;
    }
    const struct kvc_dram_contention *above = &points[at], *below = above - 1;
    double frac = (taken_bytes_per_s - below->taken_bytes_per_s) /
                  (above->taken_bytes_per_s - below->taken_bytes_per_s);
    double line_ns = below->line_ns + fmin(frac, 1) * (above->line_ns - below->line_ns);
    return (line_ns - points[0].line_ns) * memory_frac(dram, footprint_bytes);
}

double kvc_dram_small_page_ns(const struct kvc_dram *dram, double footprint_bytes)
{
    const struct kvc_dram_pages *pages = dram->pages;
    uint32_t at = 0;
    if (dram->page_count == 0) {
        return 0;
    }
    while (at + 1 < dram->page_count && pages[at].footprint_bytes < footprint_bytes) {
        at++;
    }
    const struct kvc_dram_pages *above = &pages[at], *below = &pages[at > 0 ? at - 1 : 0];
    double more_ns = above->small_ns - above->huge_ns, less_ns = below->small_ns - below->huge_ns;
    double frac = above > below ? log(footprint_bytes / below->footprint_bytes) /
                                      log(above->footprint_bytes / below->footprint_bytes)
                                : 1;
    return less_ns + fmin(frac, 1) * (more_ns - less_ns);
}

struct kvc_watts kvc_dram_watts(const struct kvc_dram *dram)
{
    if (!(dram->busy_watts > 0)) {
        return (struct kvc_watts){0};
    }
    return (struct kvc_watts){dram->idle_watts, dram->busy_watts, dram->busy_watts};
}

double kvc_dram_channels(const struct kvc_dram *dram)
{
    return kvc_dram_has_timing(dram) ? (double)dram->channels : 1;
}

/* Returns the part of the time in which the channel does not refresh. */
static double awake_frac(const struct kvc_dram *dram)
{
    return 1 - dram->refresh_ns / dram->refresh_every_ns;
}

double kvc_dram_bytes_per_s(const struct kvc_dram *dram)
{
    return dram->bytes_per_s > 0
               ? dram->bytes_per_s
               : (double)dram->channels * dram->transfers_per_s * dram->bus_bytes * awake_frac(dram);
}

/* Service of random lines by a channel: time per line, and consecutive lines of a rank. */
struct order {
    double line_ns;
    double in_a_row; /* INFINITY: the channel never leaves the rank. */
};

static struct order cheapest(struct order a, struct order b)
{
    return b.line_ns < a.line_ns ? b : a;
}

/* Returns the cheapest order of bursts that tRRD and tFAW allow; see the header. */
static struct order burst_order(const struct kvc_dram *dram)
{
    double burst_ns = dram->line_bytes / (dram->transfers_per_s * dram->bus_bytes) * 1e9;
    double same_ns = fmax(burst_ns, dram->activate_gap_ns), other_ns = burst_ns + dram->rank_switch_ns;
    double ranks = (double)dram->ranks, faw_ns = dram->four_activate_ns / 4;
    struct order order = {fmax(same_ns, faw_ns), INFINITY};
    if (dram->ranks > 1) {
        double alternate_ns = fmax(other_ns, fmax(dram->activate_gap_ns, faw_ns) / ranks);
        order = cheapest(order, (struct order){alternate_ns, 1});
        order = cheapest(order, (struct order){fmax((3 * same_ns + other_ns) / 4, faw_ns / ranks), 4});
    }
    return order;
}

/* Returns the time for which a drain of writes leaves the bus idle [ns]. */
static double turnaround_ns(const struct kvc_dram *dram, struct order order)
{
    double ready_ns = dram->write_to_read_ns + dram->read_ns;
    if (dram->ranks > 1 && isfinite(order.in_a_row)) {
        double since_ns = (double)(dram->ranks - 1) * order.in_a_row * order.line_ns;
        ready_ns = fmax(ready_ns - since_ns, dram->rank_switch_ns);
    }
    return dram->read_to_write_ns + ready_ns;
}

double kvc_dram_channel_ns(const struct kvc_dram *dram, const struct kvc_dram_load *load)
{
    double stream_ns = kvc_dram_channels(dram) / kvc_dram_bytes_per_s(dram) * 1e9;
    if (!kvc_dram_has_timing(dram)) {
        double lines = load->random_reads + load->random_writes;
        return (lines * dram->line_bytes + load->streamed_bytes) * stream_ns;
    }
    struct order order = burst_order(dram);
    double banks = (double)(dram->ranks * dram->banks);
    double drains = fmin(load->random_reads, load->random_writes) / ((double)dram->write_lines / 2);
    double random_ns = load->random_reads * fmax(order.line_ns, dram->row_cycle_ns / banks) +
                       load->random_writes * fmax(order.line_ns, dram->write_cycle_ns / banks) +
                       drains * turnaround_ns(dram, order);
    return random_ns / awake_frac(dram) + load->streamed_bytes * stream_ns;
}

void kvc_dram_speed_up(struct kvc_dram *dram, double factor)
{
    double *const times_ns[] = {&dram->random_line_ns, &dram->next_line_ns,     &dram->row_cycle_ns,
                                &dram->write_cycle_ns, &dram->activate_gap_ns,  &dram->four_activate_ns,
                                &dram->read_ns,        &dram->write_to_read_ns, &dram->read_to_write_ns,
                                &dram->rank_switch_ns, &dram->refresh_ns,       &dram->refresh_every_ns,
                                &dram->watched_line_ns};
    for (size_t i = 0; i < sizeof(times_ns) / sizeof(*times_ns); i++) {
        *times_ns[i] /= factor;
    }
    for (uint32_t i = 0; i < dram->page_count; i++) {
        struct kvc_dram_pages *pages = &dram->pages[i];
        pages->huge_ns /= factor;
        pages->small_ns /= factor;
        pages->huge_latency_ns /= factor;
        pages->small_latency_ns /= factor;
    }
    for (uint32_t i = 0; i < dram->contention_count; i++) {
        dram->contention[i].taken_bytes_per_s *= factor;
        dram->contention[i].line_ns /= factor;
        dram->contention[i].latency_ns /= factor;
    }
    dram->bytes_per_s *= factor;
    dram->transfers_per_s *= factor;
}

static const struct kvc_option_table card_options = KVC_OPTION_TABLE(kvc_dram, rows, "card_dram");

const struct kvc_device_kind kvc_card_dram_kind = {
    .name = "card_dram",
    .help = "Memory of a network card with cores, described as that of a socket",
    .options = &card_options,
    .check = check,
    .price_usd = price_usd,
};

static const struct kvc_option_table cxl_options = KVC_OPTION_TABLE(kvc_dram, rows, "cxl");

const struct kvc_device_kind kvc_cxl_kind = {
    .name = "cxl",
    .help = "Memory of a socket behind CXL links, described as that of a socket",
    .options = &cxl_options,
    .check = check,
    .price_usd = price_usd,
};
