/* The authors' cost model (DIDO, ICDE 2017, sec. IV), as the paper gives it.
 *
 *   T_F = N (I_F / IPC + N_M L_M + N_C L_C)                                  (1)
 *   T_A = sum of T_F over the stage's tasks, times mu                        (2)
 *   T_A with stealing, if the GPU is the slowest, B being the cores' tasks:
 *         T_B + T_A_CPU (T_A_GPU - T_B) / (T_A_CPU + T_A_GPU)                (3)
 *   S = N / T_max, with the largest N whose T_max is within the interval     (4)
 *
 * N_M is 1.5 for search and delete (two hash functions), what was counted for insert, and 1 for an item,
 * whose further lines are N_C. RD after KC in the same stage has no N_M. With a skewed popularity, a share P
 * of N_M turns into N_C: that of the requests for the most popular items that the cache holds. RV and SD cost
 * what was measured for them.
 *
 * Where the paper leaves a value open, it is that of the profile: IPC is the highest that the processor
 * reaches, L_M and L_C are the latencies of memory and last-level cache. On the GPU all threads it holds wait
 * at the same time, so an access counts its share of them. mu was measured by the authors with a program that
 * makes both processors access memory; here it is the time that the channels need for the accesses of all
 * stages over the longest stage, at least 1. PP's threads on the GPU parse a frame each (costs.h), which
 * begin fewer instructions than its peak. Launches of kernels are not in the model. */
#ifndef KVC_MODELS_DIDO_PAPER_MODEL_H
#define KVC_MODELS_DIDO_PAPER_MODEL_H

#include "models/dido/period.h"

/* Returns the period of batches of `queries` queries. */
struct kvc_dido_period kvc_dido_paper_period(const struct kvc_dido_config *config,
                                             const struct kvc_dido_pipeline *pipeline,
                                             const struct kvc_dido_mix *mix, double queries);

#endif
