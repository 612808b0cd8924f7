/* From Lua tables to structs that option tables describe.
 *
 * Reads raw fields only: no code of the script runs. What was resolved is recorded with its source. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_H
#define KVC_SCENARIOS_LOAD_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "scenarios/load/load.h"
#include "scenarios/load/sandbox.h"
#include "sim/base/option.h"

/* Whether values may be written { value, source = "..." }. */
enum kvc_sourcing {
    KVC_SOURCING_NONE,
    KVC_SOURCING_OPTIONAL, /* hardware fields that a scenario overrides */
    KVC_SOURCING_REQUIRED, /* hardware profiles: every number states where it is from */
};

struct kvc_decoder {
    struct lua_State *lua;
    const struct kvc_sandbox *sandbox; /* file and text that errors point into */
    const struct kvc_overrides *set;   /* applied onto the table; NULL: none */
    struct kvc_loaded *loaded;         /* takes parameters, provenance, warnings */
    enum kvc_sourcing sourcing;
    const char *prefix; /* of recorded paths; "" except in hardware profiles */
    struct kvc_diag *diag;
};

/* How to read one table. */
struct kvc_table {
    const char *path; /* of the table in the file; "" is the returned table */
    const struct kvc_option_table *options;
    void *object;             /* already holds what absent keys mean */
    const char *const *extra; /* further allowed keys, which the caller reads; NULL-terminated; NULL: none */
    const char *const *absent_source; /* per row: what an absent key's value is from; NULL: "default" */
    bool present_only;                /* record no absent keys, require none */
};

/* Fails with the place of `path`: file and line where it or its nearest ancestor was written, or --set. */
enum kvc_status kvc_decode_fail(const struct kvc_decoder *decoder, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a warning with the place of `path`. */
void kvc_decode_warn(const struct kvc_decoder *decoder, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "path.name", or the name alone where path is empty. */
void kvc_decode_join(char out[KVC_PATH_MAX], const char *path, const char *name);

/* What a Lua value looks like in a message: 160, "160us", a table. */
void kvc_decode_show(struct lua_State *lua, int index, char *out, size_t size);

/* "; did you mean "cycle"?" or "". */
void kvc_decode_suggest(const char *found, const char *const *names, char *out, size_t size);

/* Whether the table at `index` has a field (raw). */
bool kvc_decode_has(struct lua_State *lua, int index, const char *name);

/* The text at the top of the stack into `out`; `allowed` completes the message when it is no usable text. */
enum kvc_status kvc_decode_text(const struct kvc_decoder *decoder, const char *path, const char *allowed,
                                char *out, size_t size);

/* Reads the table at `index`: known keys into the object, then refuses unknown ones. */
enum kvc_status kvc_decode_table(const struct kvc_decoder *decoder, int index, const struct kvc_table *table);

/* Records a resolved value; replaces an earlier one of the same path. `hardware`: also as provenance. */
enum kvc_status kvc_decode_record(const struct kvc_decoder *decoder, const char *path, const char *value,
                                  bool bare, const char *source, bool hardware);

/* "--set" where an override wrote `path`, else "scenario". */
const char *kvc_decode_origin(const struct kvc_decoder *decoder, const char *path);

#endif
