/* How much of this machine's processors goes to others while something is measured. */
#ifndef KVC_VALIDATE_PROBES_NOISE_H
#define KVC_VALIDATE_PROBES_NOISE_H

struct kvc_noise {
    double others_s; /* processor time that was not this process's so far, stolen time included */
    double wall_s;
};

/* Begins. Where the system does not tell, kvc_noise_frac will be NaN. */
void kvc_noise_begin(struct kvc_noise *noise);

/* Share of the time of all processors since then that others had; NaN: not known. */
double kvc_noise_frac(const struct kvc_noise *noise);

#endif
