/** @file
 * The version of kvcast, such as "0.1.0", or "0.1.0+" and the commit if it was built from a git checkout.
 *
 * The number is set in one place, project() in the top-level CMakeLists.txt. */
#ifndef KVC_SIM_BASE_VERSION_H
#define KVC_SIM_BASE_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

/** The version that `kvcast --version` prints and that results and machine files carry. */
extern const char kvc_version[];

#ifdef __cplusplus
}
#endif

#endif
