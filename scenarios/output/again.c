#include "scenarios/output/again.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scenarios/output/json.h"

static enum kvc_status refuse(const char *file, struct kvc_diag *diag, const char *path, const char *why)
{
    return kvc_diag_fail_at(diag, KVC_ERR_SCENARIO, file, 0,
                            "its scenario cannot be built again: %.100s: %.600s; allowed: the scenario file",
                            path, why);
}

/* ---- tables ---- */

/* Puts a value into the table that its path names, which is made if it is missing. Returns false if a part
 * of the path is a value itself. */
static bool put(json_t *table, const char *path, json_t *value)
{
    char key[KVC_PATH_MAX];
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
        if (json_object_get(table, key) == NULL) {
            json_object_set_new(table, key, json_object());
        }
        table = json_object_get(table, key);
        if (!json_is_object(table)) {
            return false;
        }
    }
    return json_object_get(table, path) == NULL && json_object_set(table, path, value) == 0;
}

void kvc_again_write_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        bool is_plain = *text != '"' && *text != '\\' && !iscntrl((unsigned char)*text);
        fprintf(out, is_plain ? "%c" : "\\%03d", is_plain ? *text : (unsigned char)*text);
    }
    fputc('"', out);
}

/* Returns false if a value cannot be written; for the rest, the stream keeps its error. */
static bool write_lua(const json_t *value, FILE *out)
{
    const char *key;
    json_t *member;
    bool ok = true;
    if (json_is_object(value)) {
        fputs("{\n", out);
        json_object_foreach((json_t *)value, key, member)
        {
            fputc('[', out);
            if (isdigit((unsigned char)key[0])) {
                fputs(key, out);
            } else {
                kvc_again_write_text(key, out);
            }
            fputs("] = ", out);
            ok = write_lua(member, out) && ok;
            fputs(",\n", out);
        }
        fputc('}', out);
    } else if (json_is_string(value)) {
        kvc_again_write_text(json_string_value(value), out);
    } else {
        ok = json_dumpf(value, out, JSON_ENCODE_ANY) == 0;
    }
    return ok;
}

/* ---- parameters ---- */

/* Returns the path of a trace beside the scenario that the result's command names: "kvcast run FILE --set
 * ...". If that is gone, the path stays as it is. */
static json_t *trace_of(const json_t *document, const char *trace)
{
    const char *line = json_string_value(json_object_get(document, "command_line"));
    char scenario[PATH_MAX] = "", real[PATH_MAX], found[2 * PATH_MAX];
    if (line != NULL && sscanf(line, "kvcast %*s %2000[^\n]", scenario) == 1) {
        char *end = strstr(scenario, " --");
        *(end != NULL ? end : scenario + strlen(scenario)) = '\0';
    }
    if (trace[0] == '/' || realpath(scenario, real) == NULL) {
        return json_string(trace);
    }
    *strrchr(real, '/') = '\0';
    snprintf(found, sizeof(found), "%s/%s", real, trace);
    return json_string(found);
}

