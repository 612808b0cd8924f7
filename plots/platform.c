#include "plots/platform.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plots/document.h"
#include "plots/graph.h"
#include "sim/base/array.h"
#include "sim/base/rng.h"
#include "sim/base/text/printable.h"

void kvc_picture_free(struct kvc_picture *picture)
{
    free(picture->zone);
    free(picture->host);
    free(picture->link);
    free(picture->route);
    free(picture->stage);
    free(picture->node);
    *picture = (struct kvc_picture){0};
}

/* ---- platform.xml ---- */

/* Copies the value of an attribute of a tag. Returns false if the tag lacks it or it is too long. */
static bool attribute(const char *tag, const char *name, char *value, size_t size)
{
    char key[32];
    const char *end = strchr(tag, '>');
    snprintf(key, sizeof(key), " %s=\"", name);
    const char *at = strstr(tag, key);
    if (at == NULL || end == NULL || at > end) {
        return false;
    }
    at += strlen(key);
    size_t bytes = strcspn(at, "\"");
    if (bytes >= size || at[bytes] != '"') {
        return false;
    }
    memcpy(value, at, bytes);
    value[bytes] = '\0';
    return true;
}

static bool is_tag(const char *at, const char *name)
{
    size_t bytes = strlen(name);
    return at[0] == '<' && strncmp(at + 1, name, bytes) == 0 && strchr(" >/", at[1 + bytes]) != NULL;
}

static uint32_t find(const struct kvc_picture_device *devices, uint32_t count, const char *name)
{
    uint32_t i = 0;
    while (i < count && strcmp(devices[i].name, name) != 0) {
        i++;
    }
    return i;
}

static bool add_host(struct kvc_picture *picture, const char *tag)
{
    char cores[16] = "1", state[16] = "0", speed[1024];
    struct kvc_picture_device host = {
        .zone = picture->zones - 1, .states = 1, .utilization_frac = NAN, .watts = NAN};
    if (picture->zones == 0 || !attribute(tag, "id", host.name, sizeof(host.name)) ||
        !attribute(tag, "speed", speed, sizeof(speed))) {
        return false;
    }
    attribute(tag, "core", cores, sizeof(cores));
    attribute(tag, "pstate", state, sizeof(state));
    host.cores = (uint32_t)strtoul(cores, NULL, 10);
    host.state = (uint32_t)strtoul(state, NULL, 10);
    host.speed = strtod(speed, NULL);
    for (const char *at = speed; (at = strchr(at, ',')) != NULL; at++) {
        host.states++;
    }
    picture->host = kvc_array_grown(picture->host, picture->hosts + 1, sizeof(*picture->host));
    picture->host[picture->hosts++] = host;
    return true;
}

static bool add_link(struct kvc_picture *picture, const char *tag)
{
    char bandwidth[64];
    struct kvc_picture_device link = {.zone = picture->zones - 1, .utilization_frac = NAN, .watts = NAN};
    if (picture->zones == 0 || !attribute(tag, "id", link.name, sizeof(link.name)) ||
        !attribute(tag, "bandwidth", bandwidth, sizeof(bandwidth))) {
        return false;
    }
    link.bytes_per_s = strtod(bandwidth, NULL);
    picture->link = kvc_array_grown(picture->link, picture->links + 1, sizeof(*picture->link));
    picture->link[picture->links++] = link;
    return true;
}

static bool add_route(struct kvc_picture *picture, const char *tag)
{
    char from[KVC_PICTURE_NAME_MAX], to[KVC_PICTURE_NAME_MAX];
    if (!attribute(tag, "src", from, sizeof(from)) || !attribute(tag, "dst", to, sizeof(to))) {
        return false;
    }
    struct kvc_picture_route route = {.from = find(picture->host, picture->hosts, from),
                                      .to = find(picture->host, picture->hosts, to)};
    picture->route = kvc_array_grown(picture->route, picture->routes + 1, sizeof(*picture->route));
    picture->route[picture->routes++] = route;
    return route.from < picture->hosts && route.to < picture->hosts;
}

