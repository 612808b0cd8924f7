/* Random writes and mixes of reads and writes of drives in their steady state, against data sheets. Spare
 * capacity is that of the geometry; nothing of what is compared is an input. Where chips and garbage
 * collection do not limit a drive, what else does is not published: there the simulation says what the drive
 * cannot exceed. */
#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <math.h>

#include "scenarios/papers/bluecache/drives_fixture.h"
#include "sim/devices/flash/flash_fixture.h"

enum { SECTOR = 4096, STEADY = 100000 /* Operations after which rates change by a few percent at most. */ };

/* Returns what an open, aged drive does on random sectors. */
static struct kvc_drive_work mixed(uint32_t depth, double reads, uint32_t count)
{
    struct kvc_drive_load load = {depth, SECTOR, .reads = reads, .random = true, .count = count};
    struct kvc_drive_work work = kvc_drive_run(&load);
    cr_log_info("%.0f %% reads, depth %u: %.0f/s, amplified %.3f times, %.3g B/s programmed, chips %.3f busy",
                reads * 100, depth, work.per_s, work.amplification, work.programs_bytes_per_s,
                work.chips_busy);
    return work;
}

/* Returns the bytes a second that a drive writes in a row. */
static double in_a_row(const struct kvc_flash *flash, uint32_t depth)
{
    kvc_drive_open(flash, false);
    double per_s = kvc_drive_run(&(struct kvc_drive_load){depth, (uint32_t)flash->page_bytes, .random = false,
                                                          .count = 100000})
                       .per_s;
    kvc_drive_close();
    return flash->page_bytes * per_s;
}

/* Returns what a drive does whose host writes at random, in its steady state. */
static struct kvc_drive_work random_writes(const struct kvc_flash *flash)
{
    kvc_drive_open(flash, true);
    struct kvc_drive_work work = mixed(32, 0, STEADY);
    kvc_drive_close();
    return work;
}

/* Returns how busy the part is that limits writes: the chips, or what they program together. */
static double busiest(const struct kvc_flash *flash, const struct kvc_drive_work *work)
{
    double limit = kvc_flash_limits_programs(flash) ? flash->program_bytes_per_s : INFINITY;
    return fmax(work->chips_busy, work->programs_bytes_per_s / limit);
}

/* Expects that nothing is busier than always, and that chips or their limit are always busy, but for the
 * waits of chips for a channel. */
static void expect_full(const char *what, const struct kvc_flash *flash, const struct kvc_drive_work *work)
{
    double busy = busiest(flash, work);
    cr_expect(busy > 0.95 && busy < 1.01, "%s: what limits writes is busy for %.3f of the time", what, busy);
}

/* The chips of this drive are known. What they program for the host and for garbage collection limits it. */
Test(drives_writes, intel_s3700)
{
    struct kvc_flash flash = kvc_drive_of("intel-s3700-200gb");
    kvc_drive_expect("200 GB, written in a row", in_a_row(&flash, 32), 365e6, -0.1, 0.1);
    struct kvc_drive_work whole = random_writes(&flash);
    expect_full("200 GB", &flash, &whole);
    /* That the chips of this drive, of a longer life, program as fast is an assumption. They may be slower.
     */
    cr_expect_gt(kvc_drive_error("200 GB, random writes", whole.per_s, 32e3), 0);
    flash.chips /= 2;
    kvc_drive_expect("100 GB, written in a row", in_a_row(&flash, 32), 200e6, -0.1, 0.1);
    struct kvc_drive_work half = random_writes(&flash);
    expect_full("100 GB", &flash, &half);
    kvc_drive_expect("100 GB, random writes", half.per_s, 19e3, -0.1, 0.1);
    cr_expect_float_eq(half.per_s, whole.per_s / 2, 0.03 * half.per_s, "%.0f and %.0f", half.per_s,
                       whole.per_s);
}

/* The more spare capacity, the fewer sectors are moved. Two models of a drive that differ in nothing else are
 * twice as fast in random writes, with 3.2 TB of 4 TiB instead of 3.84 TB.
 *
 * What a drive writes at random, times what garbage collection makes of it, is no more than what it writes in
 * a row: a ceiling that published rates keep, and that the fastest of them reach. All drives have a power of
 * two of GiB. Sources: heise.de and computerbase.de of May 2020 (PM9A3, by form factor), Intel's announcement
 * of June 2020 (P5500 and P5600), and Micron's product brief (9550 MAX). */
Test(drives_writes, spare_capacity_is_speed)
{
    struct kvc_flash flash = kvc_drive_of("intel-s3700-200gb");
    const double raw_tb = 4 * 1.099511627776;
    flash.over_provisioning = raw_tb / 3.84 - 1;
    struct kvc_drive_work little = random_writes(&flash);
    flash.over_provisioning = raw_tb / 3.2 - 1;
    struct kvc_drive_work more = random_writes(&flash);
    kvc_drive_expect("Intel D7-P5600 over D7-P5500", more.per_s / little.per_s, 260.0 / 130, -0.1, 0.1);
    kvc_drive_expect("Kioxia CM6-V over CM6-R", more.per_s / little.per_s, 350.0 / 170, -0.1, 0.1);
    const struct {
        const char *name;
        double amplification, row, random;
    } drives[] = {{"Samsung PM9A3, U.2", little.amplification, 3500e6, 200e3},
                  {"Samsung PM9A3, E1.S", little.amplification, 3200e6, 150e3},
                  {"Samsung PM9A3, M.2", little.amplification, 1800e6, 70e3},
                  {"Intel D7-P5500", little.amplification, 4300e6, 130e3},
                  {"Intel D7-P5600", more.amplification, 4300e6, 260e3},
                  {"9550 MAX, 25.6 TB", more.amplification, 10e9, 1200e3}};
    double highest = 0;
    for (size_t i = 0; i < sizeof(drives) / sizeof(*drives); i++) {
        double share = drives[i].random * SECTOR * drives[i].amplification / drives[i].row;
        cr_log_info("%s: %.0f %% of the ceiling", drives[i].name, share * 100);
        cr_expect_lt(share, 1.05, "%s: %g", drives[i].name, share);
        highest = fmax(highest, share);
    }
    cr_expect_gt(highest, 0.95);
}

