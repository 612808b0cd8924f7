/* The page of an answer: one HTML file without network, which is XML, too, so that any parser can check it.
 *
 * It begins with the answer in a sentence. Each number of that sentence is a <data> element: `value` is the
 * number of the document and `data-key` its place there ("latency_us.mean"; of a table, "row 3 watts_mean").
 * Then come pictures, tables, every parameter with its source, and the commands that repeat the answer. */
#ifndef KVC_SCENARIOS_OUTPUT_PAGE_PAGE_H
#define KVC_SCENARIOS_OUTPUT_PAGE_PAGE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "plots/document.h"
#include "sim/base/text/csv.h"

enum { KVC_PAGE_PICTURES_MAX = 4 };

/* A picture of the page. */
struct kvc_page_picture {
    const char *caption; /* A sentence. */
    char *svg;           /* The file that gnuplot or dot wrote; NULL: none could be drawn. */
    char why[512];       /* Why not. */
};

/* What the page shows. */
struct kvc_page {
    enum kvc_document_kind kind;
    const char *source; /* What the user named. */
    const json_t
        *document; /* The document; of a sweep, kvc_database_summary(); NULL for a table of errors. */
    const struct kvc_csv *csv; /* The table, with at least one row; NULL for a document. */
    uint32_t count;
    struct kvc_page_picture picture[KVC_PAGE_PICTURES_MAX]; /* `count` pictures. */
};

/* Writes the page. What a document lacks is left out. */
void kvc_page_write(const struct kvc_page *page, FILE *out);

#endif
