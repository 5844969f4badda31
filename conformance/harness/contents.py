"""What stands in a partition, in order of offset."""

import time

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

READ_SECONDS_MAX = 30


def read(cluster, topic, partition=0):
    """The values of a partition from its start to its current end, as texts."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.direct_bootstrap,
            "group.id": "contents",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    try:
        place = TopicPartition(topic, partition, 0)
        deadline = time.monotonic() + READ_SECONDS_MAX
        end = end_of(consumer, place, deadline)
        consumer.assign([place])
        values = []
        while len(values) < end and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message and not message.error():
                values.append(message.value().decode())
        return values
    finally:
        consumer.close()


def end_of(consumer, place, deadline):
    """The end of a partition. A new leader does not know it before its followers have fetched."""
    while True:
        try:
            return consumer.get_watermark_offsets(place, timeout=READ_SECONDS_MAX)[1]
        except KafkaException as failed:
            is_early = failed.args[0].code() == KafkaError.OFFSET_NOT_AVAILABLE
            if not is_early or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
