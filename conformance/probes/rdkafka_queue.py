"""librdkafka's queue: when it is full, what frees it, when batches leave, when messages expire.

All on the mock cluster inside the client, whose brokers answer after a set round trip.
"""

import time

from harness import rdkafka
from harness.golden import timed
from harness.relay import PRODUCE

NAME = "rdkafka-queue"
TIME_LIMIT_SECONDS = 400

RUNS = 5
# A run whose records all left at most so late counts as paced.
LATE_MS = 2
ATTEMPTS_MAX = 15
NOT_LEADER = 6
NOT_ENOUGH_REPLICAS = 19
MSG_TIMED_OUT = -192
LIMITED = {"queue.buffering.max.messages": 100, "batch.num.messages": 10, "linger.ms": 0}
# Lingers, and records a second. A thread sleeps whole milliseconds: with records a millisecond apart
# it would be chance whether the next one is there when a sleep of one is over.
LINGERS_MS = {0: 1_000, 0.1: 600, 5: 1_000, 20: 1_000, 100: 1_000}
ROUND_TRIP_MS = 5


def run(lab):
    cases = {
        "full-without-poll": full_without_poll({}),
        "full-without-callback": full_without_poll({}, callback=False),
        "full-only-errors": full_without_poll({"delivery.report.only.error": "true"}),
        "full-kbytes": full_kbytes(),
        "closed-loop": closed_loop(),
        "batch-by-count": batch_by_limit({"batch.num.messages": 100}, value_bytes=100),
        "batch-by-bytes": batch_by_limit({"batch.size": 10_000}, value_bytes=1_000),
        "batch-by-message-max": batch_by_limit({"message.max.bytes": 5_000}, value_bytes=1_000),
        "statistics": statistics_fields(),
    }
    for linger_ms, rate in LINGERS_MS.items():
        cases[f"linger-{linger_ms}"] = linger(linger_ms, rate, partitions=1)
    cases["linger-5-over-12-partitions"] = linger(5, 1_000, partitions=12)
    for messages in (1, 3, 100):
        cases[f"idempotent-batches-of-{messages}"] = in_flight(messages, "true")
    cases["batches-of-100"] = in_flight(100, "false")
    cases["retry-not-enough-replicas"] = retry(NOT_ENOUGH_REPLICAS)
    cases["retry-not-leader"] = retry(NOT_LEADER)
    cases["expiry-never-up"] = expiry("never-up")
    cases["expiry-went-down"] = expiry("went-down")
    cases["expiry-in-flight"] = expiry("in-flight")
    lab.golden(INPUTS, cases)


INPUTS = {
    "brokers": "mock cluster, 1 broker; `round_trip_ms` of each case, else 0",
    "topic": "events, 1 partition unless a case says otherwise; known before the first record",
    "full-*": {**LIMITED, "attempts": 150, "value_bytes": 10, "wait_seconds": 2},
    "full-kbytes": {
        "queue.buffering.max.kbytes": 1, "value_bytes": 300, "key_bytes": 500, "attempts": 10,
    },
    "closed-loop": {
        "records": 20_000,
        "value_bytes": 100,
        "queue.buffering.max.messages": 1_000,
        "round_trip_ms": 20,
        "loop": "produce, poll(0); on a full queue poll(10) and produce again",
    },
    "batch-by-*": {"records": 1_000, "linger.ms": 200, "sent": "at once"},
    "linger-*": {
        "records": 1_000,
        "value_bytes": 100,
        "round_trip_ms": ROUND_TRIP_MS,
        "partition": "number mod partitions",
        "late_ms_max": "how much later than due the latest record of the run was produced",
    },
    "idempotent-*, batches-of-*": {
        "records": 2_000,
        "sent": "at once",
        "round_trip_ms": 400,
        "linger.ms": 5,
        "seconds": 2.5,
        "statistics.interval.ms": 50,
        "max_in_flight": "largest msgs_inflight of any statistics",
    },
    "retry-*": {"errors": 3, "records": 1, "times_ms": "between arrivals of the produce requests"},
    "expiry-*": {
        "message.timeout.ms": 2_500,
        "records": 10,
        "sent": "at once, 300 ms after the client started or its broker went down",
    },
}


def connected(config, delivered=None, partitions=1, **hooks):
    """A client with a connection and a known topic; the warm-up's reports have gone by."""
    reports = []
    full = {"test.mock.num.brokers": 1, "statistics.interval.ms": 0, **config}

    def first_reports(*report):
        reports.append(report)
        if delivered and len(reports) > partitions:
            delivered(*report)

    callback = first_reports if delivered else None
    client = rdkafka.Client(full, delivered=callback, **hooks)
    client.mock().create_topic("events", partitions)
    for partition in range(partitions):
        client.produce("events", b"warm-up", partition=partition)
    assert client.flush(10_000) == 0
    return client


