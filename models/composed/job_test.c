#include "models/composed/job.h"

#include <criterion/criterion.h>

static void add_row(struct kvc_composed_job *job, uint8_t op, uint32_t value_bytes)
{
    struct kvc_batch *rows = job->rows;
    uint32_t i = rows->count++;
    rows->op[i] = op;
    rows->key_bytes[i] = 8;
    rows->value_bytes[i] = value_bytes;
    rows->key_id[i] = rows->hash[i] = i;
    rows->sent_ns[i] = i;
    rows->client[i] = 0;
    job->kept[i] = 1;
    job->kept_count++;
    job->outcome[i] = op == KVC_OP_GET ? KVC_COMPOSED_HIT : KVC_COMPOSED_DONE;
}

Test(composed_job, splits_into_two_that_keep_the_order)
{
    struct kvc_composed_job *job = kvc_composed_job_create(8, 8), *other = kvc_composed_job_create(8, 8);
    const struct kvc_composed_config config = {.stages = 1};
    for (uint32_t i = 0; i < 6; i++) {
        add_row(job, i % 2 == 0 ? KVC_OP_GET : KVC_OP_SET, 10 * i);
    }
    const bool moves[8] = {false, true, false, true, false, true};
    kvc_composed_job_split(job, moves, other);
    kvc_composed_job_count(job, &config);
    kvc_composed_job_count(other, &config);
    cr_expect_eq(job->rows->count, 3);
    cr_expect_eq(other->rows->count, 3);
    cr_expect_eq(job->kept_count, 3);
    cr_expect_eq(other->rows->key_id[2], 5);
    cr_expect_eq(job->rows->key_id[2], 4);
    cr_expect_eq(job->counts.ops[KVC_OP_GET], 3);
    cr_expect_eq(other->counts.ops[KVC_OP_SET], 3);
    cr_expect_eq(job->counts.response_bytes, 0 + 20 + 40);
    cr_expect_eq(other->counts.op_bytes[KVC_OP_SET], 3 * 8 + 10 + 30 + 50);
    kvc_composed_job_free(job);
    kvc_composed_job_free(other);
}
