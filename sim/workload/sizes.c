#include "sim/workload/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/workload/keys/alias.h"
#include "sim/workload/keys/tenant_keys.h"

/* Parameters of Atikoglu et al.; see the header. */
static const double key_mu = 30.7984, key_sigma = 8.20449, key_xi = 0.078688;
static const double value_sigma = 214.476, value_xi = 0.348238;
static const double short_value[] = {0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606,
                                     0.00023, 0.00837, 0.00837, 0.08989, 0.00092, 0.00326, 0.01980};

enum {
    KEY_MIN = 4,
    KEY_MAX = 250,
    KEYS = KEY_MAX - KEY_MIN + 1,
    SHORT_VALUES = sizeof(short_value) / sizeof(*short_value),
    TABLED_VALUES = 4096, /* Larger values (0.2 %) are computed. */
    SMALL_VALUES = 500,   /* The values of var and sys are smaller. */
    USR_SHORT_KEY = 16,
    USR_LONG_KEY = 21,
    USR_VALUE = 2,
    APP_KEY = 31,
    APP_VALUE = 270,
};

/* Make the key size, the value size and the bytes of a key independent of each other. */
static const uint64_t key_salt = 0x6b65795f73697a65ull, value_salt = 0x76616c75655f737aull;

struct kvc_sizes {
    int set;
    uint8_t key_bytes; /* The size of every key, unless sizes are random. */
    uint32_t kinds;    /* Kinds of keys, each with values of one size, unless sizes are random. */
    uint32_t value_bytes[KVC_SIZE_KINDS_MAX];
    uint64_t end[KVC_SIZE_KINDS_MAX]; /* Ranked: the first key that no longer has a value of this size. */
    struct kvc_alias key, value;      /* Tables of etc, var and sys. */
    uint32_t pairs;                   /* Traced, tenants: number of `pair`. */
    struct kvc_tenant_keys *tenants;  /* Tenants: whose keys there are. */
    struct kvc_pair_sizes pair[KVC_SIZE_PAIRS_MAX];
};

void kvc_sizes_free(struct kvc_sizes *sizes)
{
    if (sizes == NULL) {
        return;
    }
    kvc_alias_free(&sizes->key);
    kvc_alias_free(&sizes->value);
    kvc_tenant_keys_free(sizes->tenants);
    free(sizes);
}

/* Returns P(key size < x), before rounding. */
static double key_cdf(double x)
{
    double base = 1 + key_xi * (x - key_mu) / key_sigma;
    return base > 0 ? exp(-pow(base, -1 / key_xi)) : 0;
}

/* Returns P(excess over the short values >= x), before rounding. */
static double value_survival(double x)
{
    return pow(1 + value_xi * x / value_sigma, -1 / value_xi);
}

static double short_share(void)
{
    double sum = 0;
    for (int i = 0; i < SHORT_VALUES; i++) {
        sum += short_value[i];
    }
    return sum;
}

static void key_weights(double *weight)
{
    for (int i = 0; i < KEYS; i++) {
        double below = i == 0 ? 0 : key_cdf(KEY_MIN + i);
        double above = i == KEYS - 1 ? 1 : key_cdf(KEY_MIN + i + 1);
        weight[i] = above - below;
    }
}

/* Sets weight[i] to the probability of value size i, for all sizes below `count`. */
static void value_weights(double *weight, int count)
{
    double rest = 1 - short_share();
    for (int i = 0; i < count; i++) {
        weight[i] = i < SHORT_VALUES
                        ? short_value[i]
                        : rest * (value_survival(i - SHORT_VALUES) - value_survival(i + 1 - SHORT_VALUES));
    }
}

static bool is_random(int set)
{
    return set == KVC_SIZES_ETC || set == KVC_SIZES_VAR || set == KVC_SIZES_SYS;
}

