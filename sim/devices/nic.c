#include "sim/devices/nic.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/rng.h"

enum {
    ENTRIES_MAX = 65536,
    SERVER_PORT = 11211,        /* Port of memcached. */
    PORT_FIRST = 32768,         /* The ports that Linux gives to clients, ... */
    PORT_LAST = 60999,          /* ... net.ipv4.ip_local_port_range. */
    CLIENTS_FIRST = 0x0a000000, /* Clients have the addresses 10.0.0.0 to 10.127.255.255, ... */
    CLIENTS_MASK = 0x007fffff,
    SERVERS_FIRST = 0x0a800001, /* ... servers those from 10.128.0.1. */
};

struct kvc_rss {
    uint32_t queues;
    uint32_t connections;
    uint16_t queue[];
};

/* The key of Microsoft's verification suite, "Verifying the RSS hash calculation". */
static const uint8_t key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                                0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                                0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                                0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

uint32_t kvc_rss_hash(const uint8_t *input, size_t bytes)
{
    uint32_t hash = 0,
             window = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
    if (bytes > sizeof(key) - sizeof(window)) {
        KVC_BUG("hash of %zu bytes", bytes);
    }
    for (size_t i = 0; i < bytes; i++) {
        for (int bit = 7; bit >= 0; bit--) {
            hash ^= (input[i] >> bit & 1) != 0 ? window : 0;
            window = window << 1 | (key[i + sizeof(window)] >> bit & 1);
        }
    }
    return hash;
}

static void put_bytes(uint8_t *to, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8) {
        to[i] = (uint8_t)value;
    }
}

uint32_t kvc_rss_tuple_hash(const struct kvc_rss_tuple *tuple, int fields)
{
    uint8_t input[12];
    put_bytes(input, tuple->source_address, 4);
    put_bytes(input + 4, tuple->destination_address, 4);
    put_bytes(input + 8, tuple->source_port, 2);
    put_bytes(input + 10, tuple->destination_port, 2);
    return kvc_rss_hash(input, fields == KVC_RSS_PORTS ? 12 : 8);
}

struct kvc_rss_tuple kvc_rss_tuple_of(const struct kvc_rss_params *params, uint32_t connection)
{
    struct kvc_rng rng;
    uint32_t client = connection / (params->connections / params->clients);
    kvc_rng_init(&rng, params->seed, "rss.address", 0);
    uint32_t first = (uint32_t)kvc_rng_u64(&rng);
    kvc_rng_init(&rng, params->seed, "rss.port", client);
    uint64_t port = PORT_FIRST + kvc_rng_below(&rng, PORT_LAST - PORT_FIRST + 1);
    return (struct kvc_rss_tuple){
        .source_address = CLIENTS_FIRST | ((first + connection) & CLIENTS_MASK),
        .destination_address = SERVERS_FIRST + params->server,
        .source_port = (uint16_t)port,
        .destination_port = SERVER_PORT,
    };
}

/* Checks that the table has a power of two entries and that `queues` is 1 to `entries`. */
static enum kvc_status check_rss(uint64_t queues, uint64_t entries, struct kvc_diag *diag)
{
    if (entries < 1 || entries > ENTRIES_MAX || (entries & (entries - 1)) != 0) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "nic.rss_entries is %llu; allowed are powers of two from 1 to %d",
                             (unsigned long long)entries, ENTRIES_MAX);
    }
    if (queues < 1 || queues > entries) {
        return kvc_diag_fail(
            diag, KVC_ERR_SCENARIO,
            "nic.queues is %llu; allowed are 1 to %llu, the entries of the indirection table, nic.rss_entries",
            (unsigned long long)queues, (unsigned long long)entries);
    }
    return KVC_OK;
}

void kvc_rss_close(struct kvc_rss *rss)
{
    free(rss);
}

enum { ADDRESS_BYTES = 4, BYTE_VALUES = 256 };

/* Hashes of packets of which only one byte of the source address is not zero, by the value of this byte. The
 * hash is linear: the XOR of the parts' hashes is the hash of the whole. */
struct address_hashes {
    uint32_t hash[ADDRESS_BYTES][BYTE_VALUES];
};

static void open_address_hashes(struct address_hashes *addresses)
{
    for (int byte = 0; byte < ADDRESS_BYTES; byte++) {
        uint32_t *hash = addresses->hash[byte];
        hash[0] = 0;
        for (uint32_t value = 1; value < BYTE_VALUES; value++) {
            uint32_t bit = value & -value;
            uint8_t input[ADDRESS_BYTES] = {0};
            input[byte] = (uint8_t)value;
            hash[value] = value == bit ? kvc_rss_hash(input, sizeof(input)) : hash[value ^ bit] ^ hash[bit];
        }
    }
}

