/* The files of an answer that is a search over many results: a document and a table of it in a folder, and
 * the document where the user wants it.
 *
 * All are opened before the work starts, so that a path that cannot be written is known at once, and put in
 * place when they are complete. */
#ifndef KVC_SCENARIOS_RUN_ANSWER_FILES_H
#define KVC_SCENARIOS_RUN_ANSWER_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "plots/plot.h"
#include "sim/base/diag.h"
#include "sim/base/files/folder_lock.h"
#include "sim/base/files/partial_file.h"

struct kvc_answer_files {
    bool to_stdout; /* The document goes to stdout, in place of the table for people. */
    struct kvc_partial_file folder_json, folder_csv, json;
    struct kvc_folder_lock lock; /* Of the folder. */
};

/* Writes an answer in each of its forms. */
struct kvc_answer_forms {
    const void *report;
    enum kvc_status (*json)(const void *report, FILE *out, struct kvc_diag *diag);
    void (*csv)(const void *report, FILE *out);
    void (*table)(const void *report, bool color,
                  FILE *out); /* For people, with terminal escapes if `color` is set. */
    bool color;
};

/* Opens FOLDER/NAME.json and FOLDER/NAME.csv, unless `folder` is NULL, and the file `json`, unless it is NULL
 * or "-", which stands for stdout. Whatever it returns, the files must be discarded. */
enum kvc_status kvc_answer_files_open(struct kvc_answer_files *files, const char *folder, const char *name,
                                      const char *json, struct kvc_diag *diag);

/* Writes the files and puts them in place, then writes the table or the document to `out`, even if a file
 * failed. Tells the first failure. */
enum kvc_status kvc_answer_files_write(struct kvc_answer_files *files, const struct kvc_answer_forms *forms,
                                       FILE *out, struct kvc_diag *diag);

/* Removes files that are not in place, and gives the folder up. */
void kvc_answer_files_discard(struct kvc_answer_files *files);

/* Draws FOLDER/NAME.svg, .pdf and .png from one input, as the owner of the folder. */
enum kvc_status kvc_answer_files_draw(const char *folder, const char *name, enum kvc_plot_kind kind,
                                      const char *input, struct kvc_diag *diag);

#endif
