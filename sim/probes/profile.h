/* A machine file under construction: measured values of devices, collected in any order and written device by
 * device.
 *
 * The probes and the stores that calibrate themselves each add the values they measure. Devices are written
 * in the order in which they were first mentioned, and so are the fields of a device; kvc_profile_reserve
 * fixes a field's place before its value is known. Scenarios read the file as node.machine
 * (scenarios/load/decode/hardware.h). */
#ifndef KVC_SIM_PROBES_PROFILE_H
#define KVC_SIM_PROBES_PROFILE_H

#include <stdio.h>

struct kvc_profile;

/* A profile without devices. `name` describes the machine, `date` is the day of the measurements, and
 * `version` is the version of kvcast. */
struct kvc_profile *kvc_profile_create(const char *name, const char *date, const char *version);
void kvc_profile_free(struct kvc_profile *profile); /* NULL is allowed */

/* Names the device: name = "...". */
void kvc_profile_name(struct kvc_profile *profile, const char *device, const char *name);

/* Reserves the place of a field whose value may be added later. The field is left out if no value follows. */
void kvc_profile_reserve(struct kvc_profile *profile, const char *device, const char *field);

/* Adds a measured value with its unit ("" for a plain number) and a text that says how it was measured.
 * `device` may be "gpu.clocks": the one entry of that list of the device. A field keeps the first value it
 * gets. */
void kvc_profile_value(struct kvc_profile *profile, const char *device, const char *field, double number,
                       const char *unit, const char *source, ...) __attribute__((format(printf, 6, 7)));

/* Adds an estimate with its 95 % interval, number - half .. number + half. A number below 0 is written as 0,
 * and without an interval if the interval does not contain 0. */
void kvc_profile_estimate(struct kvc_profile *profile, const char *device, const char *field, double number,
                          double half, const char *unit, const char *source, ...)
    __attribute__((format(printf, 7, 8)));

/* A point of a measured cost curve. */
struct kvc_profile_point {
    double size;            /* Size of the piece of work, in the curve's own unit. */
    double key_bytes;       /* Length of the keys [bytes]; 0: it does not matter, and is not written. */
    double load_frac;       /* Load factor of the index; 0: it does not matter, and is not written. */
    double footprint_bytes; /* Memory accessed at random [bytes]; 0: it does not matter. */
    unsigned threads;       /* Threads that did such work at the same time. */
    double ns;              /* Median time [ns]. */
    double low_ns, high_ns; /* Quartiles [ns]. */
    int repetitions;        /* Measurements of which ns is the median. */
};

/* Appends a point to the device's curve. The file has the time with the 95 % interval of the median, which
 * follows from the quartiles as for a normal distribution: 1.96 * 1.2533 / 1.349 of the distance between them
 * over the square root of the repetitions (David and Nagaraja, Order Statistics, 3rd ed., sec. 10.3). */
void kvc_profile_point(struct kvc_profile *profile, const char *device, const char *curve,
                       const struct kvc_profile_point *point);

/* Appends an element to a list of the device: `format` has its values as Lua, and `source`, which must be the
 * same for all elements of a list, says how they were measured. */
void kvc_profile_element(struct kvc_profile *profile, const char *device, const char *list,
                         const char *source, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Appends a comment line to the end of the file. */
void kvc_profile_comment(struct kvc_profile *profile, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a line to the summary that the user sees after a calibration; the file does not hold it. */
void kvc_profile_summarize(struct kvc_profile *profile, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the machine file: a Lua table, then the comment lines. */
void kvc_profile_write(const struct kvc_profile *profile, FILE *out);

/* Writes a machine file with the medians of several calibrations of the same machine, and with the comments
 * of the last one. A value keeps the source of the calibration that it comes from; of an even number of
 * values, the lower of the two in the middle counts. */
void kvc_profile_write_medians(struct kvc_profile *const *passes, size_t count, FILE *out);

/* Writes the lines of the summary. */
void kvc_profile_write_summary(const struct kvc_profile *profile, FILE *out);

#endif
