/* calibrated = "paper": parameters that figures of the store's paper determine. */
#include <dirent.h>
#include <fnmatch.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/load/decode/sections.h"
#include "sim/base/diag.h"
#include "sim/base/files/data_dir.h"
#include "sim/base/text/csv.h"

/* The columns of identification.csv (validate/scoring/identified.h) that matter here. */
enum { COLUMN_SYSTEM, COLUMN_SCENARIOS, COLUMN_PARAMETER, COLUMN_LEFT_OUT, COLUMN_VALUE, COLUMN_DROPPED = 9 };

static const char header[] = "system,scenarios,parameter,left_out,value,low,high,facts,condition,dropped";

struct taking {
    const char *system, *scenario, *paper;
    struct kvc_overrides *values;
    char source[KVC_TEXT_MAX];
};

static enum kvc_status take(void *data, char *const *cell, int line, struct kvc_diag *diag)
{
    struct taking *taking = data;
    (void)line;
    if (fnmatch(cell[COLUMN_SYSTEM], taking->system, FNM_EXTMATCH) != 0 ||
        fnmatch(cell[COLUMN_SCENARIOS], taking->scenario, FNM_EXTMATCH) != 0 ||
        cell[COLUMN_LEFT_OUT][0] != '\0' || cell[COLUMN_DROPPED][0] != '\0') {
        return KVC_OK;
    }
    snprintf(taking->source, sizeof(taking->source), "identified from figures of the paper (%s)",
             taking->paper);
    return kvc_overrides_add(taking->values, cell[COLUMN_PARAMETER], cell[COLUMN_VALUE], diag);
}

/* Collects the values of all papers about this store. */
static enum kvc_status collect(struct taking *taking, struct kvc_diag *diag)
{
    const struct kvc_csv_format format = {.header = header, .last_has_commas = true};
    struct dirent **entries;
    char folder[PATH_MAX], path[PATH_MAX];
    enum kvc_status status = KVC_OK;
    kvc_data_path("validate/papers", folder);
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        taking->paper = entries[i]->d_name;
        bool fits = snprintf(path, sizeof(path), "%s/%s/identification.csv", folder, taking->paper) <
                    (int)sizeof(path);
        if (status == KVC_OK && fits && access(path, F_OK) == 0) {
            status = kvc_csv_visit(path, &format, take, taking, diag);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return status;
}

/* Reads the text at a path of the table on top, or returns NULL. */
static const char *text_of(lua_State *lua, int root, const char *section, const char *name)
{
    const char *text = NULL;
    kvc_decode_push(lua, root, section);
    if (lua_istable(lua, -1)) {
        kvc_decode_push(lua, -1, name);
        text =
            lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : NULL; /* The table keeps it alive. */
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
    return text;
}

enum kvc_status kvc_load_calibrated(const struct kvc_decoder *decoder, int root, struct kvc_overrides *values,
                                    char source[KVC_TEXT_MAX])
{
    lua_State *lua = decoder->lua;
    char shown[80];
    kvc_decode_push(lua, root, "calibrated");
    bool is_absent = lua_isnil(lua, -1);
    bool is_paper = lua_type(lua, -1) == LUA_TSTRING && strcmp(lua_tostring(lua, -1), "paper") == 0;
    kvc_decode_show(lua, -1, shown, sizeof(shown));
    lua_pop(lua, 1);
    if (is_absent) {
        return KVC_OK;
    }
    if (!is_paper) {
        return kvc_decode_fail(decoder, "calibrated", "calibrated: found %s, allowed: \"paper\"", shown);
    }
    const char *file = kvc_sandbox_file(decoder->sandbox), *slash = strrchr(file, '/');
    struct taking taking = {.system = text_of(lua, root, "system", "kind"),
                            .scenario = slash != NULL ? slash + 1 : file,
                            .values = values};
    enum kvc_status status = taking.system != NULL ? collect(&taking, decoder->diag) : KVC_OK;
    if (status == KVC_OK && taking.system != NULL && values->count == 0) {
        return kvc_decode_fail(decoder, "calibrated",
                               "calibrated: found \"paper\" with system.kind \"%s\", of which no paper has "
                               "identified parameters",
                               taking.system);
    }
    strcpy(source, taking.source);
    return status;
}
