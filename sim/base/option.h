/* Option tables: one row per option drives the Lua loader, --set, `kvcast describe`, and the JSON echo.
 *
 * A table describes the fields of one plain struct. Numbers that carry a dimension are written by users
 * as text with a unit ("160us", "40Gbps", "2GiB") and stored in the base unit that the field's name ends
 * in (ns, bytes, bytes per second, Hz, Mops, W). */
#ifndef KVC_SIM_BASE_OPTION_H
#define KVC_SIM_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kvc_option_type {
    KVC_OPTION_BOOL,   /* bool */
    KVC_OPTION_COUNT,  /* uint64_t, whole, dimensionless; Lua floats such as 100e6 are taken if whole */
    KVC_OPTION_REAL,   /* double; `unit` says the dimension, KVC_UNIT_NONE: a plain number */
    KVC_OPTION_CHOICE, /* int, index into `choices` */
    KVC_OPTION_TEXT,   /* char[KVC_TEXT_MAX] */
    KVC_OPTION_LIST,   /* array of structs: `element` describes one, the count is at `count_offset` */
};

enum { KVC_TEXT_MAX = 256 };

enum kvc_unit {
    KVC_UNIT_NONE,        /* plain number; fractions are 0..1, never percent */
    KVC_UNIT_NS,          /* time; input needs ns, us, ms or s */
    KVC_UNIT_BYTES,       /* B, KB, MB, GB (powers of 1000), KiB, MiB, GiB; a plain number is bytes */
    KVC_UNIT_BYTES_PER_S, /* GB/s, GiB/s, MB/s or Gbps, Mbps (bits) */
    KVC_UNIT_HZ,          /* Hz, kHz, MHz, GHz */
    KVC_UNIT_MOPS,        /* million operations per second; Kops, Mops, Gops; a plain number is Mops */
    KVC_UNIT_WATTS,       /* W; a plain number is watts */
};

struct kvc_option {
    const char *name; /* Lua key inside its table */
    enum kvc_option_type type;
    size_t offset;          /* of the field in the struct */
    enum kvc_unit unit;     /* of a REAL */
    double min, max;        /* allowed range in the base unit, both ends included */
    const char *by_default; /* as the user would write it; NULL: must be given */
    const char *auto_word;  /* REAL, COUNT: a word taken instead of a number ("auto"), stored as auto_value */
    double auto_value;
    const char *help;                       /* one sentence: meaning, and what a larger value does */
    const char *const *choices;             /* CHOICE: NULL-terminated */
    const struct kvc_option_table *element; /* LIST */
    size_t count_offset;                    /* LIST: of a uint32_t */
};

/* The options of one struct. */
struct kvc_option_table {
    const char *name; /* Lua table it is read from: "run", "workload", "system", ... */
    const struct kvc_option *rows;
    size_t count;
    size_t size;     /* sizeof the struct */
    size_t max_list; /* as an `element`: how many the array holds */
};

/* Parses a quantity such as "160us" into the base unit of `unit`.
 * On failure returns false and points *expected at what is allowed ("a time such as \"160us\" (ns, us, ms,
 * s)"). NaN and infinities are refused. */
bool kvc_quantity_parse(const char *text, enum kvc_unit unit, double *value, const char **expected);

/* Writes a value as a user would: 160000, KVC_UNIT_NS -> "160us". Round-trips through the parser. */
void kvc_quantity_print(double value, enum kvc_unit unit, char *out, size_t size);

/* The name of `names` (NULL-terminated) nearest to `found` by edit distance, or NULL when none is near. */
const char *kvc_nearest_name(const char *found, const char *const *names);

/* Sets every field that has a default; the others are left as they are. */
void kvc_option_table_set_defaults(const struct kvc_option_table *options, void *object);

#endif
