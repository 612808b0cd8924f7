#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/run/store_fixture.h"
#include "scenarios/explore/sweep.h"

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/kvcast-sweep-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

static char *file_text(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 20);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

static struct kvc_sweep_done sweep(struct kvc_sweep_options task)
{
    struct kvc_sweep_done done;
    struct kvc_diag diag = {0};
    task.path = "fake.lua";
    task.load = task.load_point = kvc_fake_load;
    task.folder = folder;
    cr_assert_eq(kvc_sweep_run(&task, &done, &diag), KVC_OK, "%s", diag.message);
    return done;
}

static ino_t inode_of_point(unsigned number)
{
    char path[128];
    struct stat found;
    snprintf(path, sizeof(path), "%s/points/%04u.json", folder, number);
    cr_assert_eq(stat(path, &found), 0);
    return found.st_ino;
}

TestSuite(sweep, .init = make_folder, .fini = remove_folder);

Test(sweep, has_one_row_per_point_first_axis_slowest)
{
    struct kvc_sweep_done done = sweep((struct kvc_sweep_options){.jobs = 2});
    cr_assert_eq(done.points, 6);
    cr_assert_eq(done.kept, 0);
    char *csv = file_text("sweep.csv"), *line = strtok(csv, "\n");
    cr_assert_str_eq(line,
                     "point,system.rate,run.seed,throughput_mops,throughput_ci95_mops,offered_mops,"
                     "offered_ci95_mops,lost_frac,lost_ci95_frac,hit_frac,hit_ci95_frac,latency_mean_us,"
                     "latency_mean_ci95_us,latency_p50_us,latency_p50_ci95_us,latency_p95_us,"
                     "latency_p95_ci95_us,latency_p99_us,latency_p99_ci95_us,completed,dropped,"
                     "work_utilization_frac,bottleneck,watts_mean,watts_mean_ci95,fake_frac,fake_us,notes");
    static const char *const starts[] = {"1,100,1,1", "2,100,2,1", "3,200,1,2",
                                         "4,200,2,2", "5,300,1,3", "6,300,2,3"};
    for (int i = 0; i < 6; i++) {
        line = strtok(NULL, "\n");
        cr_assert_not_null(line);
        cr_assert_eq(strncmp(line, starts[i], strlen(starts[i])), 0, "%s", line);
        const char *end = ",4000,0,0.95,work,,,0.25,3,energy is null: no power is stated";
        cr_assert_str_eq(line + strlen(line) - strlen(end), end);
    }
    cr_assert_null(strtok(NULL, "\n"));
    free(csv);
}

Test(sweep, is_the_same_for_any_number_of_jobs)
{
    sweep((struct kvc_sweep_options){.jobs = 1});
    char *one = file_text("sweep.csv");
    remove_folder();
    make_folder();
    sweep((struct kvc_sweep_options){.jobs = 3});
    char *three = file_text("sweep.csv");
    cr_assert_str_eq(one, three);
    free(one);
    free(three);
}

Test(sweep, keeps_finished_points_and_repeats_missing_ones)
{
    char path[128];
    sweep((struct kvc_sweep_options){.jobs = 2});
    char *before = file_text("sweep.csv");
    ino_t kept = inode_of_point(2);
    snprintf(path, sizeof(path), "%s/points/0003.json", folder);
    cr_assert_eq(unlink(path), 0);
    snprintf(path, sizeof(path), "%s/points/0005.json", folder);
    cr_assert_eq(truncate(path, 100), 0);
    struct kvc_sweep_done done = sweep((struct kvc_sweep_options){.jobs = 2});
    char *after = file_text("sweep.csv");
    cr_assert_eq(done.kept, 4);
    cr_assert_eq(inode_of_point(2), kept);
    cr_assert_str_eq(before, after);
    free(before);
    free(after);
}

Test(sweep, repeats_points_whose_parameters_changed)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    sweep((struct kvc_sweep_options){.jobs = 2});
    cr_assert_eq(kvc_overrides_add(&set, "system.accident", "0", &diag), KVC_OK);
    cr_assert_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set}).kept, 0);
    cr_assert_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set}).kept, 6);
    cr_assert_eq(sweep((struct kvc_sweep_options){.jobs = 2, .set = &set, .predict = true}).kept, 0);
    kvc_overrides_clear(&set);
}

Test(sweep, a_failing_point_leaves_no_table_and_no_partial_files)
{
    struct kvc_overrides set = {0};
    struct kvc_diag diag = {0};
    struct kvc_sweep_done done;
    char path[128], command[256];
    cr_assert_eq(kvc_overrides_add(&set, "system.accident", "1", &diag), KVC_OK);
    const struct kvc_sweep_options task = {.path = "fake.lua",
                                           .set = &set,
                                           .load = kvc_fake_load,
                                           .load_point = kvc_fake_load,
                                           .folder = folder,
                                           .jobs = 2};
    cr_assert_eq(kvc_sweep_run(&task, &done, &diag), KVC_ERR_RUNTIME);
    cr_assert_not_null(strstr(diag.message, "replica 1 crashed"), "%s", diag.message);
    snprintf(path, sizeof(path), "%s/sweep.csv", folder);
    cr_assert_eq(access(path, F_OK), -1);
    snprintf(command, sizeof(command), "test -z \"$(find %s -type f)\"", folder);
    cr_assert_eq(system(command), 0);
    kvc_overrides_clear(&set);
}

Test(sweep, a_folder_that_cannot_be_written_is_told_before_the_work)
{
    struct kvc_diag diag = {0};
    struct kvc_sweep_done done;
    const struct kvc_sweep_options task = {.path = "fake.lua",
                                           .load = kvc_fake_load,
                                           .load_point = kvc_fake_load,
                                           .folder = "/proc/nowhere",
                                           .jobs = 1};
    cr_assert_eq(kvc_sweep_run(&task, &done, &diag), KVC_ERR_SCENARIO);
    cr_assert_str_eq(diag.file, "/proc/nowhere/points");
}
