/* Fuzz target that takes any bytes as damage to the database of a sweep of four points. The first byte says
 * which: the file itself, bytes that are written over a sound file (each with its place, 3 bytes), or SQL
 * that another program runs on a sound file. A database that is refused has one message. An accepted one
 * continues like any sweep: the points that are due are added, and when it is opened again, it has every
 * point once and no damage. */
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/explore/sweep/best.h"
#include "scenarios/explore/sweep/database.h"
#include "sim/base/files/memory_file_fixture.h"
#include "sim/base/text/refusal_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { POINTS = 4, FILE_MAX = 1 << 20, SQL_STEPS_MAX = 20000 };

enum mode { MODE_FILE, MODE_BYTES, MODE_SQL, MODES };

static const char scenario[] =
    "return { system = { kind = 'megakv' }, slo = { mops = 1 }, workload = { arrival = { poisson_mops = 1 } },"
    " sweep = { ['system.cycle'] = { '120us', '160us' }, ['system.api'] = { 'get', 'getk' } } }";

static char folder[64];
static uint8_t template[FILE_MAX];
static size_t template_bytes;
static struct kvc_loaded *loaded;
static struct kvc_space *space;
static struct kvc_identity identity;
static struct kvc_database_layout layout;

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void remove_files(void)
{
    static const char *const names[] = {"sweep.sqlite", "sweep.sqlite-wal", "sweep.sqlite-shm",
                                        "sweep.sqlite-journal"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        unlink(path_of(names[i]));
    }
}

static void clean_up(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    kvc_fuzz_check(system(command) == 0);
    kvc_identity_free(&identity);
    kvc_space_free(space);
    kvc_loaded_free(loaded);
}

static enum kvc_status add_point(struct kvc_database *database, uint32_t point, struct kvc_diag *diag)
{
    static struct kvc_row_metric metric[] = {{.group = 0, .name = "search", .value = 0.5},
                                             {.group = 2, .name = "launches", .value = 7}};
    const struct kvc_row_details details = {
        .count = 2, .metric = metric, .notes = "a note", .document = "{\"schema\": \"kvcast.result/1\"}"};
    struct kvc_row row = {.bottleneck_stage = "search", .bottleneck_device = "gpu"};
    uint32_t value[KVC_SWEEP_AXES_MAX];
    for (int i = 0; i < KVC_ROW_COLUMNS; i++) {
        row.number[i] = i % 3 == 0 ? NAN : point + i / 7.0;
    }
    kvc_space_point(space, point, value);
    return kvc_database_add(database, point, value, &row, &details, diag);
}

/* Adds what is due. Returns the status of what fails first. */
static enum kvc_status complete(struct kvc_database *database, uint32_t *kept, uint32_t *damaged,
                                struct kvc_diag *diag)
{
    uint8_t stored[POINTS] = {0};
    struct kvc_database_damage damage;
    enum kvc_status status = kvc_database_repair(database, &damage, diag);
    *damaged = damage.points;
    kvc_fuzz_check((damage.points > 0) == (damage.first[0] != '\0'));
    if (status == KVC_OK) {
        status = kvc_database_stored(database, stored, kept, diag);
    }
    if (status == KVC_OK) {
        kvc_fuzz_check(*kept <= POINTS);
        status = kvc_database_begin(database, diag);
    }
    for (uint32_t i = 0; i < POINTS && status == KVC_OK; i++) {
        status = stored[i] ? KVC_OK : add_point(database, i, diag);
    }
    return status == KVC_OK ? kvc_database_commit(database, diag) : status;
}

/* Reads the whole database in every way. */
static enum kvc_status read_all(struct kvc_database *database, struct kvc_diag *diag)
{
    size_t bytes;
    char *text;
    struct kvc_best best;
    FILE *out = open_memstream(&text, &bytes);
    kvc_fuzz_check(out != NULL);
    enum kvc_status status = kvc_export_csv(database, out, diag);
    if (status == KVC_OK) {
        status = kvc_export_json(database, &(struct kvc_accuracy_kind){.system = NULL}, out, diag);
    }
    if (status == KVC_OK) {
        status = kvc_best_find(database, &best, diag);
        kvc_fuzz_check(best.leader <= POINTS && best.tied <= POINTS);
    }
    fclose(out);
    free(text);
    return status;
}

