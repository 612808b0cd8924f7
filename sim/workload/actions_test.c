#include "sim/workload/workload.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "sim/workload/keys/popularity_blocks.h"
#include "sim/workload/source/source_fixture.h"

enum { FRIENDS, PROFILE, REQUESTS, KINDS };

/* Two actions that update, among three that read. */
static struct kvc_workload social(void)
{
    struct kvc_workload workload = kvc_test_workload(KVC_ARRIVAL_SATURATE);
    workload.keys = 3000;
    workload.key_bytes = 16;
    workload.get_frac = 0.8;
    workload.set_frac = 0.2;
    workload.delete_frac = 0;
    workload.action_count = 5;
    workload.actions[0] = (struct kvc_action){.name = "friends", .frac = 0.1, .value_bytes = 700};
    workload.actions[1] = (struct kvc_action){
        .name = "accept", .frac = 0.25, .value_bytes = -1, .invalidates = "2 friends,2  profile, requests"};
    workload.actions[2] = (struct kvc_action){.name = "profile", .frac = 0.6, .value_bytes = -1};
    workload.actions[3] = (struct kvc_action){.name = "requests", .frac = 0.3, .value_bytes = 0};
    workload.actions[4] =
        (struct kvc_action){.name = "invite", .frac = 0.75, .value_bytes = -1, .invalidates = "requests"};
    return workload;
}

Test(actions, mix_has_shares_sizes_and_what_updates_invalidate)
{
    struct kvc_workload workload = social();
    struct kvc_action_mix mix;
    struct kvc_diag diag = {0};
    enum kvc_status status = kvc_action_mix_open(&mix, &workload, &diag);
    cr_assert_eq(status, KVC_OK, "%s", diag.message);
    cr_assert_eq(mix.kinds, KINDS);
    cr_assert_eq(mix.updates, 2);
    cr_expect_float_eq(mix.read_frac[PROFILE], 0.6, 1e-15);
    cr_expect_eq(mix.value_bytes[FRIENDS], 700);
    cr_expect_eq(mix.value_bytes[PROFILE], 8, "that of the workload");
    cr_expect_eq(mix.value_bytes[REQUESTS], 0);
    cr_expect_eq(mix.members[0][PROFILE], 2);
    cr_expect_eq(mix.members[0][REQUESTS], 1);
    cr_expect_eq(mix.members[1][PROFILE], 0);
    double requests = kvc_action_mix_invalidated_of(&mix, REQUESTS), all = kvc_action_mix_invalidated(&mix);
    cr_expect_float_eq(requests, 1, 1e-15);
    cr_expect_float_eq(all, 0.25 * 5 + 0.75, 1e-15);
    cr_expect_eq(kvc_workload_value_bytes_max(&workload), 700);
    cr_expect_float_eq(kvc_workload_value_bytes_mean(&workload), 236, 1e-12);
}

Test(actions, source_reads_kinds_by_their_shares_with_their_sizes)
{
    enum { REQUESTS_MADE = 40000 };
    struct kvc_workload workload = social();
    workload.popularity = KVC_POPULARITY_ZIPF;
    workload.zipf_s = 0.9;
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, 1);
    struct kvc_batch *batch = kvc_test_batch(&workload, REQUESTS_MADE);
    static const uint32_t bytes[KINDS] = {700, 8, 0};
    double read[KINDS] = {0}, gets = 0, first = 0;
    while (batch->count < REQUESTS_MADE) {
        kvc_source_drain(source, 0, 0, batch);
    }
    for (uint32_t i = 0; i < REQUESTS_MADE; i++) {
        uint32_t kind = (uint32_t)(batch->key_id[i] % KINDS);
        cr_assert_lt(batch->key_id[i], workload.keys);
        cr_assert_eq(batch->value_bytes[i], bytes[kind]);
        gets += batch->op[i] == KVC_OP_GET;
        read[kind] += batch->op[i] == KVC_OP_GET;
        first += batch->key_id[i] < KINDS;
    }
    cr_expect_float_eq(read[FRIENDS] / gets, 0.1, 0.01, "%g", read[FRIENDS] / gets);
    cr_expect_float_eq(read[PROFILE] / gets, 0.6, 0.01, "%g", read[PROFILE] / gets);
    /* The popularity follows 1000 members. */
    double mass = kvc_popularity_mass(&workload, KINDS);
    cr_expect_float_eq(first / REQUESTS_MADE, mass, 0.01, "%g of %g", first / REQUESTS_MADE, mass);
    kvc_batch_free(batch);
    kvc_source_free(source);
}

Test(actions, members_of_an_update_are_different)
{
    struct kvc_workload workload = social();
    workload.keys = KINDS * KVC_ACTION_MEMBERS_MAX; /* The fewest that are allowed. */
    struct kvc_source *source = kvc_test_source(&workload, 1, 1, 1);
    struct kvc_rng rng;
    kvc_rng_init(&rng, 1, "test", 0);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t member[KVC_ACTION_MEMBERS_MAX] = {i % KVC_ACTION_MEMBERS_MAX}, seen = 0;
        kvc_source_draw_other_members(source, &rng, member, KVC_ACTION_MEMBERS_MAX);
        for (int m = 0; m < KVC_ACTION_MEMBERS_MAX; m++) {
            seen |= 1ull << member[m];
        }
        cr_assert_eq(seen, (1u << KVC_ACTION_MEMBERS_MAX) - 1);
    }
    kvc_source_free(source);
}

