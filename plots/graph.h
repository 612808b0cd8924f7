/* What pictures that Graphviz draws have in common: colours of utilizations, texts, and the call of dot. */
#ifndef KVC_PLOTS_GRAPH_H
#define KVC_PLOTS_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/diag.h"
#include "sim/base/files/partial_file.h"

/* Writes the colour of a utilization, from 0 to 1. The steps differ in grey as well, and for colour-blind
 * readers; the number is printed as well. */
void kvc_graph_put_colour(double frac, FILE *out);

/* Returns whether text on the colour of a utilization must be white. */
bool kvc_graph_needs_white(double frac);

/* Writes text within a quoted string of dot. */
void kvc_graph_put_text(const char *text, FILE *out);

/* Begins a cell of a table in HTML with the colour of a utilization, and its font, which "</font></td>" ends;
 * NaN: a plain cell. */
void kvc_graph_put_cell(double frac, FILE *out);

/* Writes a table in HTML with the scale of the colours. */
void kvc_graph_put_scale(FILE *out);

/* Lets dot draw the graph that the descriptor holds. `format` is "svg", "pdf" or "png", `what` names it in
 * messages. Fails as kvc_program_draw says. */
enum kvc_status kvc_graph_draw(int graph, const char *format, const char *what,
                               struct kvc_partial_file *picture, struct kvc_diag *diag);

#endif
