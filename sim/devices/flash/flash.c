#include "sim/devices/flash/flash.h"

#include <math.h>

/* Least number of blocks of a chip with a translation layer. */
enum { BLOCKS_MIN = 3 };

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_flash, "name", name, "", "name of the card"),
    KVC_COUNT_ROW(kvc_flash, "cards", cards, 1, 256, "1",
                  "equal cards or drives of a node, over which pages are spread; more of them add capacity, "
                  "bandwidth, power and price"),
    KVC_COUNT_ROW(kvc_flash, "channels", channels, 1, 1024, NULL,
                  "channels of the card; more of them carry more pages at the same time"),
    KVC_COUNT_ROW(kvc_flash, "chips", chips, 1, 1024, NULL,
                  "chips of a channel; more of them read and program more pages at once"),
    KVC_COUNT_ROW(kvc_flash, "blocks", blocks, 1, 1e9, NULL, "blocks of a chip; more of them hold more data"),
    KVC_COUNT_ROW(kvc_flash, "pages_per_block", pages_per_block, 1, 1e6, NULL,
                  "pages of a block; more of them need fewer erases for the same data"),
    KVC_REAL_ROW(kvc_flash, "page", page_bytes, KVC_UNIT_BYTES, 512, 1e6, NULL,
                 "data of a page; a larger page takes longer to cross its channel"),
    KVC_REAL_ROW(
        kvc_flash, "spare", spare_bytes, KVC_UNIT_BYTES, 0, 1e6, NULL,
        "bytes for error correction that cross the channel with each page; more of them leave less of "
        "the channel for data"),
    KVC_REAL_ROW(
        kvc_flash, "sector", sector_bytes, KVC_UNIT_BYTES, 0, 1e6, "0B",
        "smallest part of a page that a read fetches; a smaller one leaves more of the channel for other "
        "reads of less than a page; 0: whole pages"),
    KVC_REAL_ROW(kvc_flash, "read", read_ns, KVC_UNIT_NS, 1, 1e9, NULL,
                 "time to sense a page (tR); a longer time lengthens every read"),
    KVC_REAL_ROW(kvc_flash, "program", program_ns, KVC_UNIT_NS, 1, 1e9, NULL,
                 "time to program a page (tPROG); a longer time blocks the chip for longer"),
    KVC_REAL_ROW(kvc_flash, "erase", erase_ns, KVC_UNIT_NS, 1, 1e10, NULL,
                 "time to erase a block (tBERS); a longer time blocks the chip for longer"),
    KVC_REAL_ROW(kvc_flash, "channel_rate", channel_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e11, NULL,
                 "rate of one channel; a higher rate carries more pages"),
    KVC_REAL_ROW(
        kvc_flash, "command", command_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "time for which the command of an operation occupies its channel; a longer time carries fewer pages"),
    KVC_REAL_ROW(
        kvc_flash, "status", status_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "time for which a status poll of a chip occupies its channel; a longer time carries fewer pages"),
    KVC_REAL_ROW(kvc_flash, "first_poll", first_poll_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
                 "time from the command of a read to its first status poll, with poll"),
    KVC_REAL_ROW(
        kvc_flash, "poll", poll_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "time between status polls of a chip; the controller then visits its chips in turn and waits for "
        "each answer, which carries fewer pages; 0: chips signal when they are ready"),
    KVC_COUNT_ROW(kvc_flash, "tags", tags, 1, 1e6, "128",
                  "operations that the controller accepts at a time; more of them keep more chips busy"),
    KVC_REAL_ROW(kvc_flash, "operation", operation_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
                 "time for which an operation occupies the controller of a drive; a longer time limits the "
                 "operations of all chips together; 0: no limit"),
    KVC_REAL_ROW(kvc_flash, "interface", interface_bytes_per_s, KVC_UNIT_BYTES_PER_S, 0, 1e13, "0Gbps",
                 "rate of the interface of a drive, each way; a higher rate carries more data; 0: no limit"),
    KVC_REAL_ROW(
        kvc_flash, "access", access_ns, KVC_UNIT_NS, 0, 1e9, "0ns",
        "time that controller, interface and driver of a drive add to every operation while others go "
        "on; a longer time lengthens every read"),
    KVC_REAL_ROW(
        kvc_flash, "program_rate", program_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
        "rate at which all chips of a drive program together, if power or parity limits it, including "
        "pages that garbage collection moves; a higher rate writes more; left out: no limit",
        .optional = true),
    KVC_REAL_ROW(
        kvc_flash, "over_provisioning", over_provisioning, KVC_UNIT_NONE, 0.01, 1, NULL,
        "raw capacity of a drive relative to its usable capacity, minus 1; a translation layer then places "
        "the pages, and more spare capacity moves fewer sectors; none or left out: the store places pages, "
        "as on a card or a drive with zones",
        .optional = true, .auto_word = "none", .auto_value = 0),
    KVC_REAL_ROW(
        kvc_flash, "buffer", buffer_bytes, KVC_UNIT_BYTES, 512, 1e12, NULL,
        "write buffer of a drive with over_provisioning, which acknowledges writes until it is full; a larger "
        "one hides longer bursts; left out: two pages of each chip",
        .optional = true),
    KVC_REAL_ROW(
        kvc_flash, "price", price_usd, KVC_UNIT_NONE, 0, 1e6, "0",
        "price of one card in US dollars, whose source states the year; a higher one raises the price of "
        "a gigabyte; 0: unknown"),
    KVC_REAL_ROW(kvc_flash, "endurance", endurance, KVC_UNIT_NONE, 1, 1e9, NULL,
                 "erases that a block is rated for; left out: no rated life is reported", .optional = true),
    KVC_REAL_ROW(kvc_flash, "idle", idle_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
                 "power of the idle card; left out: it always draws its busy power", .optional = true),
    KVC_REAL_ROW(kvc_flash, "busy", busy_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
                 "power of the busy card; left out: sums of power are at least what the others take",
                 .optional = true),
};

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_flash, rows, "flash");

