#include "models/dido/link.h"

#include <math.h>

enum { HASH_BYTES = 8, LOCATION_BYTES = 4, SLOT_BYTES = 8 };

/* ---- one task ---- */

static void read_in_order(struct kvc_dido_link_load *load, const struct kvc_pcie *pcie, double bytes)
{
    load->reads += bytes / (double)pcie->payload_max_bytes;
    load->read_bytes += bytes;
}

static void write_in_order(struct kvc_dido_link_load *load, const struct kvc_pcie *pcie, double bytes)
{
    load->writes += bytes / (double)pcie->payload_max_bytes;
    load->written_bytes += bytes;
}

/* Adds the hashes and locations that a task reads and writes. insert and delete have kernels of their own. */
static void add_arrays(struct kvc_dido_link_load *load, const struct kvc_pcie *pcie, uint32_t tasks,
                       enum kvc_dido_task task)
{
    bool hashed = (tasks & kvc_dido_bit(KVC_DIDO_PP)) != 0;
    bool searched = (tasks & kvc_dido_bit(KVC_DIDO_SEARCH)) != 0;
    bool compared = (tasks & kvc_dido_bit(KVC_DIDO_KC)) != 0;
    switch (task) {
    case KVC_DIDO_PP:
        write_in_order(load, pcie, HASH_BYTES);
        break;
    case KVC_DIDO_MM:
        write_in_order(load, pcie, LOCATION_BYTES);
        break;
    case KVC_DIDO_SEARCH:
        read_in_order(load, pcie, hashed ? 0 : HASH_BYTES);
        write_in_order(load, pcie, LOCATION_BYTES);
        break;
    case KVC_DIDO_INSERT:
    case KVC_DIDO_ERASE:
        read_in_order(load, pcie, HASH_BYTES + LOCATION_BYTES);
        break;
    case KVC_DIDO_KC:
        read_in_order(load, pcie, searched ? 0 : LOCATION_BYTES);
        break;
    case KVC_DIDO_RD:
        read_in_order(load, pcie, searched || compared ? 0 : LOCATION_BYTES);
        break;
    default:
        break;
    }
}

/* Returns the bytes of a request that a task reads from its frame, besides the lines of index and items. */
static double framed_bytes(enum kvc_dido_task task, const struct kvc_dido_mix *mix)
{
    return task == KVC_DIDO_MM ? mix->key_bytes + mix->value_bytes : task == KVC_DIDO_KC ? mix->key_bytes : 0;
}

struct kvc_dido_link_load kvc_dido_link_load_of(const struct kvc_dido_config *config, uint32_t tasks,
                                                enum kvc_dido_task task, const struct kvc_dido_mix *mix,
                                                const struct kvc_dido_work *work, double buffered_bytes)
{
    const struct kvc_pcie *pcie = config->pcie;
    struct kvc_dido_link_load load = {0};
    if (pcie == NULL) {
        return load;
    }
    double line_bytes = config->dram->line_bytes, packets = kvc_pcie_packets(pcie, (uint32_t)line_bytes);
    double framed = framed_bytes(task, mix);
    double next_lines = fmax(work->next_lines - framed / line_bytes, 0);
    double lines = work->random_lines + next_lines;
    const struct kvc_dido_link_load read_line = {.reads = packets, .read_bytes = line_bytes},
                                    written_line = {.writes = packets, .written_bytes = line_bytes},
                                    slot = {.writes = 1, .written_bytes = SLOT_BYTES};
    add_arrays(&load, pcie, tasks, task);
    read_in_order(&load, pcie, framed);
    switch (task) {
    case KVC_DIDO_PP:
        read_in_order(&load, pcie, work->next_lines * line_bytes);
        break;
    case KVC_DIDO_MM: /* The first line says which item CLOCK evicts. */
        kvc_dido_link_load_add(&load, &read_line, work->random_lines);
        kvc_dido_link_load_add(&load, &written_line, lines);
        break;
    case KVC_DIDO_INSERT:
    case KVC_DIDO_ERASE:
        kvc_dido_link_load_add(&load, &read_line, lines);
        kvc_dido_link_load_add(&load, &slot, work->random_lines);
        break;
    case KVC_DIDO_SEARCH:
    case KVC_DIDO_KC:
        kvc_dido_link_load_add(&load, &read_line, lines);
        break;
    case KVC_DIDO_RD: /* The value goes to the buffer, or to the response. */
        kvc_dido_link_load_add(&load, &read_line, lines);
        write_in_order(&load, pcie, mix->value_bytes);
        break;
    case KVC_DIDO_WR:
        read_in_order(&load, pcie, buffered_bytes);
        write_in_order(&load, pcie, work->next_lines * line_bytes);
        break;
    default:
        break;
    }
    return load;
}

/* ---- a load ---- */

struct kvc_dido_link_time kvc_dido_link_time_of(const struct kvc_pcie *pcie,
                                                const struct kvc_dido_link_load *load)
{
    if (pcie == NULL) {
        return (struct kvc_dido_link_time){0};
    }
    double links = (double)pcie->endpoints, header = (double)pcie->header_bytes;
    double byte_ns = 1e9 / (links * kvc_pcie_link_bytes_per_s(pcie)), root_ns = 1e9 / pcie->root_bytes_per_s;
    double read_credits = load->read_bytes / KVC_PCIE_CREDIT_BYTES;
    double write_credits = load->written_bytes / KVC_PCIE_CREDIT_BYTES;
    double tags_ns = load->reads / (links * kvc_pcie_flight_reads_per_s(pcie)) * 1e9;
    double room_ns =
        read_credits / (links * (double)pcie->completion_credits) * (pcie->read_ns + pcie->memory_ns);
    double posted_ns =
        fmax(load->writes / (double)pcie->write_credits, write_credits / (double)pcie->write_data_credits) *
        pcie->credit_ns / links;
    return (struct kvc_dido_link_time){
        .down_ns = fmax(fmax((load->read_bytes + load->reads * header) * byte_ns, load->read_bytes * root_ns),
                        fmax(tags_ns, room_ns)),
        .up_ns = fmax(fmax((load->written_bytes + (load->reads + load->writes) * header) * byte_ns,
                           load->written_bytes * root_ns),
                      posted_ns)};
}
