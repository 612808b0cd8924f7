/* A picture of the simulated machine: devices, the links between them, their utilization and power.
 *
 * The devices and routes come from platform.xml, their utilization and power from result.json beside it. The
 * reader takes platform.xml as kvcast writes it, one element a line, and no general XML. */
#ifndef KVC_PLOTS_PLATFORM_H
#define KVC_PLOTS_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/diag.h"
#include "sim/base/files/partial_file.h"

enum { KVC_PICTURE_NAME_MAX = 64, KVC_PICTURE_ROUTE_MAX = 8 };

/* A host or link. */
struct kvc_picture_device {
    char name[KVC_PICTURE_NAME_MAX]; /* "node0.socket1.gpu". */
    char kind[KVC_PICTURE_NAME_MAX]; /* "gpu". */
    uint32_t zone;
    uint32_t cores;          /* Cores of a host. */
    double speed;            /* Speed of a host in its first state [Gf].  */
    uint32_t states;         /* Performance states of a host. */
    uint32_t state;          /* State in which a host begins. */
    double bytes_per_s;      /* Bandwidth of a link [bytes/s]. */
    uint32_t routes;         /* Routes over a link. */
    double utilization_frac; /* NaN: unknown. */
    double watts;            /* Mean power; NaN: unknown. */
};

/* A route between two hosts, by their numbers. */
struct kvc_picture_route {
    uint32_t from, to;
    uint32_t count;
    uint32_t link[KVC_PICTURE_ROUTE_MAX];
};

struct kvc_picture {
    char scenario[128];
    uint32_t zones, hosts, links, routes;
    char (*zone)[KVC_PICTURE_NAME_MAX];
    struct kvc_picture_device *host;
    struct kvc_picture_device *link;
    struct kvc_picture_route *route;
};

/* Reads the files of a result, which is named by its folder or by its result.json. KVC_ERR_SCENARIO if they
 * cannot be read. The picture must be freed in any case. */
enum kvc_status kvc_picture_read(const char *path, struct kvc_picture *picture, struct kvc_diag *diag);

/* Frees the arrays of a picture. */
void kvc_picture_free(struct kvc_picture *picture);

/* Writes the picture for Graphviz's dot: the first node in full, and how many more there are. */
void kvc_picture_write(const struct kvc_picture *picture, bool wide, FILE *out);

/* Lets dot draw what kvc_picture_write wrote to the descriptor `graph`. `format` is "svg", "pdf" or "png".
 * Fails as kvc_program_draw says. */
enum kvc_status kvc_picture_draw(int graph, const char *format, struct kvc_partial_file *picture,
                                 struct kvc_diag *diag);

#endif