/* Opens the database and continues the sweep. Returns KVC_OK if it then has every point. */
static enum kvc_status go_on(uint32_t *kept, uint32_t *damaged)
{
    struct kvc_database *database;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_database_open(folder, &identity, &layout, false, &database, &diag);
    kvc_fuzz_check((status == KVC_OK) == (database != NULL));
    if (status == KVC_OK) {
        status = complete(database, kept, damaged, &diag);
    }
    if (status == KVC_OK) {
        status = read_all(database, &diag);
    }
    kvc_database_close(database);
    if (status != KVC_OK) {
        kvc_fuzz_check_refusal(status, &diag);
    }
    return status;
}

static void set_up(void)
{
    struct kvc_diag diag = {0};
    uint32_t kept, damaged;
    snprintf(folder, sizeof(folder), "%s/kvcast-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    kvc_fuzz_check(mkdtemp(folder) != NULL);
    const char *path = kvc_memory_file((const uint8_t *)scenario, sizeof(scenario) - 1);
    kvc_fuzz_check(kvc_scenario_load(path, NULL, &loaded, &diag) == KVC_OK);
    kvc_fuzz_check(kvc_space_create(loaded, &space, &diag) == KVC_OK && space->points == POINTS);
    kvc_fuzz_check(kvc_identity_of(loaded, NULL, space, false, &identity, &diag) == KVC_OK);
    layout = (struct kvc_database_layout){.space = space, .slo = &loaded->slo};
    atexit(clean_up);
    kvc_fuzz_check(go_on(&kept, &damaged) == KVC_OK && kept == 0 && damaged == 0);
    FILE *file = fopen(path_of("sweep.sqlite"), "rb");
    kvc_fuzz_check(file != NULL);
    template_bytes = fread(template, 1, sizeof(template), file);
    kvc_fuzz_check(fclose(file) == 0 && template_bytes > 0 && template_bytes < sizeof(template));
}

static void write_database(const uint8_t *data, size_t bytes)
{
    remove_files();
    FILE *file = fopen(path_of("sweep.sqlite"), "wb");
    kvc_fuzz_check(file != NULL && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

static void write_over(const uint8_t *data, size_t bytes)
{
    static uint8_t copy[FILE_MAX];
    memcpy(copy, template, template_bytes);
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        copy[(data[i] << 16 | data[i + 1] << 8 | data[i + 2]) % template_bytes] = data[i + 3];
    }
    write_database(copy, template_bytes);
}

/* Denies ATTACH and PRAGMA, so that the damage stays in one file. */
static int authorize(void *data, int action, const char *a, const char *b, const char *c, const char *d)
{
    (void)data, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static int stop(void *data)
{
    (void)data;
    return 1;
}

static void run_sql(const uint8_t *data, size_t bytes)
{
    sqlite3 *sqlite = NULL;
    char *sql = strndup((const char *)data, bytes);
    write_database(template, template_bytes);
    kvc_fuzz_check(sql != NULL && sqlite3_open(path_of("sweep.sqlite"), &sqlite) == SQLITE_OK);
    sqlite3_set_authorizer(sqlite, authorize, NULL);
    sqlite3_progress_handler(sqlite, SQL_STEPS_MAX, stop, NULL);
    sqlite3_limit(sqlite, SQLITE_LIMIT_LENGTH, FILE_MAX);
    sqlite3_exec(sqlite, sql, NULL, NULL, NULL);
    sqlite3_close(sqlite);
    free(sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool is_ready;
    uint32_t kept = 0, damaged = 0;
    if (!is_ready) {
        set_up();
        is_ready = true;
    }
    if (bytes == 0) {
        return 0;
    }
    switch (data[0] % MODES) {
    case MODE_FILE:
        write_database(data + 1, bytes - 1);
        break;
    case MODE_BYTES:
        write_over(data + 1, bytes - 1);
        break;
    default:
        run_sql(data + 1, bytes - 1);
    }
    if (go_on(&kept, &damaged) == KVC_OK) {
        kvc_fuzz_check(go_on(&kept, &damaged) == KVC_OK);
        kvc_fuzz_check(kept == POINTS && damaged == 0);
    }
    return 0;
}
