/* Code that is the same on the host and on the device: `static inline KVC_HOST_DEVICE ...` in a header that
 * both C and CUDA C++ include. */
#ifndef KVC_KERNELS_DEVICE_H
#define KVC_KERNELS_DEVICE_H

#ifdef __CUDACC__
#define KVC_HOST_DEVICE __host__ __device__
#else
#define KVC_HOST_DEVICE
#endif

#endif
