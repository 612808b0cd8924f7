/* The common body of kvcast run, predict and measure. */
#ifndef KVC_SCENARIOS_CLI_COMMAND_ANSWER_H
#define KVC_SCENARIOS_CLI_COMMAND_ANSWER_H

#include "scenarios/cli/arguments.h"
#include "scenarios/run/answer.h"

/* Flags of run and predict alone, by position. */
enum { KVC_ANSWER_FLAG_SENSITIVITY };
extern const struct kvc_flag kvc_answer_flags[];

/* Answers the scenario that the arguments name, and draws the latency distribution into the folder of --out
 * if there is one. Returns the exit status. */
int kvc_command_answer(int argc, char **argv, const struct kvc_usage *usage, enum kvc_answer_by by);

#endif
