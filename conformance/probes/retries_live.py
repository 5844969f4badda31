"""What stands in the log after lost responses, resets and a lost follower."""

import time

from harness import contents, load, relay
from harness.golden import timed

NAME = "retries-live"
TIME_LIMIT_SECONDS = 900

RECORDS = 20
# Records sent before, one at a time: the connection is there and the code is compiled.
PRELUDE = 20
REPETITIONS = 3
ONE_WAY_MS = 15
FAULT_AT = 3
PACE = {
    "linger.ms": 0,
    "request.timeout.ms": 1000,
    "retry.backoff.ms": 100,
    "retry.backoff.max.ms": 100,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 50,
}
FOLLOWER_DOWN_SECONDS = (2, 8)
FOLLOWER_RUN_SECONDS = 16
IDLE_REPETITIONS = 12


def run(lab):
    cases = {}
    with lab.cluster() as cluster:
        inputs = {**what_is_done(), "cluster": cluster.config}
        for setting in settings():
            for fault in faults(setting):
                cases[f"{fault}-{name_of(setting)}"] = struck(lab, cluster, setting, fault)
        cases["idle-timeout"] = idle_timeout(lab, cluster)
        for setting in settings():
            if setting["max.in.flight.requests.per.connection"] == 5 and setting["acks"] != "0":
                cases[f"follower-{name_of(setting)}"] = follower_down(lab, cluster, setting)
    lab.golden(inputs, cases)


def what_is_done():
    return {
        "load": f"{RECORDS} records with values r0, r1, … to partition 0, one every 10 ms; no key",
        "topic": "1 partition, led by broker 1, replication factor 1",
        "configs": "defaults but acks, enable.idempotence and "
        "max.in.flight.requests.per.connection as the name says, and the following",
        "pace": PACE,
        "links": f"loopback with {ONE_WAY_MS} ms added in each direction",
        "faults": {
            "swallow": "the response to Produce request 3 and all later ones of its connection are "
            "lost until it closes",
            "reset-after": "the connection is reset instead of Produce response 3",
            "reset-before": "the connection is reset when Produce request 3 reaches the relay",
            "idle-timeout": "one record, nothing before and nothing after it; its response is "
            "swallowed; milliseconds between the first Produce request and the second",
            "follower": "50 records/s with values r0, r1, … for "
            f"{FOLLOWER_RUN_SECONDS} s, replicas [1, 2], min.insync.replicas=2; broker 2 is killed "
            f"at {FOLLOWER_DOWN_SECONDS[0]} s and started at {FOLLOWER_DOWN_SECONDS[1]} s; "
            "request.timeout.ms 30000; run once",
        },
        "prelude": f"{PRELUDE} records, each awaited, before the clock starts; not in the log here",
        "out_of_order": "records in the log right behind one with a higher number",
    }


def settings():
    found = []
    for in_flight in (1, 5):
        for acks, idempotent in (("all", True), ("all", False), ("1", False), ("0", False)):
            found.append(
                {
                    "acks": acks,
                    "enable.idempotence": str(idempotent).lower(),
                    "max.in.flight.requests.per.connection": in_flight,
                }
            )
    return found


def faults(setting):
    """Without acknowledgements there is no response to lose."""
    if setting["acks"] == "0":
        return ["reset-before"]
    return ["swallow", "reset-after", "reset-before"]


def name_of(setting):
    idempotent = setting["enable.idempotence"] == "true"
    first = "idempotent" if idempotent else f"acks-{setting['acks']}"
    return f"{first}-in-flight-{setting['max.in.flight.requests.per.connection']}"


def plan_for(cluster, topic, configs, **more):
    return {
        "topic": topic,
        "partition": 0,
        "value_pattern": "r{n}",
        "every_record": True,
        "prelude_records": PRELUDE,
        "pacing": "open",
        "producer": {
            "bootstrap.servers": cluster.bootstrap,
            "client.id": "producer-1",
            **PACE,
            **configs,
        },
        **more,
    }


# === One fault among twenty records


