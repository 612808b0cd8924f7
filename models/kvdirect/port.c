/* Packets of a KV-Direct processor: receiving requests and sending responses. */
#include <math.h>
#include <stdlib.h>

#include "models/kvdirect/pipeline.h"
#include "sim/base/array.h"
#include "sim/base/diag.h"

void kvc_kvdirect_packets_free(struct kvc_kvdirect_processor *processor)
{
    while (processor->made_last != NULL) {
        struct kvc_kvdirect_packet *packet = processor->made_last;
        processor->made_last = packet->made_earlier;
        kvc_batch_free(packet->batch);
        free(packet->outcome);
        free(packet);
    }
    free(processor->free_packet);
}

static struct kvc_kvdirect_packet *new_packet(struct kvc_kvdirect_processor *processor)
{
    if (processor->free_packets > 0) {
        struct kvc_kvdirect_packet *packet = processor->free_packet[--processor->free_packets];
        packet->batch->count = 0;
        return packet;
    }
    struct kvc_kvdirect_packet *packet = kvc_array_of(1, sizeof(*packet));
    uint32_t rows = processor->frame_requests;
    packet->batch = kvc_batch_create(rows, kvc_workload_key_stride(&processor->scenario->workload));
    packet->outcome = kvc_array_of(rows, sizeof(*packet->outcome));
    if (packet->batch == NULL) {
        kvc_out_of_memory("a packet of %u operations", rows);
    }
    packet->made_earlier = processor->made_last;
    processor->made_last = packet;
    processor->packets++;
    processor->free_packet =
        kvc_array_grown(processor->free_packet, processor->packets, sizeof(struct kvc_kvdirect_packet *));
    return packet;
}

static double request_bytes(const struct kvc_kvdirect_processor *processor, const struct kvc_batch *batch)
{
    double bytes = batch->count * (double)processor->nic->request_header_bytes;
    for (uint32_t i = 0; i < batch->count; i++) {
        bytes +=
            batch->key_bytes[i] + (batch->op[i] == KVC_OP_SET
                                       ? kvc_kvdirect_sent_bytes(processor->config, batch->value_bytes[i])
                                       : 0);
    }
    return bytes;
}

bool kvc_kvdirect_receive(struct kvc_kvdirect_processor *processor, double until_ns)
{
    const struct kvc_nic *nic = processor->nic;
    bool saturates = processor->scenario->workload.arrival == KVC_ARRIVAL_SATURATE;
    struct kvc_kvdirect_packet *packet = new_packet(processor);
    struct kvc_batch *batch = packet->batch;
    double started_ns = fmax(processor->receive_free_ns, saturates ? processor->now_ns : 0);
    if (kvc_source_drain(processor->source, processor->number, until_ns + processor->stopped_ns, batch) ==
        0) {
        processor->free_packet[processor->free_packets++] = packet;
        return false;
    }
    if (saturates) {
        for (uint32_t i = 0; i < batch->count; i++) {
            batch->sent_ns[i] = started_ns + processor->stopped_ns - nic->latency_ns;
        }
    } else {
        double arrives_ns = batch->left_ns + nic->latency_ns - processor->stopped_ns;
        started_ns = fmax(started_ns, fmax(arrives_ns, processor->resumed_ns));
    }
    kvc_answers_offer(&processor->answers, batch->sent_ns, batch->count);
    double wire_ns = kvc_nic_wire_ns(nic, request_bytes(processor, batch), 1);
    processor->counts.receive_busy_ns += wire_ns;
    packet->arrived_ns = processor->receive_free_ns = started_ns + wire_ns;
    packet->decoded = 0;
    packet->left = batch->count;
    packet->response_bytes = 0;
    packet->next = NULL;
    if (processor->first_packet == NULL) {
        processor->first_packet = packet;
    } else {
        processor->last_packet->next = packet;
    }
    processor->last_packet = packet;
    processor->waiting_rows += batch->count;
    return true;
}

static void add_answers(struct kvc_kvdirect_processor *processor, const struct kvc_kvdirect_packet *packet,
                        double done_ns)
{
    const struct kvc_batch *batch = packet->batch;
    struct kvc_answers *answers = &processor->answers;
    kvc_answers_reserve(answers, batch->count);
    for (uint32_t i = 0; i < batch->count; i++) {
        kvc_answers_add(answers, batch->sent_ns[i], done_ns, packet->outcome[i], batch->client[i]);
    }
}

/* Returns the bytes of a response without its header. */
static uint32_t returned_bytes(struct kvc_kvdirect_processor *processor,
                               const struct kvc_kvdirect_operation *operation)
{
    const struct kvc_kvdirect_config *config = processor->config;
    uint32_t element_bytes = config->element_bytes;
    if (!operation->present || operation->op == KVC_OP_DELETE) {
        return 0;
    }
    if (operation->op == KVC_OP_GET) {
        return operation->value_bytes;
    }
    if (config->update != KVC_KVDIRECT_FILTER) {
        return kvc_kvdirect_returned_bytes(config, operation->value_bytes);
    }
    return element_bytes * kvc_kvdirect_lambda_filter(&config->lambda, operation->value,
                                                      operation->value_bytes, element_bytes, config->delta);
}

void kvc_kvdirect_respond(struct kvc_kvdirect_processor *processor,
                          const struct kvc_kvdirect_operation *operation, double now_ns)
{
    const struct kvc_nic *nic = processor->nic;
    struct kvc_kvdirect_packet *packet = operation->packet;
    uint8_t done = operation->op == KVC_OP_SET ? KVC_KVDIRECT_SET_DONE : KVC_KVDIRECT_DELETE_DONE;
    uint8_t found = operation->present ? KVC_KVDIRECT_HIT : KVC_KVDIRECT_MISS;
    packet->outcome[operation->row] = operation->op == KVC_OP_GET ? found : done;
    if (processor->watch != NULL) {
        processor->watch(processor->watch_data,
                         &(struct kvc_kvdirect_watched){operation->sequence, operation->hash, operation->op,
                                                        operation->present, operation->value,
                                                        operation->value_bytes, now_ns});
    }
    packet->response_bytes += (double)nic->response_header_bytes + returned_bytes(processor, operation);
    if (--packet->left > 0) {
        return;
    }
    double wire_ns = kvc_nic_wire_ns(nic, packet->response_bytes, 1);
    processor->counts.send_busy_ns += wire_ns;
    processor->send_free_ns = fmax(processor->send_free_ns, now_ns) + wire_ns;
    add_answers(processor, packet, processor->send_free_ns + processor->stopped_ns + nic->latency_ns);
    processor->free_packet[processor->free_packets++] = packet;
}
