#include "scenarios/run/hardware_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/model.h"
#include "sim/base/array.h"

/* The list under construction. */
struct listing {
    const struct kvc_parameters *provenance;
    struct kvc_hardware_values *values;
};

static double number_at(const struct kvc_option *row, const void *field)
{
    return row->type == KVC_OPTION_COUNT ? (double)*(const uint64_t *)field : *(const double *)field;
}

static bool is_number(const struct kvc_option *row)
{
    return (row->type == KVC_OPTION_REAL || row->type == KVC_OPTION_COUNT) && !row->is_condition;
}

/* Returns whether it is a number, and not a word that stands for one. */
static bool is_stated(const struct kvc_option *row, double number)
{
    return !isnan(number) && (row->auto_word == NULL || number != row->auto_value);
}

/* Adds a number to the parameter that is last in the list. */
static void add_value(struct listing *listing, const struct kvc_option *row, const char *path,
                      uint32_t device, size_t offset, const void *object)
{
    struct kvc_hardware_values *values = listing->values;
    double number = number_at(row, (const char *)object + offset);
    const struct kvc_parameter *origin =
        is_stated(row, number) ? kvc_parameters_find(listing->provenance, path) : NULL;
    if (origin == NULL) {
        return;
    }
    values->value = kvc_array_grown(values->value, values->count + 1, sizeof(*values->value));
    values->value[values->count++] =
        (struct kvc_hardware_value){.origin = origin, .device = device, .offset = offset, .number = number};
    values->parameter[values->parameter_count - 1].count++;
}

static void begin_parameter(struct kvc_hardware_values *values, const struct kvc_option *row,
                            const struct kvc_option *list)
{
    values->parameter =
        kvc_array_grown(values->parameter, values->parameter_count + 1, sizeof(*values->parameter));
    values->parameter[values->parameter_count++] =
        (struct kvc_hardware_parameter){.row = row, .list = list, .first = values->count};
}

/* Names the parameter that is last in the list, or removes it if it has no numbers. */
static void end_parameter(struct kvc_hardware_values *values, const char *path)
{
    struct kvc_hardware_parameter *parameter = &values->parameter[values->parameter_count - 1];
    if (parameter->count == 0) {
        values->parameter_count--;
        return;
    }
    snprintf(parameter->path, sizeof(parameter->path), "%s",
             parameter->count == 1 ? values->value[parameter->first].origin->path : path);
}

static uint32_t length_of(const struct kvc_option *list, const void *object)
{
    return *(const uint32_t *)(const void *)((const char *)object + list->count_offset);
}

static void add_list(struct listing *listing, const struct kvc_option *list, uint32_t device,
                     const char *path, const void *object)
{
    uint32_t length = length_of(list, object);
    char element[KVC_PATH_MAX];
    for (size_t i = 0; i < list->element->count; i++) {
        const struct kvc_option *row = &list->element->rows[i];
        if (!is_number(row)) {
            continue;
        }
        begin_parameter(listing->values, row, list);
        for (uint32_t j = 0; j < length; j++) {
            snprintf(element, sizeof(element), "%.80s.%u.%.32s", path, j + 1, row->name);
            add_value(listing, row, element, device, list->offset + j * list->element->size + row->offset,
                      object);
        }
        snprintf(element, sizeof(element), "%.80s.*.%.32s", path, row->name);
        end_parameter(listing->values, element);
    }
}

void kvc_hardware_values_of(const struct kvc_loaded *loaded, struct kvc_hardware_values *values)
{
    struct listing listing = {.provenance = &loaded->provenance, .values = values};
    const struct kvc_device *devices = loaded->scenario.node.device;
    char path[KVC_PATH_MAX];
    *values = (struct kvc_hardware_values){.scenario = &loaded->scenario};
    for (uint32_t device = 0; devices[device].kind != NULL; device++) {
        const struct kvc_option_table *options = devices[device].kind->options;
        for (size_t i = 0; i < options->count; i++) {
            const struct kvc_option *row = &options->rows[i];
            snprintf(path, sizeof(path), "node.%.40s.%.40s", devices[device].kind->name, row->name);
            if (row->type == KVC_OPTION_LIST) {
                add_list(&listing, row, device, path, devices[device].values);
            } else if (is_number(row)) {
                begin_parameter(values, row, NULL);
                add_value(&listing, row, path, device, row->offset, devices[device].values);
                end_parameter(values, path);
            }
        }
    }
}

void kvc_hardware_values_free(struct kvc_hardware_values *values)
{
    free(values->value);
    free(values->parameter);
    *values = (struct kvc_hardware_values){0};
}

