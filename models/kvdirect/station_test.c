#include "models/kvdirect/station.h"

#include <criterion/criterion.h>

/* Even operations have key "a", odd ones have key "b". */
static bool same(void *data, int32_t owner, int32_t operation)
{
    (void)data;
    return owner % 2 == operation % 2;
}

static struct kvc_kvdirect_station station;
static struct kvc_kvdirect_slot *slot;

static void open_station(void)
{
    kvc_kvdirect_station_open(&station, 1, 10);
    slot = kvc_kvdirect_slot_of(&station, UINT64_MAX);
}

static void close_station(void)
{
    kvc_kvdirect_station_close(&station);
}

TestSuite(station, .init = open_station, .fini = close_station);

static enum kvc_kvdirect_admission admit(int32_t operation)
{
    return kvc_kvdirect_station_admit(&station, slot, operation,
                                      slot->owner != KVC_KVDIRECT_NONE && same(NULL, slot->owner, operation));
}

Test(station, a_fetch_alone_leaves_an_empty_slot)
{
    cr_expect_eq(admit(0), KVC_KVDIRECT_FETCH);
    cr_expect_eq(slot->owner, 0);
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_NOTHING,
                 "the fetch is under way");
    cr_expect_eq(slot->owner, 0);
    slot->fetching = false;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_NOTHING);
    cr_expect_eq(slot->owner, KVC_KVDIRECT_NONE);
}

/* Operations on the owner's key overtake the others. Then their change is written, and the next key follows.
 */
Test(station, waiting_operations_get_the_value_then_the_next_key_is_fetched)
{
    int32_t before = KVC_KVDIRECT_NONE;
    cr_expect_eq(admit(0), KVC_KVDIRECT_FETCH);
    cr_expect_eq(admit(1), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(2), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(3), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(4), KVC_KVDIRECT_WAIT);
    slot->fetching = false;
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), 2);
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), 4);
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), KVC_KVDIRECT_NONE);
    cr_expect_eq(slot->forwarding, 2);
    slot->changed = true;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_NOTHING,
                 "two operations are being done");
    slot->forwarding = 0;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_WRITE);
    cr_expect_eq(slot->owner, 0);
    cr_expect_not(slot->changed);
    cr_expect_eq(admit(6), KVC_KVDIRECT_WAIT, "no operation overtakes a waiting one");
    slot->writing = false;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_FETCH);
    cr_expect_eq(slot->owner, 1);
    slot->fetching = false;
    before = KVC_KVDIRECT_NONE;
    cr_expect_eq(kvc_kvdirect_station_take(&station, slot, &before, same, NULL), 3);
    slot->forwarding = 0;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_FETCH);
    cr_expect_eq(slot->owner, 6);
}

Test(station, a_value_under_way_serves_who_comes)
{
    admit(0);
    slot->fetching = false;
    slot->changed = true;
    cr_expect_eq(kvc_kvdirect_station_next(&station, slot), KVC_KVDIRECT_NEXT_WRITE);
    cr_expect_eq(admit(2), KVC_KVDIRECT_FORWARD);
    cr_expect_eq(slot->forwarding, 1);
    cr_expect_eq(admit(1), KVC_KVDIRECT_WAIT);
    cr_expect_eq(admit(4), KVC_KVDIRECT_WAIT, "waits behind the other key");
}

Test(station, stalling_lets_reads_pass_together)
{
    cr_expect(kvc_kvdirect_station_enter(slot, false));
    cr_expect(kvc_kvdirect_station_enter(slot, false));
    cr_expect_not(kvc_kvdirect_station_enter(slot, true));
    kvc_kvdirect_station_leave(slot, false);
    kvc_kvdirect_station_leave(slot, false);
    cr_expect(kvc_kvdirect_station_enter(slot, true));
    cr_expect_not(kvc_kvdirect_station_enter(slot, true));
    cr_expect_not(kvc_kvdirect_station_enter(slot, false));
    kvc_kvdirect_station_leave(slot, true);
    cr_expect(kvc_kvdirect_station_enter(slot, false));
}
