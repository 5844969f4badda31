"""Transactions of versions 1 and 2 in three dialects: logs, crashes, fencing, timeouts, pauses.

`java-2` is the Java client on a cluster with transaction version 2, `java-1` the same client on a
cluster with version 1, and `rdkafka` is librdkafka on version 2, which speaks version 1 there.
"""

import time

from harness.golden import timed
from harness.owners import JAVA_1, JAVA_2, RDKAFKA, Story
from harness.relay import END_TXN, PRODUCE, WRITE_TXN_MARKERS
from probes.transaction_readers import readers, visibility

NAME = "transactions"
TIME_LIMIT_SECONDS = 1_200

RUNS = 3
TIMEOUT_MS = 3_000
MARKERS_HELD_MS = 1_000
BACK_TO_BACK = 20
OLD_RECORDS_MINUTES = 20
CLUSTER = {"transaction.state.log.min.isr": "2"}
VERIFICATION = "transaction.partition.verification.enable"


def run(lab):
    cases = {}
    with lab.cluster(config=CLUSTER, relayed_replication=True) as cluster:
        for dialect in (JAVA_2, RDKAFKA):
            collect(cases, cluster, dialect)
        inputs = describe(cluster)
    with lab.cluster(
        config=CLUSTER, features=["transaction.version=1"], relayed_replication=True
    ) as cluster:
        collect(cases, cluster, JAVA_1)
    unverified = {**CLUSTER, VERIFICATION: "false"}
    with lab.cluster(config=unverified, features=["transaction.version=1"]) as cluster:
        create_transaction_log(cluster, JAVA_1)
        cases["java-1/hanging"] = hanging(cluster, JAVA_1)
    with lab.cluster(config=CLUSTER, defaults=True) as cluster:
        create_transaction_log(cluster, JAVA_2)
        cases["java-2/crash-open-by-timeout-at-defaults"] = crash_at_defaults(cluster, JAVA_2)
    lab.golden(inputs, cases)


def describe(cluster):
    return {
        "brokers": 3,
        "broker_config": {**cluster.config, "transaction.state.log.num.partitions": "3"},
        "topics": "a led by broker 1 and b led by broker 2, one partition, replication factor 3",
        "client_config": "the client's defaults but transaction.timeout.ms",
        "transaction.timeout.ms": {"by default": 60_000, "timeout and *-by-timeout": TIMEOUT_MS},
        "producer_ids": "numbered as they first appear in the case",
        "times": "from the first record of the case in __transaction_state",
        "markers_held_ms": MARKERS_HELD_MS,
        "hanging": {VERIFICATION: "false", "record_age_minutes": OLD_RECORDS_MINUTES},
    }


def collect(cases, cluster, dialect):
    create_transaction_log(cluster, dialect)
    for name, case in CASES.items():
        print(f"  {dialect.name}/{name}", flush=True)
        cases[f"{dialect.name}/{name}"] = case(cluster, dialect)


def create_transaction_log(cluster, dialect):
    """The first transaction of a cluster waits for `__transaction_state`."""
    with Story(cluster, dialect, "first") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        story.open_transaction("A")
        story.commit("A")


# === Plain transactions


def commit_and_abort(cluster, dialect):
    with Story(cluster, dialect, "plain") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        story.open_transaction("A", records=3)
        story.commit("A")
        story.open_transaction("A", records=2)
        story.abort("A")
        story.open_transaction("A")
        story.commit("A")
        return story.result()


def empty(cluster, dialect):
    """Transactions without a record."""
    with Story(cluster, dialect, "empty") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        story.call("A", "begin_transaction")
        story.commit("A")
        story.call("A", "begin_transaction")
        story.abort("A")
        return story.result()


def misuse(cluster, dialect):
    """Calls in the wrong order."""
    with Story(cluster, dialect, "misuse") as story:
        story.owner("A")
        story.call("A", "begin_transaction")
        story.owner("B")
        story.call("B", "init_transactions")
        story.produce("B", "a", "outside")
        story.owner("C")
        story.call("C", "init_transactions")
        story.commit("C")
        story.owner("D")
        story.call("D", "init_transactions")
        story.call("D", "begin_transaction")
        story.call("D", "begin_transaction")
        return {"calls": story.calls}


# === Crashes


def crash(point):
    """The first owner crashes at a point; the next one initialises at once."""

    def case(cluster, dialect):
        with Story(cluster, dialect, f"crash-{point}") as story:
            crash_at(story, point)
            story.owner("B")
            story.call("B", "init_transactions")
            story.open_transaction("B")
            story.commit("B")
            return story.result()

    return case


def crash_by_timeout(point):
    """The first owner crashes at a point; nobody follows, the coordinator gives up."""

    def case(cluster, dialect):
        marker_ms, result = [], None
        for number in range(RUNS):
            name = f"crash-{point}-timeout-{number}"
            with Story(cluster, dialect, name, timeout_ms=TIMEOUT_MS) as story:
                crash_at(story, point)
                time.sleep(TIMEOUT_MS / 1000 + 2)
                result = story.result()
                marker_ms.append(abort_after_ms(result))
        return {**result, "abort_after_ms": timed(marker_ms)}

    return case