static bool add_to_route(struct kvc_picture *picture, const char *tag)
{
    char name[KVC_PICTURE_NAME_MAX];
    if (picture->routes == 0 || !attribute(tag, "id", name, sizeof(name))) {
        return false;
    }
    struct kvc_picture_route *route = &picture->route[picture->routes - 1];
    uint32_t link = find(picture->link, picture->links, name);
    if (link == picture->links || route->count == KVC_PICTURE_ROUTE_MAX) {
        return false;
    }
    route->link[route->count++] = link;
    picture->link[link].routes++;
    return true;
}

static bool add_zone(struct kvc_picture *picture, const char *tag)
{
    picture->zone = kvc_array_grown(picture->zone, picture->zones + 1, sizeof(*picture->zone));
    return attribute(tag, "id", picture->zone[picture->zones++], KVC_PICTURE_NAME_MAX);
}

/* The kind of a device is a property of the latest host or link. */
static void add_property(struct kvc_picture_device *device, const char *tag)
{
    char name[64];
    if (device != NULL && attribute(tag, "id", name, sizeof(name)) && strcmp(name, "device") == 0) {
        attribute(tag, "value", device->kind, sizeof(device->kind));
    }
}

/* Reads the elements of a line. Returns false if one is not as kvcast writes it. */
static bool read_line(struct kvc_picture *picture, const char *line, bool *in_link)
{
    bool sound = true;
    for (const char *at = strchr(line, '<'); at != NULL && sound; at = strchr(at + 1, '<')) {
        if (is_tag(at, "zone")) {
            sound = add_zone(picture, at);
        } else if (is_tag(at, "host")) {
            sound = add_host(picture, at);
            *in_link = false;
        } else if (is_tag(at, "link")) {
            sound = add_link(picture, at);
            *in_link = true;
        } else if (is_tag(at, "route")) {
            sound = add_route(picture, at);
        } else if (is_tag(at, "link_ctn")) {
            sound = add_to_route(picture, at);
        } else if (is_tag(at, "prop")) {
            add_property(*in_link             ? &picture->link[picture->links - 1]
                         : picture->hosts > 0 ? &picture->host[picture->hosts - 1]
                                              : NULL,
                         at);
        }
    }
    return sound;
}

static enum kvc_status read_platform(const char *path, struct kvc_picture *picture, struct kvc_diag *diag)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool in_link = false;
    int number = 0;
    enum kvc_status status = KVC_OK;
    if (file == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "cannot be read: %s", strerror(errno));
    }
    while (status == KVC_OK && getline(&line, &room, file) > 0) {
        number++;
        if (!read_line(picture, line, &in_link)) {
            status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, number,
                                      "is not a platform that kvcast has written");
        }
    }
    free(line);
    if (status == KVC_OK && !feof(file)) {
        status = kvc_diag_fail_at(diag, KVC_ERR_RUNTIME, path, 0, "cannot be read: %s", strerror(errno));
    }
    fclose(file);
    if (status == KVC_OK && picture->hosts == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no host");
    }
    return status;
}

/* ---- result.json ---- */

/* Finds a device by its name. Results with very many devices have a sum of each kind instead. */
static const json_t *entry_of(const json_t *array, const char *key, const struct kvc_picture_device *device)
{
    size_t index;
    json_t *entry;
    const json_t *of_kind = NULL;
    json_array_foreach(array, index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, key));
        if (name != NULL && strcmp(name, device->name) == 0) {
            return entry;
        }
        if (name != NULL && strcmp(name, device->kind) == 0) {
            of_kind = entry;
        }
    }
    return of_kind;
}

static void measure(struct kvc_picture_device *devices, uint32_t count, const json_t *document)
{
    const json_t *used = json_object_get(document, "devices");
    const json_t *metered = json_object_get(json_object_get(document, "energy"), "devices");
    for (uint32_t i = 0; i < count; i++) {
        const json_t *energy = entry_of(metered, "device", &devices[i]);
        const char *name = json_string_value(json_object_get(energy, "device"));
        devices[i].utilization_frac =
            kvc_document_number(entry_of(used, "name", &devices[i]), "utilization_frac");
        /* The watts of a sum do not belong to one device. */
        devices[i].watts = name != NULL && strcmp(name, devices[i].name) == 0
                               ? kvc_document_number(energy, "watts_mean")
                               : NAN;
    }
}

