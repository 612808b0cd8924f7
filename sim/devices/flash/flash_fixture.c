#include "sim/devices/flash/flash_fixture.h"

#include <math.h>

/* Returns the rate of operations that occupy a chip for `cell_ns` and the transfer, a channel for the
 * transfer, and the drive for its part. */
static double operations_per_s(const struct kvc_flash *flash, double cell_ns, double bytes)
{
    double transfer_ns = kvc_flash_transfer_ns(flash, bytes);
    double drive_ns = fmax(flash->operation_ns, kvc_flash_interface_ns(flash, bytes));
    double chips = (double)kvc_flash_channels(flash) *
                   fmin((double)flash->chips / (cell_ns + transfer_ns), 1 / transfer_ns) * 1e9;
    return drive_ns > 0 ? fmin(chips, (double)flash->cards / drive_ns * 1e9) : chips;
}

double kvc_test_flash_reads_per_s(const struct kvc_flash *flash, double bytes)
{
    return operations_per_s(flash, flash->read_ns, bytes);
}

double kvc_test_flash_programs_per_s(const struct kvc_flash *flash)
{
    double chips = operations_per_s(flash, flash->program_ns, flash->page_bytes);
    double limit_ns =
        kvc_flash_limits_programs(flash) ? flash->page_bytes / flash->program_bytes_per_s * 1e9 : 0;
    return limit_ns > 0 ? fmin(chips, (double)flash->cards / limit_ns * 1e9) : chips;
}

double kvc_test_write_amplification(double over_provisioning)
{
    enum { ROUNDS = 10000 };
    double raw = 1 + over_provisioning, valid = 0;
    for (int i = 0; i < ROUNDS; i++) {
        valid = raw * exp(valid - raw); /* -valid is Lambert's W of -raw exp(-raw). */
    }
    return raw / (raw - valid);
}
