/* The texts come from the option tables, so that a new place or option needs no line here. */
#include "models/composed/pipeline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/composed/config.h"
#include "models/composed/closed_form/mix.h"

static void add(char text[KVC_PIPELINE_TEXT_MAX], const char *separator, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to a text, behind the separator unless it is empty. */
static void add(char text[KVC_PIPELINE_TEXT_MAX], const char *separator, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)snprintf(text + used, KVC_PIPELINE_TEXT_MAX - used, "%s", used > 0 ? separator : "");
    if (used < KVC_PIPELINE_TEXT_MAX) {
        vsnprintf(text + used, KVC_PIPELINE_TEXT_MAX - used, format, arguments);
    }
    va_end(arguments);
}

static const struct kvc_option *find_row(const struct kvc_option_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            return &table->rows[i];
        }
    }
    KVC_BUG("%s has no option %s", table->name, name);
}

static const void *field_of(const void *object, const struct kvc_option *row)
{
    return (const char *)object + row->offset;
}

static const char *word_of(const struct kvc_option_table *table, const char *name, const void *object)
{
    const struct kvc_option *row = find_row(table, name);
    return row->choices[*(const int *)field_of(object, row)];
}

static void set_words(const struct kvc_option_table *table, const char *name, const void *object,
                      char text[KVC_PIPELINE_TEXT_MAX])
{
    const struct kvc_option *row = find_row(table, name);
    kvc_words_print(*(const uint32_t *)field_of(object, row), row->choices, text, KVC_PIPELINE_TEXT_MAX);
}

/* Writes a quantity as a text for people has it: "50 µs". */
static void put_quantity(double value, enum kvc_unit unit, char text[KVC_PIPELINE_TEXT_MAX])
{
    char written[64];
    kvc_quantity_print(value, unit, written, sizeof(written));
    size_t digits = strspn(written, "+-.e0123456789");
    const char *name = written + digits;
    snprintf(text, KVC_PIPELINE_TEXT_MAX, "%.*s%s%s", (int)digits, written, name[0] != '\0' ? " " : "",
             strcmp(name, "us") == 0 ? "µs" : name);
}

static bool is_plural(const char *name)
{
    return name[strlen(name) - 1] == 's';
}

/* Writes a number of things, "2 cores" or "1 core". */
static void add_count(char text[KVC_PIPELINE_TEXT_MAX], const char *separator, uint64_t count,
                      const char *things)
{
    size_t length = strlen(things);
    add(text, separator, "%llu %.*s", (unsigned long long)count, (int)(count == 1 ? length - 1 : length),
        things);
}

/* ---- stages ---- */

/* Adds a line for a piece of work: the numbers that it states, and what they are for. */
static void add_work(const struct kvc_option_table *table, const struct kvc_composed_work *work,
                     char text[KVC_PIPELINE_TEXT_MAX])
{
    char numbers[KVC_PIPELINE_TEXT_MAX] = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct kvc_option *row = &table->rows[i];
        double value = row->type == KVC_OPTION_REAL ? *(const double *)field_of(work, row) : 0;
        if (value > 0 && row->unit == KVC_UNIT_NONE) {
            add(numbers, ", ", "%.4g %s", value, row->name);
        } else if (value > 0) {
            char quantity[KVC_PIPELINE_TEXT_MAX];
            put_quantity(value, row->unit, quantity);
            add(numbers, ", ", "%s", quantity);
        }
    }
    if (numbers[0] != '\0') {
        add(text, "\n", "%s per %s", numbers, word_of(table, "per", work));
    }
}

/* Whether the picture shows an option by itself. */
static bool is_shown(const char *name, const struct kvc_option_table *work)
{
    static const char *const shown[] = {"name", "on",         "pool",  "work",  "does",    "when",  "queue",
                                        "full", "background", "every", "cores", "streams", "route", NULL};
    for (size_t i = 0; i < work->count; i++) {
        if (strcmp(work->rows[i].name, name) == 0) {
            return true;
        }
    }
    return kvc_word_find(shown, name, strlen(name)) >= 0;
}

/* Adds a line for an option that is not at its default. */
static void add_option(const struct kvc_option *row, const void *object, const void *standard,
                       char text[KVC_PIPELINE_TEXT_MAX])
{
    const void *field = field_of(object, row), *usual = field_of(standard, row);
    char value[KVC_PIPELINE_TEXT_MAX] = "";
    double real;
    switch (row->type) {
    case KVC_OPTION_BOOL:
        if (*(const bool *)field != *(const bool *)usual) {
            add(text, "\n", *(const bool *)field ? "%s" : "not %s", row->name);
        }
        return;
    case KVC_OPTION_COUNT: {
        uint64_t count = *(const uint64_t *)field;
        if (count == *(const uint64_t *)usual) {
            return;
        }
        if (is_plural(row->name)) {
            add_count(text, "\n", count, row->name);
            return;
        }
        snprintf(value, sizeof(value), "%llu", (unsigned long long)count);
        break;
    }
    case KVC_OPTION_REAL:
        real = *(const double *)field;
        if (real != *(const double *)usual && !isnan(real)) {
            put_quantity(real, row->unit, value);
        }
        break;
    case KVC_OPTION_CHOICE:
        if (*(const int *)field != *(const int *)usual) {
            snprintf(value, sizeof(value), "%s", row->choices[*(const int *)field]);
        }
        break;
    case KVC_OPTION_WORDS:
        if (*(const uint32_t *)field != *(const uint32_t *)usual) {
            kvc_words_print(*(const uint32_t *)field, row->choices, value, sizeof(value));
        }
        break;
    case KVC_OPTION_TEXT:
        if (strcmp(field, usual) != 0) {
            snprintf(value, sizeof(value), "%s", (const char *)field);
        }
        break;
    default:
        return;
    }
    if (value[0] != '\0') {
        add(text, "\n", "%s %s", row->name, value);
    }
}

