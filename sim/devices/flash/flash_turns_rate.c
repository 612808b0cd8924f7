#include "sim/devices/flash/flash_turns_rate.h"

#include <math.h>

/* Returns the share of the chips that are busy with so many reads at random ones. */
static double busy_share(double chips, double reads)
{
    if (reads <= 1) {
        return reads / chips;
    }
    double mean = reads / chips, others = (reads - 1) / reads;
    return (1 + mean - sqrt((1 + mean) * (1 + mean) - 2 * mean * (2 - others))) / (2 - others);
}

double kvc_flash_turns_reads_per_s(const struct kvc_flash *flash, double bytes, double reads)
{
    double chips = kvc_flash_chips(flash), of_channel = (double)flash->chips;
    double others = busy_share(chips, fmax(reads - 1, 0));
    double round = others > 0 ? of_channel * others / (1 - pow(1 - others, of_channel)) : 1;
    double answer_ns = flash->status_ns + kvc_flash_data_ns(flash, bytes);
    double round_ns = flash->command_ns + fmax(flash->read_ns, flash->first_poll_ns) +
                      (flash->poll_ns + flash->status_ns) / 2 + round * answer_ns;
    return chips * busy_share(chips, reads) / round_ns * 1e9;
}