/* Returns whether the parameter follows from others. */
static bool is_implied(const json_t *document, const char *path)
{
    const json_t *parameters = json_object_get(document, "parameters");
    const char *source = json_string_value(json_object_get(json_object_get(document, "provenance"), path)),
               *other;
    json_t *ignored;
    if (source != NULL && strcmp(source, "default") == 0) {
        return true;
    }
    if (strcmp(path, "cluster.nodes") == 0) { /* Members say how many there are. */
        json_object_foreach((json_t *)parameters, other, ignored)
        {
            if (strncmp(other, "cluster.members.", strlen("cluster.members.")) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Fills the table of the scenario. */
static enum kvc_status fill(const char *file, const json_t *document, json_t *table, struct kvc_diag *diag)
{
    const json_t *parameters = json_object_get(document, "parameters");
    const char *path;
    json_t *value;
    if (json_object_size(parameters) == 0) {
        return refuse(file, diag, "parameters", "it has none");
    }
    json_object_foreach((json_t *)parameters, path, value)
    {
        const char *text = json_string_value(value);
        if (text != NULL && strncmp(text, "function of line", strlen("function of line")) == 0) {
            return refuse(file, diag, path, "it is a function, which a result does not have");
        }
        if (is_implied(document, path)) {
            continue;
        }
        json_t *own = strcmp(path, "workload.arrival.trace") == 0 && text != NULL ? trace_of(document, text)
                                                                                  : json_incref(value);
        bool is_put = (json_is_string(own) || json_is_number(own) || json_is_boolean(own)) &&
                      strlen(path) < KVC_PATH_MAX && put(table, path, own);
        json_decref(own);
        if (!is_put) {
            return refuse(file, diag, path, "it is no text, number or boolean of its own");
        }
    }
    return KVC_OK;
}

/* Returns the first parameter of the result that the loaded scenario has with another value, or NULL. */
static const char *find_change(const json_t *document, const struct kvc_loaded *loaded)
{
    const json_t *parameters = json_object_get(document, "parameters");
    json_t *own = kvc_json_values(&loaded->parameters), *value;
    const char *path, *changed = NULL;
    json_object_foreach((json_t *)parameters, path, value)
    {
        const json_t *again = json_object_get(own, path);
        bool is_trace = strcmp(path, "workload.arrival.trace") == 0;
        if (!is_trace && again != NULL && !json_equal(again, value)) {
            changed = path;
            break;
        }
    }
    json_decref(own);
    return changed;
}

/* Gives the values of the hardware that come from the result the sources that it states. */
static void restore_sources(const json_t *document, struct kvc_parameters *provenance)
{
    const json_t *sources = json_object_get(document, "provenance");
    for (uint32_t i = 0; i < provenance->count; i++) {
        struct kvc_parameter *parameter = &provenance->entry[i];
        const char *source = json_string_value(json_object_get(sources, parameter->path));
        if (source != NULL && strcmp(parameter->source, "scenario") == 0) {
            snprintf(parameter->source, sizeof(parameter->source), "%s", source);
        }
    }
}

/* ---- the scenario ---- */

/* Loads the table from a file in memory. */
static enum kvc_status load(const char *file, const json_t *table, const struct kvc_overrides *set,
                            struct kvc_loaded **out, struct kvc_diag *diag)
{
    char place[64], message[sizeof(diag->message)];
    struct kvc_diag inner = {0};
    int descriptor = memfd_create("scenario", MFD_CLOEXEC);
    FILE *lua = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (lua == NULL) {
        return kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a scenario: %s", strerror(errno));
    }
    fputs("return ", lua);
    bool is_written = write_lua(table, lua);
    fputc('\n', lua);
    enum kvc_status status = KVC_OK;
    if (!is_written || fflush(lua) != 0 || ferror(lua)) {
        status = kvc_diag_fail(diag, KVC_ERR_RUNTIME, "no memory for a scenario: %s", strerror(errno));
    } else {
        snprintf(place, sizeof(place), "/proc/self/fd/%d", descriptor);
        status = kvc_scenario_load(place, set, out, &inner);
        snprintf(message, sizeof(message), "%s", inner.message);
        if (status == KVC_ERR_SCENARIO && strcmp(inner.file, "--set") != 0) {
            status = refuse(file, diag, "loading it says", message);
        } else if (status != KVC_OK) {
            *diag = inner;
        }
    }
    fclose(lua);
    return status;
}

enum kvc_status kvc_again_load(const char *file, const json_t *document, const struct kvc_overrides *set,
                               struct kvc_loaded **out, struct kvc_diag *diag)
{
    json_t *table = json_object(), *name = json_object_get(document, "scenario");
    *out = NULL;
    if (json_is_string(name)) {
        json_object_set(table, "name", name);
    }
    enum kvc_status status = fill(file, document, table, diag);
    status = status == KVC_OK ? load(file, table, set, out, diag) : status;
    json_decref(table);
    if (status == KVC_OK) {
        restore_sources(document, &(*out)->provenance);
    }
    if (status == KVC_OK && (set == NULL || set->count == 0)) {
        const char *changed = find_change(document, *out);
        if (changed != NULL) {
            status = refuse(file, diag, changed, "this version of kvcast reads another value");
            kvc_loaded_free(*out);
            *out = NULL;
        }
    }
    return status;
}
