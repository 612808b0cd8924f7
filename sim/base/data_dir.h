/** @file
 * The folder of data files that kvcast comes with: hardware profiles, scenarios, published and measured
 * numbers, scripts of pictures.
 *
 * The folder has the layout of the source tree ("scenarios/hardware", "plots", ...). It is, in this order:
 *
 * 1. what the environment variable KVCAST_DATA names;
 * 2. share/kvcast beside the folder of the program, as `cmake --install` leaves it: /usr/bin/kvcast reads
 *    /usr/share/kvcast, and an installed tree can be moved as a whole;
 * 3. the source tree, for programs in a build tree: CMake leaves a file kvcast-data at the top of the build
 * tree whose one line is the path of the source tree, relative to that file. It is looked for in the
 * program's folder and in those above it.
 *
 * No path is compiled into the program. */
#ifndef KVC_SIM_BASE_DATA_DIR_H
#define KVC_SIM_BASE_DATA_DIR_H

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The folder, found at the first call. Where there is none, this is the second place above, and opening a
 * file below it fails with a message that shows the place. */
const char *kvc_data_dir(void);

/** Writes the path of a file or folder of the data, such as "scenarios/hardware". */
void kvc_data_path(const char *name, char path[PATH_MAX]);

#ifdef __cplusplus
}
#endif

#endif