def full_without_poll(config, callback=True):
    """How many messages are taken while nobody polls, before and after all are acknowledged."""
    delivered = (lambda *_: None) if callback else None
    value = b"v" * INPUTS["full-*"]["value_bytes"]
    attempts = INPUTS["full-*"]["attempts"]
    with connected({**LIMITED, **config}, delivered) as client:
        client.mock().set_round_trip_ms(1, 100)
        client.mock().start_tracking()

        def attempt():
            return [client.produce("events", value, partition=0) for _ in range(attempts)]

        def accepted(codes):
            assert set(codes) <= {0, rdkafka.QUEUE_FULL}
            return codes.count(0)

        case = {"accepted_at_once": accepted(attempt())}
        time.sleep(INPUTS["full-*"]["wait_seconds"])
        case["accepted_when_acknowledged"] = accepted(attempt())
        time.sleep(INPUTS["full-*"]["wait_seconds"])
        case["queued_with_events"] = client.queued()
        case["requests"] = len(client.mock().request_times_us(PRODUCE))
        while client.poll(0):
            pass
        case["queued_after_poll"] = client.queued()
        case["accepted_after_poll"] = accepted(attempt())
        case["error"] = rdkafka.error_text(rdkafka.QUEUE_FULL)
        return case


def full_kbytes():
    """Which bytes count."""
    inputs = INPUTS["full-kbytes"]
    value, key = b"v" * inputs["value_bytes"], b"k" * inputs["key_bytes"]
    with connected({"queue.buffering.max.kbytes": 1, "linger.ms": 1_000}) as client:
        codes = [client.produce("events", value, key, partition=0) for _ in range(10)]
        return {"accepted": codes.count(0), "full": codes.count(rdkafka.QUEUE_FULL)}


def closed_loop():
    inputs = INPUTS["closed-loop"]
    value = b"v" * inputs["value_bytes"]
    config = {"queue.buffering.max.messages": inputs["queue.buffering.max.messages"]}
    seconds, requests, full = [], [], []
    for _ in range(RUNS):
        with connected(config, delivered=lambda *_: None) as client:
            mock = client.mock()
            mock.set_round_trip_ms(1, inputs["round_trip_ms"])
            mock.start_tracking()
            began, refused = time.monotonic(), 0
            for _ in range(inputs["records"]):
                while client.produce("events", value, partition=0) == rdkafka.QUEUE_FULL:
                    refused += 1
                    client.poll(10)
                client.poll(0)
            assert client.flush(10_000) == 0
            seconds.append(round(time.monotonic() - began, 4))
            requests.append(len(mock.request_times_us(PRODUCE)))
            full.append(refused)
    return {"seconds": timed(seconds), "requests": timed(requests), "full": timed(full)}


def batch_by_limit(config, value_bytes):
    """Requests for records that are all there before the first batch leaves."""
    requests = []
    value = b"v" * value_bytes
    for _ in range(RUNS):
        with connected({"linger.ms": 200, **config}) as client:
            client.mock().start_tracking()
            for _ in range(1_000):
                assert client.produce("events", value, partition=0) == 0
            assert client.flush(10_000) == 0
            requests.append(len(client.mock().request_times_us(PRODUCE)))
    return {"config": config, "value_bytes": value_bytes, "requests": timed(requests)}


def linger(linger_ms, rate, partitions):
    """Batches of records at a steady rate. The runs in which this program kept its own pace best
    count; on a busy machine others say more about the machine than about the client."""
    attempts = []
    while len(attempts) < ATTEMPTS_MAX and paced(attempts) < RUNS:
        attempts.append(linger_once(linger_ms, rate, partitions))
    attempts.sort(key=lambda run: run["late_ms_max"])
    figures = {name: timed([run[name] for run in attempts[:RUNS]]) for name in attempts[0]}
    inputs = {"partitions": partitions, "linger.ms": linger_ms, "records_per_second": rate}
    return {**inputs, **figures}


def paced(attempts):
    return sum(run["late_ms_max"] <= LATE_MS for run in attempts)


def linger_once(linger_ms, rate, partitions):
    inputs = INPUTS["linger-*"]
    value = b"v" * inputs["value_bytes"]
    sent, took_ms, late_ms = {}, [], []

    def delivered(number, code, _):
        assert code == 0
        took_ms.append((time.monotonic() - sent[number]) * 1000)

    with connected({"linger.ms": linger_ms}, delivered, partitions) as client:
        client.mock().set_round_trip_ms(1, ROUND_TRIP_MS)
        client.mock().start_tracking()
        began = time.monotonic()
        for i in range(inputs["records"]):
            due = began + i / rate
            while time.monotonic() < due:
                client.poll(0)
            sent[i] = time.monotonic()
            late_ms.append((sent[i] - due) * 1000)
            assert client.produce("events", value, number=i, partition=i % partitions) == 0
        while len(took_ms) < inputs["records"]:
            client.poll(1)
        requests = len(client.mock().request_times_us(PRODUCE))
    return {
        "requests": requests,
        "latency_ms_mean": round(sum(took_ms) / len(took_ms), 3),
        "latency_ms_max": round(max(took_ms), 3),
        "late_ms_max": round(max(late_ms), 3),
    }


