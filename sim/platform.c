#include "sim/platform.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/text/copy.h"

enum {
    NO_ROUTE = UINT32_MAX,
    ROOM_FIRST = 16, /* Places of an array at first, a power of two: enough for a node with two sockets. */
};

struct route {
    uint32_t from, to;
    uint32_t next; /* The route from the same host that was added before, or NO_ROUTE. */
    uint32_t count;
    uint32_t link[KVC_PLATFORM_ROUTE_MAX];
};

struct kvc_platform {
    uint32_t zones, hosts, links, routes;
    char (*zone)[KVC_PLATFORM_NAME_MAX];
    struct kvc_platform_host *host;
    uint32_t *host_zone;
    uint32_t *host_route; /* The route from this host that was added last, or NO_ROUTE. */
    struct kvc_platform_link *link;
    uint32_t *link_zone;
    struct route *route;
};

/* Makes room for another entry of an array of `count`, which doubles when it is full. */
static void *with_room(void *array, uint32_t count, size_t size)
{
    bool full = count == 0 || (count >= ROOM_FIRST && (count & (count - 1)) == 0);
    return full ? kvc_array_grown(array, count > 0 ? 2 * (size_t)count : ROOM_FIRST, size) : array;
}

struct kvc_platform *kvc_platform_create(void)
{
    return kvc_array_of(1, sizeof(struct kvc_platform));
}

void kvc_platform_free(struct kvc_platform *platform)
{
    if (platform == NULL) {
        return;
    }
    free(platform->zone);
    free(platform->host);
    free(platform->host_zone);
    free(platform->host_route);
    free(platform->link);
    free(platform->link_zone);
    free(platform->route);
    free(platform);
}

void kvc_platform_set_name(char out[KVC_PLATFORM_NAME_MAX], const char *prefix, const char *name)
{
    char *end = out + KVC_PLATFORM_NAME_MAX - 1;
    out = stpncpy(out, prefix, (size_t)(end - out));
    out = stpncpy(out, ".", (size_t)(end - out));
    *stpncpy(out, name, (size_t)(end - out)) = '\0';
}

uint32_t kvc_platform_add_zone(struct kvc_platform *platform, const char *name)
{
    platform->zone = with_room(platform->zone, platform->zones, sizeof(*platform->zone));
    kvc_text_copy(platform->zone[platform->zones], KVC_PLATFORM_NAME_MAX, name);
    return platform->zones++;
}

uint32_t kvc_platform_add_host(struct kvc_platform *platform, uint32_t zone,
                               const struct kvc_platform_host *host)
{
    uint32_t count = platform->hosts;
    platform->host = with_room(platform->host, count, sizeof(*platform->host));
    platform->host_zone = with_room(platform->host_zone, count, sizeof(*platform->host_zone));
    platform->host_route = with_room(platform->host_route, count, sizeof(*platform->host_route));
    platform->host_route[platform->hosts] = NO_ROUTE;
    platform->host[platform->hosts] = *host;
    platform->host_zone[platform->hosts] = zone;
    return platform->hosts++;
}

uint32_t kvc_platform_add_link(struct kvc_platform *platform, uint32_t zone,
                               const struct kvc_platform_link *link)
{
    uint32_t count = platform->links;
    platform->link = with_room(platform->link, count, sizeof(*platform->link));
    platform->link_zone = with_room(platform->link_zone, count, sizeof(*platform->link_zone));
    platform->link[platform->links] = *link;
    platform->link_zone[platform->links] = zone;
    return platform->links++;
}

void kvc_platform_add_route(struct kvc_platform *platform, uint32_t from, uint32_t to, const uint32_t *links,
                            uint32_t count)
{
    if (count == 0 || count > KVC_PLATFORM_ROUTE_MAX) {
        KVC_BUG("a route of %u links", count);
    }
    platform->route = with_room(platform->route, platform->routes, sizeof(*platform->route));
    struct route *route = &platform->route[platform->routes];
    *route = (struct route){.from = from, .to = to, .next = platform->host_route[from], .count = count};
    platform->host_route[from] = platform->routes++;
    memcpy(route->link, links, count * sizeof(*links));
}

uint32_t kvc_platform_hosts(const struct kvc_platform *platform)
{
    return platform->hosts;
}

