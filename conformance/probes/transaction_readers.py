"""Consumers beside transactions: what each isolation level sees, and when."""

import threading
import time

from confluent_kafka import Consumer, TopicPartition

from harness.golden import timed
from harness.owners import Story

ISOLATIONS = ["read_uncommitted", "read_committed"]
RUNS = 5
RECORDS = 5
GAP_SECONDS = 0.1


class Reader:
    """A consumer of one partition that notes when each value came."""

    def __init__(self, cluster, topic, isolation):
        self.seen = {}
        self.stopped = False
        self.consumer = Consumer({
            "bootstrap.servers": cluster.direct_bootstrap,
            "group.id": f"reader-{isolation}",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "log_level": 0,
        })
        self.consumer.assign([TopicPartition(topic, 0, 0)])
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while not self.stopped:
            message = self.consumer.poll(0.05)
            if message and not message.error():
                self.seen[message.value().decode()] = time.monotonic()

    def close(self):
        self.stopped = True
        self.thread.join()
        (position,) = self.consumer.position(self.consumer.assignment())
        self.consumer.close()
        return position.offset


def readers(cluster, topic, seconds):
    """The values each isolation level reads from the start, and the offset it comes to."""
    found = {}
    for isolation in ISOLATIONS:
        reader = Reader(cluster, topic, isolation)
        time.sleep(seconds)
        position = reader.close()
        found[isolation] = {"values": list(reader.seen), "position": position}
    return found


def visibility(cluster, dialect):
    """Records 100 ms apart in one transaction: when they were visible to read_uncommitted, counted
    from the send, and to read_committed, counted from the moment that the commit returned."""
    after_send, after_commit = [], []
    with Story(cluster, dialect, "readers") as story:
        story.owner("A")
        story.call("A", "init_transactions")
        topic = story.topics["a"]
        watching = {isolation: Reader(cluster, topic, isolation) for isolation in ISOLATIONS}
        time.sleep(1)
        for run in range(RUNS):
            story.call("A", "begin_transaction")
            sent = {}
            for number in range(RECORDS):
                value = f"{run}-{number}"
                sent[value] = time.monotonic()
                story.produce("A", "a", value)
                time.sleep(GAP_SECONDS)
            early = [v for v in sent if v in watching["read_committed"].seen]
            assert not early, early
            story.commit("A")
            committed = time.monotonic()
            time.sleep(1)
            for value, at in sent.items():
                after_send.append(watching["read_uncommitted"].seen[value] - at)
                after_commit.append(watching["read_committed"].seen[value] - committed)
        story.call("A", "begin_transaction")
        story.produce("A", "a", "aborted")
        story.abort("A")
        time.sleep(1)
        saw_aborted = {name: "aborted" in reader.seen for name, reader in watching.items()}
        positions = {name: reader.close() for name, reader in watching.items()}
        end = story.batches("a")[-1]["last_offset"] + 1
    return {
        "records_in_transaction": RECORDS,
        "gap_ms": GAP_SECONDS * 1000,
        "read_uncommitted_after_send_ms": milliseconds(after_send),
        "read_committed_after_commit_ms": milliseconds(after_commit),
        "saw_aborted": saw_aborted,
        "positions": positions,
        "log_end_offset": end,
    }


def milliseconds(seconds):
    return timed([round(value * 1000, 3) for value in seconds])
