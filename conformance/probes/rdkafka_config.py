"""Configurations that librdkafka takes, changes or refuses, with effective values and texts.

`defaults` holds every property of a client that sets nothing; each other case only what differs
from that, so a silent change shows.
"""

import re

from harness import rdkafka

NAME = "rdkafka-config"
TIME_LIMIT_SECONDS = 120

IDEMPOTENT = {"enable.idempotence": "true"}
TRANSACTIONAL = {"transactional.id": "tx"}

CONFIGURATIONS = {
    # Names, aliases, kinds of values.
    "unknown-name": {"no.such.property": "1"},
    "java-name-buffer-memory": {"buffer.memory": "33554432"},
    "java-name-max-block-ms": {"max.block.ms": "60000"},
    "java-name-key-serializer": {"key.serializer": "x"},
    "consumer-property": {"session.timeout.ms": "10000"},
    "alias-linger": {"linger.ms": "20"},
    "alias-retries": {"retries": "3"},
    "alias-in-flight": {"max.in.flight": "7"},
    "alias-acks": {"acks": "1"},
    "alias-compression-type": {"compression.type": "zstd"},
    "alias-delivery-timeout": {"delivery.timeout.ms": "20000"},
    "alias-and-name": {"linger.ms": "20", "queue.buffering.max.ms": "30"},
    "empty-value": {"linger.ms": ""},
    "not-a-number": {"batch.size": "16k"},
    "fraction-for-integer": {"batch.size": "1.5"},
    "negative": {"batch.size": "-1"},
    "spaces": {"batch.size": " 16384 "},
    "hexadecimal": {"batch.size": "0x4000"},
    "boolean-yes": {"enable.idempotence": "yes"},
    "boolean-one": {"enable.idempotence": "1"},
    "boolean-t": {"enable.idempotence": "t"},
    "boolean-capital": {"enable.idempotence": "True"},
    # Linger and batches.
    "linger-fraction": {"linger.ms": "0.1"},
    "linger-zero": {"linger.ms": "0"},
    "linger-max": {"linger.ms": "900000"},
    "linger-above-max": {"linger.ms": "900001"},
    "linger-negative": {"linger.ms": "-1"},
    "linger-7": {"linger.ms": "7"},
    "linger-7.9": {"linger.ms": "7.9"},
    "linger-500000": {"linger.ms": "500000", "message.timeout.ms": "0"},
    "sticky-explicit": {"linger.ms": "20", "sticky.partitioning.linger.ms": "10"},
    "sticky-above-max": {"sticky.partitioning.linger.ms": "900001"},
    "batch-size-one": {"batch.size": "1"},
    "batch-size-zero": {"batch.size": "0"},
    "batch-messages-one": {"batch.num.messages": "1"},
    "batch-messages-zero": {"batch.num.messages": "0"},
    "batch-messages-above-max": {"batch.num.messages": "1000001"},
    "batch-size-above-message-max": {"batch.size": "2000000"},
    "message-max-below-range": {"message.max.bytes": "999"},
    "message-max-large": {"message.max.bytes": "1000000000"},
    "message-copy-max": {"message.copy.max.bytes": "0"},
    # The queue.
    "queue-messages-zero": {"queue.buffering.max.messages": "0"},
    "queue-messages-one": {"queue.buffering.max.messages": "1"},
    "queue-messages-above-max": {"queue.buffering.max.messages": "2147483648"},
    "queue-kbytes-zero": {"queue.buffering.max.kbytes": "0"},
    "queue-kbytes-max": {"queue.buffering.max.kbytes": "2147483647"},
    "backpressure-zero": {"queue.buffering.backpressure.threshold": "0"},
    "backpressure-ten": {"queue.buffering.backpressure.threshold": "10"},
    # Acks and timeouts.
    "acks-all": {"acks": "all"},
    "acks-minus-one": {"acks": "-1"},
    "acks-two": {"acks": "2"},
    "acks-above-max": {"acks": "1001"},
    "acks-word": {"acks": "leader"},
    "acks-zero": {"acks": "0"},
    "message-timeout-zero": {"message.timeout.ms": "0"},
    "message-timeout-below-linger": {"message.timeout.ms": "10", "linger.ms": "20"},
    "message-timeout-equals-linger": {"message.timeout.ms": "20", "linger.ms": "20"},
    "message-timeout-below-default-linger": {"message.timeout.ms": "4"},
    "message-timeout-equals-default-linger": {"message.timeout.ms": "5"},
    "message-timeout-one": {"message.timeout.ms": "1"},
    "request-timeout-zero": {"request.timeout.ms": "0"},
    "request-timeout-above-max": {"request.timeout.ms": "900001"},
    "socket-timeout-below-range": {"socket.timeout.ms": "9"},
    "socket-timeout-above-max": {"socket.timeout.ms": "300001"},
    "socket-max-fails-zero": {"socket.max.fails": "0"},
    "connection-setup-below-range": {"socket.connection.setup.timeout.ms": "999"},
    "reconnect-max-below-base": {
        "reconnect.backoff.ms": "2000", "reconnect.backoff.max.ms": "1000",
    },
    "reconnect-zero": {"reconnect.backoff.ms": "0", "reconnect.backoff.max.ms": "0"},
    # Retries.
    "retries-zero": {"retries": "0"},
    "retries-negative": {"retries": "-1"},
    "retry-backoff-zero": {"retry.backoff.ms": "0"},
    "retry-backoff-above-max": {"retry.backoff.ms": "2000", "retry.backoff.max.ms": "1000"},
    "retry-backoff-300": {"retry.backoff.ms": "300"},
    "in-flight-zero": {"max.in.flight": "0"},
    "in-flight-one": {"max.in.flight": "1"},
    # Compression and partitioners.
    "compression-unknown": {"compression.codec": "brotli"},
    "compression-gzip-level-nine": {"compression.codec": "gzip", "compression.level": "9"},
    "compression-gzip-level-twelve": {"compression.codec": "gzip", "compression.level": "12"},
    "compression-level-above-max": {"compression.level": "13"},
    "compression-level-below-range": {"compression.level": "-2"},
    "partitioner-unknown": {"partitioner": "round_robin"},
    "partitioner-murmur2-random": {"partitioner": "murmur2_random"},
    "queuing-lifo": {"queuing.strategy": "lifo"},
    # Metadata.
    "metadata-refresh-off": {"topic.metadata.refresh.interval.ms": "-1"},
    "metadata-refresh-short": {"topic.metadata.refresh.interval.ms": "1000"},
    "metadata-max-age-short": {"metadata.max.age.ms": "1000"},
    "metadata-max-age-zero": {"metadata.max.age.ms": "0"},
    "metadata-propagation": {"topic.metadata.propagation.max.ms": "0"},
    "statistics-above-max": {"statistics.interval.ms": "86400001"},
    # Idempotence.
    "idempotent": IDEMPOTENT,
    "idempotent-in-flight-five": {**IDEMPOTENT, "max.in.flight": "5"},
    "idempotent-in-flight-six": {**IDEMPOTENT, "max.in.flight": "6"},
    "idempotent-retries-zero": {**IDEMPOTENT, "retries": "0"},
    "idempotent-retries-one": {**IDEMPOTENT, "retries": "1"},
    "idempotent-acks-one": {**IDEMPOTENT, "acks": "1"},
    "idempotent-acks-all": {**IDEMPOTENT, "acks": "all"},
    "idempotent-lifo": {**IDEMPOTENT, "queuing.strategy": "lifo"},
    "idempotent-backpressure-two": {**IDEMPOTENT, "queue.buffering.backpressure.threshold": "2"},
    "gapless": {"enable.gapless.guarantee": "true"},
    "idempotent-gapless": {**IDEMPOTENT, "enable.gapless.guarantee": "true"},
    "two-mistakes": {**IDEMPOTENT, "max.in.flight": "6", "retries": "0", "acks": "0"},
    # Transactions.
    "transactional": TRANSACTIONAL,
    "transactional-empty": {"transactional.id": ""},
    "transactional-not-idempotent": {**TRANSACTIONAL, "enable.idempotence": "false"},
    "transactional-timeout-short": {**TRANSACTIONAL, "transaction.timeout.ms": "1000"},
    "transactional-timeout-below-range": {**TRANSACTIONAL, "transaction.timeout.ms": "999"},
    "transactional-timeout-long": {**TRANSACTIONAL, "transaction.timeout.ms": "900000"},
    "transactional-socket-timeout-long": {
        **TRANSACTIONAL, "transaction.timeout.ms": "10000", "socket.timeout.ms": "20000",
    },
    "transactional-socket-timeout-edge": {
        **TRANSACTIONAL, "transaction.timeout.ms": "10000", "socket.timeout.ms": "10100",
    },
    "transactional-message-timeout-long": {
        **TRANSACTIONAL, "transaction.timeout.ms": "10000", "message.timeout.ms": "10001",
    },
    "transactional-message-timeout-equal": {
        **TRANSACTIONAL, "transaction.timeout.ms": "10000", "message.timeout.ms": "10000",
    },
    "transactional-acks-one": {**TRANSACTIONAL, "acks": "1"},
    "transactional-in-flight-six": {**TRANSACTIONAL, "max.in.flight": "6"},
    "transactional-linger-long": {
        **TRANSACTIONAL, "transaction.timeout.ms": "1000", "linger.ms": "2000",
    },
    # Others a producer often sets.
    "bootstrap-empty": {"bootstrap.servers": ""},
    "bootstrap-without-port": {"bootstrap.servers": "localhost"},
    "security-unknown": {"security.protocol": "tls"},
    "sasl-without-mechanism": {"security.protocol": "sasl_plaintext"},
    "client-id": {"client.id": "orders-service"},
}


