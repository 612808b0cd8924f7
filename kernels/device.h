/** @file
 * The mark of functions that compile for both the host and the device. */
#ifndef KVC_KERNELS_DEVICE_H
#define KVC_KERNELS_DEVICE_H

/** Marks a `static inline` function in a header that C and CUDA C++ include. It is empty in C. */
#ifdef __CUDACC__
#define KVC_HOST_DEVICE __host__ __device__
#else
#define KVC_HOST_DEVICE
#endif

#endif