static enum kvc_status check_translation(const struct kvc_flash *flash, struct kvc_diag *diag)
{
    if (flash->sector_bytes <= 0 || fmod(flash->page_bytes, flash->sector_bytes) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "flash.sector is %g bytes, allowed with over_provisioning: a whole part of the "
                             "page, %g bytes",
                             flash->sector_bytes, flash->page_bytes);
    }
    if (flash->blocks < BLOCKS_MIN) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "flash.blocks is %llu, allowed with over_provisioning: at least %d, because each "
            "chip writes one, keeps one free and collects another",
            (unsigned long long)flash->blocks, BLOCKS_MIN);
    }
    if (flash->buffer_bytes > 0 && flash->buffer_bytes < flash->page_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "flash.buffer is %g bytes, allowed: at least the page, %g bytes",
                             flash->buffer_bytes, flash->page_bytes);
    }
    if (flash->poll_ns > 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "flash.poll is %g ns, allowed with over_provisioning: 0",
                             flash->poll_ns);
    }
    return KVC_OK;
}

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_flash *flash = device;
    if (flash->busy_watts < flash->idle_watts) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "flash.busy is %g W, allowed: no less than idle, %g W",
                             flash->busy_watts, flash->idle_watts);
    }
    if (flash->sector_bytes > flash->page_bytes) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "flash.sector is %g bytes, allowed: no more than the page, %g bytes",
                             flash->sector_bytes, flash->page_bytes);
    }
    return kvc_flash_translates(flash) ? check_translation(flash, diag) : KVC_OK;
}

static double price_usd(const void *device)
{
    const struct kvc_flash *flash = device;
    return flash->price_usd > 0 ? flash->price_usd : NAN;
}

const struct kvc_device_kind kvc_flash_kind = {
    .name = "flash",
    .help = "Flash cards or drives: channels, chips, times of reads, programs and erases, power",
    .options = &options,
    .check = check,
    .price_usd = price_usd,
};

uint32_t kvc_flash_channels(const struct kvc_flash *flash)
{
    return (uint32_t)(flash->cards * flash->channels);
}

uint32_t kvc_flash_chips(const struct kvc_flash *flash)
{
    return kvc_flash_channels(flash) * (uint32_t)flash->chips;
}

uint64_t kvc_flash_tags(const struct kvc_flash *flash)
{
    return flash->cards * flash->tags;
}

uint64_t kvc_flash_pages(const struct kvc_flash *flash)
{
    return kvc_flash_chips(flash) * flash->blocks * flash->pages_per_block;
}

double kvc_flash_bytes(const struct kvc_flash *flash)
{
    return (double)kvc_flash_pages(flash) * flash->page_bytes;
}

uint32_t kvc_flash_channel_of(const struct kvc_flash *flash, uint64_t page)
{
    uint64_t card = page % flash->cards, channel = page / flash->cards % flash->channels;
    return (uint32_t)(card * flash->channels + channel);
}

uint32_t kvc_flash_chip_of(const struct kvc_flash *flash, uint64_t page)
{
    return kvc_flash_channel_of(flash, page) * (uint32_t)flash->chips +
           (uint32_t)(page / kvc_flash_channels(flash) % flash->chips);
}

bool kvc_flash_is_drive(const struct kvc_flash *flash)
{
    return flash->operation_ns > 0 || flash->interface_bytes_per_s > 0 || flash->access_ns > 0 ||
           kvc_flash_translates(flash) || kvc_flash_limits_programs(flash);
}

bool kvc_flash_limits_programs(const struct kvc_flash *flash)
{
    return flash->program_bytes_per_s > 0; /* False if it is NaN. */
}

bool kvc_flash_translates(const struct kvc_flash *flash)
{
    return flash->over_provisioning > 0; /* False if it is NaN. */
}

