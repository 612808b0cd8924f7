/* The values that all JSON documents have in common. */
#ifndef KVC_SCENARIOS_OUTPUT_JSON_VALUE_H
#define KVC_SCENARIOS_OUTPUT_JSON_VALUE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/diag.h"
#include "sim/devices/node.h"

/* Significant digits of numbers: more than any model's precision, and short enough to read. */
enum { KVC_JSON_DIGITS = 12 };

/* Returns the number, or null if it is not finite. */
json_t *kvc_json_number(double value);

json_t *kvc_json_count(uint64_t value);

/* Returns the text. Bytes that are not ASCII are replaced when it is not valid UTF-8, which Jansson refuses.
 */
json_t *kvc_json_text(const char *bytes);

/* Returns the text, or null if it is empty. */
json_t *kvc_json_text_or_null(const char *bytes);

/* Returns the calibrated machine of a scenario, or null when the scenario only describes its hardware. */
json_t *kvc_json_machine(const struct kvc_machine *machine);

/* Writes a document and a newline. KVC_ERR_RUNTIME names `what` and why it cannot be written. */
enum kvc_status kvc_json_write_document(const json_t *document, const char *what, FILE *out,
                                        struct kvc_diag *diag);

/* Numbers as text, for tables with millions of them. */

enum { KVC_NUMBER_TEXT_MAX = 32 };

/* Writes what printf writes for "%.12g", several times as fast in the usual range. Returns the length. */
size_t kvc_number_text(double number, char out[KVC_NUMBER_TEXT_MAX]);

#endif
