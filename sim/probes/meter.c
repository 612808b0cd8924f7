#include "sim/probes/meter.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/array.h"

const char kvc_meter_folder[] = "/sys/class/powercap";

enum { ZONES_MAX = 64, PACKAGES_MAX = 32, PARTS_MAX = 8 };

struct zone {
    int file;
    double range_uj; /* The counter begins at 0 beyond this [uJ]. */
    double last_uj;  /* Latest reading [uJ]. */
};

struct kvc_meter {
    double sum_uj;
    int zones;
    struct zone zone[ZONES_MAX];
};

/* Opens a file of a zone; -1: it cannot be read. */
static int open_file(const char *folder, const char *zone, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s/%s", folder, zone, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the file from its beginning. Returns false if it is empty or cannot be read. */
static bool read_text(int file, char text[64])
{
    ssize_t length = pread(file, text, 63, 0);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return length > 0;
}

static double read_uj(int file)
{
    char text[64], *end;
    double value = read_text(file, text) ? strtod(text, &end) : NAN;
    return isnan(value) || end == text ? NAN : value;
}

/* Adds a zone if its name begins as wanted and it can be read. */
static void add_zone(struct kvc_meter *meter, const char *folder, const char *zone, const char *wanted)
{
    int name = open_file(folder, zone, "name"), range = open_file(folder, zone, "max_energy_range_uj"),
        energy = open_file(folder, zone, "energy_uj");
    char text[64];
    struct zone made = {energy, read_uj(range), read_uj(energy)};
    bool known = read_text(name, text) && strncmp(text, wanted, strlen(wanted)) == 0 && made.range_uj > 0 &&
                 made.last_uj >= 0 && meter->zones < ZONES_MAX;
    if (known) {
        meter->zone[meter->zones++] = made;
    }
    close(name);
    close(range);
    if (!known) {
        close(energy);
    }
}

struct kvc_meter *kvc_meter_open(const char *folder)
{
    struct kvc_meter *meter = kvc_array_of(1, sizeof(*meter));
    for (int package = 0; package < PACKAGES_MAX; package++) {
        char zone[32];
        snprintf(zone, sizeof(zone), "intel-rapl:%d", package);
        add_zone(meter, folder, zone, "package"); /* "psys" would count a package twice. */
        for (int part = 0; part < PARTS_MAX; part++) {
            snprintf(zone, sizeof(zone), "intel-rapl:%d:%d", package, part);
            add_zone(meter, folder, zone, "dram");
        }
    }
    if (meter->zones == 0) {
        free(meter);
        return NULL;
    }
    return meter;
}

void kvc_meter_close(struct kvc_meter *meter)
{
    for (int i = 0; meter != NULL && i < meter->zones; i++) {
        close(meter->zone[i].file);
    }
    free(meter);
}

double kvc_meter_joules(struct kvc_meter *meter)
{
    for (int i = 0; i < meter->zones; i++) {
        struct zone *zone = &meter->zone[i];
        double now_uj = read_uj(zone->file);
        meter->sum_uj += now_uj - zone->last_uj + (now_uj < zone->last_uj ? zone->range_uj : 0);
        zone->last_uj = now_uj;
    }
    return meter->sum_uj / 1e6;
}
