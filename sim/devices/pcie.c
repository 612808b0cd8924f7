#include "sim/devices/pcie.h"

#include <math.h>

#include "sim/devices/group.h"

#define COUNT_ROW(name_, field, low, high, text)                                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_pcie, field), .min = low,     \
        .max = high, .optional = true, .help = text                                                          \
    }
#define REAL_ROW(name_, field, unit_, low, high, text)                                                       \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_pcie, field), .unit = unit_,   \
        .min = low, .max = high, .optional = true, .help = text                                              \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_pcie, name),
     .by_default = "",
     .help = "name of the link"},
    REAL_ROW("h2d", h2d_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13,
             "copies: rate from host to device; a higher rate shortens launches"),
    REAL_ROW("d2h", d2h_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13,
             "copies: rate from device to host; a higher rate shortens launches"),
    REAL_ROW("latency", latency_ns, KVC_UNIT_NS, 0, 1e9,
             "copies: fixed time of one copy in either direction; a longer time lengthens launches"),
    COUNT_ROW("endpoints", endpoints, 1, 8,
              "packets: links of one card, each with its own tags and credits; more links carry more data"),
    COUNT_ROW("generation", generation, 1, 5,
              "packets: generation of PCIe; each one about doubles the rate of a lane"),
    COUNT_ROW("lanes", lanes, 1, 16, "packets: lanes of one link; more lanes carry more data"),
    COUNT_ROW("header", header_bytes, 12, 64,
              "packets: bytes around the data of a packet, framing and padding included; more bytes leave "
              "less bandwidth for data"),
    COUNT_ROW("payload", payload_max_bytes, 32, 4096,
              "packets: most bytes of data in a packet; larger requests are cut"),
    COUNT_ROW("tags", tags, 1, 1024,
              "packets: reads that a link may have in flight; more tags hide more latency"),
    COUNT_ROW("read_credits", read_credits, 1, 4096,
              "packets: reads that the host accepts at once on a link; more credits hide more latency"),
    COUNT_ROW(
        "write_credits", write_credits, 1, 4096,
        "packets: writes that the host accepts at once on a link; more credits hide a longer credit_return"),
    COUNT_ROW("write_data_credits", write_data_credits, 1, 1048576,
              "packets: data of writes that the host accepts at once on a link, in credits of 16 bytes; more "
              "credits let larger writes hide a longer credit_return"),
    COUNT_ROW("completion_credits", completion_credits, 1, 1048576,
              "packets: data of reads that the card has room for on a link, in credits of 16 bytes; more "
              "credits let larger reads hide more latency"),
    REAL_ROW("read_latency", read_ns, KVC_UNIT_NS, 1, 1e6,
             "packets: time of a read that a cache of the host answers; a longer time needs more tags"),
    REAL_ROW(
        "memory_latency", memory_ns, KVC_UNIT_NS, 0, 1e6,
        "packets: mean extra time of a random read from host memory, uniform from 0 to twice that; a longer "
        "time needs more tags"),
    REAL_ROW("credit_return", credit_ns, KVC_UNIT_NS, 0, 1e6,
             "packets: time until the credit of a write is back; a longer time needs more write_credits"),
    REAL_ROW("root_rate", root_bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13,
             "packets: data rate of all links of a card together, in each direction; a higher rate lets "
             "the links carry more"),
    REAL_ROW("core_reads", core_reads_per_s, KVC_UNIT_NONE, 1e3, 1e12,
             "packets: random lines per second that a host core reads for the card; a higher rate needs "
             "fewer cores"),
};

enum { COPIES_FIRST = 1, PACKETS_FIRST = 4, ROWS = sizeof(rows) / sizeof(*rows) };

static const struct kvc_option_table options = {
    .name = "pcie", .rows = rows, .count = ROWS, .size = sizeof(struct kvc_pcie)};

/* Checks that a packet of the largest payload can ever be sent. The specification demands as much of every
 * receiver. */
