/* The nodes of a cluster in reports: all of them in the document, the outstanding ones in the table. */
#ifndef KVC_SCENARIOS_OUTPUT_NODES_H
#define KVC_SCENARIOS_OUTPUT_NODES_H

#include <jansson.h>
#include <stdio.h>

#include "scenarios/output/outcome.h"

/* Returns the member "cluster" of a result document: { nodes: [{ name, class, ... }] }. */
json_t *kvc_json_nodes(const struct kvc_outcome *outcome);

/* Writes one line each for the nodes with the largest share of the requests, the highest 99th percentile and
 * the smallest throughput, and the means of every class of nodes. Writes nothing if no nodes were simulated
 * apart. `bold` and `plain` are the escapes of a terminal, or empty. */
void kvc_table_write_nodes(const struct kvc_outcome *outcome, const char *bold, const char *plain, FILE *out);

#endif
