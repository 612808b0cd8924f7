#include "sim/probes/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum { NAME_BYTES = 32 };

/* A value of `field` in a device or in the one entry of its list `table`, or an element of its list `table`,
 * such as a point of a curve. */
struct entry {
    char device[NAME_BYTES];
    char table[NAME_BYTES]; /* Empty for a field of the device itself. */
    char field[NAME_BYTES]; /* Empty for an element of a list. */
    char *text;         /* NULL while the place is only reserved. An element's text lacks source and `}`. */
    char *common, *own; /* Source of an element: the part that all of them share, and the rest. */
};

struct lines {
    char **text;
    size_t count;
};

struct kvc_profile {
    char *name, *date, *version;
    struct entry *entry;
    size_t count;
    struct lines comments, summary;
};

static char *text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *text_of_list(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static char *text_of_list(const char *format, va_list arguments)
{
    char *text;
    if (vasprintf(&text, format, arguments) < 0) {
        kvc_out_of_memory("a line of a machine file");
    }
    return text;
}

static char *text_of(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_of_list(format, arguments);
    va_end(arguments);
    return text;
}

struct kvc_profile *kvc_profile_create(const char *name, const char *date, const char *version)
{
    struct kvc_profile *profile = kvc_array_of(1, sizeof(*profile));
    profile->name = text_of("%s", name);
    profile->date = text_of("%s", date);
    profile->version = text_of("%s", version);
    return profile;
}

static void free_lines(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        free(lines->text[i]);
    }
    free(lines->text);
}

void kvc_profile_free(struct kvc_profile *profile)
{
    if (profile == NULL) {
        return;
    }
    for (size_t i = 0; i < profile->count; i++) {
        free(profile->entry[i].text);
        free(profile->entry[i].common);
        free(profile->entry[i].own);
    }
    free(profile->entry);
    free_lines(&profile->comments);
    free_lines(&profile->summary);
    free(profile->name);
    free(profile->date);
    free(profile->version);
    free(profile);
}

/* ---- adding ---- */

static struct entry *add_entry(struct kvc_profile *profile, const char *device, const char *table,
                               const char *field)
{
    profile->entry = kvc_array_grown(profile->entry, profile->count + 1, sizeof(*profile->entry));
    struct entry *entry = &profile->entry[profile->count++];
    *entry = (struct entry){.text = NULL};
    snprintf(entry->device, sizeof(entry->device), "%s", device);
    snprintf(entry->table, sizeof(entry->table), "%s", table);
    snprintf(entry->field, sizeof(entry->field), "%s", field);
    return entry;
}

/* Returns the entry of a field, which is added if the device has none. */
static struct entry *field_entry(struct kvc_profile *profile, const char *device, const char *field)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof(name), "%s", device);
    char *table = strchr(name, '.');
    if (table != NULL) {
        *table++ = '\0';
    }
    for (size_t i = 0; i < profile->count; i++) {
        struct entry *entry = &profile->entry[i];
        if (strcmp(entry->device, name) == 0 && strcmp(entry->field, field) == 0 &&
            strcmp(entry->table, table != NULL ? table : "") == 0) {
            return entry;
        }
    }
    return add_entry(profile, name, table != NULL ? table : "", field);
}

/* Becomes the owner of `text`. */
static void set_field(struct kvc_profile *profile, const char *device, const char *field, char *text)
{
    struct entry *entry = field_entry(profile, device, field);
    if (entry->text != NULL) {
        free(text);
        return;
    }
    entry->text = text;
}

void kvc_profile_name(struct kvc_profile *profile, const char *device, const char *name)
{
    set_field(profile, device, "name", text_of("\"%s\"", name));
}

void kvc_profile_reserve(struct kvc_profile *profile, const char *device, const char *field)
{
    field_entry(profile, device, field);
}

void kvc_profile_value(struct kvc_profile *profile, const char *device, const char *field, double number,
                       const char *unit, const char *source, ...)
{
    const char *quote = unit[0] != '\0' ? "\"" : "";
    va_list arguments;
    va_start(arguments, source);
    char *how = text_of_list(source, arguments);
    va_end(arguments);
    set_field(profile, device, field,
              text_of("{ %s%.4g%s%s, source = \"measured %s: %s\" }", quote, number, unit, quote,
                      profile->date, how));
    free(how);
}

/* Writes ", low = 1ns, high = 2ns", or nothing unless the interval contains the number. */
static void write_interval(double number, double low, double high, const char *unit, char *out, size_t size)
{
    const char *quote = unit[0] != '\0' ? "\"" : "";
    out[0] = '\0';
    if (low <= number && number <= high) {
        snprintf(out, size, ", low = %s%.4g%s%s, high = %s%.4g%s%s", quote, low, unit, quote, quote, high,
                 unit, quote);
    }
}

