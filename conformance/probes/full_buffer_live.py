"""How the buffer fills behind a slow link, and what the application and its metrics see."""

from harness import load

NAME = "full-buffer-live"
TIME_LIMIT_SECONDS = 900

TOPIC = "events"
PARTITIONS = 12
BYTES_PER_SECOND = 6_000_000
MIB = 1024 * 1024
FAULT_AT_SECONDS = 20
METRICS = [
    "bufferpool-wait-ratio",
    "buffer-available-bytes",
    "waiting-threads",
    "record-queue-time-avg",
    "batch-size-avg",
    "records-per-request-avg",
    "requests-in-flight",
]
SHORT = {
    "max.block.ms": 5000,
    "delivery.timeout.ms": 15000,
    "request.timeout.ms": 5000,
}
# Name, configs, fault, seconds, repetitions.
LIVE = [
    ("8-mib", {"buffer.memory": 8 * MIB}, None, 10, 3),
    ("32-mib-cut", SHORT, "cut", 40, 3),
    ("32-mib-cut-defaults", {}, "cut", 165, 1),
    ("32-mib-refused", SHORT, "refuse", 40, 3),
    ("64-mib", {"buffer.memory": 64 * MIB}, None, 20, 3),
]


def run(lab):
    cases = {}
    with lab.cluster() as cluster:
        inputs = {**what_is_done(), "cluster": cluster.config}
        cluster.create_topic(TOPIC, [[1 + p % 3] for p in range(PARTITIONS)])
        links = [f"client-{broker}" for broker in (1, 2, 3)]
        cluster.relay.bandwidth(links, BYTES_PER_SECOND)
        for name, configs, fault, seconds, repetitions in LIVE:
            results = [
                observe(lab, cluster, links, configs, fault, seconds) for _ in range(repetitions)
            ]
            cases[name] = load.summary(results, METRICS)
    lab.golden(inputs, cases)


def what_is_done():
    return {
        "load": "closed loop at 10000 records/s, one thread, values of 1024 bytes",
        "keys": "`rider-{n}`, n = 1, 2, … 5000, 1, 2, …",
        "partitions": "12, partition p is led by broker 1 + p mod 3, replication factor 1",
        "links": f"loopback; {BYTES_PER_SECOND} bytes/s towards all brokers together",
        "configs": {name: configs for name, configs, *_ in LIVE},
        "fault": f"all links cut, or refusing, from {FAULT_AT_SECONDS} s on",
        "start": "metadata is there; another producer of the same process has sent 20000 records",
        "clock": "seconds since the first send",
        "samples": "at each full second, bufferpool-wait-ratio from the start",
        "seconds": {name: seconds for name, _, _, seconds, _ in LIVE},
    }


def observe(lab, cluster, links, configs, fault, seconds):
    plan = {
        "topic": TOPIC,
        "rate": 10000,
        "key_pattern": "rider-{n}",
        "key_count": 5000,
        "value_bytes": 1024,
        "seconds": seconds,
        "warm_up_records": 20000,
        "metrics": METRICS,
        "producer": {
            "bootstrap.servers": cluster.bootstrap,
            "client.id": "producer-1",
            **configs,
        },
    }

    if not fault:
        return load.run(lab.java, plan)

    def strike():
        for link in links:
            getattr(cluster.relay, fault)(link)

    try:
        return load.run(lab.java, plan, [(FAULT_AT_SECONDS, fault, strike)])
    finally:
        for link in links:
            cluster.relay.restore(link)
