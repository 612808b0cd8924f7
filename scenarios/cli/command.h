/* The sub-commands of kvcast.
 *
 * Each gets its own arguments, with its name in argv[0], and returns the exit status: 0 success, 1 a
 * validation regressed or a plan found nothing that meets the slo, 2 usage or scenario error, 3 run-time
 * failure, 130 interrupted. */
#ifndef KVC_SCENARIOS_CLI_COMMAND_H
#define KVC_SCENARIOS_CLI_COMMAND_H

#include <jansson.h>

#include "sim/base/text/option.h"

int kvc_command_run(int argc, char **argv);
int kvc_command_predict(int argc, char **argv);
int kvc_command_capacity(int argc, char **argv);
int kvc_command_sweep(int argc, char **argv);
int kvc_command_day(int argc, char **argv);
int kvc_command_plan(int argc, char **argv);
int kvc_command_validate(int argc, char **argv);
int kvc_command_calibrate(int argc, char **argv);
int kvc_command_measure(int argc, char **argv);
int kvc_command_plot(int argc, char **argv);
int kvc_command_export(int argc, char **argv);
int kvc_command_report(int argc, char **argv);
int kvc_command_compare(int argc, char **argv);
int kvc_command_trace(int argc, char **argv);
int kvc_command_why(int argc, char **argv);
int kvc_command_check(int argc, char **argv);
int kvc_command_list(int argc, char **argv);
int kvc_command_describe(int argc, char **argv);
int kvc_command_doctor(int argc, char **argv);
int kvc_command_new(int argc, char **argv);

/* Returns every option table that `kvcast describe` shows, in its order: [{name, what, options:
 * [...]}]. NULL if memory runs out. */
json_t *kvc_describe_topics(void);

/* Returns the option that `kvcast describe PATH` shows, such as "run.duration" or "node.gpu", or NULL.
 * Options of a store are named by it: "STORE.cycle". */
const struct kvc_option *kvc_describe_option(const char *path);

/* Writes what an option allows: its range or words, or else its type. */
void kvc_describe_allowed(const struct kvc_option *row, char *out, size_t size);

/* Returns the names of `kvcast list`: {systems: [{name, note}...], hardware: ..., presets: ..., scenarios:
 * ...}. */
json_t *kvc_list_groups(void);

#endif