static void copy_text(char to[KVC_PICTURE_NAME_MAX], const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(to, KVC_PICTURE_NAME_MAX, "%s", text != NULL ? text : "");
}

static void read_stages(struct kvc_picture *picture, const json_t *stages)
{
    size_t index;
    json_t *entry;
    picture->stage = kvc_array_of(json_array_size(stages) + 1, sizeof(*picture->stage));
    json_array_foreach(stages, index, entry)
    {
        struct kvc_picture_stage *stage = &picture->stage[picture->stages++];
        copy_text(stage->name, entry, "name");
        copy_text(stage->device, entry, "device");
        stage->utilization_frac = kvc_document_number(entry, "utilization_frac");
    }
}

static void read_nodes(struct kvc_picture *picture, const json_t *nodes)
{
    size_t index;
    json_t *entry;
    picture->node = kvc_array_of(json_array_size(nodes) + 1, sizeof(*picture->node));
    json_array_foreach(nodes, index, entry)
    {
        struct kvc_picture_node *node = &picture->node[picture->nodes++];
        copy_text(node->name, entry, "name");
        copy_text(node->stage, entry, "busiest_stage");
        node->utilization_frac = kvc_document_number(entry, "utilization_frac");
        node->mops = kvc_document_number(entry, "throughput_mops");
        node->latency_p99_us = kvc_document_number(entry, "latency_p99_us");
        node->watts = kvc_document_number(entry, "watts_mean");
    }
}

static enum kvc_status read_result(const char *path, struct kvc_picture *picture, struct kvc_diag *diag)
{
    json_t *document;
    enum kvc_status status = kvc_document_load(path, KVC_DOCUMENT_RESULT, &document, diag);
    if (status == KVC_OK) {
        status = kvc_document_check_result(path, document, diag);
    }
    if (status == KVC_OK) {
        const char *scenario = json_string_value(json_object_get(document, "scenario"));
        snprintf(picture->scenario, sizeof(picture->scenario), "%s", scenario != NULL ? scenario : "");
        read_stages(picture, json_object_get(document, "stages"));
        read_nodes(picture, json_object_get(json_object_get(document, "cluster"), "nodes"));
        measure(picture->host, picture->hosts, document);
        measure(picture->link, picture->links, document);
    }
    json_decref(document);
    return status;
}

enum kvc_status kvc_picture_read(const char *path, struct kvc_picture *picture, struct kvc_diag *diag)
{
    char result[PATH_MAX], file[PATH_MAX + 16];
    *picture = (struct kvc_picture){0};
    enum kvc_status status = kvc_document_find(path, KVC_DOCUMENT_RESULT, result, diag);
    if (status != KVC_OK) {
        return status;
    }
    const char *slash = strrchr(result, '/');
    snprintf(file, sizeof(file), "%.*s/platform.xml", slash != NULL ? (int)(slash - result) : 1,
             slash != NULL ? result : ".");
    if (access(file, F_OK) != 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                                "does not exist; allowed is a folder that `kvcast run --out` wrote, or the "
                                "result.json in it");
    }
    status = read_platform(file, picture, diag);
    return status == KVC_OK ? read_result(result, picture, diag) : status;
}

/* ---- what dot reads ---- */

/* The host on which kvcast's actors live is no device. */
static const char actors[] = "kvcast";

static bool is_drawn(const struct kvc_picture *picture, uint32_t host, uint32_t zone)
{
    return picture->host[host].zone == zone && strcmp(picture->host[host].name, actors) != 0;
}

/* What a zone has: a number that equal sets of devices share, and how busy it is. */
struct zone_look {
    uint64_t devices; /* 0: none. */
    double busy_frac;
    uint32_t alike; /* Zones with the same devices, this one included, of the busiest of them; else 0. */
};

