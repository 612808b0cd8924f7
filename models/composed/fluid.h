/* Devices that all jobs of a server share, as fluids: cores of hyper-threads, host memory, that behind CXL,
 * the card's memory and its packets on PCIe, the directions of the root complex, and the wire to the clients.
 * Work comes to a device while a job is served, and waits there in line if more comes than the device serves.
 * A job ends when the devices that it needs have done its part. */
#ifndef KVC_MODELS_COMPOSED_FLUID_H
#define KVC_MODELS_COMPOSED_FLUID_H

enum kvc_composed_shared {
    KVC_COMPOSED_ISSUE,       /* Issue slots of the cores, if hardware threads share them. */
    KVC_COMPOSED_MEMORY,      /* Channels of host memory. */
    KVC_COMPOSED_ROOT_IN,     /* Root complex, towards memory. */
    KVC_COMPOSED_ROOT_OUT,    /* Root complex, from memory. */
    KVC_COMPOSED_CXL_MEMORY,  /* Links of the memory behind CXL. */
    KVC_COMPOSED_CARD_MEMORY, /* Channels of the card's memory. */
    KVC_COMPOSED_DMA,         /* The card's PCIe links, as packets use them. */
    KVC_COMPOSED_WIRE,        /* To the clients: of all ports, or of the first one. */
    KVC_COMPOSED_SHARED,
};

struct kvc_composed_fluid {
    double rate;       /* Time of the device that comes in a nanosecond. */
    double backlog_ns; /* What it has not done yet [ns]. */
    double at_ns;      /* When that was. */
};

static inline void kvc_composed_fluid_until(struct kvc_composed_fluid *fluid, double now_ns)
{
    double left_ns = fluid->backlog_ns + (fluid->rate - 1) * (now_ns - fluid->at_ns);
    fluid->backlog_ns = left_ns > 0 ? left_ns : 0;
    fluid->at_ns = now_ns;
}

/* Begins, at the time of the fluid, with work that comes over over_ns, or at once. Returns its rate. */
static inline double kvc_composed_fluid_begin(struct kvc_composed_fluid *fluid, double work_ns,
                                              double over_ns)
{
    double rate = over_ns > 0 ? work_ns / over_ns : 0;
    fluid->backlog_ns += over_ns > 0 ? 0 : work_ns;
    fluid->rate += rate;
    return rate;
}

/* Ends with work that came at this rate. Returns what is left of it and of all that came before [ns]. */
static inline double kvc_composed_fluid_end(struct kvc_composed_fluid *fluid, double now_ns, double rate)
{
    kvc_composed_fluid_until(fluid, now_ns);
    fluid->rate -= rate;
    return fluid->backlog_ns;
}

/* Takes back work that has come and is not done; below 0, adds some. */
static inline void kvc_composed_fluid_return(struct kvc_composed_fluid *fluid, double work_ns)
{
    fluid->backlog_ns = fluid->backlog_ns > work_ns ? fluid->backlog_ns - work_ns : 0;
}

#endif
