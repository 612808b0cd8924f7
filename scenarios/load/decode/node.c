#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/registry.h"
#include "scenarios/load/decode/hardware.h"
#include "scenarios/load/decode/sections.h"
#include "sim/base/array.h"
#include "sim/devices/cpu.h"

static bool has_device(const struct kvc_model *model, const struct kvc_device_kind *kind)
{
    const struct kvc_model_device *device = model->devices;
    while (device->kind != NULL && device->kind != kind) {
        device++;
    }
    return device->kind != NULL;
}

/* Refuses a device that the store does not use, such as node.gpu of a store without one. */
static enum kvc_status refuse_device(const struct kvc_decoder *decoder, const struct kvc_model *model,
                                     const char *kind)
{
    char path[KVC_PATH_MAX], allowed[256] = "";
    size_t used = 0;
    for (const struct kvc_model_device *device = model->devices; device->kind != NULL; device++) {
        if (used < sizeof(allowed)) {
            used += (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s", used > 0 ? ", " : "",
                                     device->kind->name);
        }
    }
    kvc_decode_join(path, "node", kind);
    return kvc_decode_fail(decoder, path, "%s: %s has none, its nodes have %s", path, model->name, allowed);
}

/* Reads the devices that the store uses from the table on top of the stack. */
static enum kvc_status decode_devices(const struct kvc_decoder *decoder, const struct kvc_model *model,
                                      const char *machine, struct kvc_node *node)
{
    enum kvc_status status = KVC_OK;
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        if (!has_device(model, kvc_device_kinds[i]) &&
            kvc_decode_has(decoder->lua, -1, kvc_device_kinds[i]->name)) {
            return refuse_device(decoder, model, kvc_device_kinds[i]->name);
        }
    }
    for (const struct kvc_model_device *device = model->devices; status == KVC_OK && device->kind != NULL;
         device++) {
        bool optional = device->kind->optional || device->profile == NULL;
        bool may_be_measured = !device->kind->optional && machine[0] != '\0';
        if (optional && !may_be_measured && !kvc_decode_has(decoder->lua, -1, device->kind->name)) {
            continue;
        }
        lua_pushstring(decoder->lua, device->kind->name);
        lua_rawget(decoder->lua, -2);
        status = kvc_hardware_decode(decoder, device->kind, device->profile, machine, node);
        if (status == KVC_OK) {
            lua_pop(decoder->lua, 1);
        }
    }
    return status;
}

static enum kvc_status check_cpu_clock(const struct kvc_decoder *decoder, const struct kvc_node *node)
{
    struct kvc_diag inner = {0};
    uint32_t pstate;
    if (kvc_cpu_pstate_of(node, &pstate, &inner) == KVC_OK) {
        return KVC_OK;
    }
    return kvc_decode_fail(decoder, "node.cpu_clock", "%s", inner.message);
}

enum kvc_status kvc_load_node(const struct kvc_decoder *decoder, int root, const struct kvc_model *model,
                              struct kvc_node *node)
{
    const char *extra[KVC_DEVICE_KINDS_MAX + 2] = {"machine"};
    char machine[KVC_TEXT_MAX] = "";
    for (size_t i = 0; kvc_device_kinds[i] != NULL; i++) {
        extra[i + 1] = kvc_device_kinds[i]->name;
    }
    enum kvc_status status = kvc_load_push_section(decoder, root, "node");
    if (status != KVC_OK) {
        return status;
    }
    kvc_option_table_set_defaults(&kvc_node_option_table, node);
    status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = "node", .options = &kvc_node_option_table, .object = node, .extra = extra});
    if (status == KVC_OK && !model->has_sockets && kvc_decode_has(decoder->lua, -1, "sockets")) {
        kvc_decode_warn(decoder, "node.sockets", "node.sockets has no effect with %s", model->name);
    }
    if (status == KVC_OK && !model->has_rest_power && kvc_decode_has(decoder->lua, -1, "power")) {
        kvc_decode_warn(decoder, "node.power", "node.power has no effect with %s", model->name);
    }
    if (status == KVC_OK && kvc_decode_has(decoder->lua, -1, "machine")) {
        lua_pushliteral(decoder->lua, "machine");
        lua_rawget(decoder->lua, -2);
        status =
            kvc_decode_text(decoder, "node.machine", "the name of a machine file, as calibrate writes it",
                            machine, sizeof(machine));
        if (status == KVC_OK) {
            lua_pop(decoder->lua, 1);
        }
    }
    if (status == KVC_OK) {
        status = decode_devices(decoder, model, machine, node);
    }
    if (status == KVC_OK) {
        status = check_cpu_clock(decoder, node);
    }
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