def struck(lab, cluster, setting, fault):
    results = [strike(lab, cluster, setting, fault, run) for run in range(REPETITIONS)]
    logs = [log_figures(result["log"], result["sent"]) for result in results]
    return {
        **{figure: timed([log[figure] for log in logs]) for figure in logs[0]},
        "logs": [" ".join(result["log"]) for result in results],
        "acked": timed([result["acked"] for result in results]),
        "last_settled_ms": timed([round(settled(result)[-1], 1) for result in results]),
        "produce_requests": timed([len(result["produces"]) - PRELUDE for result in results]),
        "exceptions": [result["exceptions"] for result in results if result["exceptions"]],
    }


def log_figures(log, sent):
    numbers = [int(value[1:]) for value in log]
    return {
        "in_log": len(log),
        "lost": sent - len(set(log)),
        "duplicates": len(log) - len(set(log)),
        "out_of_order": sum(a > b for a, b in zip(numbers, numbers[1:])),
    }


def strike(lab, cluster, setting, fault, run):
    topic = f"{fault}-{name_of(setting)}-{run}"
    cluster.create_topic(topic, [[1]])
    link = "client-1"
    cluster.relay.delay(link, ONE_WAY_MS, ONE_WAY_MS)
    cluster.relay.trace(link)
    if fault == "swallow":
        cluster.relay.swallow(link, relay.PRODUCE, PRELUDE + FAULT_AT - 1)
    else:
        direction = "response" if fault == "reset-after" else "request"
        cluster.relay.reset_at(link, relay.PRODUCE, PRELUDE + FAULT_AT, direction)
    plan = plan_for(cluster, topic, setting, rate=100, records=RECORDS, settle_seconds=8)
    result = load.run(lab.java, plan)
    result["produces"] = produces(cluster, link)
    cluster.relay.forget_faults(link)
    cluster.relay.delay(link, 0, 0)
    time.sleep(0.2)
    result["log"] = contents.read(cluster, topic)[PRELUDE:]
    return result


def produces(cluster, link):
    frames = cluster.relay.frames(link)
    return [f for f in frames if f["api"] == relay.PRODUCE and f["direction"] == "request"]


def settled(result):
    return sorted(record["settled_seconds"] * 1000 for record in result["records"])


# === A request that times out while the producer has nothing else to do


def idle_timeout(lab, cluster):
    waits = []
    for run in range(IDLE_REPETITIONS):
        topic = f"idle-{PRELUDE}-{run}"
        cluster.create_topic(topic, [[1]])
        cluster.relay.trace("client-1")
        cluster.relay.swallow("client-1", relay.PRODUCE, PRELUDE)
        plan = plan_for(cluster, topic, {}, rate=1, records=1, settle_seconds=8)
        load.run(lab.java, plan)
        times = [frame["time_us"] / 1000 for frame in produces(cluster, "client-1")]
        waits.append(times[PRELUDE + 1] - times[PRELUDE])
    return {"request_to_retry_ms": timed(waits)}


# === A follower goes, and with it the minimum of in-sync replicas


def follower_down(lab, cluster, setting):
    topic = f"follower-{name_of(setting)}"
    cluster.create_topic(topic, [[1, 2]], {"min.insync.replicas": "2"})
    configs = {**setting, "request.timeout.ms": 30000}
    plan = plan_for(
        cluster, topic, configs, rate=50, seconds=FOLLOWER_RUN_SECONDS, settle_seconds=20
    )
    down, up = FOLLOWER_DOWN_SECONDS
    deeds = [(down, "kill", lambda: cluster.kill(2)), (up, "start", lambda: cluster.start(2))]
    result = load.run(lab.java, plan, deeds)
    return {
        **log_figures(contents.read(cluster, topic)[PRELUDE:], result["sent"]),
        "sent": result["sent"],
        "acked": result["acked"],
        "acked_each_second": load.series(result, "acked"),
        "longest_latency_ms": result["latency_ms"]["max"],
        "marks": result["marks"],
        "exceptions": result["exceptions"],
    }