def crash_at_defaults(cluster, dialect):
    """Once with the coordinator's scan every 10 s."""
    with Story(cluster, dialect, "crash-open-timeout", timeout_ms=TIMEOUT_MS) as story:
        crash_at(story, "open")
        time.sleep(TIMEOUT_MS / 1000 + 12)
        result = story.result()
        return {**result, "abort_after_ms": abort_after_ms(result)}


def abort_after_ms(result):
    """From the transaction's start to the PrepareAbort record."""
    start = next(s for s in result["states"] if s["transactionStatus"] == "Ongoing")
    prepared = next(s for s in result["states"] if s["transactionStatus"] == "PrepareAbort")
    update = "transactionLastUpdateTimestampMs"
    return prepared[update] - start["transactionStartTimestampMs"]


def crash_at(story, point):
    story.owner("A")
    story.call("A", "init_transactions")
    if point == "begun":
        story.call("A", "begin_transaction")
    if point in ("open", "committing", "committed"):
        story.open_transaction("A")
    if point == "committing":
        # The coordinator gets the request; its answer never arrives.
        for broker in (1, 2, 3):
            story.cluster.relay.swallow(f"client-{broker}", END_TXN, 0, client="owner-A")
        story.send("A", "commit_transaction")
        time.sleep(1)
        for broker in (1, 2, 3):
            story.cluster.relay.forget_faults(f"client-{broker}")
        story.calls.append({"by": "A", "do": "commit_transaction", "answer": "swallowed"})
    if point == "committed":
        story.commit("A")
    story.crash("A")


# === Fencing


def second_owner(then):
    """A second owner initialises while the first has a transaction open; then the first goes on."""

    def case(cluster, dialect):
        with Story(cluster, dialect, f"second-{then}") as story:
            story.owner("A")
            story.call("A", "init_transactions")
            story.open_transaction("A")
            story.owner("B")
            story.call("B", "init_transactions")
            if then == "send":
                story.produce("A", "a", "late")
                story.commit("A")
            if then == "commit":
                story.commit("A")
            story.abort("A")
            story.open_transaction("B")
            story.commit("B")
            return story.result()

    return case


def second_owner_idle(cluster, dialect):
    """A second owner initialises between two transactions of the first."""
    with Story(cluster, dialect, "second-idle") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        story.open_transaction("A")
        story.commit("A")
        story.owner("B")
        story.call("B", "init_transactions")
        story.call("A", "begin_transaction")
        story.produce("A", "a", "late")
        story.commit("A")
        story.abort("A")
        story.open_transaction("B")
        story.commit("B")
        return story.result()


# === Timeouts


def after_timeout(then):
    """The owner is alive but slower than its own timeout."""

    def case(cluster, dialect):
        with Story(cluster, dialect, f"late-{then}", timeout_ms=TIMEOUT_MS) as story:
            story.owner("A")
            story.call("A", "init_transactions")
            story.open_transaction("A")
            time.sleep(TIMEOUT_MS / 1000 + 2)
            if then == "send":
                story.produce("A", "a", "late")
            if then == "commit":
                story.commit("A")
            story.abort("A")
            story.call("A", "begin_transaction")
            story.produce("A", "a", "next")
            story.commit("A")
            return story.result()

    return case


def timeout_too_long(cluster, dialect):
    with Story(cluster, dialect, "too-long", timeout_ms=900_001) as story:
        story.owner("A")
        story.call("A", "init_transactions")
        return {"calls": story.calls}


# === Coordinator and markers


def back_to_back(cluster, dialect):
    """How long each call takes when transactions follow at once, one record in each topic."""
    with Story(cluster, dialect, "back-to-back") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        for _ in range(BACK_TO_BACK):
            story.open_transaction("A")
            story.commit("A")
        calls = story.calls[1:]
    commits = [c["took_ms"] for c in calls if c["do"] == "commit_transaction"]
    produces = [c["took_ms"] for c in calls if c["do"] == "produce"]
    return {
        "commit_ms": timed(commits),
        "first_produce_ms": timed(produces[0::2]),
        "second_produce_ms": timed(produces[1::2]),
    }


def concurrent(cluster, dialect):
    """The markers of one transaction are held; the next transaction begins meanwhile."""
    with Story(cluster, dialect, "concurrent") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        produce_ms = []
        for _ in range(RUNS):
            story.open_transaction("A")
            hold_markers(cluster)
            story.commit("A")
            story.call("A", "begin_transaction")
            where = {"topic": story.topics["a"], "partition": 0, "value": "next"}
            story.send("A", "produce", wait=True, id="next", **where)
            time.sleep(MARKERS_HELD_MS / 1000)
            release_markers(cluster)
            produce_ms.append(story.answer("A", "produce")["took_ms"])
            story.commit("A")
            time.sleep(1)
        return story.result(produce_ms=timed(produce_ms))


