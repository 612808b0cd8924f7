#include "scenarios/load/decode/load_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>

#include "models/registry.h"

enum { MODELS_MAX = 64 };

enum kvc_status kvc_load_name(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario)
{
    lua_pushliteral(decoder->lua, "name");
    if (lua_rawget(decoder->lua, root) != LUA_TNIL) {
        enum kvc_status status =
            kvc_decode_text(decoder, "name", "a text", scenario->name, sizeof(scenario->name));
        if (status != KVC_OK) {
            return status;
        }
        if (scenario->name[0] == '\0' || strchr(scenario->name, '/') != NULL) {
            return kvc_decode_fail(decoder, "name", "name: found \"%s\", allowed: a text without \"/\"",
                                   scenario->name);
        }
    } else {
        const char *file = kvc_sandbox_file(decoder->sandbox), *slash = strrchr(file, '/');
        const char *base = slash != NULL ? slash + 1 : file, *dot = strrchr(base, '.');
        int bytes = dot != NULL && dot > base ? (int)(dot - base) : (int)strlen(base);
        snprintf(scenario->name, sizeof(scenario->name), "%.*s", bytes, base);
    }
    lua_pop(decoder->lua, 1);
    return KVC_OK;
}

static enum kvc_status find_model(const struct kvc_decoder *decoder, struct kvc_scenario *scenario)
{
    const char *names[MODELS_MAX + 1] = {NULL};
    char kind[KVC_TEXT_MAX], allowed[256] = "", suggestion[96];
    size_t used = 0;
    for (size_t i = 0; i < MODELS_MAX && kvc_models[i] != NULL; i++) {
        names[i] = kvc_models[i]->name;
        if (used < sizeof(allowed)) {
            used +=
                (size_t)snprintf(allowed + used, sizeof(allowed) - used, "%s%s", i > 0 ? ", " : "", names[i]);
        }
    }
    lua_pushliteral(decoder->lua, "kind");
    if (lua_rawget(decoder->lua, -2) == LUA_TNIL) {
        return kvc_decode_fail(decoder, "system", "system.kind is missing; allowed: %s", allowed);
    }
    enum kvc_status status = kvc_decode_text(decoder, "system.kind", allowed, kind, sizeof(kind));
    if (status != KVC_OK) {
        return status;
    }
    lua_pop(decoder->lua, 1);
    scenario->model = kvc_model_find(kind);
    if (scenario->model == NULL) {
        kvc_decode_suggest(kind, names, suggestion, sizeof(suggestion));
        return kvc_decode_fail(decoder, "system.kind", "no system \"%.60s\"%s%s allowed: %s", kind,
                               suggestion, suggestion[0] != '\0' ? "" : ";", allowed);
    }
    return kvc_decode_record(decoder, "system.kind", kind, false, kvc_decode_origin(decoder, "system.kind"),
                             false);
}

enum kvc_status kvc_load_system(const struct kvc_decoder *decoder, int root, struct kvc_scenario *scenario)
{
    static const char *const extra[] = {"kind", NULL};
    enum kvc_status status = kvc_load_push_section(decoder, root, "system");
    if (status == KVC_OK) {
        status = find_model(decoder, scenario);
    }
    if (status != KVC_OK) {
        return status;
    }
    const struct kvc_option_table *options = scenario->model->options;
    scenario->options = calloc(1, options->size);
    if (scenario->options == NULL) {
        return kvc_diag_fail(decoder->diag, KVC_ERR_RUNTIME, "out of memory");
    }
    kvc_option_table_set_defaults(options, scenario->options);
    status = kvc_decode_table(
        decoder, -1,
        &(struct kvc_table){
            .path = "system", .options = options, .object = scenario->options, .extra = extra});
    if (status == KVC_OK) {
        lua_pop(decoder->lua, 1);
    }
    return status;
}
