#include "models/kvdirect/hot.h"

#include <criterion/criterion.h>

enum { RATE = 8, PLACES = 1024, INDEX = 8192, LINES = 16384 };

static const struct kvc_kvdirect_extent whole = {INDEX, LINES, PLACES},
                                        sample = {INDEX / RATE, LINES / RATE, PLACES / RATE};

/* Lines of the whole table: one, another one at its place, one at a place whose like is the same, and one
 * elsewhere. */
enum { LINE = 5, RIVAL = LINE + PLACES, COUSIN = LINE + PLACES / RATE, OTHER = LINE + 1 };

static struct kvc_kvdirect_hot opened(void)
{
    struct kvc_kvdirect_hot hot;
    cr_assert(kvc_kvdirect_hot_open(&hot, &whole, &sample));
    return hot;
}

static bool has(const struct kvc_kvdirect_hot *hot, uint64_t line)
{
    bool evicts;
    return kvc_kvdirect_hot_look(hot, line, KVC_KVDIRECT_NO_LINE, &evicts);
}

static bool evicts(const struct kvc_kvdirect_hot *hot, uint64_t line)
{
    bool evicts;
    cr_assert_not(kvc_kvdirect_hot_look(hot, line, KVC_KVDIRECT_NO_LINE, &evicts));
    return evicts;
}

Test(hot, lines_stay_until_their_place_is_used)
{
    struct kvc_kvdirect_hot hot = opened();
    cr_expect_not(has(&hot, LINE));
    kvc_kvdirect_hot_put(&hot, LINE, false);
    kvc_kvdirect_hot_put(&hot, COUSIN, false);
    kvc_kvdirect_hot_note(&hot, OTHER, true, false);
    cr_expect(has(&hot, LINE) && has(&hot, COUSIN), "places that are alike hold a line each");
    kvc_kvdirect_hot_put(&hot, RIVAL, false);
    cr_expect(!has(&hot, LINE) && has(&hot, RIVAL) && has(&hot, COUSIN));
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect(!has(&hot, RIVAL) && !has(&hot, COUSIN), "a use in the sample is one at every place alike");
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, the_keys_of_its_bucket_bring_a_line_back)
{
    struct kvc_kvdirect_hot hot = opened();
    bool unused;
    kvc_kvdirect_hot_put(&hot, LINE, false);
    kvc_kvdirect_hot_note(&hot, LINE, true, false); /* At the place. */
    cr_expect_not(kvc_kvdirect_hot_look(&hot, LINE, OTHER, &unused));
    kvc_kvdirect_hot_note(&hot, OTHER, true, false); /* In the bucket. */
    cr_expect(kvc_kvdirect_hot_look(&hot, LINE, OTHER, &unused));
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect_not(kvc_kvdirect_hot_look(&hot, LINE, OTHER, &unused));
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, changed_lines_are_evicted)
{
    struct kvc_kvdirect_hot hot = opened();
    cr_expect_not(evicts(&hot, LINE));
    kvc_kvdirect_hot_put(&hot, RIVAL, true);
    cr_expect(evicts(&hot, LINE), "the rival's line");
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect_not(evicts(&hot, LINE), "an unchanged line of the sample");
    kvc_kvdirect_hot_note(&hot, LINE, true, true);
    kvc_kvdirect_hot_note(&hot, LINE, true, false);
    cr_expect(evicts(&hot, LINE), "a changed one that was read since");
    kvc_kvdirect_hot_note(&hot, LINE, false, false);
    cr_expect_not(evicts(&hot, LINE), "one that was fetched since");
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, the_latest_line_is_there_first)
{
    struct kvc_kvdirect_hot hot = opened();
    for (uint32_t line = 0; line < LINES; line++) {
        kvc_kvdirect_hot_fill(&hot, line, (float)(line / PLACES == 3 ? 1 : 2), false);
    }
    for (uint32_t line = 0; line < LINES; line++) {
        cr_assert_eq(has(&hot, line), line / PLACES == 3);
    }
    kvc_kvdirect_hot_close(&hot);
}

Test(hot, buckets_are_those_of_the_whole_table)
{
    struct kvc_kvdirect_hot hot = opened();
    for (uint64_t hash = 1; hash < UINT64_C(1) << 32; hash += 12345677) {
        cr_assert_eq(kvc_kvdirect_hot_line(&hot, hash, 3), hash * INDEX >> 32);
        uint32_t behind = kvc_kvdirect_hot_line(&hot, hash, INDEX / RATE + 3);
        cr_assert(behind >= INDEX && behind < LINES);
    }
    kvc_kvdirect_hot_close(&hot);
}
