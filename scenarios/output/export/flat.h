/* A JSON document as a flat list of values, for tables and databases. */
#ifndef KVC_SCENARIOS_OUTPUT_EXPORT_FLAT_H
#define KVC_SCENARIOS_OUTPUT_EXPORT_FLAT_H

#include <jansson.h>

/* A value of a document. */
struct kvc_flat_value {
    const char *path; /* Where it stands, as jq writes it: latency_us.percentiles[5].value. */
    const char *text; /* The text of a string, or "true" or "false"; NULL for a number and for null. */
    double number;    /* NaN for null and for a string. */
    const char *unit; /* Unit of the number, which its key or an outer one ends in; NULL: it has none. */
};

/* Calls `visit` for every value that is no object and no array, in the order of the document, until it
 * returns nonzero. Returns that, or 0. */
int kvc_flat_visit(const json_t *document, int (*visit)(void *data, const struct kvc_flat_value *value),
                   void *data);

#endif
