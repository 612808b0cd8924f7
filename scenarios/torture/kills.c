/* Ends kvcast at random moments, looks at what is left in its folder, and lets it do its work again.
 * Usage: kills KVCAST KIND, where KIND is run, plot or signals.
 *
 * Every case begins with the files of an older answer. Afterwards each file must be the old or the new one,
 * byte by byte, but an old picture may be gone once the new result is there; no child may live on; and the
 * next attempt must succeed and leave the new files and nothing else. */
#include <fts.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/torture/moment.h"
#include "scenarios/torture/subject.h"

/* ---- the files of a folder and of the folders in it, by name and contents ----
 *
 * Lines that depend on the wall clock are left out of the contents: "wall_..." and "..._per_wall_s" of
 * results, and the date of creation in PDF files. */

enum { FILES_MAX = 64 };

struct snapshot_file {
    char *name;     /* Path relative to the folder. */
    char *contents; /* Contents without the lines that depend on the wall clock. */
    size_t bytes;   /* Length of the contents. */
};

struct snapshot {
    struct snapshot_file file[FILES_MAX];
    int files;
};

static _Noreturn void fail(const char *path)
{
    perror(path);
    exit(1);
}

/* Returns whether a line depends on the wall clock. */
static bool is_timed(const char *line, size_t bytes)
{
    static const char *const marks[] = {"\"wall_", "_per_wall_s\"", "\"memory_", "/CreationDate"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        if (memmem(line, bytes, marks[i], strlen(marks[i])) != NULL) {
            return true;
        }
    }
    return false;
}

static void drop_timed_lines(struct snapshot_file *file)
{
    size_t kept = 0;
    for (size_t at = 0; at < file->bytes;) {
        const char *line = file->contents + at, *end = memchr(line, '\n', file->bytes - at);
        size_t bytes = end != NULL ? (size_t)(end - line) + 1 : file->bytes - at;
        at += bytes;
        if (!is_timed(line, bytes)) {
            memmove(file->contents + kept, line, bytes);
            kept += bytes;
        }
    }
    file->bytes = kept;
}

static void add(struct snapshot *snapshot, const FTSENT *entry, size_t folder_bytes)
{
    struct snapshot_file *file = &snapshot->file[snapshot->files];
    size_t size = (size_t)entry->fts_statp->st_size;
    if (snapshot->files++ == FILES_MAX) {
        fprintf(stderr, "%s: more than %d files\n", entry->fts_path, FILES_MAX);
        exit(1);
    }
    FILE *in = fopen(entry->fts_accpath, "r");
    file->name = strdup(entry->fts_path + folder_bytes + 1);
    file->contents = malloc(size + 1);
    if (in == NULL || file->name == NULL || file->contents == NULL) {
        fail(entry->fts_path);
    }
    file->bytes = fread(file->contents, 1, size, in);
    fclose(in);
    drop_timed_lines(file);
}

/* Reads all files of the folder. Ends this process with a message if they cannot be read. */
static void snapshot_take(const char *folder, struct snapshot *snapshot)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *entry;
    snapshot->files = 0;
    while (walk != NULL && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_info == FTS_F || entry->fts_info == FTS_SL || entry->fts_info == FTS_DEFAULT) {
            add(snapshot, entry, strlen(folder));
        }
    }
    if (walk == NULL || fts_close(walk) != 0) {
        fail(folder);
    }
}

static void snapshot_free(struct snapshot *snapshot)
{
    for (int i = 0; i < snapshot->files; i++) {
        free(snapshot->file[i].name);
        free(snapshot->file[i].contents);
    }
    snapshot->files = 0;
}

/* Returns the file of that name, or NULL. */
static const struct snapshot_file *snapshot_find(const struct snapshot *snapshot, const char *name)
{
    for (int i = 0; i < snapshot->files; i++) {
        if (strcmp(snapshot->file[i].name, name) == 0) {
            return &snapshot->file[i];
        }
    }
    return NULL;
}

/* Returns whether two files have the same contents; NULL equals nothing. */
static bool snapshot_same(const struct snapshot_file *a, const struct snapshot_file *b)
{
    return a != NULL && b != NULL && a->bytes == b->bytes && memcmp(a->contents, b->contents, a->bytes) == 0;
}

