"""What stands in a partition, in order of offset."""

import time

from confluent_kafka import Consumer, TopicPartition

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
        _, end = consumer.get_watermark_offsets(place, timeout=READ_SECONDS_MAX)
        consumer.assign([place])
        values = []
        deadline = time.monotonic() + READ_SECONDS_MAX
        while len(values) < end and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message and not message.error():
                values.append(message.value().decode())
        return values
    finally:
        consumer.close()