static void set_stage(const struct kvc_composed_config *config, uint32_t number,
                      struct kvc_pipeline_stage *stage)
{
    const struct kvc_option_table *table = find_row(&kvc_composed_option_table, "stages")->element;
    const struct kvc_option_table *work = find_row(table, "work")->element;
    const struct kvc_composed_stage_options *options = config->stage[number].options;
    const struct kvc_composed_pool *pool = &config->pool[config->stage[number].pool];
    struct kvc_composed_stage_options standard = {0};
    kvc_option_table_set_defaults(table, &standard);
    *stage = (struct kvc_pipeline_stage){.name = options->name,
                                         .place = word_of(table, "on", options),
                                         .pool = options->pool,
                                         .of_node = pool->of_node,
                                         .background = options->background,
                                         .every = options->every,
                                         .queue = options->queue,
                                         .drops = options->full != KVC_COMPOSED_WAIT};
    bool cores = kvc_composed_has_cores(pool->place);
    if (cores || pool->place == KVC_COMPOSED_GPU) {
        add_count(stage->servers, "", pool->servers, cores ? "cores" : "streams");
    }
    add_work(work, &options->own, stage->work);
    for (uint32_t i = 0; i < options->work_count; i++) {
        add_work(work, &options->work[i], stage->work);
    }
    for (uint32_t i = 0; i < options->curve_count; i += options->curve_count - 1) { /* Its ends. */
        char time[KVC_PIPELINE_TEXT_MAX];
        put_quantity(options->curve[i].ns, KVC_UNIT_NS, time);
        add(stage->work, "\n", "%s for %g requests", time, options->curve[i].requests);
    }
    standard.does = config->stage[number].does; /* With what no stage states. */
    set_words(table, "does", &standard, stage->does);
    set_words(table, "when", options, stage->when);
    if (options->route[0] != '\0') {
        add(stage->when, ", ", "route %s", options->route);
    }
    for (size_t i = 0; i < table->count; i++) {
        if (!is_shown(table->rows[i].name, work)) {
            add_option(&table->rows[i], options, &standard, stage->others);
        }
    }
    if (number == config->apart) {
        add(stage->others, "\n", "batches come apart");
    }
}

/* ---- batches and structures ---- */

static void set_batch(const struct kvc_composed_config *config, struct kvc_pipeline *pipeline)
{
    const struct kvc_composed_batch_options *batch = &config->options->batch;
    char quantity[KVC_PIPELINE_TEXT_MAX];
    pipeline->batched = config->batched;
    if (batch->count > 0) {
        add(pipeline->batch, "\n", "%llu requests", (unsigned long long)batch->count);
    }
    if (batch->bytes > 0) {
        put_quantity(batch->bytes, KVC_UNIT_BYTES, quantity);
        add(pipeline->batch, "\n", "%s", quantity);
    }
    if (batch->timeout_ns > 0) {
        put_quantity(batch->timeout_ns, KVC_UNIT_NS, quantity);
        add(pipeline->batch, "\n", "%s after its first", quantity);
    }
    if (batch->every_ns > 0) {
        put_quantity(batch->every_ns, KVC_UNIT_NS, quantity);
        add(pipeline->batch, "\n", "every %s", quantity);
    }
    if (batch->while_busy) {
        add(pipeline->batch, "\n", "when none is under way");
    }
    pipeline->buffers = batch->buffers;
}

/* Adds a structure and marks the stages that do one of its operations. */
static void add_structure(struct kvc_pipeline *pipeline, const struct kvc_composed_config *config,
                          const char *name, const void *options, uint32_t operations, double bytes)
{
    const struct kvc_option_table *table = find_row(&kvc_composed_option_table, name)->element;
    uint32_t number = pipeline->structures++;
    pipeline->structure[number] = (struct kvc_pipeline_structure){name, word_of(table, "kernel", options),
                                                                  word_of(table, "memory", options), bytes};
    for (uint32_t i = 0; i < config->stages; i++) {
        bool uses = (config->stage[i].does & operations) != 0;
        pipeline->stage[i].structures |= uses ? 1u << number : 0;
    }
}

void kvc_composed_pipeline(const struct kvc_scenario *scenario, struct kvc_pipeline *pipeline)
{
    const struct kvc_composed_config *config = kvc_composed_config_of(scenario);
    double share_frac[KVC_COMPOSED_STAGES_MAX];
    kvc_composed_shares(scenario, share_frac);
    pipeline->pipelines = config->pipelines;
    pipeline->sockets = config->shards;
    pipeline->stages = config->stages;
    for (uint32_t i = 0; i < config->stages; i++) {
        set_stage(config, i, &pipeline->stage[i]);
        pipeline->stage[i].share_frac = share_frac[i];
    }
    set_batch(config, pipeline);
    if (config->index != NULL) {
        add_structure(pipeline, config, "index", &config->options->index,
                      KVC_COMPOSED_SEARCH | KVC_COMPOSED_INSERT | KVC_COMPOSED_ERASE, config->index_bytes);
    }
    if (config->has_values) {
        add_structure(pipeline, config, "values", &config->options->values,
                      KVC_COMPOSED_WRITE | KVC_COMPOSED_COMPARE | KVC_COMPOSED_READ, config->value_bytes);
    }
    if (config->has_hot) {
        add_structure(pipeline, config, "hot", &config->options->hot,
                      KVC_COMPOSED_HOT_SEARCH | KVC_COMPOSED_HOT_READ | KVC_COMPOSED_HOT_FILL |
                          KVC_COMPOSED_HOT_ERASE,
                      config->hot_index_bytes + config->hot_bytes);
    }
}
