/** @file
 * The functions that fault injection wraps. The linker's option --wrap=NAME turns our calls of NAME into
 * calls of
 * __wrap_NAME, and __real_NAME is the function itself. */
#ifndef KVC_SIM_BASE_FAULT_WRAPPED_H
#define KVC_SIM_BASE_FAULT_WRAPPED_H

/** Declares both, with the type that the function's own header states. */
#define KVC_FAULT_WRAPPED(name) extern __typeof__(name) __wrap_##name, __real_##name

#endif