uint32_t kvc_platform_links(const struct kvc_platform *platform)
{
    return platform->links;
}

const struct kvc_platform_host *kvc_platform_host(const struct kvc_platform *platform, uint32_t host)
{
    return &platform->host[host];
}

const struct kvc_platform_link *kvc_platform_link(const struct kvc_platform *platform, uint32_t link)
{
    return &platform->link[link];
}

const uint32_t *kvc_platform_route(const struct kvc_platform *platform, uint32_t from, uint32_t to,
                                   uint32_t *count)
{
    for (uint32_t i = platform->host_route[from]; i != NO_ROUTE; i = platform->route[i].next) {
        const struct route *route = &platform->route[i];
        if (route->to == to) {
            *count = route->count;
            return route->link;
        }
    }
    return NULL;
}

/* ---- check ---- */

static enum kvc_status check_hosts(const struct kvc_platform *platform, struct kvc_diag *diag)
{
    for (uint32_t i = 0; i < platform->hosts; i++) {
        const struct kvc_platform_host *host = &platform->host[i];
        for (uint32_t p = 0; p < host->pstates; p++) {
            if (!(host->pstate[p].speed > 0)) {
                return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                     "platform: state %u of host \"%s\" has the speed %g, allowed: above 0",
                                     p, host->name, host->pstate[p].speed);
            }
        }
        for (uint32_t p = 0; p < host->pstates; p++) {
            const struct kvc_watts *watts = &host->pstate[p].watts;
            if (watts->all_w > 0 && !(watts->idle_w <= watts->one_w && watts->one_w <= watts->all_w)) {
                return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                     "platform: state %u of host \"%s\" takes %g W idle, %g W with one busy "
                                     "core and %g W with all, allowed: none below the one before",
                                     p, host->name, watts->idle_w, watts->one_w, watts->all_w);
            }
        }
        if (host->first_pstate >= host->pstates || host->cores == 0) {
            return kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                 "platform: host \"%s\" begins in state %u of %u with %u cores", host->name,
                                 host->first_pstate, host->pstates, host->cores);
        }
    }
    return KVC_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Checks that `count` devices have different names. The first name is at `name`, the next one `stride` bytes
 * later. */
static enum kvc_status check_names(const char *name, size_t stride, uint32_t count, const char *kind,
                                   struct kvc_diag *diag)
{
    const char **names = kvc_array_of(count + 1, sizeof(*names));
    const char *twice = NULL;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = name + i * stride;
    }
    qsort(names, count, sizeof(*names), compare_names);
    for (uint32_t i = 1; i < count && twice == NULL; i++) {
        twice = strcmp(names[i - 1], names[i]) == 0 ? names[i] : NULL;
    }
    free(names);
    return twice == NULL
               ? KVC_OK
               : kvc_diag_fail(diag, KVC_ERR_SCENARIO, "platform: two %s have the name \"%s\"", kind, twice);
}

static enum kvc_status check_links(const struct kvc_platform *platform, struct kvc_diag *diag)
{
    bool *used = kvc_array_of(platform->links + 1, sizeof(*used));
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < platform->routes; i++) {
        for (uint32_t j = 0; j < platform->route[i].count; j++) {
            used[platform->route[i].link[j]] = true;
        }
    }
    for (uint32_t i = 0; i < platform->links && status == KVC_OK; i++) {
        const struct kvc_platform_link *link = &platform->link[i];
        if (!(link->bytes_per_s > 0)) {
            status = kvc_diag_fail(diag, KVC_ERR_SCENARIO,
                                   "platform: link \"%s\" carries %g bytes per second, allowed: above 0",
                                   link->name, link->bytes_per_s);
        } else if (!used[i]) {
            status = kvc_diag_fail(diag, KVC_ERR_SCENARIO, "platform: no route connects the link \"%s\"",
                                   link->name);
        }
    }
    free(used);
    return status;
}

enum kvc_status kvc_platform_check(const struct kvc_platform *platform, struct kvc_diag *diag)
{
    enum kvc_status status = platform->hosts == 0 ? KVC_OK
                                                  : check_names(platform->host->name, sizeof(*platform->host),
                                                                platform->hosts, "hosts", diag);
    if (status == KVC_OK && platform->links > 0) {
        status = check_names(platform->link->name, sizeof(*platform->link), platform->links, "links", diag);
    }
    if (status == KVC_OK) {
        status = check_hosts(platform, diag);
    }
    return status == KVC_OK ? check_links(platform, diag) : status;
}

