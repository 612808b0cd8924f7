#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/run/answer.h"
#include "scenarios/output/folder.h"
#include "scenarios/run/store_fixture.h"

static char root[64];

static void make_root(void)
{
    strcpy(root, "/tmp/kvcast-folder-XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}

static const char *in_root(const char *name)
{
    static char path[4][160];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof(path[next]), "%s/%s", root, name);
    return path[next];
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static void assert_holds(const char *path, const char *text)
{
    char found[256] = "";
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    cr_assert_gt(fread(found, 1, sizeof(found) - 1, file), 0);
    fclose(file);
    cr_assert_eq(strncmp(found, text, strlen(text)), 0, "%s begins with %.40s", path, found);
}

static int files_in(const char *folder)
{
    char command[256];
    snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
    FILE *pipe = popen(command, "r");
    int count = -1;
    cr_assert_eq(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static enum kvc_status run_into(const char *folder, enum kvc_fake_accident accident, struct kvc_diag *diag)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    const struct kvc_answer_options task = {.loaded = loaded, .path = "fake.lua", .jobs = 2, .out = folder};
    FILE *nowhere = fopen("/dev/null", "w");
    kvc_fake_of(loaded)->accident = accident;
    enum kvc_status status = kvc_answer(&task, nowhere, diag);
    fclose(nowhere);
    kvc_loaded_free(loaded);
    return status;
}

TestSuite(folder, .init = make_root, .fini = remove_root);

Test(folder, holds_everything_and_nothing_partial)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(run_into(in_root("a/b"), KVC_FAKE_NONE, &diag), KVC_OK, "%s", diag.message);
    assert_holds(in_root("a/b/result.json"), "{\n  \"schema\": \"kvcast.result/1\",\n");
    assert_holds(in_root("a/b/cdf.csv"), "latency_us,cumulative_frac\n");
    assert_holds(in_root("a/b/windows.csv"), "time_us,throughput_mops\n0,");
    assert_holds(in_root("a/b/timeline.json"), "{");
    cr_assert_eq(access(in_root("a/b/latency.hgrm"), F_OK), 0);
    cr_assert_eq(files_in(in_root("a/b")), 5, "the fake store has no engine and so no platform.xml");
}

Test(folder, a_failed_run_leaves_the_old_results_alone)
{
    struct kvc_diag diag = {0};
    put(in_root("result.json"), "old");
    put(in_root("latency.hgrm"), "old");
    cr_assert_eq(run_into(root, KVC_FAKE_CRASH, &diag), KVC_ERR_RUNTIME);
    assert_holds(in_root("result.json"), "old");
    assert_holds(in_root("latency.hgrm"), "old");
    cr_assert_eq(files_in(root), 2, "no partial file is left");
}

Test(folder, that_is_a_file_is_refused_before_the_work)
{
    struct kvc_diag diag = {0};
    put(in_root("file"), "x");
    cr_assert_eq(run_into(in_root("file"), KVC_FAKE_CRASH, &diag), KVC_ERR_SCENARIO,
                 "the crash is never reached");
    cr_assert_str_eq(diag.file, in_root("file"));
    cr_assert_str_eq(diag.message, "is not a folder");
}

Test(folder, that_cannot_be_created_is_refused_before_the_work)
{
    struct kvc_diag diag = {0};
    cr_assert_eq(run_into("/proc/nowhere/out", KVC_FAKE_CRASH, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, "/proc/nowhere/out");
    cr_assert_eq(strncmp(diag.message, "cannot be written: ", 19), 0, "%s", diag.message);
}

Test(folder, where_a_file_cannot_be_opened_is_refused_and_left_clean)
{
    struct kvc_folder folder;
    struct kvc_diag diag = {0};
    cr_assert_eq(mkdir(in_root("windows.csv"), 0777), 0);
    cr_assert_eq(kvc_folder_open(&folder, root, true, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, in_root("windows.csv"));
    cr_assert_eq(files_in(root), 1);
}

Test(folder, of_another_process_is_refused_before_the_work)
{
    struct kvc_diag diag = {0};
    int ready[2], status;
    char byte = 0;
    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct kvc_folder_lock lock = {0};
        byte = kvc_folder_lock_take(&lock, root, NULL) == KVC_OK;
        _exit(write(ready[1], &byte, 1) == 1 ? pause() : 1);
    }
    cr_assert(read(ready[0], &byte, 1) == 1 && byte == 1);
    cr_assert_eq(run_into(root, KVC_FAKE_CRASH, &diag), KVC_ERR_RUNTIME, "the crash is never reached");
    cr_assert_eq(strncmp(diag.message, "is locked: process ", 19), 0, "%s", diag.message);
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(run_into(root, KVC_FAKE_NONE, &diag), KVC_OK, "%s", diag.message);
}

/* Runs into the folder while no file may be larger than `bytes`, which stands for a full disk. Returns the
 * status; the table goes to `shown`. */
static enum kvc_status run_into_full(rlim_t bytes, char *shown, size_t size, struct kvc_diag *diag)
{
    struct rlimit limit;
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    const struct kvc_answer_options task = {.loaded = loaded, .path = "fake.lua", .jobs = 2, .out = root};
    FILE *out = fmemopen(shown, size, "w");
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, limit.rlim_max}), 0);
    enum kvc_status status = kvc_answer(&task, out, diag);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fclose(out);
    kvc_loaded_free(loaded);
    return status;
}

Test(folder, that_is_full_keeps_the_old_files_and_the_answer_is_shown)
{
    static char shown[1 << 14];
    struct kvc_diag diag = {0};
    put(in_root("cdf.csv"), "old");
    put(in_root("result.json"), "old");
    cr_assert_eq(run_into_full(1000, shown, sizeof(shown), &diag), KVC_ERR_RUNTIME);
    cr_expect(strstr(diag.file, root) != NULL && strstr(diag.message, strerror(EFBIG)) != NULL, "%s: %s",
              diag.file, diag.message);
    cr_expect_not_null(strstr(shown, "throughput"));
    assert_holds(in_root("cdf.csv"), "old");
    assert_holds(in_root("result.json"), "old");
    cr_expect_eq(files_in(root), 2);
}

Test(folder, of_a_prediction_holds_the_result_only)
{
    struct kvc_loaded *loaded = kvc_fake_loaded(2);
    struct kvc_diag diag = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    const struct kvc_answer_options task = {
        .loaded = loaded, .path = "fake.lua", .by = KVC_ANSWER_BY_PREDICTION, .out = root};
    cr_assert_eq(kvc_answer(&task, nowhere, &diag), KVC_OK, "%s", diag.message);
    cr_assert_eq(files_in(root), 1);
    assert_holds(in_root("result.json"), "{");
    fclose(nowhere);
    kvc_loaded_free(loaded);
}
