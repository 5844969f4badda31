"""Where records without a key go, alone and beside a slow broker."""

from harness import load
from harness.golden import timed

NAME = "sticky-live"
TIME_LIMIT_SECONDS = 900

PARTITIONS = 12
BROKERS = 3
RECORDS = 30000
RATE = 10000
REPETITIONS = 5
FAR_ONE_WAY_MS = 10

NOT_ADAPTIVE = {"partitioner.adaptive.partitioning.enable": "false"}
AVAILABILITY = {"partitioner.availability.timeout.ms": 5}
ROUND_ROBIN = {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"}
RACK = {"partitioner.rack.aware": "true", "client.rack": "rack-1"}
# Name, configs, whether broker 3 is far away, whether records have keys, client.
LIVE = [
    ("uniform-adaptive", {}, False, False, "4.3.1"),
    ("far-adaptive", {}, True, False, "4.3.1"),
    ("far-not-adaptive", NOT_ADAPTIVE, True, False, "4.3.1"),
    ("far-availability-5-ms", AVAILABILITY, True, False, "4.3.1"),
    ("far-keyed", {}, True, True, "4.3.1"),
    ("far-keyed-ignoring-keys", {"partitioner.ignore.keys": "true"}, True, True, "4.3.1"),
    ("uniform-round-robin", ROUND_ROBIN, False, False, "4.3.1"),
    ("rack-aware", RACK, False, False, "4.4.0"),
    ("rack-aware-keyed", RACK, False, True, "4.4.0"),
    ("rack-off", {"client.rack": "rack-1"}, False, False, "4.4.0"),
]


def run(lab):
    cases = {}
    with lab.cluster(racks=True) as cluster:
        inputs = {**what_is_done(), "cluster": cluster.config}
        for number, (name, configs, far, keyed, clients) in enumerate(LIVE):
            one_way_ms = FAR_ONE_WAY_MS if far else 0
            cluster.relay.delay("client-3", one_way_ms, one_way_ms)
            topic = f"events-{number}"
            cluster.create_topic(topic, [[1 + p % BROKERS] for p in range(PARTITIONS)])
            results = [
                load.run(lab.java, plan(cluster, topic, configs, keyed), clients=clients)
                for _ in range(REPETITIONS)
            ]
            cases[name] = live_figures(results)
    lab.golden(inputs, cases, {"kafka-clients for rack-*": "4.4.0"})


def what_is_done():
    return {
        "load": f"closed loop at {RATE} records/s, {RECORDS} records, values of 1024 bytes",
        "keys": "where there are any: `k-{n}`, n = 1, 2, … 5000, 1, 2, …",
        "topic": "12 partitions, partition p is led by broker 1 + p mod 3, replication factor 1",
        "links": f"loopback; `far`: {FAR_ONE_WAY_MS} ms added to and from broker 3",
        "racks": "broker N stands in rack-N",
        "configs": {name: configs for name, configs, *_ in LIVE},
        "start": "metadata is there; another producer of the same process has sent 20000 records",
        "latency_ms": "send() to callback, of all records but those of the first second",
    }


def plan(cluster, topic, configs, keyed):
    return {
        "topic": topic,
        "rate": RATE,
        "records": RECORDS,
        "settle_seconds": 10,
        "warm_up_records": 20000,
        "measure_from_seconds": 1,
        "value_bytes": 1024,
        **({"key_pattern": "k-{n}", "key_count": 5000} if keyed else {}),
        "producer": {
            "bootstrap.servers": cluster.bootstrap,
            "client.id": "producer-1",
            **configs,
        },
    }


def live_figures(results):
    by_partition = [
        [result["partitions"].get(str(p), {"acked": 0})["acked"] for p in range(PARTITIONS)]
        for result in results
    ]
    shares = [
        [sum(counts[broker::BROKERS]) / sum(counts) for counts in by_partition]
        for broker in range(BROKERS)
    ]
    return {
        "records_by_partition": {"runs": by_partition},
        "share_by_broker": [timed([round(share, 4) for share in runs]) for runs in shares],
        "latency_ms": timed([result["latency_ms"]["mean"] for result in results]),
        "latency_ms_by_broker": [broker_latency(results, broker) for broker in range(BROKERS)],
        "failed": sum(result["failed"] for result in results),
    }


def broker_latency(results, broker):
    """Mean latency of the records of one broker's partitions; None where one run had none."""
    runs = []
    for result in results:
        found = [
            result["partitions"][str(p)]["latency_ms"]
            for p in range(broker, PARTITIONS, BROKERS)
            if result["partitions"].get(str(p), {}).get("latency_ms", {}).get("count")
        ]
        if not found:
            return None
        count = sum(latency["count"] for latency in found)
        runs.append(round(sum(one["mean"] * one["count"] for one in found) / count, 3))
    return timed(runs)