def run(lab):
    defaults = effective({})
    cases = {"defaults": {"effective": defaults}}
    for name, config in CONFIGURATIONS.items():
        cases[name] = {"config": config, **outcome(config, defaults)}
    lab.golden({"bootstrap": "127.0.0.1:1, unless the case sets bootstrap.servers"}, cases)


def effective(config):
    """What a client that starts has; things of this machine and of this run left out. Setting one
    property of the default topic, to its default, makes the library complete the others."""
    full = {"bootstrap.servers": "127.0.0.1:1", "compression.level": "-1", **config}
    with rdkafka.Client(full) as client:
        values = client.effective()
    return {name: value for name, value in values.items() if not is_incidental(value)}


def is_incidental(value):
    return re.fullmatch(r"0x[0-9a-f]{6,}", value) is not None


def outcome(config, defaults):
    logs = []

    def logged(_, facility, text):
        if facility in ("CONFWARN", "TOPICCONF"):
            logs.append(re.sub(r"^\[thrd:[^]]*\]: ", "", text))

    full = {"bootstrap.servers": "127.0.0.1:1", **config}
    try:
        with rdkafka.Client(full, logged=logged) as client:
            client.topic("events")
        values = effective(config)
    except rdkafka.Refused as refused:
        why = {"at": refused.where, "code": refused.code, "text": refused.text}
        return {"refused": why, "logs": logs}
    changed = {name: value for name, value in values.items() if defaults.get(name) != value}
    return {"effective": changed, "logs": logs}