def hold_markers(cluster):
    for broker in (1, 2, 3):
        cluster.relay.hold(f"internal-{broker}", WRITE_TXN_MARKERS)


def release_markers(cluster):
    for broker in (1, 2, 3):
        cluster.relay.release(f"internal-{broker}")


def coordinator_killed(cluster, dialect):
    """The coordinator dies after PrepareCommit and before any marker arrives."""
    with Story(cluster, dialect, "coordinator") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        story.open_transaction("A")
        coordinator = story.coordinator()
        was_controller = coordinator == cluster.active_controller()
        hold_markers(cluster)
        story.commit("A")
        time.sleep(0.5)
        cluster.kill(coordinator)
        killed_ms = time.time() * 1000
        for broker in (1, 2, 3):
            cluster.relay.reset(f"internal-{broker}")
        release_markers(cluster)
        time.sleep(8)
        marker_ms = {
            topic: [
                round(batch["time_ms"] - killed_ms)
                for batch in story.batches(topic) if "marker" in batch
            ]
            for topic in "ab"
        }
        result = story.result(
            coordinator_led={1: "a", 2: "b"}.get(coordinator, "neither"),
            coordinator_was_active_controller=was_controller,
            marker_after_kill_ms=marker_ms,
        )
        story.open_transaction("A")
        story.commit("A")
        cluster.start(coordinator)
        elect_preferred(cluster)
        return result


def elect_preferred(cluster):
    """Later cases find every leader where their topics say."""
    time.sleep(3)
    cluster.tool(
        "kafka-leader-election.sh", "--election-type", "preferred", "--all-topic-partitions"
    )


# === A hanging transaction


def hanging(cluster, dialect):
    """A produce request reaches the partition after its transaction was aborted."""
    with Story(cluster, dialect, "hanging") as story:
        impatient = {"request.timeout.ms": 1_000, "delivery.timeout.ms": 2_000, "linger.ms": 0}
        story.owner("A", **impatient)
        story.call("A", "init_transactions")
        old_ms = int(time.time() * 1000) - OLD_RECORDS_MINUTES * 60_000
        story.call("A", "begin_transaction")
        story.produce("A", "a", "early", timestamp=old_ms)
        cluster.relay.hold("client-1", PRODUCE, client="owner-A")
        story.produce("A", "a", "late", timestamp=old_ms)
        story.abort("A")
        cluster.relay.release("client-1")
        time.sleep(2)
        seen = readers(cluster, story.topics["a"], seconds=3)
        tool = Tool(cluster, story.topics["a"])
        tool.run("list")
        tool.run("describe", "--transactional-id", story.id)
        tool.run("describe-producers", *tool.partition)
        tool.run("find-hanging", "--topic", story.topics["a"])
        tool.run("find-hanging", "--broker-id", "1", "--max-transaction-timeout", "15")
        open_batch = [batch for batch in story.batches("a") if "marker" not in batch][-1]
        start = ["--start-offset", open_batch["offset"]]
        tool.run("abort", *tool.partition, *start)
        tool.run("abort", *tool.partition, *start)
        tool.run("find-hanging", "--topic", story.topics["a"])
        after = readers(cluster, story.topics["a"], seconds=3)
        return story.result(tool=tool.calls, readers_before=seen, readers_after=after)


class Tool:
    """`kafka-transactions.sh` and what it prints."""

    def __init__(self, cluster, topic):
        self.cluster, self.calls = cluster, []
        self.partition = ["--topic", topic, "--partition", "0"]

    def run(self, *arguments):
        code, output = self.cluster.tool("kafka-transactions.sh", *map(str, arguments))
        command = " ".join(["kafka-transactions.sh", *map(str, arguments)])
        output = self.cluster.scrub(output)
        self.calls.append({"command": command, "exit": code, "output": output})


CASES = {
    "commit-and-abort": commit_and_abort,
    "empty": empty,
    "misuse": misuse,
    "crash-idle": crash("idle"),
    "crash-begun": crash("begun"),
    "crash-open": crash("open"),
    "crash-committing": crash("committing"),
    "crash-committed": crash("committed"),
    "crash-open-by-timeout": crash_by_timeout("open"),
    "second-owner-send": second_owner("send"),
    "second-owner-commit": second_owner("commit"),
    "second-owner-abort": second_owner("abort"),
    "second-owner-idle": second_owner_idle,
    "timeout-send": after_timeout("send"),
    "timeout-commit": after_timeout("commit"),
    "timeout-abort": after_timeout("abort"),
    "timeout-too-long": timeout_too_long,
    "back-to-back": back_to_back,
    "concurrent": concurrent,
    "readers": visibility,
    "coordinator-killed": coordinator_killed,
}
