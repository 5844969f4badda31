"""Three real brokers on loopback, with the relay between them and their clients."""

import os
import random
import re
import shutil
import signal
import socket
import tempfile
import threading
import time
from pathlib import Path

from harness import java
from harness.process import end, spawn
from harness.relay import Relay

BROKERS = (1, 2, 3)
CLUSTER_ID = "a2RyaWxsLWNvbmZvcm1hbg"
START_SECONDS_MAX = 60
CONTROLLED_SHUTDOWN_SECONDS_MAX = 60

# Below the range that the kernel hands to outgoing connections: a broker that is down for a while
# finds its ports free when it returns.
PORTS = range(20000, 32000)

# Timeouts shortened so that an incident takes seconds. They stand in every golden's inputs.
SHORT_TIMEOUTS = {
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "replica.lag.time.max.ms": "4000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}
# What has no influence on results: smaller files and fewer partitions start faster.
SMALL = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "transaction.state.log.segment.bytes": str(1024 * 1024),
    "log.cleaner.dedupe.buffer.size": str(8 * 1024 * 1024),
}

TOOLS = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-leader-election.sh": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-reassign-partitions.sh": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-transactions.sh": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-metadata-quorum.sh": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-features.sh": "org.apache.kafka.tools.FeatureCommand",
}
DUMP_APP = "kdrill.conformance.live.DumpApp"

PUBLISHED_PORTS = {
    "relay": 19090,
    "direct": 19090,
    "client": 29090,
    "internal": 39090,
    "internal-relay": 39090,
    "controller": 49090,
}
SCRUBBED = [
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "00000000-0000-0000-0000-000000000000"),
    (r"(?<=TopicId: )[-\w]{22}", "AAAAAAAAAAAAAAAAAAAAAA"),
    (r"\b1[0-9]{12}\b", "1700000000000"),
    (r"\bcrc: [0-9]+", "crc: 1234567890"),
]


class ClusterFailed(Exception):
    """The brokers did not come up."""


