/** @file
 * Locates the data files that kvcast ships with: hardware profiles, scenarios, published and measured
 * values, and plotting scripts.
 *
 * The data folder has the layout of the source tree ("scenarios/hardware", "plots", ...). These places are
 * tried in this order:
 *
 * 1. the folder that the environment variable KVCAST_DATA names;
 * 2. share/kvcast beside the folder of the program or library, or beside the folder around it, as `cmake
 *    --install` leaves it: /usr/bin/kvcast and /usr/lib/x86_64-linux-gnu/libkvcast.so read /usr/share/kvcast,
 *    and an installed tree can be moved as a whole;
 * 3. the source tree, for programs in a build tree: CMake leaves a file kvcast-data at the top of the build
 *    tree whose one line is the path of the source tree, relative to that file. That file is searched for
 *    in the program's folder and in the folders above it.
 *
 * No path is compiled into the program. */
#ifndef KVC_SIM_BASE_FILES_DATA_DIR_H
#define KVC_SIM_BASE_FILES_DATA_DIR_H

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the data folder, which is searched for at the first call. If none is found, returns the second
 * place above; opening a file there then fails with a message that shows the place. */
const char *kvc_data_dir(void);

/** Writes the path of a data file or folder, such as "scenarios/hardware". A path that is too long becomes
 * empty. */
void kvc_data_path(const char *name, char path[PATH_MAX]);

#ifdef __cplusplus
}
#endif

#endif