/* Writes a number that is within the range of the option. Returns what was written. */
static double write_number(const struct kvc_option *row, double number, void *field)
{
    double within = fmin(fmax(number, row->min), row->max);
    if (row->type == KVC_OPTION_COUNT) {
        within = round(within);
        *(uint64_t *)field = (uint64_t)within;
    } else {
        *(double *)field = within;
    }
    return within;
}

/* Returns the member's device of the kind that a parameter belongs to, or NULL. */
static void *device_of_member(const struct kvc_hardware_values *values,
                              const struct kvc_hardware_parameter *parameter, const struct kvc_scenario *of,
                              uint32_t member)
{
    uint32_t device = values->value[parameter->first].device;
    return kvc_node_device(&of->cluster.member[member].node, values->scenario->node.device[device].kind);
}

bool kvc_hardware_values_stays(const struct kvc_hardware_values *values,
                               const struct kvc_hardware_parameter *parameter, uint32_t member)
{
    const struct kvc_device *device = &values->scenario->node.device[values->value[parameter->first].device];
    const void *own = device_of_member(values, parameter, values->scenario, member);
    return own != NULL && parameter->list != NULL &&
           length_of(parameter->list, own) != length_of(parameter->list, device->values);
}

/* Changes a member's number by the factor by which the node's has changed. */
static void set_member(const struct kvc_hardware_values *values,
                       const struct kvc_hardware_parameter *parameter, uint32_t index, double set,
                       uint32_t member, struct kvc_scenario *copy)
{
    const struct kvc_hardware_value *value = &values->value[parameter->first + index];
    const char *own = device_of_member(values, parameter, values->scenario, member);
    char *changed = device_of_member(values, parameter, copy, member);
    if (own == NULL || kvc_hardware_values_stays(values, parameter, member)) {
        return;
    }
    double number = number_at(parameter->row, own + value->offset);
    if (number == value->number) {
        write_number(parameter->row, set, changed + value->offset);
    } else if (is_stated(parameter->row, number) && value->number != 0) {
        write_number(parameter->row, number * (set / value->number), changed + value->offset);
    }
}

double kvc_hardware_values_set(const struct kvc_hardware_values *values,
                               const struct kvc_hardware_parameter *parameter, uint32_t index, double number,
                               struct kvc_scenario *copy)
{
    const struct kvc_hardware_value *value = &values->value[parameter->first + index];
    char *field = (char *)copy->node.device[value->device].values + value->offset;
    double set = write_number(parameter->row, number, field);
    for (uint32_t member = 0; member < copy->cluster.member_count; member++) {
        set_member(values, parameter, index, set, member, copy);
    }
    return set;
}

void kvc_hardware_values_restore(const struct kvc_hardware_values *values,
                                 const struct kvc_hardware_parameter *parameter, struct kvc_scenario *copy)
{
    for (uint32_t i = 0; i < parameter->count; i++) {
        kvc_hardware_values_set(values, parameter, i, values->value[parameter->first + i].number, copy);
    }
}

static enum kvc_status check_node(const struct kvc_node *node, struct kvc_diag *diag)
{
    enum kvc_status status = KVC_OK;
    for (const struct kvc_device *device = node->device; device->kind != NULL && status == KVC_OK; device++) {
        status = device->kind->check != NULL ? device->kind->check(device->values, diag) : KVC_OK;
    }
    return status;
}

static enum kvc_status check_member(const struct kvc_scenario *copy, uint32_t member, struct kvc_diag *diag)
{
    enum kvc_status status = check_node(&copy->cluster.member[member].node, diag);
    if (status != KVC_OK) {
        return status;
    }
    struct kvc_scenario *class = kvc_cluster_class_scenario(copy, member, diag);
    status = class != NULL ? KVC_OK : diag->status;
    if (status == KVC_OK && class->model->check != NULL) {
        status = class->model->check(class, diag);
    }
    kvc_cluster_free_class(class);
    return status;
}

enum kvc_status kvc_hardware_values_settle(struct kvc_scenario *copy, struct kvc_diag *diag)
{
    enum kvc_status status = check_node(&copy->node, diag);
    if (status == KVC_OK) {
        status = kvc_scenario_resolve(copy, diag);
    }
    if (status == KVC_OK && copy->model->check != NULL) {
        status = copy->model->check(copy, diag);
    }
    for (uint32_t i = 0; i < copy->cluster.member_count && status == KVC_OK; i++) {
        status = check_member(copy, i, diag);
    }
    return status;
}