/* ---- kills ---- */

enum { WHY_BYTES = 400, INTERRUPTED = 130 /* Exit status of a sweep that tells what it has. */ };

static const double LIMIT_S = 120,
                    GRACE_S =
                        5; /* Limit of an attempt; time for children to notice their parent's end [s]. */

/* A kind of work to kill. bash runs the commands in a folder next to `inputs`. */
struct work {
    const char *name;
    const char *before; /* Command that makes the older files; NULL: there are none. */
    const char *after;  /* Command that makes the new files and is ended. */
    /* The files sweep.sqlite... may have any contents, because the next attempt continues with them. */
    bool keeps_points;
};

static const struct work works[] = {
    {"run", "exec kvcast run ../inputs/small.lua --seed 1 --quiet --out out --json run.json",
     "exec kvcast run ../inputs/small.lua --seed 2 --force --quiet --out out --json run.json", false},
    {"plot png", "exec kvcast plot ../inputs/one.json -k cdf -o x.png",
     "exec kvcast plot ../inputs/two.json -k cdf -o x.png", false},
    {"plot pdf", "exec kvcast plot ../inputs/one.json -k cdf -o x.pdf",
     "exec kvcast plot ../inputs/two.json -k cdf -o x.pdf", false},
    {"plot svg", NULL, "exec kvcast plot ../inputs/two.json -k cdf -o x.svg", false},
    {"sweep", "mkdir out", "exec kvcast sweep ../inputs/sweep.lua --quiet --out out", true},
};

/* A work that is tried. */
struct trial {
    const struct work *work;
    struct snapshot old, new;
    struct kvc_life life; /* The undisturbed life. */
};

static char folder[PATH_MAX];
static const char *kind;