/* Replaces the field `name` of the table on top of the stack, a section of the scenario, by a copy that the
 * fields of member.NAME override. */
static enum kvc_status override_section(const struct kvc_decoder *decoder, int member, const char *path,
                                        const char *name)
{
    lua_State *lua = decoder->lua;
    char place[KVC_PATH_MAX], shown[80];
    int root = lua_gettop(lua);
    kvc_decode_join(place, path, name);
    lua_pushstring(lua, name);
    if (lua_rawget(lua, member) == LUA_TNIL) {
        lua_pop(lua, 1);
        return KVC_OK;
    }
    if (!lua_istable(lua, -1)) {
        kvc_decode_show(lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, place, "%s: found %s, allowed: a table", place, shown);
    }
    if (kvc_decode_has(lua, -1, "kind")) {
        return kvc_decode_fail(decoder, place, "%s.kind: all members have the scenario's system.kind", place);
    }
    lua_newtable(lua);
    int copy = lua_gettop(lua), own = copy - 1;
    lua_pushstring(lua, name);
    if (lua_rawget(lua, root) == LUA_TTABLE) {
        for (lua_pushnil(lua); lua_next(lua, copy + 1) != 0;) {
            lua_pushvalue(lua, -2);
            lua_insert(lua, -2);
            lua_rawset(lua, copy);
        }
    }
    lua_settop(lua, copy);
    for (lua_pushnil(lua); lua_next(lua, own) != 0;) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, copy);
    }
    lua_setfield(lua, root, name);
    lua_settop(lua, root);
    return KVC_OK;
}

/* Pushes a copy of the scenario's table with the sections of a member. */
static enum kvc_status push_member_root(const struct kvc_decoder *decoder, int root, int member,
                                        const char *path)
{
    lua_State *lua = decoder->lua;
    lua_newtable(lua);
    int copy = lua_gettop(lua);
    for (lua_pushnil(lua); lua_next(lua, root) != 0;) {
        lua_pushvalue(lua, -2);
        lua_insert(lua, -2);
        lua_rawset(lua, copy);
    }
    enum kvc_status status = override_section(decoder, member, path, "system");
    return status == KVC_OK ? override_section(decoder, member, path, "node") : status;
}

/* Records the values of a member that differ from the scenario's. */
static enum kvc_status record_differences(const struct kvc_decoder *decoder, const struct kvc_loaded *member,
                                          const char *path)
{
    enum kvc_status status = KVC_OK;
    for (uint32_t i = 0; i < member->parameters.count && status == KVC_OK; i++) {
        const struct kvc_parameter *own = &member->parameters.entry[i];
        const struct kvc_parameter *base = kvc_parameters_find(&decoder->loaded->parameters, own->path);
        char place[KVC_PATH_MAX];
        if (base != NULL && strcmp(base->value, own->value) == 0) {
            continue;
        }
        kvc_decode_join(place, path, own->path);
        bool hardware = kvc_parameters_find(&member->provenance, own->path) != NULL;
        status = kvc_decode_record(decoder, place, own->value, own->bare, own->source, hardware);
    }
    return status;
}

/* Reads system and node of a member as if they were the scenario's. */
static enum kvc_status decode_machine(const struct kvc_decoder *decoder, int root, int table,
                                      const char *path, struct kvc_cluster_member *member)
{
    int base = lua_gettop(decoder->lua);
    struct kvc_decoder own = *decoder;
    own.member = path;
    own.loaded = kvc_array_of(1, sizeof(*own.loaded));
    struct kvc_scenario *scenario = &own.loaded->scenario;
    enum kvc_status status = kvc_overrides_join(&own.loaded->set, &decoder->loaded->set, decoder->diag);
    if (status == KVC_OK) {
        status = push_member_root(&own, root, table, path);
    }
    if (status == KVC_OK) {
        int function = LUA_NOREF; /* Members have none. */
        status = kvc_load_system(&own, base + 1, scenario, &function);
        luaL_unref(decoder->lua, LUA_REGISTRYINDEX, function);
    }
    if (status == KVC_OK) {
        status = kvc_load_node(&own, base + 1, scenario->model, &scenario->node);
    }
    if (status == KVC_OK) {
        status = record_differences(decoder, own.loaded, path);
    }
    member->options = scenario->options;
    member->node = scenario->node;
    scenario->options = NULL;
    scenario->node = (struct kvc_node){0};
    kvc_loaded_clear(own.loaded);
    free(own.loaded);
    lua_settop(decoder->lua, base);
    return status;
}