static uint32_t address_hash(const struct address_hashes *addresses, uint32_t address)
{
    uint32_t hash = 0;
    for (int byte = 0; byte < ADDRESS_BYTES; byte++) {
        hash ^= addresses->hash[byte][address >> (24 - 8 * byte) & 0xff];
    }
    return hash;
}

/* Finds the queue of every connection. Those of a client differ in the source address only. */
static void find_queues(const struct kvc_rss_params *params, uint16_t *queue)
{
    struct address_hashes addresses;
    open_address_hashes(&addresses);
    uint32_t each = params->connections / params->clients;
    for (uint32_t client = 0, at = 0; client < params->clients; client++) {
        struct kvc_rss_tuple tuple = kvc_rss_tuple_of(params, at);
        uint32_t first = tuple.source_address;
        tuple.source_address = 0;
        uint32_t rest = kvc_rss_tuple_hash(&tuple, params->fields);
        for (uint32_t i = 0; i < each; i++, at++) {
            uint32_t address = CLIENTS_FIRST | ((first + i) & CLIENTS_MASK);
            uint32_t entry = (address_hash(&addresses, address) ^ rest) & (params->entries - 1);
            queue[at] = (uint16_t)(entry % params->queues);
        }
    }
}

struct kvc_rss *kvc_rss_open(const struct kvc_rss_params *params, struct kvc_diag *diag)
{
    if (params->clients < 1 || params->connections % params->clients != 0 || params->connections < 1) {
        KVC_BUG("%u connections of %u clients", params->connections, params->clients);
    }
    if (check_rss(params->queues, params->entries, diag) != KVC_OK) {
        return NULL;
    }
    struct kvc_rss *rss = malloc(sizeof(*rss) + params->connections * sizeof(*rss->queue));
    if (rss == NULL) {
        kvc_out_of_memory("the receive queues of clients");
    }
    rss->queues = params->queues;
    rss->connections = params->connections;
    find_queues(params, rss->queue);
    return rss;
}

uint32_t kvc_rss_queue(const struct kvc_rss *rss, uint32_t connection)
{
    if (connection >= rss->connections) {
        KVC_BUG("connection %u of %u", connection, rss->connections);
    }
    return rss->queue[connection];
}

double kvc_rss_hottest_frac(const struct kvc_rss *rss)
{
    uint32_t hottest = 0;
    uint32_t *count = calloc(rss->queues, sizeof(*count));
    if (count == NULL) {
        kvc_out_of_memory("the connections of receive queues");
    }
    for (uint32_t i = 0; i < rss->connections; i++) {
        uint32_t of_queue = ++count[rss->queue[i]];
        hottest = of_queue > hottest ? of_queue : hottest;
    }
    free(count);
    return (double)hottest / rss->connections;
}

static const char *const rss_fields[] = {"ports", "addresses", NULL};

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_nic, "name", name, "", "name of the card"),
    KVC_COUNT_ROW(kvc_nic, "ports", ports, 1, 64, NULL, "ports per socket; more ports carry more requests"),
    KVC_REAL_ROW(kvc_nic, "port_rate", bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "line rate of one port in each direction; a higher rate carries more requests"),
    KVC_COUNT_ROW(kvc_nic, "mtu", mtu_bytes, 576, 65535, NULL,
                  "largest Ethernet payload in bytes; larger frames carry more requests"),
    KVC_COUNT_ROW(
        kvc_nic, "frame_overhead", frame_overhead_bytes, 0, 1024, NULL,
        "wire bytes around the payload of each frame; more bytes leave less bandwidth for requests"),
    KVC_COUNT_ROW(
        kvc_nic, "packet_header", packet_header_bytes, 0, 512, NULL,
        "payload bytes before the first request (IP, UDP); more bytes leave less room for requests"),
    KVC_COUNT_ROW(kvc_nic, "request_header", request_header_bytes, 0, 512, NULL,
                  "bytes in front of the key of each request; more bytes leave room for fewer requests in a "
                  "frame"),
    KVC_COUNT_ROW(kvc_nic, "response_header", response_header_bytes, 0, 512, NULL,
                  "bytes in front of each response; more bytes leave room for fewer responses in a frame"),
    KVC_COUNT_ROW(kvc_nic, "ring", ring_frames, 1, 1048576, NULL,
                  "receive descriptors per queue; frames beyond them are dropped, so more descriptors absorb "
                  "longer bursts"),
    KVC_REAL_ROW(
        kvc_nic, "latency", latency_ns, KVC_UNIT_NS, 0, 1e9, NULL,
        "one-way time between client and memory, without the wire time; a longer time lengthens every "
        "round trip"),
    KVC_REAL_ROW(
        kvc_nic, "packet_rate", packets_per_s, KVC_UNIT_NONE, 1e3, 1e12, "unknown",
        "frames per second that the controller handles in each direction, all ports together; a higher "
        "rate carries more small frames",
        .auto_word = "unknown", .auto_value = 0),
    KVC_COUNT_ROW(kvc_nic, "queues", queues, 1, 65536, "64",
                  "most receive queues that receive-side scaling can select; at most rss_entries"),
    KVC_COUNT_ROW(
        kvc_nic, "rss_entries", rss_entries, 1, 65536, "128",
        "entries of the indirection table of receive-side scaling, a power of two, 128 in Microsoft's "
        "specification; more entries share packets more evenly among queues"),
    KVC_CHOICE_ROW(
        kvc_nic, "rss_fields", rss_fields, rss_fields, "ports",
        "fields of a packet that receive-side scaling hashes: addresses and ports, or addresses only"),
    KVC_REAL_ROW(kvc_nic, "idle_power", idle_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
                 "power of the idle card, which adds to the power of the node; left out: unknown",
                 .optional = true),
    KVC_REAL_ROW(
        kvc_nic, "busy_power", busy_watts, KVC_UNIT_WATTS, 0, 1e4, NULL,
        "power of the card at its line rate in both directions, which adds to the power of the node; "
        "0: part of another device's power or of node.power; left out: unknown",
        .optional = true),
    KVC_REAL_ROW(
        kvc_nic, "price", price_usd, KVC_UNIT_NONE, 0, 1e6, NULL,
        "price of the ports of a socket in US dollars, whose source states the year; a higher one raises the price of the "
        "node; 0: another price includes it; left out: unknown",
        .optional = true),
};