static void shell(const char *format, ...)
{
    char command[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    if (system(command) != 0) {
        fprintf(stderr, "failed: %s\n", command);
        exit(1);
    }
}

static pid_t start(const char *command)
{
    char *const list[] = {"bash", "-c", (char *)command, NULL};
    return kvc_subject_start("live", "../log", list);
}

/* Lets a command end by itself. Returns whether it succeeded. */
static bool attempt(const char *command, struct kvc_life *life)
{
    struct kvc_subject_end end;
    struct kvc_life seen;
    int watch = kvc_moment_watch("live");
    pid_t subject = start(command);
    kvc_moment_wait(watch, subject, &(struct kvc_moment){.seconds = LIMIT_S}, life != NULL ? life : &seen);
    kvc_subject_wait(subject, LIMIT_S, &end);
    close(watch);
    return !kvc_subject_left_children(subject, GRACE_S) && WIFEXITED(end.status) &&
           WEXITSTATUS(end.status) == 0;
}

/* Makes the older and the new files, and measures the life of the command. */
static void prepare(struct trial *trial, const struct work *work)
{
    trial->work = work;
    shell("rm -rf live old && mkdir live");
    if (work->before != NULL && !attempt(work->before, NULL)) {
        shell("cat log >&2; false");
    }
    shell("cp -r live old");
    snapshot_take("live", &trial->old);
    if (!attempt(work->after, &trial->life)) {
        shell("cat log >&2; false");
    }
    snapshot_take("live", &trial->new);
}

static bool is_of_sweep(const char *name)
{
    const char *slash = strrchr(name, '/');
    return strncmp(slash != NULL ? slash + 1 : name, "sweep.sqlite", strlen("sweep.sqlite")) == 0;
}

/* Returns whether a file is the table that a sweep leaves when a signal ends it: whole lines of the new one,
 * in its order. */
static bool is_part_of(const struct snapshot_file *file, const struct snapshot_file *new)
{
    const char *at = new != NULL ? new->contents : NULL, *end = at != NULL ? at + new->bytes : NULL;
    const char *line = file->contents, *last = line + file->bytes;
    while (at != NULL && line < last) {
        const char *line_end = memchr(line, '\n', (size_t)(last - line));
        size_t bytes = line_end != NULL ? (size_t)(line_end - line) + 1 : 0;
        at = bytes > 0 ? memmem(at, (size_t)(end - at), line, bytes) : NULL;
        at = at != NULL ? at + bytes : NULL;
        line += bytes;
    }
    return at != NULL;
}

/* Returns whether a file is a picture of a result, which is drawn after the result is in place. */
static bool is_picture(const char *name)
{
    return strncmp(name, "out/latency_cdf.", strlen("out/latency_cdf.")) == 0;
}

static bool has_new_result(const struct trial *trial, const struct snapshot *left)
{
    static const char result[] = "out/result.json";
    return snapshot_same(snapshot_find(left, result), snapshot_find(&trial->new, result));
}

/* Writes into `why` the mistake in the files that an ended command has left. A kill may leave other
 * names, but a signal that the program can handle may not. */
static void check_files(const struct trial *trial, bool may_leave, char *why)
{
    struct snapshot left;
    snapshot_take("live", &left);
    bool is_new = has_new_result(trial, &left);
    for (int i = 0; i < trial->old.files; i++) {
        const char *name = trial->old.file[i].name;
        if (snapshot_find(&left, name) == NULL && !(is_new && is_picture(name))) {
            snprintf(why, WHY_BYTES, "%s is gone", name);
        }
    }
    for (int i = 0; i < left.files; i++) {
        const struct snapshot_file *file = &left.file[i];
        const struct snapshot_file *old = snapshot_find(&trial->old, file->name),
                                   *new = snapshot_find(&trial->new, file->name);
        if (trial->work->keeps_points && is_of_sweep(file->name)) {
            continue;
        }
        if (trial->work->keeps_points && !may_leave && strcmp(file->name, "out/sweep.csv") == 0 &&
            is_part_of(file, new)) {
            continue;
        }
        if (old == NULL && new == NULL && !may_leave) {
            snprintf(why, WHY_BYTES, "%s is left", file->name);
        } else if ((old != NULL || new != NULL) && !snapshot_same(file, old) && !snapshot_same(file, new)) {
            snprintf(why, WHY_BYTES, "%s is neither the old nor the new file", file->name);
        }
    }
    snapshot_free(&left);
}

/* Writes a mistake into `why`, and what the command has said. */
static void tell(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t used = (size_t)vsnprintf(why, WHY_BYTES, format, arguments);
    va_end(arguments);
    FILE *log = fopen("log", "r");
    if (log != NULL) {
        why[used + fread(why + used, 1, WHY_BYTES - used - 1, log)] = '\0';
        fclose(log);
    }
}

/* Writes into `why` the mistake of the next attempt or in its files. */
static void check_next(const struct trial *trial, char *why)
{
    struct snapshot next;
    if (!attempt(trial->work->after, NULL)) {
        tell(why, "the next attempt fails: ");
        return;
    }
    snapshot_take("live", &next);
    for (int i = 0; i < trial->new.files; i++) {
        const char *name = trial->new.file[i].name;
        const struct snapshot_file *file = snapshot_find(&next, name);
        if (file == NULL || (!snapshot_same(file, &trial->new.file[i]) && !is_of_sweep(name))) {
            snprintf(why, WHY_BYTES, "%s is not what the next attempt should write", name);
        }
    }
    for (int i = 0; i < next.files; i++) {
        if (snapshot_find(&trial->new, next.file[i].name) == NULL) {
            snprintf(why, WHY_BYTES, "%s is left even by the next attempt", next.file[i].name);
        }
    }
    snapshot_free(&next);
}

/* Ends the command once. Returns false if it was too late for that, and the moment does not count. */
static bool end_once(const struct trial *trial, int number, int with, struct kvc_rng *rng)
{
    struct kvc_moment moment = kvc_moment_draw(&trial->life, rng);
    bool whole_group = with == SIGINT || (with == SIGKILL && kvc_rng_below(rng, 2) == 0);
    struct kvc_life seen;
    struct kvc_subject_end end;
    char why[WHY_BYTES] = "";
    shell("rm -rf live && cp -r old live");
    int watch = kvc_moment_watch("live");
    pid_t subject = start(trial->work->after);
    bool in_time = kvc_moment_wait(watch, subject, &moment, &seen);
    kill(whole_group ? -subject : subject, with);
    kvc_subject_wait(subject, LIMIT_S, &end);
    close(watch);
    bool left_children = kvc_subject_left_children(subject, GRACE_S);
    if (!in_time || (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0)) {
        return false;
    }
    bool is_told =
        trial->work->keeps_points && WIFEXITED(end.status) && WEXITSTATUS(end.status) == INTERRUPTED;
    bool is_signalled = WIFSIGNALED(end.status) && WTERMSIG(end.status) == with;
    if (end.timed_out || !(is_signalled || (is_told && with != SIGKILL))) {
        tell(why, "ends with wait status %#x, expected signal %d: ", end.status, with);
    }
    check_files(trial, with == SIGKILL, why);
    check_next(trial, why);
    if (left_children) {
        snprintf(why, WHY_BYTES, "a child lives on");
    }
    printf("%s | %s %d, %s after %.3f s and %u changes | %s%s\n", kind, trial->work->name, number,
           strsignal(with), seen.seconds, seen.changes, why[0] != '\0' ? "FAILED " : "survived", why);
    fflush(stdout);
    return true;
}

/* Ends a command `count` times with one or two signals in turn. */
static void end_often(const struct work *work, int count, int first, int second)
{
    static struct trial trial;
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, work->name, 0);
    prepare(&trial, work);
    for (int i = 0; i < count;) {
        i += end_once(&trial, i + 1, i % 2 == 0 ? first : second, &rng);
    }
    snapshot_free(&trial.old);
    snapshot_free(&trial.new);
}

