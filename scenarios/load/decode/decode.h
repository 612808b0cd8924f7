/* The decoder reads Lua tables into structs that option tables describe.
 *
 * It reads raw fields only, so that no code of the script runs. It records every resolved value together with
 * its source. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_DECODE_H
#define KVC_SCENARIOS_LOAD_DECODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "scenarios/load/loaded.h"
#include "scenarios/load/lua/sandbox.h"
#include "sim/base/text/option.h"

/* Says whether a value may be written as { value, source = "..." }. */
enum kvc_sourcing {
    KVC_SOURCING_NONE,
    KVC_SOURCING_OPTIONAL, /* Hardware fields that a scenario overrides. */
    KVC_SOURCING_REQUIRED, /* Hardware profiles, where every number states its source. */
};

struct kvc_decoder {
    struct lua_State *lua;
    const struct kvc_sandbox *sandbox; /* File and text for the places of errors. */
    const struct kvc_overrides *set;   /* Overrides that are applied to the table, or NULL. */
    struct kvc_loaded *loaded;         /* Receives parameters, provenance and warnings. */
    enum kvc_sourcing sourcing;
    const char *member; /* Path of the member of a cluster whose system and node are decoded, or NULL. */
    const char *prefix; /* Prefix of recorded paths; "" except in hardware profiles. */
    bool is_plain; /* The caller wants the structs alone: no parameters, provenance or warnings are kept. */
    bool is_trial; /* The caller only asks whether it decodes: messages have no line, warnings are dropped. */
    /* Keep the texts for the functions power.policy and system.policy, or NULL. */
    char (*shown_policy)[KVC_TEXT_MAX];
    struct kvc_diag *diag;
};

/* Decoding of one table. */
struct kvc_table {
    const char *path; /* Path of the table in the file; "" is the returned table. */
    const struct kvc_option_table *options;
    void *object;             /* Already holds the values of absent keys. */
    const char *const *extra; /* Further allowed keys, which the caller reads; NULL-terminated, or NULL. */
    const char *const *absent_source; /* Source of each row's absent key; NULL stands for "default". */
    bool present_only;                /* Absent keys are neither recorded nor required. */
};

/* Fails with the place of `path`: --set, or the file and line of the path or of its nearest ancestor. */
enum kvc_status kvc_decode_fail(const struct kvc_decoder *decoder, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a warning with the place of `path`. */
void kvc_decode_warn(const struct kvc_decoder *decoder, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes "path.name", or only the name if the path is empty. */
void kvc_decode_join(char out[KVC_PATH_MAX], const char *path, const char *name);

/* Writes a Lua value as messages show it, such as 160, "160us" or a table. */
void kvc_decode_show(struct lua_State *lua, int index, char *out, size_t size);

/* Writes "; did you mean "NAME"?" if one of the names resembles `found`, else "". */
void kvc_decode_suggest(const char *found, const char *const *names, char *out, size_t size);

/* Returns whether the table at `index` has the field, without regard to metatables. */
bool kvc_decode_has(struct lua_State *lua, int index, const char *name);

/* Pushes the field of the table at `index`, without regard to metatables; nil if it is absent. */
void kvc_decode_push(struct lua_State *lua, int index, const char *name);

/* Copies the text at the top of the stack into `out`. `allowed` ends the message about a value of another
 * type. */
enum kvc_status kvc_decode_text(const struct kvc_decoder *decoder, const char *path, const char *allowed,
                                char *out, size_t size);

/* Decodes the table at `index`. Unknown keys are an error. */
enum kvc_status kvc_decode_table(const struct kvc_decoder *decoder, int index, const struct kvc_table *table);

/* Records a resolved value and replaces an earlier one of the same path. If `hardware` is set, the value is
 * also recorded as provenance. */
enum kvc_status kvc_decode_record(const struct kvc_decoder *decoder, const char *path, const char *value,
                                  bool bare, const char *source, bool hardware);

/* Returns "--set" if an override wrote `path`, the source of identified parameters if they did, or else
 * "scenario". */
const char *kvc_decode_origin(const struct kvc_decoder *decoder, const char *path);

enum { KVC_DECODE_LIST_MAX = 640 }; /* Length of a list of names in a message [bytes]. */

/* Decodes the scalar at the top of the stack into the field that `row` describes. */
enum kvc_status kvc_decode_scalar(const struct kvc_decoder *decoder, const char *path,
                                  const struct kvc_option *row, void *field);

#endif
