#include "scenarios/output/export/flat.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

struct walk {
    int (*visit)(void *data, const struct kvc_flat_value *value);
    void *data;
    char path[PATH_BYTES];
};

/* Returns the unit that a key ends in, NULL if it counts something, or `outer` if it says neither. */
static const char *unit_of(const char *key, const char *outer)
{
    static const struct {
        const char *suffix, *unit;
    } units[] = {{"ns", "ns"},
                 {"us", "us"},
                 {"ms", "ms"},
                 {"s", "s"},
                 {"hours", "h"},
                 {"hour", "h"},
                 {"mops", "million/s"},
                 {"frac", "1"},
                 {"p", "1"},
                 {"bytes", "bytes"},
                 {"hz", "Hz"},
                 {"watts", "W"},
                 {"watts_mean", "W"},
                 {"joules", "J"},
                 {"kwh", "kWh"},
                 {"usd", "USD"},
                 {"per_watt", "thousand/J"},
                 {"per_kwh", "USD/kWh"},
                 {"count", NULL},
                 {"clipped", NULL},
                 {"requests", NULL}};
    size_t bytes = strlen(key);
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        size_t length = strlen(units[i].suffix);
        bool ends = bytes >= length && strcmp(key + bytes - length, units[i].suffix) == 0;
        if (ends && (bytes == length || key[bytes - length - 1] == '_')) {
            return units[i].unit;
        }
    }
    return outer;
}

/* Returns whether jq takes a key without quotes. */
static bool is_plain(const char *key)
{
    bool plain = isalpha((unsigned char)*key) || *key == '_';
    for (; *key != '\0'; key++) {
        plain = plain && (isalnum((unsigned char)*key) || *key == '_');
    }
    return plain;
}

static int walk(struct walk *to, const json_t *value, size_t bytes, const char *unit);

static int walk_object(struct walk *to, const json_t *object, size_t bytes, const char *unit)
{
    const char *key;
    json_t *member;
    int ended = 0;
    json_object_foreach((json_t *)object, key, member)
    {
        const char *format = !is_plain(key) ? "[\"%.200s\"]" : bytes > 0 ? ".%.200s" : "%.200s";
        int more = snprintf(to->path + bytes, PATH_BYTES - bytes, format, key);
        if (ended == 0 && bytes + (size_t)more < PATH_BYTES) {
            ended = walk(to, member, bytes + (size_t)more, unit_of(key, unit));
        }
    }
    return ended;
}

static int walk(struct walk *to, const json_t *value, size_t bytes, const char *unit)
{
    const json_t *element;
    size_t i;
    int ended = 0;
    if (json_is_object(value)) {
        return walk_object(to, value, bytes, unit);
    }
    if (json_is_array(value)) {
        json_array_foreach(value, i, element)
        {
            int more = snprintf(to->path + bytes, PATH_BYTES - bytes, "[%zu]", i);
            if (ended == 0 && bytes + (size_t)more < PATH_BYTES) {
                /* The members of a pair, such as a point of a curve, have units of their own. */
                ended = walk(to, element, bytes + (size_t)more, json_is_array(element) ? NULL : unit);
            }
        }
        return ended;
    }
    to->path[bytes] = '\0';
    const struct kvc_flat_value flat = {
        .path = to->path,
        .text = json_is_boolean(value) ? (json_is_true(value) ? "true" : "false") : json_string_value(value),
        .number = json_is_number(value) ? json_number_value(value) : NAN,
        .unit = json_is_number(value) ? unit : NULL};
    return to->visit(to->data, &flat);
}

int kvc_flat_visit(const json_t *document, int (*visit)(void *data, const struct kvc_flat_value *value),
                   void *data)
{
    struct walk to = {.visit = visit, .data = data};
    return walk(&to, document, 0, NULL);
}
