"""One broker of three dies and takes the only replica of one partition with it."""

from harness import load

NAME = "dead-leader-live"
TIME_LIMIT_SECONDS = 600

TOPIC = "events"
# Broker 1 leads one partition of twelve.
LEADERS = [2, 3, 1, 2, 3, 2, 3, 2, 3, 2, 3, 2]
DEATH_SECONDS = 10
SECONDS = 50
REPETITIONS = 3
CONFIGS = {
    "buffer.memory": 4 * 1024 * 1024,
    "delivery.timeout.ms": 20000,
    "request.timeout.ms": 10000,
}
METRICS = ["bufferpool-wait-ratio", "buffer-available-bytes", "waiting-threads"]


def run(lab):
    with lab.cluster() as cluster:
        inputs = {**what_is_done(), "cluster": cluster.config}
        cluster.create_topic(TOPIC, [[leader] for leader in LEADERS])
        results = [observe(lab, cluster) for _ in range(REPETITIONS)]
    by_partition = [
        {id: partition["acked"] for id, partition in result["partitions"].items()}
        for result in results
    ]
    case = {**load.summary(results, METRICS), "acked_by_partition": by_partition}
    lab.golden(inputs, {"small": case})


def what_is_done():
    return {
        "load": "closed loop at 6000 records/s, one thread, values of 1024 bytes",
        "keys": "`rider-{n}`, n = 1, 2, … 5000, 1, 2, …",
        "leaders": LEADERS,
        "replication_factor": 1,
        "configs": CONFIGS,
        "death": f"broker 1 is killed at {DEATH_SECONDS} s",
        "start": "metadata is there; another producer of the same process has sent 20000 records",
        "clock": "seconds since the first send",
        "samples": "at each full second, bufferpool-wait-ratio from the start",
        "seconds": SECONDS,
    }


def observe(lab, cluster):
    plan = {
        "topic": TOPIC,
        "rate": 6000,
        "key_pattern": "rider-{n}",
        "key_count": 5000,
        "value_bytes": 1024,
        "seconds": SECONDS,
        "warm_up_records": 20000,
        "metrics": METRICS,
        "producer": {
            "bootstrap.servers": cluster.bootstrap,
            "client.id": "producer-1",
            **CONFIGS,
        },
    }
    try:
        return load.run(lab.java, plan, [(DEATH_SECONDS, "kill", lambda: cluster.kill(1))])
    finally:
        cluster.start(1)
