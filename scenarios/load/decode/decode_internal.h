/* What the files of the decoder share: messages, and scalars on the Lua stack. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_DECODE_INTERNAL_H
#define KVC_SCENARIOS_LOAD_DECODE_DECODE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "scenarios/load/decode/decode.h"
#include "sim/base/text/option.h"

enum { KVC_DECODE_LIST_MAX = 640 }; /* Length of a list of names in a message [bytes]. */

/* Returns whether `path` lies below `ancestor`, as "run.seed" lies below "run". */
bool kvc_decode_is_below(const char *path, const char *ancestor);

/* Writes "a, b, c" from the NULL-terminated names. */
void kvc_decode_list_names(const char *const *names, char *out, size_t size);

/* Decodes the scalar at the top of the stack into the field that `row` describes. */
enum kvc_status kvc_decode_scalar(const struct kvc_decoder *decoder, const char *path,
                                  const struct kvc_option *row, void *field);

/* Writes the value of the field as it is recorded. Returns whether the value is bare, a number or a boolean
 * in JSON; other values are texts. */
bool kvc_decode_print(const struct kvc_option *row, const void *field, char *out, size_t size);

#endif
