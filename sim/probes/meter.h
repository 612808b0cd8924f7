/* The energy that the processors of this machine and their memory have taken, by their own counters (RAPL),
 * which Linux shows as files (powercap). It adds up the zones of packages and of their memory, which the
 * packages do not contain (Intel 64 and IA-32 Architectures Software Developer's Manual, vol.
 * 3B, sec. 15.10). A virtual machine usually has none, and since Linux 5.10 only root can read them.
 *
 * The counters move about every millisecond, and begin at 0 again beyond a value that the zone states. */
#ifndef KVC_SIM_PROBES_METER_H
#define KVC_SIM_PROBES_METER_H

struct kvc_meter;

/* Where Linux has the zones. */
extern const char kvc_meter_folder[];

/* Opens the zones in a folder: intel-rapl:0 and further ones, which AMD's processors have, too. Returns NULL
 * if there is none that can be read. */
struct kvc_meter *kvc_meter_open(const char *folder);
void kvc_meter_close(struct kvc_meter *meter); /* NULL is allowed. */

/* Returns the energy since the meter was opened [J], or NaN if it cannot be read. It must be called more
 * often than the counters begin again, which takes minutes: otherwise, energy is lost. One thread may call it
 * at a time. */
double kvc_meter_joules(struct kvc_meter *meter);

#endif
