/* kvcast validate --elasticities: scenarios in which one number is larger by a factor. */
#include "validate/command/validate_scaled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/command/validate.h"

/* Splits "160us" into 160 and "us". Returns false for a text. */
static bool parse_number(const char *text, double *number, const char **unit)
{
    char *end = NULL;
    if (strspn(text, "0123456789.") == 0) {
        return false;
    }
    *number = strtod(text, &end);
    *unit = end;
    return strspn(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/") == strlen(end);
}

bool kvc_scaled_is_number(const struct kvc_parameter *parameter)
{
    static const char *const parts[] = {"system.", "node.", "cluster.", "workload."};
    double number;
    const char *unit;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (strncmp(parameter->path, parts[i], strlen(parts[i])) == 0) {
            return parse_number(parameter->value, &number, &unit) && number != 0;
        }
    }
    return false;
}

/* Returns the length of the path up to the number of a list's element, as in "node.gpu.clocks.", or 0. */
static size_t list_length(const char *path)
{
    for (const char *dot = strchr(path, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        size_t digits = strspn(dot + 1, "0123456789");
        if (digits > 0 && (dot[1 + digits] == '.' || dot[1 + digits] == '\0')) {
            return (size_t)(dot + 1 - path);
        }
    }
    return 0;
}

/* An override of text that grows. */
struct text {
    char *bytes;
    size_t length, size;
};

static void append(struct text *text, const char *path, const char *value)
{
    size_t needed = text->length + strlen(path) + strlen(value) + 3;
    if (needed > text->size) {
        text->size = 2 * needed;
        text->bytes = realloc(text->bytes, text->size);
        if (text->bytes == NULL) {
            kvc_out_of_memory("overrides of %zu bytes", text->size);
        }
    }
    text->length +=
        (size_t)sprintf(text->bytes + text->length, "%s%s=%s", text->length > 0 ? ";" : "", path, value);
}

/* Loads the scenario with one value replaced. Returns false when it is refused. */
static bool load_with(const char *path, const char *overrides, const struct kvc_parameters *resolved,
                      uint32_t index, const char *value, struct kvc_loaded **out)
{
    const struct kvc_parameter *scaled = &resolved->entry[index];
    size_t list = list_length(scaled->path);
    struct kvc_diag diag = {0};
    struct text text = {
        .bytes = strdup(overrides), .length = strlen(overrides), .size = strlen(overrides) + 1};
    if (text.bytes == NULL) {
        kvc_out_of_memory("overrides of %zu bytes", text.size);
    }
    for (uint32_t i = 0; i < resolved->count && list > 0; i++) {
        if (i != index && strncmp(resolved->entry[i].path, scaled->path, list) == 0) {
            append(&text, resolved->entry[i].path, resolved->entry[i].value);
        }
    }
    append(&text, scaled->path, value);
    enum kvc_status status = kvc_validate_load(path, text.bytes, out, &diag);
    free(text.bytes);
    return status == KVC_OK;
}

bool kvc_scaled_load(const char *path, const char *overrides, const struct kvc_parameters *resolved,
                     uint32_t index, double factor, struct kvc_loaded **out, double *ratio)
{
    double number;
    const char *unit;
    *out = NULL;
    if (!parse_number(resolved->entry[index].value, &number, &unit)) {
        return false;
    }
    bool whole = number == floor(number);
    const double tried[] = {number * factor, whole ? ceil(number * factor) : NAN, whole ? number * 2 : NAN,
                            number / factor};
    for (size_t i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
        char value[64];
        snprintf(value, sizeof(value), "%.12g%s", tried[i], unit);
        if (!isnan(tried[i]) && load_with(path, overrides, resolved, index, value, out)) {
            *ratio = tried[i] / number;
            return true;
        }
    }
    return false;
}
