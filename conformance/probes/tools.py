"""Verbatim output of Kafka's command line tools on one small cluster.

The commands run in the order of the cases' numbers; each sees what the earlier ones did. Addresses,
topic ids, member ids and timestamps are replaced by fixed ones of the same length.
"""

import json
import time

from confluent_kafka import Consumer, TopicPartition

from harness.rdkafka import Client

NAME = "tools"
TIME_LIMIT_SECONDS = 600

ASSIGNMENT = "1:2:3,2:3:1,3:1:2"
SEGMENT = "/tmp/kafka-logs-1/events-0/00000000000000000000.log"
DUMP_LOG = ["kafka-dump-log.sh", "--files", SEGMENT]
RECORDS = 90
COMMITTED = [30, 20, 25]


def run(lab):
    with lab.cluster() as cluster:
        terminal = Terminal(cluster)
        topics(terminal)
        configs(terminal)
        offsets(terminal)
        groups(terminal)
        reassignment(terminal)
        transactions(terminal, lab)
        dead_broker(terminal)
        lab.golden(inputs(cluster), terminal.cases)


def inputs(cluster):
    return {
        "brokers": 3,
        "broker_config": cluster.config,
        "scrubbed": "addresses to 127.0.0.1:1909N, timestamps to 1700000000000, member ids to 0s, "
        "topic ids to As; the log folder of broker N is /tmp/kafka-logs-N",
        "topics": {"events": ASSIGNMENT, "click.events": "1 partition", "single": "3:"},
        "records": {"events": f"{RECORDS}, number mod 3 is the partition", "value": "record-N"},
        "group": {"billing": f"commits {COMMITTED} of events"},
        "bootstrap": "every command but kafka-dump-log.sh had --bootstrap-server",
    }


