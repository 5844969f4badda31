"""Producers beside an incident, and what their partitions hold afterwards."""

import socket
import struct
import threading
import time

from harness.java import Program

PRODUCER_APP = "kdrill.conformance.live.ProducerApp"


class Load:
    """One Java producer at a steady rate. Every value is its record's number."""

    def __init__(self, cluster, topic, config, plan):
        self.topic = topic
        self.program = Program(PRODUCER_APP, {
            "producer": {"bootstrap.servers": cluster.bootstrap, **config},
            "topic": topic,
            "value_pattern": "{n}",
            "every_record": True,
            **plan,
        })

    def wait_until_started(self):
        self.program.receive_event("started")

    def mark(self, name):
        """Notes a moment on the load's own clock."""
        self.program.send(f"mark {name}")

    def finish(self):
        """Waits for the end of the load and of its callbacks."""
        result = self.program.receive_event("result")
        self.program.kill()
        return result


def mark_seconds(result, name):
    return next(mark["at_seconds"] for mark in result["marks"] if mark["name"] == name)


def longest_silence_ms(result):
    """The longest time without an acknowledgement."""
    times = sorted(r["settled_seconds"] for r in result["records"] if not r["error"])
    return round(max((b - a for a, b in zip(times, times[1:])), default=0) * 1000, 1)


def audit(result, values):
    """Compares what one load was told with what one partition holds."""
    numbers = [int(value) for value in values]
    stored = set(numbers)
    acknowledged = {r["number"] for r in result["records"] if not r["error"]}
    failed = {r["number"] for r in result["records"] if r["error"]}
    return {
        "sent": result["sent"],
        "acknowledged": len(acknowledged),
        "failed": len(failed),
        "outstanding": result["outstanding"],
        "lost": len(acknowledged - stored),
        "failed_but_stored": len(failed & stored),
        "duplicated": len(numbers) - len(stored),
        "out_of_order": sum(b < a for a, b in zip(numbers, numbers[1:])),
        "exceptions": sorted({r["error"] for r in result["records"] if r["error"]}),
    }


class Watch:
    """Notes each change of a partition's leader and ISR, as one broker's metadata shows it."""

    def __init__(self, cluster, topic, through):
        self.metadata = Metadata(cluster.ports["direct", through], topic)
        self.changes = []
        self.stopped = False
        self.note()
        self.thread = threading.Thread(target=self.poll, daemon=True)
        self.thread.start()

    def poll(self):
        while not self.stopped:
            self.note()
            time.sleep(0.005)

    def note(self):
        state = self.metadata.leader_and_isr()
        if not self.changes or self.changes[-1][1] != state:
            self.changes.append((time.monotonic(), state))

    def close(self):
        self.stopped = True
        self.thread.join()
        self.metadata.close()

    def first_after(self, moment, condition):
        """Milliseconds from a moment to the first state that fulfils a condition, or None."""
        for at, (leader, isr) in self.changes:
            if at >= moment and condition(leader, isr):
                return round((at - moment) * 1000, 1)
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Metadata:
    """Asks one broker and no other, by Metadata requests of version 1: a client library would turn
    to any broker it knows."""

    def __init__(self, port, topic):
        client, name = b"watch", topic.encode()
        request = struct.pack(">hhih", 3, 1, 0, len(client)) + client
        request += struct.pack(">ih", 1, len(name)) + name
        self.request = struct.pack(">i", len(request)) + request
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.stream = self.socket.makefile("rb")

    def leader_and_isr(self):
        """Of the topic's first partition."""
        self.socket.sendall(self.request)
        (length,) = struct.unpack(">i", self.stream.read(4))
        answer = Answer(self.stream.read(length))
        answer.int32()
        for _ in range(answer.int32()):
            answer.int32(), answer.string(), answer.int32(), answer.string()
        answer.int32()
        assert answer.int32() == 1
        error, _, _ = answer.int16(), answer.string(), answer.int8()
        assert error == 0 and answer.int32() == 1
        answer.int16(), answer.int32()
        leader, _, isr = answer.int32(), answer.int32s(), answer.int32s()
        return leader, sorted(isr)

    def close(self):
        self.socket.close()


class Answer:
    """Reads the fields of a response one after another."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form, size):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return value

    def int8(self):
        return self.take(">b", 1)

    def int16(self):
        return self.take(">h", 2)

    def int32(self):
        return self.take(">i", 4)

    def int32s(self):
        return [self.int32() for _ in range(self.int32())]

    def string(self):
        length = max(0, self.int16())
        self.at += length
        return self.data[self.at - length:self.at]
