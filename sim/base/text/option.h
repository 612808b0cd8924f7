/** @file
 * Tables of options, which drive the Lua loader, `--set`, `kvcast describe` and the JSON output with
 * one row per option.
 *
 * A table describes the fields of one plain struct. Users write a number that has a dimension as text with a
 * unit, such as "160us", "40Gbps" or "2GiB". It is stored in the base unit that the field's name ends in: ns,
 * bytes, bytes per second, Hz, Mops or W. */
#ifndef KVC_SIM_BASE_TEXT_OPTION_H
#define KVC_SIM_BASE_TEXT_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Type of a field. */
enum kvc_option_type {
    KVC_OPTION_BOOL,  /**< bool */
    KVC_OPTION_COUNT, /**< uint64_t without a dimension. A Lua float such as 100e6 is accepted if it is whole.
                       */
    KVC_OPTION_REAL,  /**< double; `unit` is its dimension. */
    KVC_OPTION_CHOICE, /**< int, the index of a word in `choices`. */
    KVC_OPTION_WORDS,  /**< uint32_t with a bit for each word of `choices`, for a list of some of them. */
    KVC_OPTION_TEXT,   /**< char[KVC_TEXT_MAX], terminated by a zero. */
    KVC_OPTION_LIST,   /**< An array of structs; `element` describes one of them. */
    KVC_OPTION_GROUP,  /**< A struct inside the struct; `element` describes it. */
};

enum { KVC_TEXT_MAX = 256 /**< Bytes of a text option, including the terminating zero. */ };

/** The dimension of a number, and the units that users may write. */
enum kvc_unit {
    KVC_UNIT_NONE,  /**< A plain number. Fractions are 0 to 1, never percent. */
    KVC_UNIT_NS,    /**< A time: ns, us, ms or s. A unit is required. */
    KVC_UNIT_BYTES, /**< A size: B, KB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024). The unit may
                       be omitted. */
    KVC_UNIT_BYTES_PER_S, /**< A data rate: B/s, KB/s, MB/s, GB/s, GiB/s, or Mbps and Gbps in bits. A unit is
                             required. */
    KVC_UNIT_HZ,          /**< A frequency: Hz, kHz, MHz or GHz. A unit is required. */
    KVC_UNIT_MOPS,        /**< Operations per second: Kops, Mops or Gops. A plain number is in Mops. */
    KVC_UNIT_WATTS,       /**< A power: W. The unit may be omitted. */
};

/** One option: a row of a table. */
struct kvc_option {
    const char *name;          /**< Lua key inside the table. */
    enum kvc_option_type type; /**< Type of the field. */
    size_t offset;             /**< Offset of the field in the struct [bytes]. */
    enum kvc_unit unit;        /**< REAL: the dimension. */
    double min;                /**< REAL, COUNT: smallest allowed value, in the base unit. */
    double max;                /**< REAL, COUNT: largest allowed value, in the base unit. */
    const char *by_default;    /**< Default, as the user would write it; NULL if the option must be given. */
    bool optional; /**< REAL, COUNT: may be left out although there is no default; the field is then NaN or 0.
                    */
    const char *auto_word; /**< REAL, COUNT: a word accepted instead of a number, such as "auto"; or NULL. */
    double auto_value;     /**< The number that is stored for `auto_word`. */
    const char *help;      /**< One sentence: the meaning, and the effect of a larger value. */
    const char *const *choices; /**< CHOICE, WORDS: the words, terminated by NULL; WORDS has up to 32. */
    const struct kvc_option_table *element; /**< LIST, GROUP: describes one element, or the inner struct. */
    size_t count_offset; /**< LIST: offset of the uint32_t that counts the elements [bytes]. */
    bool is_condition; /**< In an element of a list: a condition that the element holds for, such as the size
                          of a measured piece of work; not a property of the hardware. */
};

/** The options of one struct. */
struct kvc_option_table {
    const char *name;              /**< Lua table that they are read from: "run", "workload", "system", ... */
    const struct kvc_option *rows; /**< The options. */
    size_t count;                  /**< Number of rows. */
    size_t size;                   /**< Size of the struct [bytes]. */
    size_t max_list;               /**< Capacity of the array, for a table that is the `element` of a list. */
};

/* clang-format off */
/** Rows of a table that describes `struct kvc_of`, such as
 * `KVC_COUNT_ROW(kvc_run, "replicas", replicas, 1, 1024, "1", "replicas of the run; more ...")`. `standard` is the
 * default; NULL: the option must be given, or is optional. After the help text, further fields of struct kvc_option
 * may follow, such as `.optional = true`. */
