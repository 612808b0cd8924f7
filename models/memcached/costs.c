#include "models/memcached/costs.h"

#include <math.h>

enum {
    LINE_BYTES = 64,
    /* Bytes of memcached's replies after the UDP header. A miss is the frame header of 8 bytes and END with
     * its line end; STORED and DELETED come over TCP. */
    MISS_BYTES = 13,
    TCP_MISS_BYTES = 5,
    STORED_BYTES = 8,
    /* Lines that a core waits for when it hands a packet on: the indices of the ring, which it updates with
     * an atomic operation, and the entry, which the next atomic operation waits for. */
    RING_LINES = 2,
    BUFFER_LINES = 1, /* The descriptor of a packet, which the owner reads in addition to the packet. */
};

double kvc_memcached_request_bytes(const struct kvc_memcached_config *config,
                                   const struct kvc_memcached_message *message)
{
    double value = message->op == KVC_OP_SET ? message->value_bytes : 0;
    return (double)config->nic->request_header_bytes + message->key_bytes + value;
}

double kvc_memcached_response_bytes(const struct kvc_memcached_config *config,
                                    const struct kvc_memcached_message *message)
{
    double header = (double)config->nic->response_header_bytes;
    bool returns = message->op == KVC_OP_GET && message->hit;
    if (config->kind == KVC_MEMCACHED_MICA) {
        return header + (returns ? message->value_bytes : 0);
    }
    if (returns) {
        return header + message->key_bytes + message->value_bytes;
    }
    if (message->op != KVC_OP_GET) {
        return STORED_BYTES;
    }
    return config->tcp ? TCP_MISS_BYTES : MISS_BYTES;
}

double kvc_memcached_wire_ns(const struct kvc_memcached_config *config, double message_bytes)
{
    return config->offline || config->loopback ? 0 : kvc_nic_wire_ns(config->nic, message_bytes, 1);
}

/* Returns the lines of a packet that a thread reads. */
static double packet_lines(const struct kvc_memcached_config *config, double message_bytes)
{
    return ceil((message_bytes + (double)config->nic->packet_header_bytes) / LINE_BYTES);
}

/* Returns the time to copy the value between an item and a message, without the item's first line [ns]. */
static double value_ns(const struct kvc_memcached_config *config, const struct kvc_memcached_message *message)
{
    bool copies = message->op == KVC_OP_SET || (message->op == KVC_OP_GET && message->hit);
    return copies ? kvc_dram_stream_ns(config->dram, message->value_bytes) : 0;
}

/* A SET over TCP has one packet more than a GET over UDP: the client's acknowledgement of the response. */
static struct kvc_memcached_cost kernel_cost(const struct kvc_memcached_config *config, bool tcp)
{
    const struct kvc_memcached_options *options = config->options;
    return (struct kvc_memcached_cost){
        .receive_ns = config->cycle_ns * options->stack_receive_cycles * (tcp ? 2 : 1),
        .serve_ns = config->cycle_ns * (kvc_memcached_kernel_cycles(options) + options->compute_cycles),
    };
}

/* All messages use connections. Acknowledgements are piggybacked on messages in the other direction. */
static struct kvc_memcached_cost tcp_cost(const struct kvc_memcached_config *config,
                                          const struct kvc_memcached_message *message)
{
    const struct kvc_memcached_options *options = config->options;
    double packet_cycles = options->tcp_ratio * options->stack_receive_cycles;
    double serve_cycles = kvc_memcached_tcp_cycles(config) + options->compute_cycles;
    double packets = ceil(kvc_memcached_request_bytes(config, message) / kvc_nic_payload_bytes(config->nic));
    if (!config->staged) {
        return (struct kvc_memcached_cost){.serve_ns =
                                               config->cycle_ns * serve_cycles + value_ns(config, message)};
    }
    return (struct kvc_memcached_cost){.receive_ns = config->cycle_ns * packet_cycles * packets,
                                       .serve_ns = config->cycle_ns * (serve_cycles - packet_cycles) +
                                                   value_ns(config, message)};
}

