"""Owners of transactional ids in the three dialects, and the record of what they were answered."""

import re
import sys
import time

from harness import logs
from harness.java import Program
from harness.process import LineProgram

CALLS_APP = "kdrill.conformance.live.CallsApp"
CALLS_MODULE = "harness.rdkafka_calls"
# Markers and the Complete record follow a commit within milliseconds.
SETTLE_SECONDS = 1.0


class Dialect:
    """A client and the transaction version that it and the brokers end up with."""

    def __init__(self, name, client, version):
        self.name, self.client, self.version = name, client, version

    def program(self):
        if self.client == "rdkafka":
            return LineProgram(self.name, [sys.executable, "-m", CALLS_MODULE])
        return Program(CALLS_APP)


JAVA_2 = Dialect("java-2", "java", 2)
JAVA_1 = Dialect("java-1", "java", 1)
RDKAFKA = Dialect("rdkafka", "rdkafka", 1)


class Story:
    """One case on a running cluster: its owners, its two topics, and the calls in their order."""

    def __init__(self, cluster, dialect, case, timeout_ms=60_000):
        self.cluster, self.dialect, self.case = cluster, dialect, case
        self.timeout_ms = timeout_ms
        self.id = f"{dialect.name}-{case}"
        self.owners = {}
        self.calls = []
        self.topics = {"a": f"{self.id}-a", "b": f"{self.id}-b"}
        cluster.create_topic(self.topics["a"], [[1, 2, 3]])
        cluster.create_topic(self.topics["b"], [[2, 3, 1]])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for owner in self.owners.values():
            owner.kill()

    # === Calls

    def owner(self, name, **config):
        """A new process with a producer of its own; not recorded."""
        self.owners[name] = program = self.dialect.program()
        full = {
            "bootstrap.servers": self.cluster.bootstrap,
            "client.id": f"owner-{name}",
            "transactional.id": self.id,
            "transaction.timeout.ms": self.timeout_ms,
            **config,
        }
        answer = program.ask({"do": "new", "producer": name, "config": full})
        assert answer["ok"], answer

    def crash(self, name):
        self.owners.pop(name).kill()
        self.calls.append({"by": name, "do": "crash"})

    def send(self, name, do, **arguments):
        """Makes a call without waiting for its answer."""
        self.owners[name].send({"do": do, "producer": name, **arguments})

    def call(self, name, do, **arguments):
        """Makes a call, waits and records what it gave."""
        self.send(name, do, **arguments)
        return self.answer(name, do)

    def answer(self, name, do):
        answer = self.owners[name].receive()
        answer.pop("id", None)
        answer["took_ms"] = round(answer["took_ms"], 3)
        self.calls.append({"by": name, "do": do, **answer})
        return answer

    def produce(self, name, topic, value, **arguments):
        """One record, acknowledged or refused before the next call."""
        where = {"topic": self.topics[topic], "partition": 0, "value": value}
        identity = f"{name}-{value}"
        return self.call(name, "produce", wait=True, id=identity, **where, **arguments)

    def open_transaction(self, name, records=1):
        """A transaction with acknowledged records in both topics."""
        self.call(name, "begin_transaction")
        for number in range(records):
            self.produce(name, "a", f"{name}{number}")
        for number in range(records):
            self.produce(name, "b", f"{name}{number}")

    def commit(self, name):
        return self.call(name, "commit_transaction")

    def abort(self, name):
        return self.call(name, "abort_transaction")

    # === Results

    def batches(self, topic):
        """The stored batches, wherever the partition's leader is alive."""
        partition = f"{self.topics[topic]}-0"
        return logs.batches(self.cluster, partition, self.cluster.leader(self.topics[topic], 0))

    def states(self):
        count = int(self.cluster.setting(logs.STATE_PARTITIONS))
        partition = logs.state_partition(self.id, count)
        broker = self.cluster.leader("__transaction_state", partition)
        return logs.transaction_states(self.cluster, self.id, broker)

    def coordinator(self):
        """The broker that coordinates this id."""
        count = int(self.cluster.setting(logs.STATE_PARTITIONS))
        partition = logs.state_partition(self.id, count)
        return self.cluster.leader("__transaction_state", partition)

    def result(self, **more):
        """The calls, both logs and the transaction log, free of times of day."""
        time.sleep(SETTLE_SECONDS)
        relative = logs.Relative()
        states = [relative.state(state) for state in self.states()]
        return {
            "calls": [relative_text(relative, call) for call in self.calls],
            "states": states,
            "logs": {
                topic: [relative.batch(batch) for batch in self.batches(topic)]
                for topic in "ab"
            },
            **more,
        }


def relative_text(relative, call):
    """Error texts name producer ids."""
    if "error" not in call:
        return call

    def renumber(match):
        return match[1] + str(relative.producer_id(int(match[2])))

    text = re.sub(r"\b(producerId=|Id:)(\d+)", renumber, call["error"]["text"])
    return {**call, "error": {**call["error"], "text": text}}
