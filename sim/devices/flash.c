#include "sim/devices/flash.h"

#include <math.h>

#define COUNT_ROW(name_, field, high, text)                                                                  \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_flash, field), .min = 1,      \
        .max = high, .help = text                                                                            \
    }
#define REAL_ROW(name_, field, unit_, low, high, text)                                                       \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_flash, field), .unit = unit_,  \
        .min = low, .max = high, .help = text                                                                \
    }
#define WATTS_ROW(name_, field, text)                                                                        \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_flash, field),                 \
        .unit = KVC_UNIT_WATTS, .min = 0, .max = 1e4, .optional = true, .help = text                         \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_flash, name),
     .by_default = "",
     .help = "name of the card"},
    COUNT_ROW("channels", channels, 1024,
              "channels of the card; more of them carry more pages at the same time"),
    COUNT_ROW("chips", chips, 1024, "chips of a channel; more of them read and program more pages at once"),
    COUNT_ROW("blocks", blocks, 1e9, "blocks of a chip; more of them hold more data"),
    COUNT_ROW("pages_per_block", pages_per_block, 1e6,
              "pages of a block; more of them need fewer erases for the same data"),
    REAL_ROW("page", page_bytes, KVC_UNIT_BYTES, 512, 1e6,
             "data of a page; a larger page takes longer to cross its channel"),
    REAL_ROW("spare", spare_bytes, KVC_UNIT_BYTES, 0, 1e6,
             "bytes for error correction that cross the channel with each page; more of them leave less of "
             "the channel for data"),
    REAL_ROW("read", read_ns, KVC_UNIT_NS, 1, 1e9,
             "time to sense a page (tR); a longer time lengthens every read"),
    REAL_ROW("program", program_ns, KVC_UNIT_NS, 1, 1e9,
             "time to program a page (tPROG); a longer time blocks the chip for longer"),
    REAL_ROW("erase", erase_ns, KVC_UNIT_NS, 1, 1e10,
             "time to erase a block (tBERS); a longer time blocks the chip for longer"),
    REAL_ROW("channel_rate", channel_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e11,
             "rate of one channel; a higher rate carries more pages"),
    {.name = "command",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_flash, command_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "0ns",
     .help =
         "time for which the command of an operation occupies its channel; a longer time carries fewer pages"},
    {.name = "status",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_flash, status_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "0ns",
     .help =
         "time for which a question for the status of a chip occupies its channel; a longer time carries fewer "
         "pages"},
    {.name = "first_poll",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_flash, first_poll_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "0ns",
     .help = "time from the command of a read to the first question for its status, with poll"},
    {.name = "poll",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_flash, poll_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .by_default = "0ns",
     .help =
         "time between questions for the status of a chip; the controller then visits its chips in turn and waits "
         "for each answer, which carries fewer pages; 0: chips say when they are ready"},
    {.name = "tags",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_flash, tags),
     .min = 1,
     .max = 1e6,
     .by_default = "128",
     .help = "operations that the controller accepts at a time; more of them keep more chips at work"},
    {.name = "endurance",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_flash, endurance),
     .min = 1,
     .max = 1e9,
     .optional = true,
     .help = "erases that a block is rated for; left out: no rated life is reported"},
    WATTS_ROW("idle", idle_watts, "power of the card without work; left out: no energy is reported"),
    WATTS_ROW("busy", busy_watts, "power of the card at work; left out: no energy is reported"),
};

static const struct kvc_option_table options = {
    .name = "flash", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_flash)};

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_flash *flash = device;
    if (flash->busy_watts < flash->idle_watts) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO, "flash.busy is %g W, allowed: no less than idle, %g W",
                             flash->busy_watts, flash->idle_watts);
    }
    return KVC_OK;
}

const struct kvc_device_kind kvc_flash_kind = {
    .name = "flash",
    .help = "Flash card: channels, chips, times of reads, programs and erases, power",
    .options = &options,
    .check = check,
};

uint64_t kvc_flash_pages(const struct kvc_flash *flash)
{
    return flash->channels * flash->chips * flash->blocks * flash->pages_per_block;
}

uint32_t kvc_flash_channel_of(const struct kvc_flash *flash, uint64_t page)
{
    return (uint32_t)(page % flash->channels);
}

uint32_t kvc_flash_chip_of(const struct kvc_flash *flash, uint64_t page)
{
    return kvc_flash_channel_of(flash, page) * (uint32_t)flash->chips +
           (uint32_t)(page / flash->channels % flash->chips);
}

double kvc_flash_page_ns(const struct kvc_flash *flash)
{
    return (flash->page_bytes + flash->spare_bytes) / flash->channel_bytes_per_s * 1e9;
}

double kvc_flash_transfer_ns(const struct kvc_flash *flash)
{
    return flash->command_ns + flash->status_ns + kvc_flash_page_ns(flash);
}

double kvc_flash_read_ns(const struct kvc_flash *flash)
{
    return flash->read_ns + kvc_flash_transfer_ns(flash);
}

/* Returns the rate of operations that occupy a chip for `cell_ns` and the transfer, and a channel for the
 * transfer. */
static double operations_per_s(const struct kvc_flash *flash, double cell_ns)
{
    double transfer_ns = kvc_flash_transfer_ns(flash);
    return (double)flash->channels * fmin((double)flash->chips / (cell_ns + transfer_ns), 1 / transfer_ns) *
           1e9;
}

double kvc_flash_reads_per_s(const struct kvc_flash *flash)
{
    return operations_per_s(flash, flash->read_ns);
}

double kvc_flash_programs_per_s(const struct kvc_flash *flash)
{
    return operations_per_s(flash, flash->program_ns);
}