/* Returns the datagrams of a response beyond the first. */
static double further_datagrams(const struct kvc_memcached_config *config,
                                const struct kvc_memcached_message *message)
{
    bool returns = message->op == KVC_OP_GET && message->hit;
    return config->tcp || !returns
               ? 0
               : ceil(kvc_memcached_response_bytes(config, message) / KVC_MEMCACHED_DATAGRAM_BYTES) - 1;
}

/* Returns the part of a multiget that each of its keys takes [ns]. */
static double key_ns(const struct kvc_memcached_config *config, double first_ns, double further_ns)
{
    return (first_ns + (config->multiget - 1) * further_ns) / config->multiget;
}

/* Measured costs. A DELETE counts as a SET without a value, and a miss as a GET without one. What is sent
 * together is one multiget, whose keys all take the same part of it; over UDP each pair has datagrams of its
 * own. */
static struct kvc_memcached_cost profile_cost(const struct kvc_memcached_config *config,
                                              const struct kvc_memcached_message *message)
{
    const struct kvc_memcached_transport_costs *costs = kvc_memcached_transport_costs_of(config);
    double value = message->value_bytes,
           serve_ns =
               message->key_bytes * config->profile->key_byte_ns +
               config->doublings * (config->profile->doubling_ns + value * config->profile->doubling_byte_ns);
    if (message->op == KVC_OP_GET) {
        serve_ns += key_ns(config, costs->get_ns, costs->key_ns) +
                    further_datagrams(config, message) * config->profile->datagram_ns +
                    (message->hit ? value : 0) * costs->get_byte_ns;
    } else {
        serve_ns += costs->set_ns + (message->op == KVC_OP_SET ? value : 0) * costs->set_byte_ns;
    }
    return (struct kvc_memcached_cost){.serve_ns = serve_ns};
}

double kvc_memcached_client_send_ns(const struct kvc_memcached_config *config,
                                    const struct kvc_memcached_message *message)
{
    const struct kvc_memcached_transport_costs *costs = kvc_memcached_transport_costs_of(config);
    double bytes_ns = message->key_bytes * config->profile->client_key_byte_ns;
    return message->op == KVC_OP_GET
               ? bytes_ns + key_ns(config, costs->send_ns, costs->client_key_ns)
               : bytes_ns + costs->send_ns +
                     (message->op == KVC_OP_SET ? message->value_bytes : 0) * costs->send_byte_ns;
}

double kvc_memcached_client_receive_ns(const struct kvc_memcached_config *config,
                                       const struct kvc_memcached_message *message)
{
    const struct kvc_memcached_transport_costs *costs = kvc_memcached_transport_costs_of(config);
    if (message->op != KVC_OP_GET) {
        return costs->receive_ns;
    }
    return key_ns(config, costs->receive_ns, 0) +
           further_datagrams(config, message) * config->profile->client_datagram_ns +
           (message->hit ? message->value_bytes : 0) * costs->receive_byte_ns;
}

static struct kvc_memcached_cost vanilla_cost(const struct kvc_memcached_config *config,
                                              const struct kvc_memcached_message *message)
{
    if (config->profile != NULL) {
        return profile_cost(config, message);
    }
    if (config->tcp) {
        return tcp_cost(config, message);
    }
    const struct kvc_memcached_options *options = config->options;
    struct kvc_memcached_cost kernel = kernel_cost(config, message->op != KVC_OP_GET && !config->loopback);
    kernel.serve_ns += value_ns(config, message);
    if (config->loopback) { /* The sender of a response does the work of its receiver, too. */
        return (struct kvc_memcached_cost){.serve_ns = kernel.receive_ns + kernel.serve_ns};
    }
    if (options->network == KVC_MEMCACHED_KERNEL) {
        return kernel;
    }
    if (message->op != KVC_OP_GET) {
        return (struct kvc_memcached_cost){.serve_ns = kernel.receive_ns + kernel.serve_ns};
    }
    /* The NIC of a desktop processor writes packets to memory. */
    double lines = packet_lines(config, kvc_memcached_request_bytes(config, message));
    return (struct kvc_memcached_cost){
        .serve_ns = config->cycle_ns * (options->bypass_receive_cycles + options->bypass_send_cycles +
                                        options->compute_cycles) +
                    kvc_dram_object_ns(config->dram, lines) + value_ns(config, message)};
}

