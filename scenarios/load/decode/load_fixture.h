/* Scenarios in a folder of their own, for the tests of the loader. */
#ifndef KVC_SCENARIOS_LOAD_DECODE_LOAD_FIXTURE_H
#define KVC_SCENARIOS_LOAD_DECODE_LOAD_FIXTURE_H

#include "scenarios/load/load.h"

#define KVC_TEST_MINIMAL "return { system = { kind = \"megakv\" } }"

/* The folder, and the path of the scenario that is loaded. */
extern char kvc_test_folder[];
extern char kvc_test_file[64];

/* Every suite makes the folder in its setup and removes it at its end. */
void kvc_test_make_folder(void);
void kvc_test_remove_folder(void);

/* Writes a file of the folder. */
void kvc_test_write_file(const char *name, const char *text);

/* Loads `text` with one override ("path=value"; NULL: none). */
enum kvc_status kvc_test_load(const char *text, const char *set, struct kvc_loaded **loaded,
                              struct kvc_diag *diag);

/* Loads `text` with one override ("path=value"; NULL: none), which must succeed. */
struct kvc_loaded *kvc_test_accepts(const char *text, const char *set);

/* Loads `text`, which must fail at `line` (-1: the place is --set) with a message that has `part`. */
void kvc_test_refuses(const char *text, int line, const char *part);
void kvc_test_refuses_set(const char *text, const char *set, int line, const char *part);

/* Expects the refusal of a scenario whose line 3 is `text`, inside the returned table. */
void kvc_test_refuses_line(const char *text, const char *part);

/* Writes `profile` to m.lua and loads a scenario whose node.KEY names it, which must fail at `line` of m.lua.
 */
void kvc_test_refuses_in_profile(const char *key, const char *profile, int line, const char *part);

void kvc_test_expect_parameter(const struct kvc_loaded *loaded, const char *path, const char *value,
                               bool bare, const char *source);

#endif