double kvc_flash_fetched_bytes(const struct kvc_flash *flash, double bytes)
{
    double sector = flash->sector_bytes;
    return sector > 0 ? fmin(fmax(bytes - 8 + sector, sector), flash->page_bytes) : flash->page_bytes;
}

double kvc_flash_data_ns(const struct kvc_flash *flash, double bytes)
{
    double spare_bytes = flash->spare_bytes * (bytes / flash->page_bytes);
    return (bytes + spare_bytes) / flash->channel_bytes_per_s * 1e9;
}

double kvc_flash_transfer_ns(const struct kvc_flash *flash, double bytes)
{
    return flash->command_ns + flash->status_ns + kvc_flash_data_ns(flash, bytes);
}

double kvc_flash_interface_ns(const struct kvc_flash *flash, double bytes)
{
    return flash->interface_bytes_per_s > 0 ? bytes / flash->interface_bytes_per_s * 1e9 : 0;
}

double kvc_flash_read_ns(const struct kvc_flash *flash, double bytes)
{
    return flash->operation_ns + flash->read_ns + kvc_flash_transfer_ns(flash, bytes) +
           kvc_flash_interface_ns(flash, bytes) + flash->access_ns;
}

/* Returns the time for which data keep the other programs of a drive waiting [ns]. */
static double program_ns(const struct kvc_flash *flash, double bytes)
{
    return kvc_flash_limits_programs(flash) ? bytes / flash->program_bytes_per_s * 1e9 : 0;
}

struct kvc_flash_busy kvc_flash_busy_of(const struct kvc_flash *flash, const struct kvc_flash_load *load)
{
    double fetch_ns = kvc_flash_transfer_ns(flash, load->read_bytes);
    double fill_ns = kvc_flash_transfer_ns(flash, flash->page_bytes), cards = (double)flash->cards;
    double cells_ns = load->reads * (flash->read_ns + fetch_ns) +
                      load->programs * (fill_ns + flash->program_ns) + load->erases * flash->erase_ns;
    double out_ns = load->reads * kvc_flash_interface_ns(flash, load->read_bytes);
    double in_ns = load->programs * fmax(kvc_flash_interface_ns(flash, flash->page_bytes),
                                         program_ns(flash, flash->page_bytes));
    return (struct kvc_flash_busy){
        .controller_ns = (load->reads + load->programs + load->erases) * flash->operation_ns / cards,
        .channels_ns = (load->reads * fetch_ns + load->programs * fill_ns) / kvc_flash_channels(flash),
        .chips_ns = cells_ns / kvc_flash_chips(flash),
        .interface_ns = fmax(out_ns, in_ns) / cards};
}

double kvc_flash_shared_ns(const struct kvc_flash_busy *busy)
{
    return fmax(busy->channels_ns, fmax(busy->controller_ns, busy->interface_ns));
}

struct kvc_watts kvc_flash_watts(const struct kvc_flash *flash)
{
    if (isnan(flash->busy_watts)) {
        return (struct kvc_watts){0};
    }
    double idle_w = isnan(flash->idle_watts) ? flash->busy_watts : flash->idle_watts;
    double cards = (double)flash->cards;
    return (struct kvc_watts){cards * idle_w, cards * flash->busy_watts, cards * flash->busy_watts};
}

void kvc_flash_speed_up(struct kvc_flash *flash, double factor)
{
    flash->channel_bytes_per_s *= factor;
    flash->interface_bytes_per_s *= factor;
    flash->program_bytes_per_s *= factor;
    flash->command_ns /= factor;
    flash->status_ns /= factor;
    flash->first_poll_ns /= factor;
    flash->poll_ns /= factor;
    flash->read_ns /= factor;
    flash->program_ns /= factor;
    flash->erase_ns /= factor;
    flash->operation_ns /= factor;
    flash->access_ns /= factor;
}

/* Returns the share of the chips that are busy if `reads` reads wait or run at random chips. */
static double busy_share(double chips, double reads)
{
    if (reads <= 1) {
        return reads / chips;
    }
    double mean = reads / chips, others = (reads - 1) / reads;
    return (1 + mean - sqrt((1 + mean) * (1 + mean) - 2 * mean * (2 - others))) / (2 - others);
}

double kvc_flash_turns_reads_per_s(const struct kvc_flash *flash, double bytes, double reads)
{
    double chips = kvc_flash_chips(flash), of_channel = (double)flash->chips;
    double others = busy_share(chips, fmax(reads - 1, 0));
    double round = others > 0 ? of_channel * others / (1 - pow(1 - others, of_channel)) : 1;
    double answer_ns = flash->status_ns + kvc_flash_data_ns(flash, bytes);
    double round_ns = flash->command_ns + fmax(flash->read_ns, flash->first_poll_ns) +
                      (flash->poll_ns + flash->status_ns) / 2 + round * answer_ns;
    return chips * busy_share(chips, reads) / round_ns * 1e9;
}
