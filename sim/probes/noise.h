/* The share of this machine's processor time that other processes use during a measurement. */
#ifndef KVC_SIM_PROBES_NOISE_H
#define KVC_SIM_PROBES_NOISE_H

struct kvc_noise {
    double others_s; /* Processor time of all other processes at the beginning, stolen time included [s]. */
    double wall_s;   /* Wall clock at the beginning [s]. */
};

/* Begins a measurement. */
void kvc_noise_begin(struct kvc_noise *noise);

/* The fraction of all processors' time that others used since then; NaN if the system does not report it. */
double kvc_noise_frac(const struct kvc_noise *noise);

#endif