def in_flight(messages, idempotent):
    """The gate on what is under way, by statistics and by what was acknowledged in time."""
    inputs = INPUTS["idempotent-*, batches-of-*"]
    acknowledged, most, requests = [], [], []
    for _ in range(RUNS):
        inflight, done = [0], []

        def measured(statistics):
            for topic in statistics["topics"].values():
                inflight.append(topic["partitions"].get("0", {}).get("msgs_inflight", 0))

        config = {
            "enable.idempotence": idempotent,
            "batch.num.messages": messages,
            "linger.ms": inputs["linger.ms"],
            "statistics.interval.ms": inputs["statistics.interval.ms"],
        }
        delivered = lambda number, code, _: done.append(code)
        with connected(config, delivered, measured=measured) as client:
            client.mock().set_round_trip_ms(1, inputs["round_trip_ms"])
            client.mock().start_tracking()
            began = time.monotonic()
            for _ in range(inputs["records"]):
                assert client.produce("events", b"v", partition=0) == 0
            while time.monotonic() < began + inputs["seconds"]:
                client.poll(10)
            acknowledged.append(done.count(0))
            most.append(max(inflight))
            requests.append(len(client.mock().request_times_us(PRODUCE)))
    return {
        "batch.num.messages": messages,
        "enable.idempotence": idempotent,
        "acknowledged": timed(acknowledged),
        "max_in_flight": timed(most),
        "requests": timed(requests),
    }


def retry(code):
    """Gaps between the attempts at one message."""
    gaps = []
    for _ in range(RUNS):
        with connected({"linger.ms": 0}) as client:
            mock = client.mock()
            mock.push_errors(PRODUCE, [code] * 3)
            mock.start_tracking()
            client.produce("events", b"v", partition=0)
            assert client.flush(20_000) == 0
            times = sorted(mock.request_times_us(PRODUCE))
            gaps.append([round((b - a) / 1000, 3) for a, b in zip(times, times[1:])])
    return {
        "error": rdkafka.error_text(code),
        "attempts": timed([len(run) + 1 for run in gaps]),
        "gaps_ms": [timed(list(column)) for column in zip(*gaps)],
    }


def expiry(when):
    """When messages time out, counted from produce()."""
    first, last = [], []
    for _ in range(RUNS):
        ages_ms, codes = [], []
        began = [time.monotonic()]

        def delivered(number, code, _):
            ages_ms.append((time.monotonic() - began[0]) * 1000)
            codes.append(code)

        config = {"message.timeout.ms": INPUTS["expiry-*"]["message.timeout.ms"]}
        if when == "never-up":
            client = rdkafka.Client(
                {"bootstrap.servers": "127.0.0.1:1", **config}, delivered=delivered
            )
        else:
            client = connected(config, delivered)
        with client:
            if when == "went-down":
                client.mock().set_down(1)
            if when == "in-flight":
                client.mock().set_round_trip_ms(1, 60_000)
            # Away from the full second after the start, when the client looks for timeouts anyway.
            time.sleep(0.3)
            began[0] = time.monotonic()
            for _ in range(INPUTS["expiry-*"]["records"]):
                client.produce("events", b"v", partition=-1 if when == "never-up" else 0)
            while len(codes) < INPUTS["expiry-*"]["records"]:
                client.poll(10)
            assert set(codes) == {MSG_TIMED_OUT}
        first.append(round(min(ages_ms), 1))
        last.append(round(max(ages_ms), 1))
    return {
        "error": rdkafka.error_text(MSG_TIMED_OUT),
        "first_ms": timed(first),
        "last_ms": timed(last),
    }


def statistics_fields():
    """The fields of the statistics, names of brokers and topics as stars, and the counters of a
    queue that is acknowledged but not polled."""
    found = []
    config = {**LIMITED, "statistics.interval.ms": 500}
    with connected(config, lambda *_: None, measured=found.append) as client:
        while not found:
            client.poll(10)
        found.clear()
        for i in range(100):
            client.produce("events", b"v" * 10, b"k" * 5, partition=0)
        time.sleep(2)
        # Statistics overtake the delivery reports that wait in the same queue.
        client.poll(0)
        first = found[0] if found else None
        while client.poll(0):
            pass
    counters = ["msg_cnt", "msg_size", "msg_max", "msg_size_max", "txmsgs", "txmsg_bytes"]
    return {
        "fields": sorted(paths(first)),
        "counters_unpolled": {name: first[name] for name in counters},
    }


STARS = {"brokers", "topics", "partitions", "toppars"}
WINDOWS = {"min", "max", "avg", "sum"}


def paths(value, prefix=""):
    """Paths to all leaves; a window of figures is one leaf."""
    if not isinstance(value, dict) or WINDOWS <= set(value):
        return {prefix}
    if prefix.split(".")[-1] in STARS:
        value = {"*": next(iter(value.values()), None)}
    return {
        path
        for name, member in value.items()
        for path in paths(member, f"{prefix}.{name}" if prefix else name)
    }
