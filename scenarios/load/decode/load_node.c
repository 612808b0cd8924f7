#include "scenarios/load/decode/load_internal.h"

#include <stdio.h>

#include <lua.h>

#include "models/registry.h"
#include "sim/devices/cpu.h"

#include "scenarios/load/decode/hardware.h"

static bool has_device(const struct kvc_model *model, const struct kvc_device_kind *kind)
{
    const struct kvc_model_device *device = model->devices;
    while (device->kind != NULL && device->kind != kind) {
        device++;
    }
    return device->kind != NULL;
}

/* Refuses a device that the store does not look at, as node.gpu of a store without one. */
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

/* Reads the devices that the store looks at from the table on top of the stack. */
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
        if (optional && !kvc_decode_has(decoder->lua, -1, device->kind->name)) {
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