static enum kvc_status check(const void *device, struct kvc_diag *diag)
{
    const struct kvc_nic *nic = device;
    if (nic->busy_watts < nic->idle_watts || isnan(nic->busy_watts) != isnan(nic->idle_watts)) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "nic: idle_power and busy_power are %g and %g W, allowed: both or neither, and "
                             "no less when busy",
                             nic->idle_watts, nic->busy_watts);
    }
    return check_rss(nic->queues, nic->rss_entries, diag);
}

static double price_usd(const void *device)
{
    const struct kvc_nic *nic = device;
    return nic->price_usd;
}

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_nic, rows, "nic");

const struct kvc_device_kind kvc_nic_kind = {
    .name = "nic",
    .help = "Network ports of a socket: line rate, packet rate, framing, receive queues, latency",
    .options = &options,
    .check = check,
    .price_usd = price_usd};

struct kvc_platform_link kvc_nic_port(const struct kvc_nic *nic)
{
    struct kvc_platform_link port = {.device = "nic",
                                     .bytes_per_s = (double)nic->ports * nic->bytes_per_s,
                                     .is_metered_elsewhere = nic->busy_watts == 0};
    if (nic->busy_watts > 0) {
        port.idle_w = nic->idle_watts / 2;
        port.busy_w = nic->busy_watts / 2;
    }
    return port;
}

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

double kvc_nic_frames_ns(const struct kvc_nic *nic, double message_bytes, double frames, uint32_t queues)
{
    frames = fmax(frames, ceil(message_bytes / kvc_nic_payload_bytes(nic)));
    double wire_bytes =
        message_bytes + frames * (double)(nic->packet_header_bytes + nic->frame_overhead_bytes);
    double wire_ns = wire_bytes / ((double)nic->ports * nic->bytes_per_s) * 1e9;
    double packets_ns = nic->packets_per_s > 0 ? frames / nic->packets_per_s * 1e9 : 0;
    return fmax(wire_ns, packets_ns) * queues;
}

double kvc_nic_wire_ns(const struct kvc_nic *nic, double message_bytes, uint32_t queues)
{
    return kvc_nic_frames_ns(nic, message_bytes, 0, queues);
}

enum kvc_status kvc_nic_check_queues(const struct kvc_nic *nic, uint32_t queues, struct kvc_diag *diag)
{
    if (queues < 1 || queues > nic->queues) {
        return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                             "node.nic.queues: found %llu, but the store uses %u of them",
                             (unsigned long long)nic->queues, queues);
    }
    return KVC_OK;
}

struct kvc_rss_params kvc_nic_rss_params(const struct kvc_nic *nic, uint32_t queues)
{
    return (struct kvc_rss_params){
        .queues = queues, .entries = (uint32_t)nic->rss_entries, .fields = nic->rss_fields};
}

void kvc_nic_speed_up(struct kvc_nic *nic, double factor)
{
    nic->bytes_per_s *= factor;
    nic->packets_per_s *= factor;
    nic->latency_ns /= factor;
}
