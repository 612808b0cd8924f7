#include "scenarios/output/json_value.h"

#include <math.h>

#include "sim/base/text/option.h"

json_t *kvc_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *kvc_json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

json_t *kvc_json_text(const char *bytes)
{
    json_t *string = json_string(bytes);
    if (string != NULL) {
        return string;
    }
    char ascii[KVC_TEXT_MAX * 2];
    size_t length = 0;
    for (; bytes[length] != '\0' && length + 1 < sizeof(ascii); length++) {
        ascii[length] = (bytes[length] & 0x80) != 0 ? '?' : bytes[length];
    }
    ascii[length] = '\0';
    return json_string(ascii);
}

json_t *kvc_json_text_or_null(const char *bytes)
{
    return bytes[0] != '\0' ? kvc_json_text(bytes) : json_null();
}

json_t *kvc_json_machine(const struct kvc_machine *machine)
{
    json_t *object = json_object();
    if (machine->name[0] == '\0') {
        json_decref(object);
        return json_null();
    }
    json_object_set_new(object, "name", kvc_json_text(machine->name));
    json_object_set_new(object, "date", kvc_json_text(machine->date));
    json_object_set_new(object, "compiler", kvc_json_text(machine->compiler));
    json_object_set_new(object, "commit", kvc_json_text(machine->commit));
    return object;
}
