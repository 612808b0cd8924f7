#include "models/megakv/real/buffer.h"

#include <stdlib.h>

#include "models/megakv/real/device.h"

bool kvc_megakv_real_buffer_open(struct kvc_megakv_real_buffer *buffer, uint32_t room, uint32_t key_stride,
                                 bool on_gpu)
{
    *buffer = (struct kvc_megakv_real_buffer){
        .room = room,
        .key_stride = key_stride,
        .on_gpu = on_gpu,
        .key_bytes = malloc(room),
        .keys = calloc(room, key_stride),
        .hash = kvc_megakv_real_device_array(on_gpu, room * sizeof(uint64_t)),
        .location = kvc_megakv_real_device_array(on_gpu, room * sizeof(uint32_t)),
        .sent_ns = malloc(room * sizeof(double)),
        .write_sent_ns = malloc(room * sizeof(double)),
        .insert_hash = malloc(room * sizeof(uint64_t)),
        .insert_location = malloc(room * sizeof(uint32_t)),
        .erase_hash = malloc(2 * room * sizeof(uint64_t)),
        .erase_location = malloc(2 * room * sizeof(uint32_t)),
    };
    return buffer->key_bytes != NULL && buffer->keys != NULL && buffer->hash != NULL &&
           buffer->location != NULL && buffer->sent_ns != NULL && buffer->write_sent_ns != NULL &&
           buffer->insert_hash != NULL && buffer->insert_location != NULL && buffer->erase_hash != NULL &&
           buffer->erase_location != NULL;
}

void kvc_megakv_real_buffer_close(struct kvc_megakv_real_buffer *buffer)
{
    free(buffer->key_bytes);
    free(buffer->keys);
    kvc_megakv_real_device_array_free(buffer->on_gpu, buffer->hash);
    kvc_megakv_real_device_array_free(buffer->on_gpu, buffer->location);
    free(buffer->sent_ns);
    free(buffer->write_sent_ns);
    free(buffer->insert_hash);
    free(buffer->insert_location);
    free(buffer->erase_hash);
    free(buffer->erase_location);
}

void kvc_megakv_real_buffer_clear(struct kvc_megakv_real_buffer *buffer)
{
    buffer->rows = buffer->gets = buffer->sets = buffer->deletes = buffer->inserts = buffer->erases = 0;
}
