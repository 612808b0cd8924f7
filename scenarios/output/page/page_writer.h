/* What the parts of a page are written with: text, values of the document, and tables. */
#ifndef KVC_SCENARIOS_OUTPUT_PAGE_PAGE_WRITER_H
#define KVC_SCENARIOS_OUTPUT_PAGE_PAGE_WRITER_H

#include <jansson.h>
#include <stdio.h>

enum { KVC_PAGE_KEY = 160 /* Bytes of a path in a document. */ };

struct kvc_page;

/* A page that is being written. */
struct kvc_page_writer {
    const struct kvc_page *page; /* scenarios/output/page/page.h */
    const json_t *document;      /* That of the page. */
    FILE *out;
};

/* Puts a text that a stranger may have written: nothing in it is markup. */
__attribute__((format(printf, 2, 3))) void kvc_page_put(const struct kvc_page_writer *to, const char *format,
                                                        ...);

/* Puts markup, which comes from this program. */
void kvc_page_mark(const struct kvc_page_writer *to, const char *markup);

/* Returns the value at a path such as "latency_us.percentiles.3.us", or NULL. */
const json_t *kvc_page_at(const json_t *value, const char *path);

/* Returns the number at a path, or NaN. */
double kvc_page_number(const json_t *value, const char *path);

/* Returns the text at a path, or "". */
const char *kvc_page_text(const json_t *value, const char *path);

/* Puts a number of the answer and its place in the document. */
void kvc_page_put_data(const struct kvc_page_writer *to, double value, const char *key);

/* Puts a number of the answer with its unit, and its interval unless that is unknown or none. */
void kvc_page_put_number(const struct kvc_page_writer *to, const char *path, const char *interval,
                         const char *unit);

/* Begins a table whose columns are separated by bars. A column that begins with '#' has numbers. */
void kvc_page_begin_table(const struct kvc_page_writer *to, const char *caption, const char *columns);
void kvc_page_end_table(const struct kvc_page_writer *to);

/* Begins a row, which is called `name`. */
void kvc_page_begin_row(const struct kvc_page_writer *to, const char *name);
void kvc_page_end_row(const struct kvc_page_writer *to);

/* Puts a cell with a text. */
void kvc_page_put_cell(const struct kvc_page_writer *to, const char *content);

/* Puts a cell with a number, and its interval where one is known. NaN: unknown. */
void kvc_page_put_value(const struct kvc_page_writer *to, double value, double half);

/* Put the sentence and the tables of a kind of answer. */
void kvc_page_answer_capacity(const struct kvc_page_writer *to);
void kvc_page_details_capacity(const struct kvc_page_writer *to);
void kvc_page_answer_day(const struct kvc_page_writer *to);
void kvc_page_details_day(const struct kvc_page_writer *to);
void kvc_page_answer_plan(const struct kvc_page_writer *to);
void kvc_page_details_plan(const struct kvc_page_writer *to);
void kvc_page_answer_compare(const struct kvc_page_writer *to);
void kvc_page_details_compare(const struct kvc_page_writer *to);
void kvc_page_answer_sweep(const struct kvc_page_writer *to);
void kvc_page_details_sweep(const struct kvc_page_writer *to);
void kvc_page_answer_errors(const struct kvc_page_writer *to);
void kvc_page_details_errors(const struct kvc_page_writer *to);
void kvc_page_answer_why(const struct kvc_page_writer *to);
void kvc_page_details_why(const struct kvc_page_writer *to);
void kvc_page_answer_trace(const struct kvc_page_writer *to);
void kvc_page_details_trace(const struct kvc_page_writer *to);

#endif