/* Reads the member on top of the stack. */
static enum kvc_status decode_member(const struct kvc_decoder *decoder, int root, const char *path,
                                     struct kvc_cluster *cluster)
{
    static const char *const extra[] = {"node", "system", NULL};
    struct kvc_cluster_member *member = &cluster->member[cluster->member_count++];
    char shown[80];
    if (!lua_istable(decoder->lua, -1)) {
        kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, path, "%s: found %s, allowed: a table", path, shown);
    }
    kvc_option_table_set_defaults(&kvc_cluster_member_option_table, member);
    enum kvc_status status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = path, .options = &kvc_cluster_member_option_table, .object = member, .extra = extra});
    for (uint32_t i = 0; i + 1 < cluster->member_count && status == KVC_OK; i++) {
        if (strcmp(cluster->member[i].name, member->name) == 0) {
            return kvc_decode_fail(decoder, path, "%s.name: found \"%s\" twice", path, member->name);
        }
    }
    cluster->nodes += member->nodes;
    return status == KVC_OK ? decode_machine(decoder, root, lua_gettop(decoder->lua), path, member) : status;
}

/* Reads the list on top of the stack. */
static enum kvc_status decode_members(const struct kvc_decoder *decoder, int root,
                                      struct kvc_cluster *cluster)
{
    lua_State *lua = decoder->lua;
    char path[KVC_PATH_MAX], nodes[32];
    size_t count = lua_istable(lua, -1) ? lua_rawlen(lua, -1) : 0;
    int list = lua_gettop(lua);
    enum kvc_status status = KVC_OK;
    if (count < 1 || count > KVC_CLUSTER_MEMBERS_MAX) {
        return kvc_decode_fail(decoder, "cluster.members",
                               "cluster.members: found %zu elements, allowed: a list of 1 to %d tables",
                               count, KVC_CLUSTER_MEMBERS_MAX);
    }
    cluster->nodes = 0;
    cluster->member = kvc_array_of(count, sizeof(*cluster->member));
    for (size_t i = 0; i < count && status == KVC_OK; i++) {
        snprintf(path, sizeof(path), "cluster.members.%zu", i + 1);
        lua_rawgeti(lua, list, (lua_Integer)i + 1);
        status = decode_member(decoder, root, path, cluster);
        lua_settop(lua, list);
    }
    snprintf(nodes, sizeof(nodes), "%llu", (unsigned long long)cluster->nodes);
    return status == KVC_OK
               ? kvc_decode_record(decoder, "cluster.nodes", nodes, true, "cluster.members", false)
               : status;
}

enum kvc_status kvc_load_cluster(const struct kvc_decoder *decoder, int root, struct kvc_cluster *cluster)
{
    static const char *const extra[] = {"members", NULL};
    int base = lua_gettop(decoder->lua);
    enum kvc_status status = kvc_load_push_section(decoder, root, "cluster");
    if (status != KVC_OK) {
        return status;
    }
    kvc_option_table_set_defaults(&kvc_cluster_option_table, cluster);
    status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = "cluster", .options = &kvc_cluster_option_table, .object = cluster, .extra = extra});
    if (status == KVC_OK && kvc_decode_has(decoder->lua, -1, "members")) {
        if (kvc_decode_has(decoder->lua, -1, "nodes")) {
            return kvc_decode_fail(
                decoder, "cluster.nodes",
                "cluster.nodes: found beside cluster.members, which say how many there are");
        }
        lua_pushliteral(decoder->lua, "members");
        lua_rawget(decoder->lua, -2);
        status = decode_members(decoder, root, cluster);
    }
    if (status == KVC_OK) {
        lua_settop(decoder->lua, base);
    }
    return status;
}