static uint64_t add_device(uint64_t sum, const struct kvc_picture *picture,
                           const struct kvc_picture_device *device)
{
    size_t prefix = strlen(picture->zone[device->zone]);
    const char *name = strlen(device->name) > prefix ? device->name + prefix : device->name;
    char text[2 * KVC_PICTURE_NAME_MAX + 96];
    snprintf(text, sizeof(text), "%s %s %u %g %g", name, device->kind, device->cores, device->speed,
             device->bytes_per_s);
    return kvc_mix64(sum ^ kvc_name_hash(text)) | 1;
}

/* Looks at all zones. The result says how busy a node's stages are; a single node is as busy as its devices.
 */
static struct zone_look *look_at_zones(const struct kvc_picture *picture)
{
    struct zone_look *look = kvc_array_of(picture->zones + 1, sizeof(*look));
    for (uint32_t i = 0; i < picture->hosts; i++) {
        const struct kvc_picture_device *host = &picture->host[i];
        if (is_drawn(picture, i, host->zone)) {
            look[host->zone].devices = add_device(look[host->zone].devices, picture, host);
            look[host->zone].busy_frac = fmax(look[host->zone].busy_frac, host->utilization_frac);
        }
    }
    for (uint32_t i = 0; i < picture->links; i++) {
        struct zone_look *zone = &look[picture->link[i].zone];
        zone->devices = zone->devices != 0 ? add_device(zone->devices, picture, &picture->link[i]) : 0;
    }
    for (uint32_t i = 0, j = 0; i < picture->nodes; i++) { /* Both have the same order, as far as both go. */
        while (j < picture->zones && strcmp(picture->zone[j], picture->node[i].name) != 0) {
            j++;
        }
        if (j < picture->zones && !isnan(picture->node[i].utilization_frac)) {
            look[j].busy_frac = picture->node[i].utilization_frac;
        }
    }
    for (uint32_t i = 0; i < picture->zones; i++) {
        uint32_t busiest = i, alike = 0;
        bool is_new = look[i].devices != 0;
        for (uint32_t j = 0; j < picture->zones && is_new; j++) {
            if (look[j].devices == look[i].devices) {
                is_new = j >= i;
                alike++;
                busiest = look[j].busy_frac > look[busiest].busy_frac ? j : busiest;
            }
        }
        look[busiest].alike = is_new ? alike : look[busiest].alike;
    }
    return look;
}

/* ---- texts ---- */

/* Returns the part of a name after its last dot. */
static const char *short_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

static void put_share(const struct kvc_picture_device *device, FILE *out)
{
    if (!isnan(device->utilization_frac)) {
        double percent = 100 * device->utilization_frac;
        fprintf(out, percent > 0 && percent < 0.95 ? "%.2g %%" : "%.0f %%", percent);
    }
}

static void put_rate(double bytes_per_s, FILE *out)
{
    if (bytes_per_s >= 1e9) {
        fprintf(out, "%.3g GB/s", bytes_per_s * 1e-9);
    } else {
        fprintf(out, "%.3g MB/s", bytes_per_s * 1e-6);
    }
}

/* ---- hosts ---- */

static void put_host(const struct kvc_picture_device *host, uint32_t number, const char *indent, FILE *out)
{
    double frac = isnan(host->utilization_frac) ? 0 : host->utilization_frac;
    fprintf(out, "%shost%u [label=\"", indent, number);
    kvc_graph_put_text(short_name(host->name), out);
    if (host->cores > 1) {
        fprintf(out, "\\n%u cores", host->cores);
    }
    if (host->speed != 1) {
        fprintf(out, strcmp(host->kind, "dram") == 0 ? "\\n%.3g channels" : "\\nspeed %.3g", host->speed);
    }
    if (host->state > 0) {
        fprintf(out, "\\nslower state %u of %u", host->state, host->states - 1);
    }
    if (host->utilization_frac > 0 || !isnan(host->watts)) {
        fprintf(out, "\\n");
        put_share(host, out);
    }
    if (!isnan(host->watts)) {
        fprintf(out, ", %.3g W", host->watts);
    }
    fprintf(out, "\", fillcolor=\"");
    kvc_graph_put_colour(frac, out);
    fprintf(out, "\"%s%s];\n", kvc_graph_needs_white(frac) ? ", fontcolor=white" : "",
            strcmp(host->kind, "dram") == 0 ? ", shape=cylinder" : "");
}