class Cluster:
    """Starts on entering the `with` block; afterwards no process and no file is left.

    Listeners of each broker: CLIENT is advertised through the relay link `client-N`; DIRECT goes
    past the relay, for tools and set-up; INTERNAL carries replication, over the relay link
    `internal-N` when `relayed_replication` is set; CONTROLLER carries the metadata quorum.
    """

    def __init__(
        self, config=None, features=(), defaults=False, relayed_replication=False, racks=False
    ):
        timeouts = {} if defaults else SHORT_TIMEOUTS
        self.config = {**timeouts, **(config or {})}
        self.features = list(features)
        self.relayed_replication = relayed_replication
        self.racks = racks
        self.processes = {}
        self.dump_program = None
        self.dump_lock = threading.Lock()
        self.relay = None
        self.folder = None

    def __enter__(self):
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="kdrill-conformance-"))
            self.relay = Relay()
            self.allocate_ports()
            self.connect_links()
            for broker in BROKERS:
                self.write_properties(broker)
            self.format()
            for broker in BROKERS:
                self.spawn_broker(broker)
            self.wait_until_registered(BROKERS)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in self.processes.values():
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
            end(process)
        if self.dump_program:
            self.dump_program.kill()
        if self.relay:
            self.relay.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    # === Addresses

    @property
    def bootstrap(self):
        """Where clients connect: through the relay."""
        return self.addresses("relay")

    @property
    def direct_bootstrap(self):
        """Past the relay, for tools and set-up."""
        return self.addresses("direct")

    def addresses(self, listener):
        return ",".join(f"127.0.0.1:{self.ports[listener, broker]}" for broker in BROKERS)

    def allocate_ports(self):
        listeners = ["relay", "client", "direct", "internal", "internal-relay", "controller"]
        free = free_ports(len(listeners) * len(BROKERS))
        self.ports = {(name, broker): free.pop() for name in listeners for broker in BROKERS}

    def connect_links(self):
        for broker in BROKERS:
            client = self.ports["client", broker]
            self.relay.link(f"client-{broker}", self.ports["relay", broker], client)
            if self.relayed_replication:
                listen = self.ports["internal-relay", broker]
                self.relay.link(f"internal-{broker}", listen, self.ports["internal", broker])

    # === Set-up

    def log_folder(self, broker):
        return self.folder / f"broker-{broker}"

    def write_properties(self, broker):
        port = {name: self.ports[name, broker] for name, of in self.ports if of == broker}
        voters = [f"{id}@127.0.0.1:{self.ports['controller', id]}" for id in BROKERS]
        replication = port["internal-relay" if self.relayed_replication else "internal"]
        properties = {
            **SMALL,
            "process.roles": "broker,controller",
            "node.id": broker,
            **({"broker.rack": f"rack-{broker}"} if self.racks else {}),
            "controller.quorum.voters": ",".join(voters),
            "listeners": f"CLIENT://127.0.0.1:{port['client']},"
            f"DIRECT://127.0.0.1:{port['direct']},"
            f"INTERNAL://127.0.0.1:{port['internal']},"
            f"CONTROLLER://127.0.0.1:{port['controller']}",
            "advertised.listeners": f"CLIENT://127.0.0.1:{port['relay']},"
            f"DIRECT://127.0.0.1:{port['direct']},"
            f"INTERNAL://127.0.0.1:{replication}",
            "listener.security.protocol.map": "CLIENT:PLAINTEXT,DIRECT:PLAINTEXT,"
            "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "INTERNAL",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self.log_folder(broker),
            **self.config,
        }
        lines = [f"{key}={value}\n" for key, value in properties.items()]
        self.properties_path(broker).write_text("".join(lines))

    def properties_path(self, broker):
        return self.folder / f"broker-{broker}.properties"

    def format(self):
        """Formats one log folder with the storage tool and copies it: only the node id differs."""
        first = self.properties_path(1)
        arguments = ["format", "-t", CLUSTER_ID, "-c", first]
        for feature in self.features:
            arguments += ["--feature", feature]
        java.run_text("kafka.tools.StorageTool", arguments)
        for broker in BROKERS[1:]:
            shutil.copytree(self.log_folder(1), self.log_folder(broker))
            meta = self.log_folder(broker) / "meta.properties"
            lines = meta.read_text().splitlines()
            own = {"node.id": f"node.id={broker}", "directory.id": f"directory.id={uuid(broker)}"}
            meta.write_text("".join(own.get(line.split("=")[0], line) + "\n" for line in lines))

    # === Life and death of brokers

    def spawn_broker(self, broker):
        log = open(self.folder / f"broker-{broker}.log", "ab")
        warn = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        command = java.command("kafka.Kafka", [self.properties_path(broker)], options=[warn])
        self.processes[broker] = spawn(command, stdout=log, stderr=log)
        log.close()

    def start(self, broker):
        """Starts a broker that was killed or stopped and waits until it serves."""
        self.relay.restore(f"client-{broker}")
        self.spawn_broker(broker)
        self.wait_until_registered([broker])

    def kill(self, broker):
        """Crash: the process is gone at once, and its port refuses connections."""
        self.processes[broker].kill()
        self.processes[broker].wait()
        self.relay.refuse(f"client-{broker}")

    def stop(self, broker):
        """Controlled shutdown; returns when the process has ended."""
        self.processes[broker].terminate()
        self.processes[broker].wait(CONTROLLED_SHUTDOWN_SECONDS_MAX)
        self.relay.refuse(f"client-{broker}")

    def pause(self, broker):
        """The process hangs, heartbeats included; its connections stay open."""
        os.kill(self.processes[broker].pid, signal.SIGSTOP)

    def resume(self, broker):
        os.kill(self.processes[broker].pid, signal.SIGCONT)

    def wait_until_registered(self, brokers):
        """Waits until each of the brokers serves and knows itself to be part of the cluster."""
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        deadline = time.monotonic() + START_SECONDS_MAX
        for broker in brokers:
            address = f"127.0.0.1:{self.ports['direct', broker]}"
            admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
            while True:
                if self.processes[broker].poll() is not None or time.monotonic() > deadline:
                    raise ClusterFailed(self.log_tail(broker))
                try:
                    if set(brokers) <= set(admin.list_topics(timeout=2).brokers):
                        break
                except KafkaException:
                    pass
                time.sleep(0.1)

    def log_tail(self, broker):
        text = (self.folder / f"broker-{broker}.log").read_text(errors="replace")
        return f"broker {broker}:\n{text[-3000:]}"

    # === Topics and tools

    def setting(self, name):
        """The value of a broker property as the cluster was started."""
        return {**SMALL, **self.config}[name]

    def leader(self, topic, partition):
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": self.direct_bootstrap, "log_level": 0})
        return admin.list_topics(topic, timeout=10).topics[topic].partitions[partition].leader

    def active_controller(self):
        _, text = self.tool("kafka-metadata-quorum.sh", "describe", "--status")
        return int(re.search(r"LeaderId:\s+(\d+)", text)[1])

    def create_topic(self, name, assignment, config=None):
        """Creates a topic whose partitions live where the assignment says: a list of replica
        lists, the first of each the preferred leader. Returns when every partition is led."""
        from confluent_kafka.admin import AdminClient, NewTopic

        admin = AdminClient({"bootstrap.servers": self.direct_bootstrap, "log_level": 0})
        topic = NewTopic(
            name, len(assignment), replica_assignment=assignment, config=config or {}
        )
        admin.create_topics([topic])[name].result()
        deadline = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < deadline:
            partitions = admin.list_topics(name, timeout=5).topics[name].partitions
            leaders = [partitions[p].leader for p in sorted(partitions)]
            if leaders == [replicas[0] for replicas in assignment]:
                return
            time.sleep(0.05)
        raise ClusterFailed(f"{name} has leaders {leaders}, not {assignment}")

    def tool(self, script, *arguments, timeout_seconds=120):
        """Runs one of Kafka's command line tools against the brokers: its exit code and text."""
        address = ["--bootstrap-server", self.direct_bootstrap]
        return java.run_tool(TOOLS[script], [*address, *arguments], timeout_seconds)

    def dump_log(self, broker, partition, *arguments):
        """What `kafka-dump-log.sh` says about a partition's first segment on a broker."""
        segment = self.log_folder(broker) / partition / f"{0:020}.log"
        with self.dump_lock:
            if self.dump_program is None:
                self.dump_program = java.Program(DUMP_APP, options=[java.NO_LOG])
            answer = self.dump_program.ask(["--files", str(segment), *arguments])
        assert answer["exit"] == 0, answer["output"]
        return answer["output"]

    def scrub(self, text):
        """Replaces what differs from run to run by fixed words of the same length, so that tables
        keep their columns."""
        text = text.replace(f"{self.folder}/broker-", "/tmp/kafka-logs-")
        text = text.replace(f"{self.folder}/", "/tmp/")
        for (listener, broker), port in self.ports.items():
            text = text.replace(f":{port}", f":{PUBLISHED_PORTS[listener] + broker}")
        for pattern, replacement in SCRUBBED:
            text = re.sub(pattern, replacement, text)
        return text


def uuid(broker):
    """A directory id in Kafka's form: 16 bytes in URL-safe base64."""
    return f"a2RyaWxsLWZvbGRlci0{broker}AA"


def free_ports(count):
    """Ports nobody listens on, in random order so that two harnesses seldom meet."""
    found = []
    for port in random.sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise ClusterFailed("no free ports")
