#include "sim/run/answers.h"

#include <string.h>

#include "sim/base/array.h"

void kvc_answers_free(struct kvc_answers *answers)
{
    free(answers->sent_ns);
    free(answers->done_ns);
    free(answers->outcome);
    free(answers->client);
    free(answers->mark_ns);
    free(answers->offered_ns);
}

void kvc_answers_reserve(struct kvc_answers *answers, uint32_t count)
{
    if (answers->count + count <= answers->capacity) {
        return;
    }
    uint32_t capacity = 2 * (answers->count + count);
    answers->sent_ns = kvc_array_grown(answers->sent_ns, capacity, sizeof(*answers->sent_ns));
    answers->done_ns = kvc_array_grown(answers->done_ns, capacity, sizeof(*answers->done_ns));
    answers->outcome = kvc_array_grown(answers->outcome, capacity, sizeof(*answers->outcome));
    answers->client = kvc_array_grown(answers->client, capacity, sizeof(*answers->client));
    if (answers->marks > 0) {
        answers->mark_ns =
            kvc_array_grown(answers->mark_ns, (size_t)capacity * answers->marks, sizeof(*answers->mark_ns));
    }
    answers->capacity = capacity;
}

void kvc_answers_offer(struct kvc_answers *answers, const double *sent_ns, uint32_t count)
{
    if (answers->offered + count > answers->offered_capacity) {
        answers->offered_capacity = 2 * (answers->offered + count);
        answers->offered_ns =
            kvc_array_grown(answers->offered_ns, answers->offered_capacity, sizeof(*answers->offered_ns));
    }
    memcpy(answers->offered_ns + answers->offered, sent_ns, count * sizeof(*sent_ns));
    answers->offered += count;
}
