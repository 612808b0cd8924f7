#include "models/composed/flow/later.h"

bool kvc_composed_keep_writes(struct kvc_composed_server *server, uint32_t number, uint32_t stage)
{
    struct kvc_composed_job *job = server->job[number];
    const struct kvc_composed_stage_options *options = server->config->stage[stage].options;
    struct kvc_composed_later *later = &server->pipeline[job->pipeline].later[stage];
    struct kvc_composed_counts counts;
    kvc_composed_take_lost(server, job, server->config->stage[stage].does);
    kvc_composed_execute(&server->structures, job, server->config->stage[stage].does, &later->writes, false,
                         &counts);
    kvc_composed_counts_add(&later->counts, &job->counts, 1);
    return ++later->batches == options->every;
}

void kvc_composed_hand_over(struct kvc_composed_server *server, uint32_t number, uint32_t stage)
{
    struct kvc_composed_job *job = server->job[number];
    struct kvc_composed_later *later = &server->pipeline[job->pipeline].later[stage], due = *later;
    *later = (struct kvc_composed_later){.writes = job->later.writes}; /* Its arrays are used again. */
    job->later = due;
}