/* ---- links ---- */

/* A link that alone makes up one route is an edge; a link that routes share, or that is a part of one, is a
 * node of its own. */
static bool is_edge(const struct kvc_picture *picture, const struct kvc_picture_route *route)
{
    return route->count == 1 && picture->link[route->link[0]].routes == 1;
}

static void put_link_label(const struct kvc_picture_device *link, FILE *out)
{
    kvc_graph_put_text(short_name(link->name), out);
    fprintf(out, "\\n");
    put_rate(link->bytes_per_s, out);
    if (link->utilization_frac >= 0) {
        fprintf(out, "\\n");
        put_share(link, out);
    }
    if (!isnan(link->watts)) {
        fprintf(out, ", %.3g W", link->watts);
    }
}

static void put_link_node(const struct kvc_picture_device *link, uint32_t number, FILE *out)
{
    double frac = isnan(link->utilization_frac) ? 0 : link->utilization_frac;
    fprintf(out, "  link%u [shape=box, style=\"filled,rounded\", label=\"", number);
    put_link_label(link, out);
    fprintf(out, "\", fillcolor=\"");
    kvc_graph_put_colour(frac, out);
    fprintf(out, "\"%s];\n", kvc_graph_needs_white(frac) ? ", fontcolor=white" : "");
}

/* Edges are never as light as an idle device, or they would not be seen. */
static void put_edge_style(double frac, FILE *out)
{
    double shown = isnan(frac) ? 0 : frac;
    fprintf(out, "color=\"");
    kvc_graph_put_colour(0.35 + 0.65 * shown, out);
    fprintf(out, "\", penwidth=%.2g", 1 + 3 * shown);
}

/* Returns whether a link is drawn as a node. */
static bool is_node(const struct kvc_picture *picture, uint32_t link)
{
    for (uint32_t i = 0; i < picture->routes; i++) {
        const struct kvc_picture_route *route = &picture->route[i];
        for (uint32_t j = 0; j < route->count; j++) {
            if (route->link[j] == link) {
                return !is_edge(picture, route);
            }
        }
    }
    return false;
}

/* ---- groups ---- */

/* Copies the name of a device's group: the part before its last dot, such as "node0.socket1". */
static void group_of(const char *name, char group[KVC_PICTURE_NAME_MAX])
{
    const char *dot = strrchr(name, '.');
    snprintf(group, KVC_PICTURE_NAME_MAX, "%.*s", dot != NULL ? (int)(dot - name) : 0, name);
}

/* Writes the devices of a group as a cluster, or without one if the group is the zone. */
static void put_group(const struct kvc_picture *picture, uint32_t zone, const char *group, FILE *out)
{
    char other[KVC_PICTURE_NAME_MAX];
    bool is_zone = group[0] == '\0' || strcmp(group, picture->zone[zone]) == 0;
    if (!is_zone) {
        fprintf(out, "    subgraph \"cluster_");
        kvc_graph_put_text(group, out);
        fprintf(out, "\" {\n      label=\"");
        kvc_graph_put_text(short_name(group), out);
        fprintf(out, "\";\n      style=\"rounded,dashed\";\n");
    }
    for (uint32_t i = 0; i < picture->hosts; i++) {
        group_of(picture->host[i].name, other);
        if (is_drawn(picture, i, zone) && strcmp(group, other) == 0) {
            put_host(&picture->host[i], i, is_zone ? "    " : "      ", out);
        }
    }
    for (uint32_t i = 0; i < picture->links; i++) {
        group_of(picture->link[i].name, other);
        if (picture->link[i].zone == zone && is_node(picture, i) && strcmp(group, other) == 0) {
            put_link_node(&picture->link[i], i, out);
        }
    }
    fprintf(out, is_zone ? "" : "    }\n");
}