/* Returns a part of a drive whose controller takes no time: some of its channels, with their share of the
 * interface and of what all chips program. `parts` of them side by side are the drive. */
static struct kvc_flash part_of(const struct kvc_flash *flash, uint32_t parts)
{
    struct kvc_flash part = *flash;
    cr_assert(flash->operation_ns == 0 && flash->channels % parts == 0);
    part.channels /= parts;
    part.interface_bytes_per_s /= parts;
    part.program_bytes_per_s /= parts;
    return part;
}

/* Rates of the data sheet of the 9550 MAX by capacity. All write 10 GB/s in a row, whether they have 32 chips
 * or 256, which is an input. The chips of the smallest alone are slower than that. The largest writes at
 * random what this rate leaves. The others are slower than that, and all mixes are; why is not published, so
 * that the simulation says only what they cannot exceed.
 *
 * A data sheet that states the bytes that a drive endures, written at random and in a row, states what random
 * writes are amplified. The former are three drive writes a day for five years, a round number. */
Test(drives_writes, micron_9550_max)
{
    enum { PARTS = 4 };
    const struct {
        const char *name;
        uint32_t chips; /* Planes of a channel. */
        double random, mixed, random_tb, row_tb;
    } drives[] = {{"3.2 TB", 12, 540e3, 640e3, 17520, 37200},
                  {"6.4 TB", 24, 640e3, 720e3, 35040, 74200},
                  {"12.8 TB", 48, 820e3, 1000e3, 70080, 143100},
                  {"25.6 TB", 96, 1200e3, 1300e3, 140160, 282600}};
    struct kvc_flash flash = kvc_drive_of("micron-9550-max");
    for (int i = 0; i < 4; i++) {
        cr_log_info("%s", drives[i].name);
        flash.chips = drives[i].chips;
        struct kvc_flash part = part_of(&flash, PARTS);
        kvc_drive_open(&part, true);
        struct kvc_drive_work writes = mixed(512 / PARTS, 0, STEADY), mix = mixed(512 / PARTS, 0.7, STEADY);
        kvc_drive_close();
        expect_full(drives[i].name, &part, &writes);
        cr_expect_lt(busiest(&part, &mix), 1.01, "%s: %.3f", drives[i].name, busiest(&part, &mix));
        cr_expect_gt(kvc_drive_error("random writes", PARTS * writes.per_s, drives[i].random), 0);
        cr_expect_gt(kvc_drive_error("70 % reads", PARTS * mix.per_s, drives[i].mixed), 0);
        kvc_drive_expect("bytes endured in a row over at random", writes.amplification,
                         drives[i].row_tb / drives[i].random_tb, -0.1, 0.1);
        if (i == 3) {
            kvc_drive_expect("random writes", PARTS * writes.per_s, drives[i].random, -0.1, 0.1);
        }
    }
    flash.chips = drives[0].chips;
    double row = in_a_row(&flash, 1024), chips = flash.page_bytes * kvc_test_flash_programs_per_s(&flash);
    kvc_drive_error("3.2 TB, written in a row", row, 10e9);
    cr_expect_float_eq(row, chips, 0.01 * chips, "%.4g of %.4g B/s", row, chips);
}

/* Four times as many operations at a time are at most four times as fast. They read and program no fewer
 * sectors, up to the order in which reads and writes happen to come. At last, the limit is reached. */
static void expect_growth(const char *name, const struct kvc_flash *flash, double reads)
{
    struct kvc_drive_work work;
    double before_per_s = INFINITY, before = 0;
    for (uint32_t depth = 1; depth <= 256; depth *= 4) {
        work = mixed(depth, reads, 30000);
        double sectors = work.per_s * (reads + (1 - reads) * work.amplification);
        cr_expect(sectors > 0.97 * before && work.per_s < 4.03 * before_per_s,
                  "%s, %g reads, depth %u: %.0f after %.0f, %.0f sectors after %.0f", name, reads, depth,
                  work.per_s, before_per_s, sectors, before);
        cr_expect_lt(busiest(flash, &work), 1.01, "%s, %g reads, depth %u: busy for %.3f of the time", name,
                     reads, depth, busiest(flash, &work));
        before = sectors;
        before_per_s = work.per_s;
    }
    double most = kvc_test_flash_reads_per_s(flash, SECTOR);
    if (reads == 1) {
        cr_expect_float_eq(work.per_s, most, 0.01 * most, "%s: %.0f of %.0f reads/s", name, work.per_s, most);
    } else if (reads == 0) {
        expect_full(name, flash, &work);
    }
}

Test(drives_writes, rates_grow_with_the_queue_depth)
{
    const char *profiles[] = {"intel-s3700-200gb", "samsung-950-pro", "micron-9550-max"};
    const uint32_t parts[] = {1, 1, 4};
    for (int i = 0; i < 3; i++) {
        struct kvc_flash flash = kvc_drive_of(profiles[i]);
        flash = parts[i] > 1 ? part_of(&flash, parts[i]) : flash;
        kvc_drive_open(&flash, true);
        expect_growth(profiles[i], &flash, 1);
        expect_growth(profiles[i], &flash, 0.7);
        expect_growth(profiles[i], &flash, 0);
        kvc_drive_close();
    }
}
