/* A picture of the simulated machine: devices, the links between them, their utilization and power, and the
 * utilization of the store's stages.
 *
 * The devices and routes come from platform.xml, their utilization and power from result.json beside it. The
 * reader takes platform.xml as kvcast writes it, one element a line, and no general XML. */
#ifndef KVC_PLOTS_PLATFORM_H
#define KVC_PLOTS_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/diag.h"

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

/* A stage of the store. */
struct kvc_picture_stage {
    char name[KVC_PICTURE_NAME_MAX];   /* "index". */
    char device[KVC_PICTURE_NAME_MAX]; /* "gpu". */
    double utilization_frac;           /* Share of the time in which it has a request; NaN: unknown. */
};

/* A node of a cluster, as the result has it. NaN: unknown. */
struct kvc_picture_node {
    char name[KVC_PICTURE_NAME_MAX];  /* "node3". */
    char stage[KVC_PICTURE_NAME_MAX]; /* Its busiest stage. */
    double utilization_frac;          /* How busy this stage is. */
    double mops;                      /* Requests that it answers [million/s]. */
    double latency_p99_us;            /* [us] */
    double watts;                     /* [W] */
};

struct kvc_picture {
    char scenario[128];
    uint32_t zones, hosts, links, routes, stages, nodes;
    char (*zone)[KVC_PICTURE_NAME_MAX];
    struct kvc_picture_device *host;
    struct kvc_picture_device *link;
    struct kvc_picture_route *route;
    struct kvc_picture_stage *stage;
    struct kvc_picture_node *node;
};

/* Reads the files of a result, which is named by its folder or by its result.json. KVC_ERR_SCENARIO if they
 * cannot be read. The picture must be freed in any case. */
enum kvc_status kvc_picture_read(const char *path, struct kvc_picture *picture, struct kvc_diag *diag);

/* Frees the arrays of a picture. */
void kvc_picture_free(struct kvc_picture *picture);

/* Writes the picture for Graphviz's dot: the stages, the nodes of a cluster as a table, and in full the
 * busiest node of each set of equal ones. */
void kvc_picture_write(const struct kvc_picture *picture, bool wide, FILE *out);

#endif