Test(actions, popularity_blocks_have_all_reads_and_all_invalidations)
{
    for (int popularity = KVC_POPULARITY_UNIFORM; popularity <= KVC_POPULARITY_ZIPF; popularity++) {
        struct kvc_workload workload = social();
        struct kvc_popularity_blocks blocks;
        struct kvc_popularity_block block;
        double keys = 0, mass = 0, updates = 0;
        workload.popularity = popularity;
        workload.zipf_s = 0.99;
        kvc_popularity_blocks_open(&blocks, &workload);
        while (kvc_popularity_blocks_next(&blocks, &block)) {
            keys += block.keys;
            mass += block.mass;
            updates += block.updates;
        }
        kvc_popularity_blocks_close(&blocks);
        cr_expect_float_eq(keys, 3000, 1e-9);
        cr_expect_float_eq(mass, 1, 1e-9);
        cr_expect_float_eq(updates, 0.2 * 2, 1e-9, "two keys of an update, not %g", updates / 0.2);
        double half = kvc_popularity_mass(&workload, 1500);
        cr_expect(popularity == KVC_POPULARITY_ZIPF ? half > 0.6 : fabs(half - 0.5) < 1e-9, "%g", half);
    }
}

/* Change of a valid workload in each case, and a part of the message. */
static const struct {
    char part[64];
    uint32_t action;
    double frac;
    char name[16], invalidates[32];
    uint64_t keys;
} wrong[] = {
    {"actions that read add up to 1.1", 0, 0.2, "friends", "", 3000},
    {"actions that update add up to 1.25", 4, 1, "invite", "requests", 3000},
    {"actions.3.name: found \"friends\"", 2, 0.6, "friends", "", 3000},
    {"actions.1.name: found \"2nd\"", 0, 0.1, "2nd", "", 3000},
    {"actions.1.name: found \"\"", 0, 0.1, "", "", 3000},
    {"found \"request\", allowed is a list", 4, 0.75, "invite", "request", 3000},
    {"found \"0 requests\"", 4, 0.75, "invite", "0 requests", 3000},
    {"found \"5 requests\"", 4, 0.75, "invite", "5 requests", 3000},
    {"found \"requests, requests\"", 4, 0.75, "invite", "requests, requests", 3000},
    {"found \" \"", 4, 0.75, "invite", " ", 3000},
    {"found \"accept\"", 4, 0.75, "invite", "accept", 3000},
    {"keys is 3001; allowed are multiples of 3", 0, 0.1, "friends", "", 3001},
    {"keys is 9; allowed are at least 12", 0, 0.1, "friends", "", 9},
};

Test(actions, refuses_what_makes_no_sense_with_one_message)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct kvc_workload workload = social();
        struct kvc_action *action = &workload.actions[wrong[i].action];
        struct kvc_diag diag = {0};
        workload.keys = wrong[i].keys;
        action->frac = wrong[i].frac;
        snprintf(action->name, sizeof(action->name), "%s", wrong[i].name);
        snprintf(action->invalidates, sizeof(action->invalidates), "%s", wrong[i].invalidates);
        enum kvc_status status = kvc_workload_check(&workload, &diag);
        cr_expect_eq(status, KVC_ERR_SCENARIO, "%s", wrong[i].part);
        cr_expect_not_null(strstr(diag.message, wrong[i].part), "%s: %s", wrong[i].part, diag.message);
    }
}

Test(actions, refuses_mixes_that_no_action_can_serve)
{
    struct kvc_workload reads_only = social(), updates_only = social(), deletes = social(), pool = social(),
                        sized = social();
    struct kvc_diag diag = {0};
    reads_only.action_count = 1;
    reads_only.actions[0].frac = 1;
    updates_only.actions[0] = updates_only.actions[1];
    updates_only.action_count = 1;
    deletes.set_frac = deletes.delete_frac = 0.1;
    pool.sizes = KVC_SIZES_ETC;
    sized.actions[4].value_bytes = 8;
    const struct kvc_workload *bad[] = {&reads_only, &updates_only, &deletes, &pool, &sized};
    const char *const parts[] = {"workload.set is 0.2", "workload.actions.1.invalidates",
                                 "workload.delete is 0.1", "workload.sizes",
                                 "workload.actions.5.value: found 8"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        enum kvc_status status = kvc_workload_check(bad[i], &diag);
        cr_expect_eq(status, KVC_ERR_SCENARIO, "%s", parts[i]);
        cr_expect_eq(strncmp(diag.message, parts[i], strlen(parts[i])), 0, "%s: %s", parts[i], diag.message);
    }
    reads_only.get_frac = 1;
    reads_only.set_frac = 0;
    enum kvc_status status = kvc_workload_check(&reads_only, &diag);
    cr_expect_eq(status, KVC_OK, "%s", diag.message);
}
