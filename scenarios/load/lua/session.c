#include "scenarios/load/lua/session.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "scenarios/load/decode/decode_internal.h"
#include "scenarios/load/decode/load_internal.h"
#include "scenarios/load/lua/sandbox.h"

struct kvc_load_session {
    struct kvc_sandbox *sandbox;
};

/* What a protected call works on. */
struct call {
    struct kvc_decoder decoder;
    const char *section;
    const struct kvc_option *row;
    const char *text;
    void *field;
};

static enum kvc_status decode_section(const struct kvc_decoder *decoder, const struct call *call)
{
    struct kvc_scenario *scenario = &decoder->loaded->scenario;
    if (strcmp(call->section, "workload") == 0) {
        return kvc_load_workload(decoder, 2, &scenario->workload);
    }
    if (strcmp(call->section, "run") == 0) {
        return kvc_load_run(decoder, 2, &scenario->run);
    }
    if (strcmp(call->section, "cluster") == 0) {
        return kvc_load_plain(decoder, 2, &kvc_cluster_option_table, "cluster", &scenario->cluster);
    }
    return kvc_load_system(decoder, 2, scenario);
}

static enum kvc_status decode(lua_State *lua, void *data)
{
    struct call *call = data;
    call->decoder.lua = lua;
    lua_settop(lua, 1);
    if (!lua_checkstack(lua, 128)) {
        return kvc_diag_fail(call->decoder.diag, KVC_ERR_RUNTIME, "out of memory");
    }
    enum kvc_status status = kvc_load_push_root(&call->decoder);
    if (status == KVC_OK && call->section != NULL) {
        status = decode_section(&call->decoder, call);
    } else if (status == KVC_OK) {
        int function = LUA_NOREF; /* A policy does not matter to the closed form. */
        status = kvc_load_scenario(&call->decoder, 2, &function);
        luaL_unref(lua, LUA_REGISTRYINDEX, function);
        if (status == KVC_OK) {
            status = kvc_load_slo(&call->decoder, 2, &call->decoder.loaded->slo);
        }
    }
    lua_settop(lua, 1);
    return status;
}

static enum kvc_status decode_value(lua_State *lua, void *data)
{
    struct call *call = data;
    call->decoder.lua = lua;
    lua_settop(lua, 1);
    kvc_load_push_value(lua, call->text);
    enum kvc_status status = kvc_decode_scalar(&call->decoder, "value", call->row, call->field);
    lua_settop(lua, 1);
    return status;
}

enum kvc_status kvc_load_session_open(const char *path, struct kvc_load_session **out, struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_load_session *session = calloc(1, sizeof(*session));
    if (session == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory to load %s", path);
    }
    enum kvc_status status = kvc_sandbox_run(path, &session->sandbox, diag);
    if (status != KVC_OK) {
        free(session);
        return status;
    }
    *out = session;
    return KVC_OK;
}

enum kvc_status kvc_load_session_decode(struct kvc_load_session *session, const struct kvc_overrides *set,
                                        const char *section, struct kvc_loaded **out, struct kvc_diag *diag)
{
    *out = NULL;
    struct kvc_loaded *loaded = calloc(1, sizeof(*loaded));
    if (loaded == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "out of memory");
    }
    snprintf(loaded->scenario.file, sizeof(loaded->scenario.file), "%s", kvc_sandbox_file(session->sandbox));
    struct call call = {
        .decoder = {.sandbox = session->sandbox, .set = set, .loaded = loaded, .prefix = "", .diag = diag},
        .section = section};
    enum kvc_status status = kvc_sandbox_protect(session->sandbox, decode, &call, diag);
    if (status != KVC_OK) {
        kvc_loaded_free(loaded);
        return status;
    }
    *out = loaded;
    return KVC_OK;
}

bool kvc_load_session_value(struct kvc_load_session *session, const struct kvc_option *row, const char *text,
                            void *field)
{
    struct kvc_diag unused = {0};
    struct call call = {.decoder = {.sandbox = session->sandbox, .prefix = "", .diag = &unused},
                        .row = row,
                        .text = text,
                        .field = field};
    return kvc_sandbox_protect(session->sandbox, decode_value, &call, &unused) == KVC_OK;
}

enum kvc_status kvc_load_session_check(struct kvc_load_session *session, struct kvc_loaded *loaded,
                                       const struct kvc_overrides *set, struct kvc_diag *diag)
{
    const struct kvc_decoder decoder = {
        .sandbox = session->sandbox, .set = set, .loaded = loaded, .prefix = "", .diag = diag};
    enum kvc_status status = kvc_load_check(&decoder, false);
    return status == KVC_OK ? kvc_load_check_slo(&decoder) : status;
}

void kvc_load_session_close(struct kvc_load_session *session)
{
    if (session == NULL) {
        return;
    }
    kvc_sandbox_free(session->sandbox);
    free(session);
}