void kvc_profile_estimate(struct kvc_profile *profile, const char *device, const char *field, double number,
                          double half, const char *unit, const char *source, ...)
{
    const char *quote = unit[0] != '\0' ? "\"" : "";
    double written = fmax(number, 0);
    char interval[80];
    va_list arguments;
    va_start(arguments, source);
    char *how = text_of_list(source, arguments);
    va_end(arguments);
    write_interval(written, number - half, number + half, unit, interval, sizeof(interval));
    set_field(profile, device, field,
              text_of("{ %s%.4g%s%s%s, source = \"measured %s: %s\" }", quote, written, unit, quote, interval,
                      profile->date, how));
    free(how);
}

/* Half the width of the 95 % interval of a median, as a multiple of the distance of the quartiles of one
 * value. */
static double median_half(int repetitions)
{
    return 1.96 * 1.2533 / 1.349 / sqrt(repetitions);
}

void kvc_profile_point(struct kvc_profile *profile, const char *device, const char *curve,
                       const struct kvc_profile_point *point)
{
    char key[32] = "", load[32] = "", interval[80];
    double half_ns = median_half(point->repetitions) * (point->high_ns - point->low_ns);
    write_interval(point->ns, point->ns - half_ns, point->ns + half_ns, "ns", interval, sizeof(interval));
    if (point->key_bytes > 0) {
        snprintf(key, sizeof(key), "key = \"%.4gB\", ", point->key_bytes);
    }
    if (point->load_frac > 0) {
        snprintf(load, sizeof(load), "load = %.4g, ", point->load_frac);
    }
    struct entry *entry = add_entry(profile, device, curve, "");
    entry->text =
        text_of("{ size = %.10g, %s%sfootprint = \"%.10gMiB\", threads = %u, time = { \"%.4gns\"%s }",
                point->size, key, load, point->footprint_bytes / 0x1p20, point->threads, point->ns, interval);
    entry->common = text_of("measured %s: median of %d", profile->date, point->repetitions);
    entry->own = text_of(", quartiles %.4g .. %.4g ns", point->low_ns, point->high_ns);
}

void kvc_profile_element(struct kvc_profile *profile, const char *device, const char *list,
                         const char *source, const char *format, ...)
{
    struct entry *entry = add_entry(profile, device, list, "");
    va_list arguments;
    va_start(arguments, format);
    char *values = text_of_list(format, arguments);
    va_end(arguments);
    entry->text = text_of("{ %s", values);
    entry->common = text_of("measured %s: %s", profile->date, source);
    entry->own = text_of("%s", "");
    free(values);
}

/* Becomes the owner of `text`. */
static void add_line(struct lines *lines, char *text)
{
    lines->text = kvc_array_grown(lines->text, lines->count + 1, sizeof(*lines->text));
    lines->text[lines->count++] = text;
}

void kvc_profile_comment(struct kvc_profile *profile, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_line(&profile->comments, text_of_list(format, arguments));
    va_end(arguments);
}

void kvc_profile_summarize(struct kvc_profile *profile, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_line(&profile->summary, text_of_list(format, arguments));
    va_end(arguments);
}

/* ---- medians over passes ---- */

/* Returns where the measured number of an entry begins, or NULL if it has none: after `time = { "` in a
 * point, at the beginning of the braces in a field. */
static const char *number_in(const struct entry *entry)
{
    static const char time[] = "time = { \"";
    const char *text = entry->text;
    if (text == NULL || text[0] != '{') {
        return NULL;
    }
    if (entry->field[0] == '\0') {
        text = strstr(text, time);
        return text != NULL ? text + strlen(time) : NULL;
    }
    text += strspn(text, "{ \"");
    return text;
}

/* Returns whether two entries are the same value: the same field, or points of the same curve that agree in
 * everything before their times. */
static bool is_same(const struct entry *a, const struct entry *b)
{
    const char *in_a = number_in(a), *in_b = number_in(b);
    if (in_a == NULL || in_b == NULL || strcmp(a->device, b->device) != 0 ||
        strcmp(a->table, b->table) != 0 || strcmp(a->field, b->field) != 0) {
        return false;
    }
    return a->field[0] != '\0' ||
           (in_a - a->text == in_b - b->text && memcmp(a->text, b->text, (size_t)(in_a - a->text)) == 0);
}