/* The NIC of a server processor writes packets to the last-level cache (Intel DDIO). Without the clients'
 * help, any core of the node receives a packet, reads the hash of its key and puts it into a ring of the
 * owner, one by one (MICA, netbench_server.c, MEHCACHED_USE_SOFT_FDIR). The owner prefetches the packets of a
 * burst. The simulation hands them on within a socket, at the mean cost of all owners. */
static struct kvc_memcached_cost mica_cost(const struct kvc_memcached_config *config,
                                           const struct kvc_memcached_message *message)
{
    const struct kvc_memcached_options *options = config->options;
    double lines = packet_lines(config, kvc_memcached_request_bytes(config, message));
    double read_ns = lines * config->llc_ns;
    double compute_cycles = message->op == KVC_OP_GET ? options->compute_cycles : options->set_compute_cycles;
    if (config->offline) {
        return (struct kvc_memcached_cost){.serve_ns = config->cycle_ns * compute_cycles};
    }
    struct kvc_memcached_cost cost = {
        .receive_ns = config->cycle_ns * options->bypass_receive_cycles + read_ns,
        .serve_ns = config->cycle_ns * (options->bypass_send_cycles + compute_cycles),
    };
    if (config->staged) {
        cost.receive_ns += config->llc_ns - read_ns + RING_LINES * config->move_ns;
        cost.serve_ns += (BUFFER_LINES + lines) * config->move_ns / config->overlap;
        return cost;
    }
    return (struct kvc_memcached_cost){.serve_ns = cost.receive_ns + cost.serve_ns};
}

/* All bytes of a packet pass the datapath, including the gaps between frames. Requests arrive at one port;
 * responses leave by all ports, each of which has a datapath of its own. */
static struct kvc_memcached_cost fpga_cost(const struct kvc_memcached_config *config,
                                           const struct kvc_memcached_message *message)
{
    const struct kvc_nic *nic = config->nic;
    double datapath = (double)config->options->datapath_bytes, ports = (double)nic->ports;
    double in = kvc_nic_wire_bytes(nic, kvc_memcached_request_bytes(config, message));
    double out = kvc_nic_wire_bytes(nic, kvc_memcached_response_bytes(config, message));
    return (struct kvc_memcached_cost){.serve_ns = config->cycle_ns *
                                                   fmax(ceil(in / datapath), ceil(out / datapath) / ports)};
}

struct kvc_memcached_cost kvc_memcached_cost_of(const struct kvc_memcached_config *config,
                                                const struct kvc_memcached_message *message)
{
    switch (config->kind) {
    case KVC_MEMCACHED_MICA:
        return mica_cost(config, message);
    case KVC_MEMCACHED_FPGA:
        return fpga_cost(config, message);
    case KVC_MEMCACHED_FATCACHE:
        return tcp_cost(config, message);
    case KVC_MEMCACHED_VANILLA:
        break;
    }
    return vanilla_cost(config, message);
}

/* Every burst waits for at least one bucket and then one item, which cannot overlap. */
double kvc_memcached_stall_ns(const struct kvc_memcached_config *config, double lines)
{
    if (config->overlap > 1) {
        return fmax(lines / config->overlap, fmin(lines, 2)) * config->line_ns;
    }
    return lines * config->line_ns;
}

bool kvc_memcached_locks(const struct kvc_memcached_config *config, enum kvc_op op)
{
    return op == KVC_OP_GET ? config->locks_gets : config->locks_sets;
}

/* The lock's line comes from the cache of the core that held it last, through the last-level cache. */
double kvc_memcached_handover_ns(const struct kvc_memcached_config *config)
{
    return config->threads > 1 ? config->llc_ns : 0;
}
