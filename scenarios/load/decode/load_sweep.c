/* The section `sweep`: axes by their paths, and the keys points, replicas and where. */
#include "scenarios/load/decode/load_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

#include "scenarios/load/lua/locate.h"

enum { REPLICAS_MAX = 1000 };

static const char *const own_keys[] = {"points", "replicas", "where", NULL};

/* Finds the place where the axis is written. Axes that the lexer cannot find come last. */
static size_t axis_offset(const struct kvc_decoder *decoder, const char *under, const char *name)
{
    char path[KVC_PATH_MAX];
    size_t bytes;
    const char *source = kvc_sandbox_source(decoder->sandbox, &bytes);
    kvc_decode_join(path, under, name);
    struct kvc_location location = kvc_locate(source, bytes, path);
    return location.exact ? location.offset : bytes;
}

enum kvc_status kvc_load_insert_axis(const struct kvc_decoder *decoder, struct kvc_sweep *sweep,
                                     const char *under, const char *path, struct kvc_sweep_axis **axis)
{
    if (sweep->count == KVC_SWEEP_AXES_MAX) {
        return kvc_decode_fail(decoder, under, "sweep: found too many paths, allowed: up to %d",
                               KVC_SWEEP_AXES_MAX);
    }
    if (strlen(path) >= KVC_PATH_MAX - sizeof("sweep.points.1.")) {
        return kvc_decode_fail(decoder, under, "sweep: the path \"%.40s...\" is too long", path);
    }
    size_t offset = axis_offset(decoder, under, path);
    uint32_t at = sweep->count;
    for (; at > 0; at--) {
        const char *before = sweep->axis[at - 1].path;
        size_t other = sweep->axis[at - 1].offset;
        if (other < offset || (other == offset && strcmp(before, path) < 0)) {
            break;
        }
        sweep->axis[at] = sweep->axis[at - 1];
    }
    sweep->count++;
    *axis = &sweep->axis[at];
    **axis = (struct kvc_sweep_axis){.offset = offset};
    strcpy((*axis)->path, path);
    return KVC_OK;
}

static bool is_own(const char *name)
{
    bool own = false;
    for (int i = 0; own_keys[i] != NULL && !own; i++) {
        own = strcmp(name, own_keys[i]) == 0;
    }
    return own;
}

/* Fails for a key of the sweep that is neither a path nor one of its own. */
static enum kvc_status fail_key(const struct kvc_decoder *decoder)
{
    lua_State *lua = decoder->lua;
    char shown[80], suggestion[96] = "";
    kvc_decode_show(lua, -2, shown, sizeof(shown));
    if (lua_type(lua, -2) == LUA_TSTRING) {
        kvc_decode_suggest(lua_tostring(lua, -2), own_keys, suggestion, sizeof(suggestion));
    }
    return kvc_decode_fail(decoder, "sweep",
                           "sweep: found the key %s%s allowed: paths into system, node, cluster, workload, "
                           "run and power such as [\"run.duration\"], and points, replicas, where",
                           shown, suggestion[0] != '\0' ? suggestion : ",");
}

/* Whether the path leads into a section that a point may change. */
static bool is_section(const char *name)
{
    static const char *const sections[] = {"system", "node", "cluster", "workload", "run", "power"};
    bool found = false;
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !found; i++) {
        size_t bytes = strcspn(name, ".");
        found = strlen(sections[i]) == bytes && strncmp(name, sections[i], bytes) == 0;
    }
    return found;
}

static enum kvc_status read_axes(const struct kvc_decoder *decoder, int table, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    struct kvc_sweep_axis *axis;
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        const char *name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : NULL;
        if (name != NULL && is_own(name)) {
            continue;
        }
        if (name == NULL || !is_section(name)) {
            return fail_key(decoder);
        }
        enum kvc_status status = kvc_load_insert_axis(decoder, sweep, "sweep", name, &axis);
        if (status == KVC_OK) {
            status = kvc_load_axis(decoder, axis);
        }
        if (status != KVC_OK) {
            return status;
        }
    }
    return KVC_OK;
}

static enum kvc_status read_replicas(const struct kvc_decoder *decoder, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    char shown[80];
    double count = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : NAN;
    if (lua_isnil(lua, -1)) {
        return KVC_OK;
    }
    if (!(count >= 1 && count <= REPLICAS_MAX) || count != floor(count)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, "sweep.replicas",
                               "sweep.replicas: found %s, allowed: a whole number from 1 to %d", shown,
                               REPLICAS_MAX);
    }
    sweep->replicas = (uint32_t)count;
    return KVC_OK;
}

/* A range without steps has values only where the design draws them. */
static enum kvc_status check_ranges(const struct kvc_decoder *decoder, const struct kvc_sweep *sweep)
{
    bool draws = sweep->design == KVC_SWEEP_RANDOM || sweep->design == KVC_SWEEP_LATIN_HYPERCUBE;
    char path[KVC_PATH_MAX];
    for (uint32_t i = 0; i < sweep->count; i++) {
        if (sweep->axis[i].is_drawn && !draws) {
            kvc_decode_join(path, "sweep", sweep->axis[i].path);
            return kvc_decode_fail(
                decoder, path,
                "sweep of %s: found a range without steps, allowed in a grid: from, to and "
                "steps; points = { random = COUNT } needs no steps",
                sweep->axis[i].path);
        }
    }
    if (draws && sweep->count == 0) {
        return kvc_decode_fail(decoder, "sweep.points",
                               "sweep.points: found no path to draw from, such as "
                               "[\"system.cycle\"] = { from = \"100us\", to = \"400us\" }");
    }
    return KVC_OK;
}

static enum kvc_status check_where(const struct kvc_decoder *decoder)
{
    char shown[80];
    if (lua_isnil(decoder->lua, -1) || lua_isfunction(decoder->lua, -1)) {
        return KVC_OK;
    }
    kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
    return kvc_decode_fail(decoder, "sweep.where",
                           "sweep.where: found %s, allowed: a function of a point, such as "
                           "function(p) return p[\"node.sockets\"] <= 2 end",
                           shown);
}

enum kvc_status kvc_load_sweep(const struct kvc_decoder *decoder, int root, struct kvc_sweep *sweep)
{
    lua_State *lua = decoder->lua;
    enum kvc_status status = kvc_load_push_section(decoder, root, "sweep");
    if (status != KVC_OK) {
        return status;
    }
    int table = lua_gettop(lua);
    sweep->axis = calloc(KVC_SWEEP_AXES_MAX, sizeof(*sweep->axis));
    if (sweep->axis == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    status = read_axes(decoder, table, sweep);
    if (status == KVC_OK && kvc_decode_has(lua, table, "points")) {
        kvc_decode_push(lua, table, "points");
        status = kvc_load_points(decoder, sweep);
    }
    if (status == KVC_OK) {
        kvc_decode_push(lua, table, "replicas");
        status = read_replicas(decoder, sweep);
    }
    if (status == KVC_OK) {
        kvc_decode_push(lua, table, "where");
        status = check_where(decoder);
    }
    if (status == KVC_OK) {
        status = check_ranges(decoder, sweep);
    }
    if (status == KVC_OK) {
        lua_settop(lua, table - 1);
    }
    return status;
}

bool kvc_load_has_constraint(const struct kvc_decoder *decoder, int root)
{
    lua_State *lua = decoder->lua;
    kvc_decode_push(lua, root, "sweep");
    bool has = lua_istable(lua, -1) && kvc_decode_has(lua, -1, "where");
    lua_pop(lua, 1);
    return has;
}