/* Writes a zone that is the busiest of `alike` ones, of `machines` zones with devices in all. */
static void put_zone(const struct kvc_picture *picture, uint32_t zone, uint32_t alike, uint32_t machines,
                     FILE *out)
{
    char group[KVC_PICTURE_NAME_MAX], other[KVC_PICTURE_NAME_MAX];
    fprintf(out, "  subgraph \"cluster_zone%u\" {\n    label=\"", zone);
    kvc_graph_put_text(picture->zone[zone], out);
    if (alike > 1) {
        fprintf(out, ", the busiest of %u with these devices", alike);
    } else if (alike == machines && picture->nodes > 1) { /* Nodes that share nothing are simulated apart. */
        fprintf(out, ", one of %u nodes", picture->nodes);
    }
    fprintf(out, "\";\n    style=rounded;\n");
    for (uint32_t i = 0; i < picture->hosts; i++) {
        bool is_new = is_drawn(picture, i, zone);
        group_of(picture->host[i].name, group);
        for (uint32_t j = 0; j < i && is_new; j++) {
            group_of(picture->host[j].name, other);
            is_new = !is_drawn(picture, j, zone) || strcmp(group, other) != 0;
        }
        if (is_new) {
            put_group(picture, zone, group, out);
        }
    }
    fprintf(out, "  }\n");
}

/* Returns the group of an element, a host or, after all hosts, a link that is drawn as a node; false if the
 * zone does not draw it or it stands in no group. */
static bool find_group(const struct kvc_picture *picture, uint32_t zone, uint32_t element,
                       char group[KVC_PICTURE_NAME_MAX])
{
    bool is_host = element < picture->hosts;
    uint32_t link = element - picture->hosts;
    if (is_host ? !is_drawn(picture, element, zone)
                : picture->link[link].zone != zone || !is_node(picture, link)) {
        return false;
    }
    group_of(is_host ? picture->host[element].name : picture->link[link].name, group);
    return strchr(group, '.') != NULL;
}

static void put_element(const struct kvc_picture *picture, uint32_t element, FILE *out)
{
    bool is_host = element < picture->hosts;
    fprintf(out, "%s%u", is_host ? "host" : "link", is_host ? element : element - picture->hosts);
}

/* ---- routes ---- */

/* The elements of a route are its first host, its links and its last host. Returns the number of an element
 * among all hosts and, after them, all links. */
static uint32_t element_of(const struct kvc_picture *picture, const struct kvc_picture_route *route,
                           uint32_t place)
{
    return place == 0             ? route->from
           : place > route->count ? route->to
                                  : picture->hosts + route->link[place - 1];
}

/* Estimates the row of each element as dot places it: one below the element before it on the first route that
 * has it; 0: on no route, 1: first. */
static uint32_t *estimate_rows(const struct kvc_picture *picture)
{
    uint32_t *row = kvc_array_of(picture->hosts + picture->links, sizeof(*row));
    for (uint32_t i = 0; i < picture->routes; i++) {
        const struct kvc_picture_route *route = &picture->route[i];
        row[route->from] = row[route->from] == 0 ? 1 : row[route->from];
        for (uint32_t j = 0; j <= route->count; j++) {
            uint32_t to = element_of(picture, route, j + 1);
            row[to] = row[to] == 0 ? row[element_of(picture, route, j)] + 1 : row[to];
        }
    }
    return row;
}

/* Puts the groups of a zone below each other, by invisible edges from the lowest element of each group to the
 * highest ones of the next. */
static void put_stack(const struct kvc_picture *picture, uint32_t zone, FILE *out)
{
    char group[KVC_PICTURE_NAME_MAX], last[KVC_PICTURE_NAME_MAX] = "";
    uint32_t *row = estimate_rows(picture), elements = picture->hosts + picture->links, lowest = elements;
    for (uint32_t i = 0; i < picture->hosts; i++) {
        if (!find_group(picture, zone, i, group)) {
            continue;
        }
        if (strcmp(group, last) != 0) { /* The hosts of a group follow each other. */
            lowest = elements;
            for (uint32_t j = 0; j < elements && last[0] != '\0'; j++) {
                char other[KVC_PICTURE_NAME_MAX];
                if (find_group(picture, zone, j, other) && strcmp(other, last) == 0 &&
                    (lowest == elements || row[j] > row[lowest])) {
                    lowest = j;
                }
            }
            strcpy(last, group);
        }
        if (lowest < elements && row[i] <= 1) {
            fprintf(out, "  ");
            put_element(picture, lowest, out);
            fprintf(out, " -> host%u [style=invis];\n", i);
        }
    }
    free(row);
}

