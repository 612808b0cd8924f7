#include "sim/devices/fabric.h"

#include <stdlib.h>

#include "sim/base/array.h"

enum { UNKNOWN = UINT32_MAX };

static const char *const topologies[] = {"line", "ring", "mesh", "torus", "tree", NULL};

static const struct kvc_option rows[] = {
    KVC_TEXT_ROW(kvc_fabric, "name", name, "", "name of the links"),
    KVC_COUNT_ROW(kvc_fabric, "links", links, 1, 1024, NULL,
                  "links of a card, spread evenly over its neighbours; more of them carry more"),
    KVC_REAL_ROW(kvc_fabric, "link_rate", bytes_per_s, KVC_UNIT_BYTES_PER_S, 1e6, 1e13, NULL,
                 "rate of one link in each direction, for payload; a higher rate carries more"),
    KVC_REAL_ROW(
        kvc_fabric, "hop", hop_ns, KVC_UNIT_NS, 0, 1e9, NULL,
        "time of a message from card to card, without its bytes; a longer time lengthens every remote request"),
    KVC_COUNT_ROW(
        kvc_fabric, "messages", messages, 1, 16, "3",
        "messages that cross a hop in sequence for one payload; request, acknowledgement and payload are 3"),
    KVC_CHOICE_ROW(
        kvc_fabric, "topology", topology, topologies, "line",
        "which cards are neighbours; a ring or a torus has shorter paths than a line or a mesh, and needs "
        "more links"),
};

static const struct kvc_option_table options = KVC_OPTION_TABLE(kvc_fabric, rows, "fabric");

const struct kvc_device_kind kvc_fabric_kind = {
    .name = "fabric",
    .help = "Links between the cards of the nodes: their rate, latency and topology",
    .options = &options,
};

/* Returns the columns of a grid that is as square as possible: the largest divisor up to the square root. */
static uint32_t grid_rows(uint32_t nodes)
{
    uint32_t lines = 1;
    for (uint32_t i = 1; i * i <= nodes; i++) {
        lines = nodes % i == 0 ? i : lines;
    }
    return lines;
}

/* Returns whether two places of a row of `count` are next to each other. */
static bool next_in_row(uint32_t a, uint32_t b, uint32_t count, bool closed)
{
    uint32_t distance = a > b ? a - b : b - a;
    return distance == 1 || (closed && count > 2 && distance == count - 1);
}

bool kvc_fabric_adjacent(const struct kvc_fabric *fabric, uint32_t nodes, uint32_t a, uint32_t b)
{
    uint32_t columns = nodes / grid_rows(nodes);
    bool closed = fabric->topology == KVC_FABRIC_RING || fabric->topology == KVC_FABRIC_TORUS;
    switch ((enum kvc_fabric_topology)fabric->topology) {
    case KVC_FABRIC_LINE:
    case KVC_FABRIC_RING:
        return next_in_row(a, b, nodes, closed);
    case KVC_FABRIC_MESH:
    case KVC_FABRIC_TORUS:
        return (a / columns == b / columns && next_in_row(a % columns, b % columns, columns, closed)) ||
               (a % columns == b % columns && next_in_row(a / columns, b / columns, nodes / columns, closed));
    case KVC_FABRIC_TREE:
        return a != b && ((b > 0 && (b - 1) / 2 == a) || (a > 0 && (a - 1) / 2 == b));
    }
    return false;
}

uint32_t kvc_fabric_degree(const struct kvc_fabric *fabric, uint32_t nodes)
{
    uint32_t most = 0;
    for (uint32_t a = 0; a < nodes; a++) {
        uint32_t neighbours = 0;
        for (uint32_t b = 0; b < nodes; b++) {
            neighbours += kvc_fabric_adjacent(fabric, nodes, a, b);
        }
        most = neighbours > most ? neighbours : most;
    }
    return most;
}

double kvc_fabric_edge_bytes_per_s(const struct kvc_fabric *fabric, uint32_t nodes)
{
    uint32_t degree = kvc_fabric_degree(fabric, nodes);
    return degree > 0 ? (double)(fabric->links / degree) * fabric->bytes_per_s : fabric->bytes_per_s;
}

void kvc_fabric_routes(const struct kvc_fabric *fabric, uint32_t nodes, uint32_t *next)
{
    uint32_t degree = kvc_fabric_degree(fabric, nodes);
    uint32_t *neighbour = kvc_array_of((size_t)nodes * degree, sizeof(*neighbour));
    uint32_t *neighbours = kvc_array_of(nodes, sizeof(*neighbours)),
             *queue = kvc_array_of(nodes, sizeof(*queue));
    for (uint32_t i = 0; i < nodes * nodes; i++) {
        uint32_t a = i / nodes, b = i % nodes;
        next[i] = UNKNOWN;
        if (kvc_fabric_adjacent(fabric, nodes, a, b)) {
            neighbour[a * degree + neighbours[a]++] = b;
        }
    }
    for (uint32_t to = 0; to < nodes; to++) { /* A breadth-first search from each target. */
        uint32_t first = 0, last = 0;
        queue[last++] = to;
        next[to * nodes + to] = to;
        while (first < last) {
            uint32_t at = queue[first++];
            for (uint32_t i = 0; i < neighbours[at]; i++) {
                uint32_t from = neighbour[at * degree + i];
                if (next[from * nodes + to] == UNKNOWN) {
                    next[from * nodes + to] = at;
                    queue[last++] = from;
                }
            }
        }
    }
    free(neighbour);
    free(neighbours);
    free(queue);
}

void kvc_fabric_speed_up(struct kvc_fabric *fabric, double factor)
{
    fabric->bytes_per_s *= factor;
    fabric->hop_ns /= factor;
}
