/* The reference of systems, sections, devices and presets, in Markdown, made from the tables behind `kvcast
 * describe`. */
#ifndef KVC_SCENARIOS_CLI_REFERENCE_H
#define KVC_SCENARIOS_CLI_REFERENCE_H

#include <stdio.h>

/* Prints the whole reference except for the commands. Returns the exit status. */
int kvc_reference_print(FILE *out);

#endif