/* Returns whether a route before route `number` has the step between two elements. */
static bool is_repeated(const struct kvc_picture *picture, uint32_t number, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < number; i++) {
        const struct kvc_picture_route *route = &picture->route[i];
        for (uint32_t j = 0; j <= route->count; j++) {
            if (element_of(picture, route, j) == from && element_of(picture, route, j + 1) == to) {
                return true;
            }
        }
    }
    return false;
}

static void put_route(const struct kvc_picture *picture, uint32_t number, FILE *out)
{
    const struct kvc_picture_route *route = &picture->route[number];
    if (is_edge(picture, route)) {
        const struct kvc_picture_device *link = &picture->link[route->link[0]];
        fprintf(out, "  host%u -> host%u [label=\"", route->from, route->to);
        put_link_label(link, out);
        fprintf(out, "\", ");
        put_edge_style(link->utilization_frac, out);
        fprintf(out, "];\n");
        return;
    }
    for (uint32_t i = 0; i <= route->count; i++) {
        uint32_t from = element_of(picture, route, i), to = element_of(picture, route, i + 1);
        if (is_repeated(picture, number, from, to)) {
            continue;
        }
        fprintf(out, "  ");
        put_element(picture, from, out);
        fprintf(out, " -> ");
        put_element(picture, to, out);
        fprintf(out, " [");
        put_edge_style(NAN, out); /* Several routes may share the step, so it has no utilization. */
        fprintf(out, "];\n");
    }
}

static void put_routes(const struct kvc_picture *picture, uint32_t zone, FILE *out)
{
    for (uint32_t i = 0; i < picture->routes; i++) {
        if (is_drawn(picture, picture->route[i].from, zone) &&
            is_drawn(picture, picture->route[i].to, zone)) {
            put_route(picture, i, out);
        }
    }
}

/* ---- the whole picture ---- */

/* Writes how busy the stages of the store are, as the answer of kvcast run does. */
static void put_stages(const struct kvc_picture *picture, uint32_t abreast, FILE *out)
{
    if (picture->stages == 0) {
        return;
    }
    fprintf(out, "<tr><td>stages%s</td></tr><tr><td><table border=\"0\" cellborder=\"1\" cellspacing=\"0\">",
            picture->nodes > 1 ? ", mean of all nodes" : "");
    for (uint32_t i = 0; i < picture->stages; i++) {
        const struct kvc_picture_stage *stage = &picture->stage[i];
        fprintf(out, i % abreast == 0 ? "<tr>" : "");
        kvc_graph_put_cell(isnan(stage->utilization_frac) ? 0 : stage->utilization_frac, out);
        kvc_put_html(stage->name, out);
        fprintf(out, " (");
        kvc_put_html(stage->device, out);
        fprintf(out, isnan(stage->utilization_frac) ? ")" : ")<br/>%.1f %%", 100 * stage->utilization_frac);
        fprintf(out, "</font></td>%s", i % abreast == abreast - 1 || i == picture->stages - 1 ? "</tr>" : "");
    }
    fprintf(out, "</table></td></tr>");
}

static void put_number(double value, FILE *out)
{
    fprintf(out, isnan(value) ? "<td></td>" : "<td>%.4g</td>", value);
}

enum { NODES_SHOWN = 16, KINDS_SHOWN = 4 };