#define KVC_BOOL_ROW(kvc_of, key, field, standard, ...) \
    {.name = key, .type = KVC_OPTION_BOOL, .offset = offsetof(struct kvc_of, field), .by_default = standard, .help = __VA_ARGS__}
/** A whole number in [low, high]. */
#define KVC_COUNT_ROW(kvc_of, key, field, low, high, standard, ...) \
    {.name = key, .type = KVC_OPTION_COUNT, .offset = offsetof(struct kvc_of, field), .min = low, .max = high, \
     .by_default = standard, .help = __VA_ARGS__}
/** A number of the dimension `dimension`, an enum kvc_unit, in [low, high]. */
#define KVC_REAL_ROW(kvc_of, key, field, dimension, low, high, standard, ...) \
    {.name = key, .type = KVC_OPTION_REAL, .offset = offsetof(struct kvc_of, field), .unit = dimension, .min = low, \
     .max = high, .by_default = standard, .help = __VA_ARGS__}
/** One of `words`, which end in NULL. */
#define KVC_CHOICE_ROW(kvc_of, key, field, words, standard, ...) \
    {.name = key, .type = KVC_OPTION_CHOICE, .offset = offsetof(struct kvc_of, field), .choices = words, \
     .by_default = standard, .help = __VA_ARGS__}
/** Some of `words`, which end in NULL; a text such as "a, b" is the default. */
#define KVC_WORDS_ROW(kvc_of, key, field, words, standard, ...) \
    {.name = key, .type = KVC_OPTION_WORDS, .offset = offsetof(struct kvc_of, field), .choices = words, \
     .by_default = standard, .help = __VA_ARGS__}
/** A text. */
#define KVC_TEXT_ROW(kvc_of, key, field, standard, ...) \
    {.name = key, .type = KVC_OPTION_TEXT, .offset = offsetof(struct kvc_of, field), .by_default = standard, .help = __VA_ARGS__}
/** `array` holds the elements that the table `of_element` describes, and `number` counts them. */
#define KVC_LIST_ROW(kvc_of, key, array, number, of_element, ...) \
    {.name = key, .type = KVC_OPTION_LIST, .offset = offsetof(struct kvc_of, array), \
     .count_offset = offsetof(struct kvc_of, number), .element = of_element, .help = __VA_ARGS__}
/** The table `of_field` describes the inner struct. */
#define KVC_GROUP_ROW(kvc_of, key, field, of_field, ...) \
    {.name = key, .type = KVC_OPTION_GROUP, .offset = offsetof(struct kvc_of, field), .element = of_field, .help = __VA_ARGS__}

/** The table of an array of rows. After its name, `.max_list` may follow. */
#define KVC_OPTION_TABLE(kvc_of, array, ...) \
    {.rows = array, .count = sizeof(array) / sizeof(*(array)), .size = sizeof(struct kvc_of), .name = __VA_ARGS__}
/* clang-format on */

/** Parses a quantity such as "160us" and converts it to the base unit of `unit`. Returns false if the text
 * is not a finite quantity of this dimension. `*expected` always becomes a description of what is allowed,
 * such as "a time such as "160us" (ns, us, ms, s)". */
bool kvc_quantity_parse(const char *text, enum kvc_unit unit, double *value, const char **expected);

/** Writes a value as a user would: 160000 in KVC_UNIT_NS becomes "160us". Parsing the text gives the same
 * value again. */
void kvc_quantity_print(double value, enum kvc_unit unit, char *out, size_t size);

/** Finds the word of `bytes` characters in `words`, a list terminated by NULL. Returns its index, or -1. */
int kvc_word_find(const char *const *words, const char *found, size_t bytes);

/** Parses "a, b" into a bit for each word. Returns false if a part is none of `words`; *unknown and *bytes
 * are then that part. An empty text has no words. */
bool kvc_words_parse(const char *text, const char *const *words, uint32_t *bits, const char **unknown,
                     size_t *bytes);

/** Writes the words whose bits are set, "a, b". */
void kvc_words_print(uint32_t bits, const char *const *words, char *out, size_t size);

/** Returns the entry of `names`, a list terminated by NULL, that is nearest to `found` by edit distance, or
 * NULL if none is near. */
const char *kvc_nearest_name(const char *found, const char *const *names);

/** Sets every field that has a default, and optional fields to NaN (REAL) or 0 (COUNT). The other fields are
 * left alone. */
void kvc_option_table_set_defaults(const struct kvc_option_table *options, void *object);

#endif