static const struct entry *find_same(const struct kvc_profile *profile, const struct entry *wanted)
{
    for (size_t i = 0; i < profile->count; i++) {
        if (is_same(&profile->entry[i], wanted)) {
            return &profile->entry[i];
        }
    }
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    double first = strtod(number_in(*(const struct entry *const *)a), NULL);
    double second = strtod(number_in(*(const struct entry *const *)b), NULL);
    return (first > second) - (first < second);
}

/* ---- writing ---- */

/* Ends the list or curve that the entry `open` began, if `entry` is not in it, and begins the one of `entry`,
 * whose source becomes the curve's. Returns the entry that began what is open now. */
static const struct entry *change_table(const struct entry *open, const struct entry *entry, FILE *out)
{
    if (strcmp(open->table, entry->table) == 0) {
        return open;
    }
    if (open->table[0] != '\0') {
        fputs(open->field[0] != '\0' ? "    } },\n" : "    },\n", out);
    }
    if (entry->table[0] != '\0' && entry->field[0] != '\0') {
        fprintf(out, "    %s = { {\n", entry->table);
    } else if (entry->table[0] != '\0') {
        fprintf(out, "    %s = { source = \"%s\",\n", entry->table, entry->common);
    }
    return entry;
}

static void write_device(const struct kvc_profile *profile, const char *device, FILE *out)
{
    static const struct entry end;
    const struct entry *open = &end;
    fprintf(out, "  %s = {\n", device);
    for (size_t i = 0; i < profile->count; i++) {
        const struct entry *entry = &profile->entry[i];
        if (strcmp(entry->device, device) != 0 || entry->text == NULL) {
            continue;
        }
        open = change_table(open, entry, out);
        if (entry->field[0] != '\0') {
            fprintf(out, "    %s = %s,\n", entry->field, entry->text);
        } else {
            bool shared = strcmp(entry->common, open->common) == 0;
            fprintf(out, "      %s", entry->text);
            if (!shared || entry->own[0] != '\0') {
                fprintf(out, ", source = \"%s%s\"", shared ? "" : entry->common, entry->own);
            }
            fputs(" },\n", out);
        }
    }
    change_table(open, &end, out);
    fprintf(out, "  },\n");
}

/* Returns whether no earlier entry belongs to the same device. */
static bool is_first(const struct kvc_profile *profile, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        if (strcmp(profile->entry[i].device, profile->entry[number].device) == 0) {
            return false;
        }
    }
    return true;
}

void kvc_profile_write(const struct kvc_profile *profile, FILE *out)
{
    fprintf(out,
            "-- Written by kvcast calibrate. Use: node = { machine = \"this file\" }.\n"
            "return {\n  kind = \"machine\",\n  name = \"%s\",\n  date = \"%s\",\n"
            "  compiler = \"gcc %s\",\n  commit = \"%s\",\n",
            profile->name, profile->date, __VERSION__, profile->version);
    for (size_t i = 0; i < profile->count; i++) {
        if (is_first(profile, i)) {
            write_device(profile, profile->entry[i].device, out);
        }
    }
    fprintf(out, "}\n\n");
    for (size_t i = 0; i < profile->comments.count; i++) {
        fprintf(out, "-- %s\n", profile->comments.text[i]);
    }
}

void kvc_profile_write_medians(struct kvc_profile *const *passes, size_t count, FILE *out)
{
    struct kvc_profile *last = passes[count - 1];
    const struct entry **same = kvc_array_of(count + 1, sizeof(*same));
    struct entry *own = kvc_array_of(last->count + 1, sizeof(*own));
    memcpy(own, last->entry, last->count * sizeof(*own));
    for (size_t i = 0; i < last->count; i++) {
        size_t found = 0;
        const struct entry wanted = own[i];
        for (size_t pass = 0; pass < count && number_in(&wanted) != NULL; pass++) {
            same[found] = find_same(passes[pass], &wanted);
            found += same[found] != NULL;
        }
        if (found > 0) {
            qsort(same, found, sizeof(const struct entry *), by_number);
            last->entry[i] = *same[(found - 1) / 2];
        }
    }
    kvc_profile_write(last, out);
    fprintf(out, "-- The values are the medians of %zu calibrations, made between the runs of a plan.\n",
            count);
    memcpy(last->entry, own, last->count * sizeof(*own));
    free(same);
    free(own);
}

void kvc_profile_write_summary(const struct kvc_profile *profile, FILE *out)
{
    for (size_t i = 0; i < profile->summary.count; i++) {
        fprintf(out, "%s\n", profile->summary.text[i]);
    }
}
