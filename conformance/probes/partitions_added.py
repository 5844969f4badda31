"""A topic grows from 3 to 6 partitions under load: when each producer moves, where keys land.

Three producers send at once, each 200 keyed records/s over the same 60 keys: two Java clients with
a different `metadata.max.age.ms`, and librdkafka with `topic.metadata.refresh.interval.ms`.
"""

import threading
import time

from harness import rdkafka
from harness.golden import timed
from harness.incident import Load, mark_seconds

NAME = "partitions-added"
TIME_LIMIT_SECONDS = 300

RUNS = 5
RATE = 200
SECONDS = 12
ADDED_AFTER_SECONDS = 3
KEYS = 60
BEFORE, AFTER = 3, 6
JAVA = {"java-2s": 2_000, "java-5s": 5_000}
RDKAFKA_REFRESH_MS = 2_000
PLACEMENTS = 10


def run(lab):
    with lab.cluster() as cluster:
        runs = []
        for number in range(RUNS):
            print(f"  run {number + 1}", flush=True)
            runs.append(grow(cluster, f"events-{number}"))
        cases = {name: summary([run[name] for run in runs]) for name in runs[0]}
        cases["refused"] = refused(cluster, "events-0")
        cases["placement"] = placement(cluster)
        lab.golden(inputs(cluster), cases)


def inputs(cluster):
    return {
        "brokers": 3,
        "broker_config": cluster.config,
        "partitions": {"before": BEFORE, "after": AFTER, "replication_factor": 1},
        "load": {
            "records_per_second": RATE,
            "seconds": SECONDS,
            "added_after_seconds": ADDED_AFTER_SECONDS,
            "key": f"key-N with N = 1 + number mod {KEYS}",
        },
        "java": {name: {"metadata.max.age.ms": age_ms} for name, age_ms in JAVA.items()},
        "rdkafka": {
            "topic.metadata.refresh.interval.ms": RDKAFKA_REFRESH_MS,
            "partitioner": "consistent_random",
        },
        "times": "on each load's own clock, which starts with its first record; a Java client has "
        "its metadata just before; moved is the first record on a new partition",
        "placement": f"{PLACEMENTS} topics of {BEFORE} partitions, replication factor 3, grown to "
        f"{AFTER} by the brokers' own choice",
    }


def grow(cluster, topic):
    cluster.create_topic(topic, [[1], [2], [3]])
    loads = {
        name: Load(cluster, topic, {"metadata.max.age.ms": age_ms}, {
            "rate": RATE,
            "seconds": SECONDS,
            "settle_seconds": 5,
            "key_pattern": "key-{n}",
            "key_count": KEYS,
        })
        for name, age_ms in JAVA.items()
    }
    rdkafka_load = RdkafkaLoad(cluster, topic)
    for load in loads.values():
        load.wait_until_started()
    rdkafka_load.start()
    time.sleep(ADDED_AFTER_SECONDS)
    add_partitions(cluster, topic, AFTER)
    for load in loads.values():
        load.mark("added")
    rdkafka_load.mark()
    found = {}
    for name, load in loads.items():
        result = load.finish()
        assert result["acked"] == result["sent"], result["exceptions"]
        records = [
            (record["sent_seconds"], 1 + record["number"] % KEYS, record["partition"])
            for record in result["records"]
        ]
        found[name] = moves(records, mark_seconds(result, "added"))
    found["rdkafka"] = moves(*rdkafka_load.finish())
    return found


def moves(records, added_seconds):
    """When a producer moved, and its keys' partitions before and after."""
    records = sorted(records)
    moved_seconds = min(sent for sent, _, partition in records if partition >= BEFORE)
    before, after = {}, {}
    for sent, key, partition in records:
        (before if sent < moved_seconds else after)[key] = partition
    mixed = [
        sent for sent, key, partition in records
        if sent >= moved_seconds and after[key] != partition
    ]
    assert not mixed, mixed[:5]
    return {
        "added_at_seconds": round(added_seconds, 4),
        "moved_at_seconds": round(moved_seconds, 4),
        "before": [before[key] for key in range(1, KEYS + 1)],
        "after": [after[key] for key in range(1, KEYS + 1)],
    }