static enum kvc_status check_credits(const struct kvc_pcie *pcie, struct kvc_diag *diag)
{
    uint32_t least = kvc_pcie_data_credits((uint32_t)pcie->payload_max_bytes);
    const char *few = pcie->write_data_credits < least   ? "write_data_credits"
                      : pcie->completion_credits < least ? "completion_credits"
                                                         : NULL;
    if (few == NULL) {
        return KVC_OK;
    }
    return kvc_diag_fail(
        diag, KVC_ERR_SCENARIO,
        "pcie.%s: found %llu credits of 16 bytes, allowed: %u or more, for a payload of %llu bytes", few,
        (unsigned long long)(few[0] == 'w' ? pcie->write_data_credits : pcie->completion_credits), least,
        (unsigned long long)pcie->payload_max_bytes);
}

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    bool copies, packets;
    enum kvc_status status = kvc_group_check(&options, device, COPIES_FIRST, PACKETS_FIRST, &copies, diag);
    if (status == KVC_OK) {
        status = kvc_group_check(&options, device, PACKETS_FIRST, ROWS, &packets, diag);
    }
    if (status == KVC_OK && !copies && !packets) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "pcie.%s is missing: a profile states bulk copies (%s, ...), packets (%s, ...) or both",
            rows[COPIES_FIRST].name, rows[COPIES_FIRST].name, rows[PACKETS_FIRST].name);
    }
    return status == KVC_OK && packets ? check_credits(device, diag) : status;
}

const struct kvc_device_kind kvc_pcie_kind = {
    .name = "pcie",
    .help = "PCIe: bulk copies to and from a GPU, packets of a card that accesses host memory, or both",
    .options = &options,
    .check = check,
};

double kvc_pcie_h2d_ns(const struct kvc_pcie *pcie, double bytes)
{
    return bytes / pcie->h2d_bytes_per_s * 1e9;
}

double kvc_pcie_d2h_ns(const struct kvc_pcie *pcie, double bytes)
{
    return bytes / pcie->d2h_bytes_per_s * 1e9;
}

/* Generations 1 and 2 transfer 2.5 and 5 GT/s with 8b/10b, 3 to 5 transfer 8, 16 and 32 GT/s with 128b/130b.
 */
double kvc_pcie_link_bytes_per_s(const struct kvc_pcie *pcie)
{
    static const double lane_bits_per_s[] = {2.5e9 * 8 / 10, 5e9 * 8 / 10, 8e9 * 128 / 130, 16e9 * 128 / 130,
                                             32e9 * 128 / 130};
    return (1 + pcie->faster_frac) * lane_bits_per_s[pcie->generation - 1] / 8 * (double)pcie->lanes;
}

/* Returns the bytes of all packets of a request. */
static double with_headers(const struct kvc_pcie *pcie, double bytes)
{
    return bytes + ceil(bytes / (double)pcie->payload_max_bytes) * (double)pcie->header_bytes;
}

double kvc_pcie_link_per_s(const struct kvc_pcie *pcie, double bytes)
{
    return kvc_pcie_link_bytes_per_s(pcie) / with_headers(pcie, bytes);
}

double kvc_pcie_flight_reads_per_s(const struct kvc_pcie *pcie)
{
    return (double)(pcie->tags < pcie->read_credits ? pcie->tags : pcie->read_credits) /
           (pcie->read_ns + pcie->memory_ns) * 1e9;
}

double kvc_pcie_read_ns(const struct kvc_pcie *pcie, double bytes)
{
    double link_ns =
        ((double)pcie->header_bytes + with_headers(pcie, bytes)) / kvc_pcie_link_bytes_per_s(pcie) * 1e9;
    return pcie->read_ns + pcie->memory_ns + link_ns + bytes / pcie->root_bytes_per_s * 1e9;
}

uint32_t kvc_pcie_packets(const struct kvc_pcie *pcie, uint32_t bytes)
{
    uint32_t most = (uint32_t)pcie->payload_max_bytes;
    return (bytes + most - 1) / most;
}

void kvc_pcie_speed_up(struct kvc_pcie *pcie, double factor)
{
    pcie->h2d_bytes_per_s *= factor;
    pcie->d2h_bytes_per_s *= factor;
    pcie->latency_ns /= factor;
    pcie->faster_frac = (1 + pcie->faster_frac) * factor - 1;
    pcie->read_ns /= factor;
    pcie->credit_ns /= factor;
    pcie->root_bytes_per_s *= factor;
}