struct kvc_sizes *kvc_sizes_create(enum kvc_size_set set, uint64_t key_bytes, const double *value_bytes,
                                   uint32_t kinds)
{
    struct kvc_sizes *sizes = calloc(1, sizeof(*sizes));
    if (sizes == NULL) {
        return NULL;
    }
    sizes->set = set;
    sizes->key_bytes = set == KVC_SIZES_FIXED ? (uint8_t)key_bytes : APP_KEY;
    sizes->kinds = 1;
    sizes->value_bytes[0] = APP_VALUE;
    if (set == KVC_SIZES_FIXED) {
        sizes->kinds = kinds;
        for (uint32_t kind = 0; kind < kinds; kind++) {
            sizes->value_bytes[kind] = (uint32_t)value_bytes[kind];
        }
    }
    if (!is_random(sizes->set)) {
        return sizes;
    }
    double weight[TABLED_VALUES + 1];
    key_weights(weight);
    bool ok = kvc_alias_init(&sizes->key, weight, KEYS);
    if (ok && sizes->set == KVC_SIZES_ETC) {
        value_weights(weight, TABLED_VALUES);
        weight[TABLED_VALUES] = (1 - short_share()) * value_survival(TABLED_VALUES - SHORT_VALUES);
        ok = kvc_alias_init(&sizes->value, weight, TABLED_VALUES + 1);
    } else if (ok) {
        value_weights(weight, SMALL_VALUES);
        ok = kvc_alias_init(&sizes->value, weight, SMALL_VALUES);
    }
    if (!ok) {
        kvc_sizes_free(sizes);
        return NULL;
    }
    return sizes;
}

struct kvc_sizes *kvc_sizes_create_traced(const struct kvc_pair_sizes *pair, uint32_t count)
{
    struct kvc_sizes *sizes = calloc(1, sizeof(*sizes));
    if (sizes != NULL) {
        sizes->set = KVC_SIZES_TRACED;
        sizes->pairs = count;
        memcpy(sizes->pair, pair, count * sizeof(*pair));
    }
    return sizes;
}

struct kvc_sizes *kvc_sizes_create_tenants(const struct kvc_pair_sizes *by_tenant,
                                           const struct kvc_tenant_keys *keys)
{
    struct kvc_sizes *sizes = kvc_sizes_create_traced(by_tenant, KVC_TENANTS_MAX);
    if (sizes != NULL) {
        sizes->set = KVC_SIZES_TENANTS;
        sizes->tenants = kvc_tenant_keys_copy(keys);
    }
    return sizes;
}

struct kvc_sizes *kvc_sizes_create_ranked(uint64_t key_bytes, const uint64_t *end,
                                          const uint32_t *value_bytes, uint32_t count)
{
    struct kvc_sizes *sizes = calloc(1, sizeof(*sizes));
    if (sizes != NULL) {
        sizes->set = KVC_SIZES_RANKED;
        sizes->key_bytes = (uint8_t)key_bytes;
        sizes->kinds = count;
        memcpy(sizes->end, end, count * sizeof(*end));
        memcpy(sizes->value_bytes, value_bytes, count * sizeof(*value_bytes));
    }
    return sizes;
}

bool kvc_sizes_fixed(const struct kvc_sizes *sizes)
{
    bool alike = sizes->set == KVC_SIZES_FIXED || sizes->set == KVC_SIZES_APP;
    for (uint32_t kind = 1; kind < sizes->kinds; kind++) {
        alike = alike && sizes->value_bytes[kind] == sizes->value_bytes[0];
    }
    if (sizes->set == KVC_SIZES_TRACED) { /* The pairs are in order. */
        const struct kvc_pair_sizes *first = &sizes->pair[0], *last = &sizes->pair[sizes->pairs - 1];
        return first->key_bytes == last->key_bytes && first->value_bytes == last->value_bytes;
    }
    return alike;
}

/* Returns a value beyond the table, by inverting the survival function below its value at the table's end. */
static uint32_t large_value(uint64_t random)
{
    double unit = 1 - (double)(random >> 11) * 0x1.0p-53; /* (0, 1] */
    double survival = unit * value_survival(TABLED_VALUES - SHORT_VALUES);
    double size = SHORT_VALUES + value_sigma / value_xi * (pow(survival, -value_xi) - 1);
    return size < KVC_VALUE_BYTES_MAX ? (uint32_t)fmax(size, TABLED_VALUES) : KVC_VALUE_BYTES_MAX;
}