/* ---- XML ---- */

/* SimGrid draws the middle value as soon as any core works and the last one if all do. The power with one
 * busy core fixes the middle one, because power is linear between one and all cores. */
static double base_w(const struct kvc_platform_host *host, const struct kvc_watts *watts)
{
    return host->cores > 1 ? watts->one_w - (watts->all_w - watts->one_w) / (host->cores - 1) : watts->idle_w;
}

static void write_host(FILE *out, const struct kvc_platform_host *host)
{
    fprintf(out, "      <host id=\"%s\" core=\"%u\" pstate=\"%u\" speed=\"", host->name, host->cores,
            host->first_pstate);
    for (uint32_t i = 0; i < host->pstates; i++) {
        fprintf(out, "%s%.9gGf", i > 0 ? "," : "", host->pstate[i].speed);
    }
    fprintf(out, "\">\n        <prop id=\"device\" value=\"%s\"/>\n", host->device);
    if (host->pstate[host->first_pstate].watts.all_w > 0) {
        fprintf(out, "        <prop id=\"wattage_per_state\" value=\"");
        for (uint32_t i = 0; i < host->pstates; i++) {
            const struct kvc_watts *watts = &host->pstate[i].watts;
            fprintf(out, "%s%.9g:%.9g:%.9g", i > 0 ? ", " : "", watts->idle_w, base_w(host, watts),
                    watts->all_w);
        }
        fprintf(out, "\"/>\n        <prop id=\"wattage_off\" value=\"0\"/>\n");
    }
    fprintf(out, "      </host>\n");
}

static void write_link(FILE *out, const struct kvc_platform_link *link)
{
    fprintf(out, "      <link id=\"%s\" bandwidth=\"%.12gBps\" latency=\"0s\">\n", link->name,
            link->bytes_per_s);
    fprintf(out, "        <prop id=\"device\" value=\"%s\"/>\n", link->device);
    if (link->busy_w > 0) {
        fprintf(out, "        <prop id=\"wattage_range\" value=\"%.9g:%.9g\"/>\n", link->idle_w,
                link->busy_w);
    }
    fprintf(out, "      </link>\n");
}

static void write_route(FILE *out, const struct kvc_platform *platform, const struct route *route)
{
    fprintf(out, "      <route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", platform->host[route->from].name,
            platform->host[route->to].name);
    for (uint32_t i = 0; i < route->count; i++) {
        fprintf(out, "<link_ctn id=\"%s\"/>", platform->link[route->link[i]].name);
    }
    fprintf(out, "</route>\n");
}

static void write_zone(FILE *out, const struct kvc_platform *platform, uint32_t zone)
{
    fprintf(out, "    <zone id=\"%s\" routing=\"Full\">\n", platform->zone[zone]);
    for (uint32_t i = 0; i < platform->hosts; i++) {
        if (platform->host_zone[i] == zone) {
            write_host(out, &platform->host[i]);
        }
    }
    for (uint32_t i = 0; i < platform->links; i++) {
        if (platform->link_zone[i] == zone) {
            write_link(out, &platform->link[i]);
        }
    }
    for (uint32_t i = 0; i < platform->routes; i++) {
        if (platform->host_zone[platform->route[i].from] == zone) {
            write_route(out, platform, &platform->route[i]);
        }
    }
    fprintf(out, "    </zone>\n");
}

void kvc_platform_write(const struct kvc_platform *platform, FILE *out)
{
    fprintf(out, "<?xml version=\"1.0\"?>\n"
                 "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                 "<!-- One flop is one nanosecond of a device's time. -->\n"
                 "<platform version=\"4.1\">\n  <zone id=\"world\" routing=\"None\">\n");
    for (uint32_t i = 0; i < platform->zones; i++) {
        write_zone(out, platform, i);
    }
    fprintf(out, "    <zone id=\"simulation\" routing=\"None\">\n"
                 "      <host id=\"kvcast\" speed=\"1Gf\"/>\n    </zone>\n  </zone>\n</platform>\n");
}
