#include "sim/probes/meter.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char folder[] = "/tmp/kvc_meter_XXXXXX";

static void write_file(const char *zone, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, zone);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/%s/%s", folder, zone, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    fprintf(file, "%s\n", text);
    cr_assert_eq(fclose(file), 0);
}

static void write_energy(const char *zone, double uj)
{
    char text[32];
    snprintf(text, sizeof(text), "%.0f", uj);
    write_file(zone, "energy_uj", text);
}

static void add_zone(const char *zone, const char *name, double uj)
{
    write_file(zone, "name", name);
    write_file(zone, "max_energy_range_uj", "1000000000");
    write_energy(zone, uj);
}

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(meter, .init = make_folder, .fini = remove_folder);

Test(meter, a_machine_without_zones_has_none)
{
    cr_expect_null(kvc_meter_open(folder));
    add_zone("intel-rapl:0", "package-0", 5);
    write_file("intel-rapl:0", "energy_uj", "none");
    cr_expect_null(kvc_meter_open(folder), "its counter is no number");
}

Test(meter, adds_up_packages_and_their_memory)
{
    add_zone("intel-rapl:0", "package-0", 1e6);
    add_zone("intel-rapl:0:0", "core", 1e6);
    add_zone("intel-rapl:0:1", "dram", 1e6);
    add_zone("intel-rapl:1", "package-1", 999e6);
    add_zone("intel-rapl:2", "psys", 1e6);
    struct kvc_meter *meter = kvc_meter_open(folder);
    cr_assert_not_null(meter);
    cr_expect_eq(kvc_meter_joules(meter), 0);
    write_energy("intel-rapl:0", 3e6);
    write_energy("intel-rapl:0:0", 900e6);
    write_energy("intel-rapl:0:1", 1.5e6);
    write_energy("intel-rapl:1", 4e6); /* 1 J to the end of its range, and 4 J after it. */
    write_energy("intel-rapl:2", 900e6);
    cr_expect_float_eq(kvc_meter_joules(meter), 2 + 0.5 + 5, 1e-9);
    cr_expect_float_eq(kvc_meter_joules(meter), 7.5, 1e-9);
    write_file("intel-rapl:1", "energy_uj", "?");
    cr_expect(isnan(kvc_meter_joules(meter)));
    kvc_meter_close(meter);
    kvc_meter_close(NULL);
}