void kvc_sizes_fill(const struct kvc_sizes *sizes, const uint64_t *key_id, size_t count, uint8_t *key_bytes,
                    uint32_t *value_bytes)
{
    if (sizes->set == KVC_SIZES_USR) {
        for (size_t i = 0; i < count; i++) {
            key_bytes[i] = kvc_mix64(key_id[i] ^ key_salt) >> 63 != 0 ? USR_LONG_KEY : USR_SHORT_KEY;
            value_bytes[i] = USR_VALUE;
        }
    } else if (sizes->set == KVC_SIZES_TRACED) {
        for (size_t i = 0; i < count; i++) {
            const struct kvc_pair_sizes *pair = &sizes->pair[kvc_mix64(key_id[i] ^ key_salt) % sizes->pairs];
            key_bytes[i] = (uint8_t)pair->key_bytes;
            value_bytes[i] = pair->value_bytes;
        }
    } else if (sizes->set == KVC_SIZES_TENANTS) {
        for (size_t i = 0; i < count; i++) {
            const struct kvc_pair_sizes *pair =
                &sizes->pair[kvc_tenant_keys_block(sizes->tenants, key_id[i])->tenant];
            key_bytes[i] = (uint8_t)pair->key_bytes;
            value_bytes[i] = pair->value_bytes;
        }
    } else if (sizes->set == KVC_SIZES_RANKED) {
        memset(key_bytes, sizes->key_bytes, count);
        for (size_t i = 0; i < count; i++) {
            uint32_t kind = 0;
            while (kind + 1 < sizes->kinds && key_id[i] >= sizes->end[kind]) {
                kind++;
            }
            value_bytes[i] = sizes->value_bytes[kind];
        }
    } else if (!is_random(sizes->set)) {
        memset(key_bytes, sizes->key_bytes, count);
        for (size_t i = 0; i < count; i++) {
            value_bytes[i] = sizes->value_bytes[key_id[i] % sizes->kinds];
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            key_bytes[i] = (uint8_t)(KEY_MIN + kvc_alias_pick(&sizes->key, kvc_mix64(key_id[i] ^ key_salt)));
            uint64_t random = kvc_mix64(key_id[i] ^ value_salt);
            uint32_t value = kvc_alias_pick(&sizes->value, random);
            value_bytes[i] = value < TABLED_VALUES ? value : large_value(kvc_mix64(random));
        }
    }
}

uint32_t kvc_size_set_key_max(enum kvc_size_set set)
{
    if (set == KVC_SIZES_USR) {
        return USR_LONG_KEY;
    }
    return set == KVC_SIZES_APP ? APP_KEY : KEY_MAX;
}

uint32_t kvc_size_set_value_max(enum kvc_size_set set)
{
    switch (set) {
    case KVC_SIZES_USR:
        return USR_VALUE;
    case KVC_SIZES_APP:
        return APP_VALUE;
    case KVC_SIZES_ETC:
        return KVC_VALUE_BYTES_MAX;
    default:
        return SMALL_VALUES - 1;
    }
}

double kvc_size_set_key_mean(enum kvc_size_set set)
{
    if (set == KVC_SIZES_USR) {
        return (USR_SHORT_KEY + USR_LONG_KEY) / 2.0;
    }
    if (set == KVC_SIZES_APP) {
        return APP_KEY;
    }
    static _Thread_local double mean; /* Forecasts ask again and again; 0: not known. */
    if (mean == 0) {
        double weight[KEYS];
        key_weights(weight);
        for (int i = 0; i < KEYS; i++) {
            mean += weight[i] * (KEY_MIN + i);
        }
    }
    return mean;
}

/* Returns the sum of value_survival(x) for x = 1 to last, by the Euler-Maclaurin formula. Because of the
 * scale of 214, further terms are negligible. */
static double survival_sum(double last)
{
    double end = value_survival(last), end_base = 1 + value_xi * last / value_sigma;
    double integral = value_sigma / (1 - value_xi) * (1 - end_base * end);
    double slope_start = -1 / value_sigma, slope_end = -end / end_base / value_sigma;
    return integral - (1 - end) / 2 + (slope_end - slope_start) / 12;
}

double kvc_size_set_value_mean(enum kvc_size_set set)
{
    if (set == KVC_SIZES_USR) {
        return USR_VALUE;
    }
    if (set == KVC_SIZES_APP) {
        return APP_VALUE;
    }
    double mean = 0, sum = 0;
    if (set == KVC_SIZES_ETC) {
        for (int i = 0; i < SHORT_VALUES; i++) {
            mean += short_value[i] * i;
        }
        return mean + (1 - short_share()) * (SHORT_VALUES + survival_sum(KVC_VALUE_BYTES_MAX - SHORT_VALUES));
    }
    double weight[SMALL_VALUES];
    value_weights(weight, SMALL_VALUES);
    for (int i = 0; i < SMALL_VALUES; i++) {
        sum += weight[i];
        mean += weight[i] * i;
    }
    return mean / sum;
}