class Terminal:
    """Runs commands and keeps what they print, numbered in their order."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.cases = {}

    def run(self, name, script, *arguments):
        code, output = self.cluster.tool(script, *arguments)
        self.keep(name, [script, *map(str, arguments)], code, output)
        return output

    def keep(self, name, command, code, output):
        self.cases[f"{len(self.cases) + 1:03}-{name}"] = {
            "command": self.cluster.scrub(" ".join(command)),
            "exit": code,
            "output": self.cluster.scrub(output),
        }

    def file(self, name, content):
        """A JSON file for a tool to read."""
        path = self.cluster.folder / name
        path.write_text(json.dumps(content))
        return path


def topics(terminal):
    def run(name, *arguments):
        return terminal.run(f"topics-{name}", "kafka-topics.sh", *arguments)

    create = ["--create", "--topic"]
    with_config = ["--config", "min.insync.replicas=2"]
    run("create", *create, "events", "--replica-assignment", ASSIGNMENT, *with_config)
    run("create-again", *create, "events", "--partitions", "3", "--replication-factor", "3")
    run("create-if-not-exists", *create, "events", "--partitions", "3", "--if-not-exists")
    run("create-dot", *create, "click.events", "--replica-assignment", "1:2")
    run("create-single", *create, "single", "--replica-assignment", "3")
    run("create-factor-too-large", *create, "wide", "--partitions", "1",
        "--replication-factor", "4")
    run("create-no-partitions", *create, "none", "--partitions", "0")
    run("create-bad-name", *create, "a b", "--partitions", "1")
    run("create-bad-config", *create, "none", "--partitions", "1", "--config", "no.such=1")
    run("list", "--list")
    run("describe", "--describe", "--topic", "events")
    run("describe-all", "--describe")
    run("describe-missing", "--describe", "--topic", "missing")
    run("describe-overrides", "--describe", "--topics-with-overrides")
    alter = ["--alter", "--topic"]
    run("alter-fewer", *alter, "events", "--partitions", "2")
    run("alter-equal", *alter, "events", "--partitions", "3")
    run("alter-zero", *alter, "events", "--partitions", "0")
    run("alter-missing", *alter, "missing", "--partitions", "3")
    run("alter-more", *alter, "click.events", "--partitions", "2",
        "--replica-assignment", "1:2,2:3")
    run("describe-altered", "--describe", "--topic", "click.events")
    run("delete", "--delete", "--topic", "click.events")
    run("delete-missing", "--delete", "--topic", "missing")
    run("no-action", "--topic", "events")


def configs(terminal):
    def run(name, *arguments):
        return terminal.run(f"configs-{name}", "kafka-configs.sh", *arguments)

    topic = ["--entity-type", "topics", "--entity-name", "events"]
    run("describe", "--describe", *topic)
    run("alter", "--alter", *topic, "--add-config", "retention.ms=3600000,segment.bytes=16777216")
    run("describe-altered", "--describe", *topic)
    run("alter-short", "--alter", "--topic", "events", "--add-config",
        "unclean.leader.election.enable=true")
    run("delete-config", "--alter", *topic, "--delete-config",
        "retention.ms,unclean.leader.election.enable,segment.bytes")
    run("delete-absent", "--alter", *topic, "--delete-config", "retention.bytes")
    run("unknown-config", "--alter", *topic, "--add-config", "no.such.config=1")
    run("bad-value", "--alter", *topic, "--add-config", "min.insync.replicas=none")
    run("below-minimum", "--alter", *topic, "--add-config", "min.insync.replicas=0")
    run("missing-topic", "--describe", "--entity-type", "topics", "--entity-name", "missing")
    run("broker", "--describe", "--entity-type", "brokers", "--entity-name", "1")
    run("broker-alter", "--alter", "--entity-type", "brokers", "--entity-name", "1",
        "--add-config", "log.cleaner.threads=2")
    run("broker-static-only", "--alter", "--entity-type", "brokers", "--entity-name", "1",
        "--add-config", "broker.session.timeout.ms=9000")
    run("client-quota", "--alter", "--entity-type", "clients", "--entity-name", "shop",
        "--add-config", "producer_byte_rate=1048576")
    run("client-quota-describe", "--describe", "--entity-type", "clients", "--entity-name", "shop")
    run("client-quota-delete", "--alter", "--entity-type", "clients", "--entity-name", "shop",
        "--delete-config", "producer_byte_rate")


def offsets(terminal):
    def run(name, *arguments):
        return terminal.run(f"offsets-{name}", "kafka-get-offsets.sh", *arguments)

    produce(terminal.cluster, range(RECORDS))
    run("latest", "--topic", "events")
    run("earliest", "--topic", "events", "--time", "-2")
    run("max-timestamp", "--topic", "events", "--time", "max-timestamp")
    run("some-partitions", "--topic-partitions", "events:0-2")
    run("missing", "--topic", "missing")
    dump(terminal, "data", "--print-data-log")
    dump(terminal, "batches")


def dump(terminal, name, *arguments):
    text = terminal.cluster.dump_log(1, "events-0", *arguments)
    lines = "".join(text.splitlines(keepends=True)[:8])
    terminal.keep(f"dump-log-{name}", [*DUMP_LOG, *arguments], 0, lines)


def produce(cluster, numbers):
    """Keyed records in idempotent batches of ten for a partition each."""
    config = {
        "bootstrap.servers": cluster.direct_bootstrap,
        "enable.idempotence": "true",
        "batch.num.messages": 10,
        "linger.ms": 500,
    }
    with Client(config) as client:
        for number in numbers:
            key, value = f"key-{number % 9}".encode(), f"record-{number}".encode()
            assert client.produce("events", value, key, partition=number % 3) == 0
        assert client.flush(30_000) == 0


def groups(terminal):
    def run(name, *arguments):
        return terminal.run(f"groups-{name}", "kafka-consumer-groups.sh", *arguments)

    group = ["--describe", "--group", "billing"]
    run("describe-missing", *group)
    consumer = join(terminal.cluster)
    run("list", "--list")
    run("describe", *group)
    run("members", *group, "--members")
    run("members-verbose", *group, "--members", "--verbose")
    run("state", *group, "--state")
    reset = ["--reset-offsets", "--group", "billing", "--topic", "events"]
    run("reset-active", *reset, "--to-earliest", "--execute")
    consumer.close()
    run("describe-left", *group)
    run("state-left", *group, "--state")
    run("reset-dry-run", *reset, "--to-earliest", "--dry-run")
    run("reset-shift", *reset, "--shift-by", "-5", "--execute")
    run("describe-reset", *group)
    run("reset-neither", *reset, "--to-latest")
    run("delete-offsets", "--delete-offsets", "--group", "billing", "--topic", "events")
    run("delete", "--delete", "--group", "billing")


def join(cluster):
    """A consumer that has its partitions and has committed."""
    consumer = Consumer({
        "bootstrap.servers": cluster.direct_bootstrap,
        "group.id": "billing",
        "client.id": "billing-1",
        "enable.auto.commit": False,
        "log_level": 0,
    })
    consumer.subscribe(["events"])
    while len(consumer.assignment()) < 3:
        consumer.poll(0.1)
    positions = [TopicPartition("events", p, offset) for p, offset in enumerate(COMMITTED)]
    consumer.commit(offsets=positions, asynchronous=False)
    return consumer


def reassignment(terminal):
    def run(name, *arguments):
        return terminal.run(f"reassign-{name}", "kafka-reassign-partitions.sh", *arguments)

    moved = {"version": 1, "topics": [{"topic": "events"}]}
    run("generate", "--generate", "--topics-to-move-json-file",
        terminal.file("topics.json", moved), "--broker-list", "1,2,3")
    plan = terminal.file("plan.json", {
        "version": 1,
        "partitions": [{"topic": "events", "partition": 0, "replicas": [2, 3, 1]}],
    })
    with_plan = ["--reassignment-json-file", plan]
    run("verify-before", "--verify", *with_plan)
    run("execute", "--execute", *with_plan)
    time.sleep(2)
    run("verify", "--verify", *with_plan)
    run("execute-throttled", "--execute", *with_plan, "--throttle", "1000000")
    run("verify-throttled", "--verify", *with_plan)
    run("list", "--list")
    run("cancel-nothing", "--cancel", *with_plan)
    wrong = {"version": 1,
             "partitions": [{"topic": "events", "partition": 0, "replicas": [2, 3, 9]}]}
    run("unknown-broker", "--execute", "--reassignment-json-file",
        terminal.file("wrong.json", wrong))
    election = ["--election-type", "preferred"]
    one = ["--topic", "events", "--partition", "0"]
    terminal.run("topics-moved", "kafka-topics.sh", "--describe", "--topic", "events")
    terminal.run("election-moved", "kafka-leader-election.sh", *election, *one)
    terminal.run("election-again", "kafka-leader-election.sh", *election, *one)


def transactions(terminal, lab):
    def run(name, *arguments):
        return terminal.run(f"transactions-{name}", "kafka-transactions.sh", *arguments)

    cluster = terminal.cluster
    with lab.java.Program("kdrill.conformance.live.CallsApp") as app:
        def call(**what):
            answer = app.ask({"producer": "p", **what})
            assert answer["ok"], answer

        config = {"bootstrap.servers": cluster.direct_bootstrap, "transactional.id": "payments-0"}
        run("list-none", "list")
        run("describe-missing", "describe", "--transactional-id", "payments-0")
        call(do="new", config=config)
        call(do="init_transactions")
        call(do="begin_transaction")
        for partition in (0, 1):
            call(do="produce", topic="events", value="v", partition=partition, wait=True)
        run("list-open", "list")
        run("list-filtered", "list", "--duration-filter", "60000")
        run("describe-open", "describe", "--transactional-id", "payments-0")
        producers = ["describe-producers", "--topic", "events", "--partition", "0"]
        run("producers-open", *producers)
        run("find-hanging", "find-hanging", "--broker-id", "1")
        call(do="commit_transaction")
        time.sleep(0.5)
        run("describe-committed", "describe", "--transactional-id", "payments-0")
        run("producers-committed", *producers)
        run("abort-nothing", "abort", "--topic", "events", "--partition", "0",
            "--start-offset", "0")
        call(do="begin_transaction")
        call(do="produce", topic="events", value="v", partition=0, wait=True)
        run("force-terminate", "forceTerminateTransaction", "--transactionalId", "payments-0")
        run("describe-terminated", "describe", "--transactional-id", "payments-0")
    text = cluster.dump_log(1, "events-0", "--print-data-log")
    tail = "".join(text.splitlines(keepends=True)[-8:])
    terminal.keep("dump-log-transactional", [*DUMP_LOG, "--print-data-log"], 0, tail)


def dead_broker(terminal):
    def topics(name, *arguments):
        return terminal.run(f"dead-{name}", "kafka-topics.sh", "--describe", *arguments)

    def election(name, *arguments):
        return terminal.run(f"election-{name}", "kafka-leader-election.sh", *arguments)

    cluster = terminal.cluster
    cluster.kill(3)
    time.sleep(6)
    topics("describe", "--topic", "events")
    topics("describe-single", "--topic", "single")
    topics("under-replicated", "--under-replicated-partitions", "--exclude-internal")
    topics("unavailable", "--unavailable-partitions", "--exclude-internal")
    topics("under-min-isr", "--under-min-isr-partitions", "--exclude-internal")
    topics("at-min-isr", "--at-min-isr-partitions", "--exclude-internal")
    preferred = ["--election-type", "preferred"]
    unclean = ["--election-type", "unclean"]
    dead = ["--topic", "events", "--partition", "2"]
    healthy = ["--topic", "events", "--partition", "1"]
    election("preferred-dead", *preferred, *dead)
    election("unclean-healthy", *unclean, *healthy)
    election("unclean-none-alive", *unclean, "--topic", "single", "--partition", "0")
    election("unclean-missing", *unclean, "--topic", "missing", "--partition", "0")
    cluster.kill(2)
    cluster.start(2)
    time.sleep(3)
    topics("describe-after-second", "--topic", "events")
    cluster.start(3)
    time.sleep(3)
    topics("describe-back", "--topic", "events")
    election("preferred-all", *preferred, "--all-topic-partitions")
    topics("describe-elected", "--topic", "events")
    terminal.run("quorum-status", "kafka-metadata-quorum.sh", "describe", "--status")
    terminal.run("features", "kafka-features.sh", "describe")