/* Returns whether a node is one of the busiest, which the table has room for. */
static bool is_shown(const struct kvc_picture *picture, uint32_t node)
{
    uint32_t busier = 0;
    for (uint32_t i = 0; i < picture->nodes && busier < NODES_SHOWN; i++) {
        double own = picture->node[node].utilization_frac, other = picture->node[i].utilization_frac;
        busier += other > own || (i < node && !(own > other));
    }
    return busier < NODES_SHOWN;
}

/* Writes a row for each node of a cluster, or for each of the busiest. */
static void put_nodes(const struct kvc_picture *picture, FILE *out)
{
    if (picture->nodes < 2) {
        return;
    }
    fprintf(out, "<tr><td>");
    if (picture->nodes > NODES_SHOWN) {
        fprintf(out, "the %d busiest of %u nodes", NODES_SHOWN, picture->nodes);
    } else {
        fprintf(out, "nodes");
    }
    fprintf(
        out,
        "</td></tr><tr><td><table border=\"0\" cellborder=\"1\" cellspacing=\"0\"><tr><td></td><td>Mops</td>"
        "<td>p99, µs</td><td>W</td><td>busiest stage</td></tr>");
    for (uint32_t i = 0; i < picture->nodes; i++) {
        const struct kvc_picture_node *node = &picture->node[i];
        if (!is_shown(picture, i)) {
            continue;
        }
        fprintf(out, "<tr><td>");
        kvc_put_html(node->name, out);
        fprintf(out, "</td>");
        put_number(node->mops, out);
        put_number(node->latency_p99_us, out);
        put_number(node->watts, out);
        kvc_graph_put_cell(isnan(node->utilization_frac) ? 0 : node->utilization_frac, out);
        kvc_put_html(node->stage, out);
        fprintf(out,
                isnan(node->utilization_frac) ? " unknown</font></td></tr>" : " %.1f %%</font></td></tr>",
                100 * node->utilization_frac);
    }
    fprintf(out, "</table></td></tr>");
}

/* Writes the name of the scenario, the stages, the nodes and the scale of the colours. */
static void put_title(const struct kvc_picture *picture, bool wide, FILE *out)
{
    fprintf(out, "<table border=\"0\"><tr><td>");
    kvc_put_html(picture->scenario, out);
    fprintf(out, "</td></tr>");
    put_stages(picture, wide ? 8 : 3, out);
    put_nodes(picture, out);
    fprintf(out, "<tr><td>devices</td></tr><tr><td>");
    kvc_graph_put_scale(out);
    fprintf(out, "</td></tr></table>");
}

/* The sockets of a node are stacked in a narrow picture and side by side in a wide one. */
void kvc_picture_write(const struct kvc_picture *picture, bool wide, FILE *out)
{
    struct zone_look *look = look_at_zones(picture);
    uint32_t drawn = 0, more = 0, machines = 0;
    for (uint32_t zone = 0; zone < picture->zones; zone++) {
        machines += look[zone].devices != 0;
    }
    fprintf(out,
            "digraph platform {\n  graph [rankdir=TB, fontname=\"Sans\", fontsize=9, nodesep=0.12, "
            "ranksep=0.22, bgcolor=white, size=\"%s\", labelloc=t, label=<",
            wide ? "6.89,9" : "3.35,9");
    put_title(picture, wide, out);
    fprintf(out,
            ">];\n  node [shape=box, style=filled, fillcolor=white, color=\"#404040\", margin=\"0.05,0.02\", "
            "height=0.2, width=0.3, fontname=\"Sans\", fontsize=9];\n  edge [fontname=\"Sans\", fontsize=8, "
            "arrowsize=0.6];\n");
    for (uint32_t zone = 0; zone < picture->zones; zone++) {
        if (look[zone].alike == 0) {
            continue;
        }
        if (drawn++ == KINDS_SHOWN) {
            drawn--;
            more += look[zone].alike;
            continue;
        }
        put_zone(picture, zone, look[zone].alike, machines, out);
        put_routes(picture, zone, out);
        if (!wide) {
            put_stack(picture, zone, out);
        }
    }
    if (more > 0) {
        fprintf(out, "  more [shape=note, label=\"and %u nodes\\nwith other devices\"];\n", more);
    }
    fprintf(out, "}\n");
    free(look);
}
