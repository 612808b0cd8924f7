/** @file
 * libkvcast: the forecasts of kvcast for programs. A program opens a scenario, sets options, predicts or
 * simulates, and reads values of the result by their JSON paths.
 *
 *     struct kvcast *scenario;
 *     double mops;
 *     if (kvcast_open("first.lua", &scenario) == 0 && kvcast_set(scenario, "system.cycle", "200us") == 0 &&
 *         kvcast_predict(scenario) == 0 && kvcast_get(scenario, "throughput_mops.mean", &mops) == 0) {
 *         printf("%g million requests/s\n", mops);
 *     } else {
 *         fprintf(stderr, "%s\n", kvcast_error(scenario));
 *     }
 *     kvcast_free(scenario);
 *
 * Functions that can fail return 0, 2 if the caller's scenario, option or path is wrong, or 3 if the machine
 * cannot do it: the exit statuses of kvcast. kvcast_error() then has one line that says where, what was found
 * and what is allowed. A scenario stays usable after an error.
 *
 * Threads: any thread may call any function. Calls exclude each other in the whole process, so that
 * predictions in parallel need processes. A scenario, and the texts that it returns, must not be used by two
 * threads at a time.
 *
 * Process: nothing is printed. Locale, working directory and the handlers of signals stay the caller's,
 * except that a handler of SIGVTALRM limits the time of scenarios' scripts. Only two failures end the
 * process, with a message on stderr: no memory is left (status 3), and a script that never ends inside one
 * instruction of Lua (status 2).
 *
 * The data of kvcast, such as hardware profiles, are found beside the library, or where KVCAST_DATA says. */
#ifndef KVCAST_H
#define KVCAST_H

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the library exports. */
#define KVCAST_API __attribute__((visibility("default")))

/** An open scenario with the options that were set and its last result. */
struct kvcast;

/** Runs the script of a scenario file. The file is read again by kvcast_run() and kvcast_json(), and must not
 * change meanwhile. *out receives the scenario, also after an error, for kvcast_error(); the caller frees it.
 */
KVCAST_API int kvcast_open(const char *path, struct kvcast **out);

/** Frees a scenario with the texts that it returned. NULL is allowed. */
KVCAST_API void kvcast_free(struct kvcast *scenario);

/** Sets an option as `--set option=value` does: "system.cycle" to "200us", "node.gpu" to "tesla-k40c".
 * Options count in the order in which they were first set. NULL as the value takes the option back. The last
 * result is dropped; what the scenario does not allow is an error of the next answer. */
KVCAST_API int kvcast_set(struct kvcast *scenario, const char *option, const char *value);

/** Answers by the closed form of the store, as `kvcast predict` does. The first few predictions of the same
 * options take milliseconds each; then, as long as numbers, flags and choices are all that changes,
 * microseconds. */
KVCAST_API int kvcast_predict(struct kvcast *scenario);

/** Answers by simulation, as `kvcast run` does, in a child process that this call waits for. A child that
 * crashes is an error of this call. The child ends with the process that waits for it. */
KVCAST_API int kvcast_run(struct kvcast *scenario);

/** Reads a value of the last result. A path has the keys of the result document, which its schema
 * (share/kvcast/result.schema.json) describes: "latency_us.mean". Entries of arrays are chosen by a number
 * from 0 or by one of their values: "stages[0].busy_s", "stages[name=search].utilization_frac",
 * "latency_us.percentiles[p=0.99].us". The unit is the one that the key ends in, or else the key above it.
 * *value becomes NaN if the answer does not know the value or what it is part of (null), and 1 or 0 for true
 * or false. Reading the throughput, the load, the power or the latency of a prediction takes less than a
 * microsecond; other paths first make the document, which takes milliseconds. */
KVCAST_API int kvcast_get(struct kvcast *scenario, const char *path, double *value);

/** Returns the whole result as JSON, the same bytes that `--json` writes, or NULL after an error. The text
 * belongs to the scenario until its next kvcast_set(), kvcast_predict(), kvcast_run() or kvcast_free(). */
KVCAST_API const char *kvcast_json(struct kvcast *scenario);

/** Returns the message of the last call if it failed, as "file:line: message", and else an empty text. The
 * text belongs to the scenario until its next call. */
KVCAST_API const char *kvcast_error(const struct kvcast *scenario);

/** Returns the version, such as "0.1.0+36a0b8d4feac". The text is static. */
KVCAST_API const char *kvcast_version(void);

#ifdef __cplusplus
}
#endif

#endif
