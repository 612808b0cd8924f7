/* Reads the platform and the result that a picture shows. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/platform.h"
#include "sim/base/array.h"

void kvc_picture_free(struct kvc_picture *picture)
{
    free(picture->zone);
    free(picture->host);
    free(picture->link);
    free(picture->route);
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
    fclose(file);
    if (status == KVC_OK && picture->hosts == 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0, "has no host");
    }
    return status;
}

/* ---- result.json ---- */

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

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
        devices[i].utilization_frac = number_of(entry_of(used, "name", &devices[i]), "utilization_frac");
        /* The watts of a sum are not those of one device. */
        devices[i].watts =
            name != NULL && strcmp(name, devices[i].name) == 0 ? number_of(energy, "watts_mean") : NAN;
    }
}

static enum kvc_status read_result(const char *path, struct kvc_picture *picture, struct kvc_diag *diag)
{
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    if (document == NULL) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, error.line > 0 ? error.line : 0,
                                "cannot be read as a JSON result of kvcast: %s", error.text);
    }
    const char *schema = json_string_value(json_object_get(document, "schema"));
    const char *scenario = json_string_value(json_object_get(document, "scenario"));
    enum kvc_status status = KVC_OK;
    if (schema == NULL || strcmp(schema, "kvcast.result/1") != 0) {
        status = kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, path, 0,
                                  "is not a result of kvcast, whose schema is kvcast.result/1");
    } else {
        snprintf(picture->scenario, sizeof(picture->scenario), "%s", scenario != NULL ? scenario : "");
        measure(picture->host, picture->hosts, document);
        measure(picture->link, picture->links, document);
    }
    json_decref(document);
    return status;
}

enum kvc_status kvc_picture_read(const char *path, struct kvc_picture *picture, struct kvc_diag *diag)
{
    char folder[PATH_MAX], file[PATH_MAX + 16], result[PATH_MAX + 16];
    struct stat found;
    bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    const char *slash = strrchr(path, '/');
    *picture = (struct kvc_picture){0};
    if (is_folder || slash == NULL) {
        snprintf(folder, sizeof(folder), "%.3000s", is_folder ? path : ".");
    } else {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    }
    snprintf(file, sizeof(file), "%s/platform.xml", folder);
    if (access(file, F_OK) != 0) {
        return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                                "does not exist; allowed is a folder that `kvcast run --out` wrote, or the "
                                "result.json in it");
    }
    snprintf(result, sizeof(result), is_folder ? "%s/result.json" : "%s", is_folder ? folder : path);
    enum kvc_status status = read_platform(file, picture, diag);
    return status == KVC_OK ? read_result(result, picture, diag) : status;
}