def summary(runs):
    """Times differ from run to run; where keys land does not."""
    for run in runs:
        assert run["before"] == runs[0]["before"] and run["after"] == runs[0]["after"]
    moved = sum(a != b for a, b in zip(runs[0]["before"], runs[0]["after"]))
    return {
        "added_at_seconds": timed([run["added_at_seconds"] for run in runs]),
        "moved_at_seconds": timed([run["moved_at_seconds"] for run in runs]),
        "moves_after_ms": timed([
            round((run["moved_at_seconds"] - run["added_at_seconds"]) * 1000, 1) for run in runs
        ]),
        "before": runs[0]["before"],
        "after": runs[0]["after"],
        "keys_moved": moved,
    }


class RdkafkaLoad:
    """librdkafka at a steady rate in a thread of its own."""

    def __init__(self, cluster, topic):
        self.topic = topic
        self.sent_seconds, self.partitions = [], {}
        self.client = rdkafka.Client(
            {
                "bootstrap.servers": cluster.bootstrap,
                "topic.metadata.refresh.interval.ms": RDKAFKA_REFRESH_MS,
            },
            delivered=self.delivered,
        )
        self.client.topic(topic)
        self.thread = threading.Thread(target=self.produce, daemon=True)

    def delivered(self, number, code, partition):
        assert code == 0, rdkafka.error_text(code)
        self.partitions[number] = partition

    def start(self):
        self.began = time.monotonic()
        self.thread.start()

    def mark(self):
        self.added_seconds = time.monotonic() - self.began

    def produce(self):
        for number in range(RATE * SECONDS):
            while time.monotonic() < self.began + number / RATE:
                self.client.poll(1)
            self.sent_seconds.append(time.monotonic() - self.began)
            key = f"key-{1 + number % KEYS}".encode()
            assert self.client.produce(self.topic, b"v", key, number=number) == 0
        assert self.client.flush(10_000) == 0

    def finish(self):
        self.thread.join()
        self.client.close()
        records = [
            (sent, 1 + number % KEYS, self.partitions[number])
            for number, sent in enumerate(self.sent_seconds)
        ]
        return records, self.added_seconds


def add_partitions(cluster, topic, count):
    from confluent_kafka.admin import AdminClient, NewPartitions

    admin = AdminClient({"bootstrap.servers": cluster.direct_bootstrap, "log_level": 0})
    admin.create_partitions([NewPartitions(topic, count)])[topic].result()


def refused(cluster, topic):
    """Fewer and as many partitions, by the tool and by librdkafka's admin client."""
    from confluent_kafka import KafkaException

    answers = {}
    for name, count in {"fewer": BEFORE, "equal": AFTER}.items():
        code, output = cluster.tool(
            "kafka-topics.sh", "--alter", "--topic", topic, "--partitions", str(count)
        )
        try:
            add_partitions(cluster, topic, count)
        except KafkaException as exception:
            error = exception.args[0]
        answers[name] = {
            "partitions": count,
            "tool": {"exit": code, "output": output},
            "rdkafka": {"code": error.name(), "text": error.str()},
        }
    return {"topic": topic, "has": AFTER, **answers}


def placement(cluster):
    """Leaders of the new partitions, and whether each replica list is a rotation of the others."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": cluster.direct_bootstrap, "log_level": 0})
    names = [f"placed-{number}" for number in range(PLACEMENTS)]
    created = admin.create_topics([NewTopic(name, BEFORE, 3) for name in names])
    for future in created.values():
        future.result()
    time.sleep(1)
    for name in names:
        add_partitions(cluster, name, AFTER)
    time.sleep(2)
    leaders = []
    for name in names:
        partitions = admin.list_topics(name, timeout=10).topics[name].partitions
        leaders.append([partitions[p].replicas[0] for p in range(AFTER)])
    per_broker = [sorted(each[BEFORE:].count(broker) for broker in (1, 2, 3)) for each in leaders]
    return {"leaders": leaders, "new_leaders_per_broker": per_broker}
