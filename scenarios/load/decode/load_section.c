#include "scenarios/load/decode/load_internal.h"

#include <math.h>

#include <lua.h>

#include "scenarios/load/decode/sections.h"

enum kvc_status kvc_load_push_section(const struct kvc_decoder *decoder, int root, const char *name)
{
    char shown[80];
    lua_pushstring(decoder->lua, name);
    if (lua_rawget(decoder->lua, root) == LUA_TTABLE) {
        return KVC_OK;
    }
    if (!lua_isnil(decoder->lua, -1)) {
        kvc_decode_show(decoder->lua, -1, shown, sizeof(shown));
        return kvc_decode_fail(decoder, name, "%s: found %s, allowed: a table", name, shown);
    }
    lua_pop(decoder->lua, 1);
    lua_newtable(decoder->lua);
    return KVC_OK;
}

enum kvc_status kvc_load_plain(const struct kvc_decoder *decoder, int root,
                               const struct kvc_option_table *options, const char *path, void *object)
{
    enum kvc_status status = kvc_load_push_section(decoder, root, path);
    if (status != KVC_OK) {
        return status;
    }
    kvc_option_table_set_defaults(options, object);
    status = kvc_decode_table(decoder, -1,
                              &(struct kvc_table){.path = path, .options = options, .object = object});
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}

/* Returns when an option of the run, which has no effect now, would have one; NULL if it has. */
static const char *needs(const struct kvc_run *run, const struct kvc_option *option)
{
    bool of_samples = option->offset == offsetof(struct kvc_run, sample_rate) ||
                      option->offset == offsetof(struct kvc_run, sample_bytes);
    if (of_samples && run->functional != KVC_FUNCTIONAL_SAMPLED) {
        return "run.functional is \"sampled\"";
    }
    if (option->offset == offsetof(struct kvc_run, warmup_most_ns) && run->warmup_ns >= 0) {
        return "run.warmup is \"auto\"";
    }
    return NULL;
}

enum kvc_status kvc_load_run(const struct kvc_decoder *decoder, int root, struct kvc_run *run)
{
    enum kvc_status status = kvc_load_plain(decoder, root, &kvc_run_option_table, "run", run);
    if (status == KVC_OK) {
        status = kvc_load_push_section(decoder, root, "run");
    }
    if (status != KVC_OK) {
        return status;
    }
    for (size_t i = 0; i < kvc_run_option_table.count; i++) {
        const struct kvc_option *option = &kvc_run_option_table.rows[i];
        const char *needed = needs(run, option);
        char path[KVC_PATH_MAX];
        if (needed != NULL && kvc_decode_has(decoder->lua, -1, option->name)) {
            kvc_decode_join(path, "run", option->name);
            kvc_decode_warn(decoder, path, "%s has no effect unless %s", path, needed);
        }
    }
    lua_pop(decoder->lua, 1);
    return KVC_OK;
}

const struct kvc_slo kvc_slo_none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

enum kvc_status kvc_load_slo(const struct kvc_decoder *decoder, int root, struct kvc_slo *slo)
{
    *slo = kvc_slo_none;
    enum kvc_status status = kvc_load_push_section(decoder, root, "slo");
    if (status == KVC_OK) {
        status = kvc_decode_table(
            decoder, -1,
            &(struct kvc_table){
                .path = "slo", .options = &kvc_slo_option_table, .object = slo, .present_only = true});
    }
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}
