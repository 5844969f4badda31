"""The link between clients and brokers, and what goes wrong on it.

The relay itself is a Java program (`kdrill.conformance.live.Relay`): it forwards whole Kafka
frames, so that a fault can name the request it strikes. This module drives it over its control
socket.
"""

import socket
import subprocess

from harness import java
from harness.process import end, spawn

PRODUCE = 0
FETCH = 1
METADATA = 3
FIND_COORDINATOR = 10
INIT_PRODUCER_ID = 22
ADD_PARTITIONS_TO_TXN = 24
END_TXN = 26
WRITE_TXN_MARKERS = 27
ANY = -1


class RelayRefused(Exception):
    """The relay did not accept a command."""


class Relay:
    """One relay process with any number of links, each a listening port and a broker's port.

    `client` narrows a fault to connections whose client id starts so, for instance the fetcher of
    one follower (`broker-3-fetcher`).
    """

    def __init__(self):
        self.process = spawn(
            java.command("kdrill.conformance.live.Relay"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.control_port = int(self.process.stdout.readline())
        self.control = socket.create_connection(("127.0.0.1", self.control_port))
        self.stream = self.control.makefile("rw")

    def tell(self, *words):
        """One command, one answer: `ok …` or `error …`."""
        self.stream.write(" ".join(str(word) for word in words) + "\n")
        self.stream.flush()
        answer = self.stream.readline().strip()
        if not answer.startswith("ok"):
            raise RelayRefused(f"{words}: {answer}")
        return answer[3:]

    def link(self, name, listen_port, target_port):
        self.tell("link", name, listen_port, target_port)

    def delay(self, name, request_ms, response_ms=0, client=""):
        """Adds one-way delays to both directions, in fractions of a millisecond if need be."""
        self.tell("delay", name, request_ms, response_ms, client)

    def bandwidth(self, names, bytes_per_second):
        """Limits the request direction; several names share one limit, as behind one uplink."""
        self.tell("bandwidth", ",".join(names), bytes_per_second)

    def cut(self, name):
        """Black hole: nothing arrives, nothing is closed, new connections hang."""
        self.tell("cut", name)

    def swallow_all(self, name):
        """Like `cut`, but new connections are accepted and then hang."""
        self.tell("swallow_all", name)

    def refuse(self, name):
        """Resets every connection and refuses new ones, as a dead process does."""
        self.tell("refuse", name)

    def reset(self, name):
        """Resets every connection once; new ones are served."""
        self.tell("reset", name)

    def restore(self, name):
        """Ends `cut`, `swallow_all` and `refuse`. Connections that were cut are reset."""
        self.tell("restore", name)

    def swallow(self, name, api, after, client=""):
        """From the response number `after` + 1 to `api` on, the connection that carries it gives
        no response until it closes. Strikes once, then the rule is gone."""
        self.tell("swallow", name, api, after, client)

    def reset_at(self, name, api, count, direction="response", client=""):
        """Resets the connection at its `count`-th request (before it reaches the broker) or
        response (after the broker did the work). Strikes once."""
        self.tell("reset_at", name, api, count, direction, client)

    def forget_faults(self, name):
        """Drops the faults that did not strike yet."""
        self.tell("forget_faults", name)

    def hold(self, name, api, client=""):
        """Keeps requests to `api` back, and everything behind them on the same connection, even
        when the client has gone."""
        self.tell("hold", name, api, client)

    def release(self, name):
        """Lets held requests go on to the broker."""
        self.tell("release", name)

    def trace(self, name):
        """Starts to note every frame of a link, forgetting earlier notes."""
        self.tell("trace", name)

    def frames(self, name):
        """The noted frames: time in µs since `trace`, direction, API key, version, bytes."""
        text = self.tell("frames", name)
        fields = ["time_us", "direction", "connection", "api", "version", "bytes"]
        rows = [row.split(",") for row in text.split(";") if row]
        return [
            {f: v if f == "direction" else int(v) for f, v in zip(fields, row)} for row in rows
        ]

    def close(self):
        self.control.close()
        end(self.process)
