#include "sim/devices/database.h"

static const char *const times[] = {"exponential", "fixed", NULL};

#define TIME_ROW(name_, field, low, text)                                                                    \
    .name = name_, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_database, field),                  \
    .unit = KVC_UNIT_NS, .min = low, .max = 1e12, .help = text

static const struct kvc_option rows[] = {
    {.name = "name",
     .type = KVC_OPTION_TEXT,
     .offset = offsetof(struct kvc_database, name),
     .by_default = "",
     .help = "name of the database and its machine"},
    {.name = "queries",
     .type = KVC_OPTION_COUNT,
     .offset = offsetof(struct kvc_database, queries),
     .min = 1,
     .max = 1e6,
     .help = "queries that it works on at a time; more of them raise the highest rate, and others wait"},
    {TIME_ROW("read", read_ns, 1,
              "mean time of a query; a longer time makes misses of the cache more costly")},
    {TIME_ROW("write", write_ns, 1, "mean time of an update; a longer time leaves less for queries"),
     .by_default = "read", .auto_word = "read", .auto_value = -1},
    {TIME_ROW("latency", latency_ns, 0,
              "time of the way to the database and back; a longer time lengthens misses and updates"),
     .by_default = "0ns"},
    {.name = "times",
     .type = KVC_OPTION_CHOICE,
     .offset = offsetof(struct kvc_database, times),
     .by_default = "exponential",
     .choices = times,
     .help = "how long single queries take: spread as an exponential distribution, or all alike"},
};

static const struct kvc_option_table options = {.name = "database",
                                                .rows = rows,
                                                .count = sizeof(rows) / sizeof(*rows),
                                                .size = sizeof(struct kvc_database)};

const struct kvc_device_kind kvc_database_kind = {
    .name = "database",
    .help = "Database behind the cache: queries at a time, times of queries and updates (optional)",
    .options = &options,
    .optional = true};

void kvc_database_speed_up(struct kvc_database *database, double factor)
{
    database->read_ns /= factor;
    database->write_ns /= database->write_ns > 0 ? factor : 1;
    database->latency_ns /= factor;
}
