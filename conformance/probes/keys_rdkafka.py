"""Partitions of 10,000 keys by librdkafka's seven partitioners, and its random choices.

Keyed partitions come from the partitioners called as functions, and once more end to end over the
mock cluster, where the default configuration must agree. Choices for NULL and empty keys depend on
the client's clock and generator; they are recorded as counts.
"""

import statistics
import time

from harness import keys, rdkafka

NAME = "keys-rdkafka"
TIME_LIMIT_SECONDS = 180

PARTITIONERS = [
    "random",
    "consistent",
    "consistent_random",
    "murmur2",
    "murmur2_random",
    "fnv1a",
    "fnv1a_random",
]
HASHES = ["consistent", "murmur2", "fnv1a"]
IN_FULL = [1, 2, 3, 6, 12, 64]
PARTITIONS_MAX = 64
INT32_MAX = 2**31 - 1
CHOICES = 12_000
PARTITIONS = 12
STICKY_RECORDS = 6_000
STICKY_PER_SECOND = 2_000


def run(lab):
    found = keys.keys()
    cases = {name: hash_case(name, found) for name in HASHES}
    for partitioner in PARTITIONERS:
        cases[f"end-to-end/{partitioner}"] = end_to_end(partitioner, found)
        for kind, key in {"null": None, "empty": b""}.items():
            cases[f"choices/{partitioner}/{kind}"] = choices(partitioner, key)
            cases[f"sticky/{partitioner}/{kind}"] = sticky(partitioner, key)
    lab.golden(inputs(found), cases)


def inputs(found):
    return {
        "keys": keys.COUNT,
        "seed": keys.SEED,
        "generator": "as in the golden `keys`",
        "keys_digest": keys.keys_digest(found),
        "digest": "FNV-1a 64 over one byte for each key's partition",
        "huge": "partition of INT32_MAX partitions: the hash but for its top",
        "end-to-end": {"partitions": PARTITIONS, "digest_of": "the keys that are not empty"},
        "choices": {"records": CHOICES, "partitions": PARTITIONS, "sticky_linger_ms": 0},
        "sticky": {
            "records": STICKY_RECORDS,
            "records_per_second": STICKY_PER_SECOND,
            "partitions": PARTITIONS,
            "linger_ms": 5,
            "sticky_linger_ms": 10,
        },
    }


def hash_case(partitioner, found):
    """In full for some partition counts, digests for all; `null` is the partition of no key."""

    def partitions(count):
        return [rdkafka.hash_partition(partitioner, key, count) for key in found]

    return {
        "huge": " ".join(map(str, partitions(INT32_MAX))),
        "partitions": {str(n): " ".join(map(str, partitions(n))) for n in IN_FULL},
        "digests": {
            str(n): keys.digest(partitions(n)) for n in range(1, PARTITIONS_MAX + 1)
        },
        "null": {str(n): rdkafka.hash_partition(partitioner, None, n) for n in IN_FULL},
        "empty": {str(n): rdkafka.hash_partition(partitioner, b"", n) for n in IN_FULL},
    }


class Placed:
    """Delivery reports: the partition of each record."""

    def __init__(self, records):
        self.partitions = [None] * records

    def delivered(self, number, code, partition):
        assert code == 0, rdkafka.error_text(code)
        self.partitions[number] = partition

    def counts(self):
        return [self.partitions.count(p) for p in range(PARTITIONS)]


def client(placed, **config):
    """A client whose topic is known and whose partitions have joined their brokers."""
    made = rdkafka.Client({"test.mock.num.brokers": 3, **config}, delivered=placed.delivered)
    made.mock().create_topic("events", PARTITIONS)
    for partition in range(PARTITIONS):
        made.produce("events", b"warm-up", partition=partition)
    assert made.flush(10_000) == 0
    return made


def end_to_end(partitioner, found):
    placed = Placed(len(found))
    with client(placed, partitioner=partitioner) as producer:
        for i, key in enumerate(found):
            assert producer.produce("events", b"v", key, number=i) == 0
        assert producer.flush(10_000) == 0
    if partitioner == "random":
        return {"counts": placed.counts()}
    return {"digest": keys.digest(p for key, p in zip(found, placed.partitions) if key)}


def choices(partitioner, key):
    placed = Placed(CHOICES)
    config = {"partitioner": partitioner, "sticky.partitioning.linger.ms": 0}
    with client(placed, **config) as producer:
        for i in range(CHOICES):
            assert producer.produce("events", b"v", key, number=i) == 0
        assert producer.flush(10_000) == 0
    return {"counts": placed.counts()}


def sticky(partitioner, key):
    """Runs of records on one partition at a steady rate."""
    placed = Placed(STICKY_RECORDS)
    sent_ms = []
    with client(placed, partitioner=partitioner) as producer:
        began = time.monotonic()
        for i in range(STICKY_RECORDS):
            while time.monotonic() < began + i / STICKY_PER_SECOND:
                producer.poll(0)
            sent_ms.append((time.monotonic() - began) * 1000)
            assert producer.produce("events", b"v", key, number=i) == 0
        assert producer.flush(10_000) == 0
    starts = [0] + [
        i for i in range(1, STICKY_RECORDS) if placed.partitions[i] != placed.partitions[i - 1]
    ]
    lengths_ms = [sent_ms[b] - sent_ms[a] for a, b in zip(starts, starts[1:])]
    case = {"runs": len(starts), "partitions_used": len(set(placed.partitions))}
    if lengths_ms:
        case["run_ms"] = {
            "min": round(min(lengths_ms), 3),
            "median": round(statistics.median(lengths_ms), 3),
        }
    return case