static void write_inputs(void)
{
    shell("mkdir inputs && cat >inputs/small.lua <<'END'\n"
          "return { system = { kind = 'megakv', index = '1MiB', slab = '8MiB' }, node = { sockets = 1 },\n"
          "  workload = { keys = 1000 }, run = { warmup = '1ms', duration = '1ms', replicas = 2 } }\n"
          "END");
    shell("cat >inputs/sweep.lua <<'END'\n"
          "return { system = { kind = 'rdma' },\n"
          "  workload = { keys = 1000, key = 16, value = 64, get = 1, arrival = { poisson_mops = 0.1 } },\n"
          "  run = { warmup = '10us', duration = '200us', bottleneck = 'utilization' },\n"
          "  sweep = { ['run.seed'] = { from = 1, to = 40, steps = 40, whole = true } } }\n"
          "END");
    for (int seed = 1; seed <= 2; seed++) {
        shell("kvcast run inputs/small.lua --seed %d --quiet --json inputs/%s.json >/dev/null", seed,
              seed == 1 ? "one" : "two");
    }
}

/* Goes to an empty folder and puts the folder of kvcast at the front of PATH. */
static void enter(const char *kvcast)
{
    char path[3 * PATH_MAX], real[PATH_MAX];
    const char *parent = getenv("TMPDIR");
    if (realpath(kvcast, real) == NULL) {
        perror(kvcast);
        exit(1);
    }
    *strrchr(real, '/') = '\0';
    snprintf(path, sizeof(path), "%s:%s", real, getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(folder, sizeof(folder), "%s/kvcast-kills-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) {
        perror(folder);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: kills KVCAST run|plot|signals\n", stderr);
        return 2;
    }
    enter(argv[1]);
    write_inputs();
    if (strcmp(argv[2], "run") == 0) {
        kind = "kill -9 of a run";
        end_often(&works[0], 50, SIGKILL, SIGKILL);
    } else if (strcmp(argv[2], "plot") == 0) {
        kind = "kill -9 of a plot";
        end_often(&works[1], 7, SIGKILL, SIGKILL);
        end_often(&works[2], 7, SIGKILL, SIGKILL);
        end_often(&works[3], 6, SIGKILL, SIGKILL);
    } else {
        kind = "SIGTERM and SIGINT";
        end_often(&works[0], 10, SIGTERM, SIGINT);
        end_often(&works[4], 10, SIGTERM, SIGINT);
        end_often(&works[1], 10, SIGTERM, SIGINT);
    }
    shell("cd / && rm -rf %s", folder);
    return 0;
}
