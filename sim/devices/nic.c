#include "sim/devices/nic.h"

#include <math.h>

#define COUNT_ROW(name_, field, low, high, text)                                                             \
    {                                                                                                        \
        .name = name_, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_nic, field), .min = low,      \
        .max = high, .help = text                                                                            \
    }

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_nic, name),
     .by_default = "",
     .help = "name of the card"},
    COUNT_ROW("ports", ports, 1, 64, "ports per socket; more ports carry more requests"),
    {.name = "port_rate",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_nic, bytes_per_s),
     .unit = KVC_UNIT_BYTES_PER_S,
     .min = 1e6,
     .max = 1e13,
     .help = "line rate of one port in each direction; a higher rate carries more requests"},
    COUNT_ROW("mtu", mtu_bytes, 576, 65535,
              "largest Ethernet payload in bytes; larger frames carry more requests"),
    COUNT_ROW("frame_overhead", frame_overhead_bytes, 0, 1024,
              "wire bytes around the payload of each frame; more bytes leave less bandwidth for requests"),
    COUNT_ROW("packet_header", packet_header_bytes, 0, 512,
              "payload bytes before the first request (IP, UDP); more bytes leave less room for requests"),
    COUNT_ROW("request_header", request_header_bytes, 0, 512,
              "bytes in front of the key of each request; more bytes leave room for fewer requests in a "
              "frame"),
    COUNT_ROW("response_header", response_header_bytes, 0, 512,
              "bytes in front of each response; more bytes leave room for fewer responses in a frame"),
    COUNT_ROW("ring", ring_frames, 1, 1048576,
              "receive descriptors per queue; frames beyond them are dropped, so more descriptors absorb "
              "longer bursts"),
    {.name = "latency",
     .type = KVC_OPTION_REAL,
     .offset = offsetof(struct kvc_nic, latency_ns),
     .unit = KVC_UNIT_NS,
     .min = 0,
     .max = 1e9,
     .help = "one-way time between client and memory, without the wire time; a longer time lengthens every "
             "round trip"},
};

static const struct kvc_option_table options = {
    .name = "nic", .rows = rows, .count = sizeof(rows) / sizeof(*rows), .size = sizeof(struct kvc_nic)};

const struct kvc_device_kind kvc_nic_kind = {
    .name = "nic",
    .help = "Network ports of a socket: line rate, framing, receive ring, latency",
    .options = &options};

double kvc_nic_payload_bytes(const struct kvc_nic *nic)
{
    return (double)nic->mtu_bytes - (double)nic->packet_header_bytes;
}

uint32_t kvc_nic_messages_per_frame(const struct kvc_nic *nic, double message_bytes)
{
    double fit = floor(kvc_nic_payload_bytes(nic) / message_bytes);
    return fit < 1 ? 1 : (uint32_t)fit;
}

double kvc_nic_wire_bytes(const struct kvc_nic *nic, double message_bytes)
{
    double frames = ceil(message_bytes / kvc_nic_payload_bytes(nic));
    return message_bytes + frames * (double)(nic->packet_header_bytes + nic->frame_overhead_bytes);
}

double kvc_nic_wire_ns(const struct kvc_nic *nic, double message_bytes, uint32_t queues)
{
    double share = (double)nic->ports * nic->bytes_per_s / queues;
    return kvc_nic_wire_bytes(nic, message_bytes) / share * 1e9;
}
