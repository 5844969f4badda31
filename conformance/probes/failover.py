"""A leader or a follower fails under load: time without a leader, lost records, ISR changes.

One partition on three brokers. The failing broker is never the active controller, except where a
case says so. Replication from the leader takes 100 ms, so that acknowledged records which no
follower has are many enough to count.
"""

import time

from harness import contents, logs
from harness.golden import timed
from harness.incident import Load, Watch, audit, longest_silence_ms
from harness.owners import CALLS_APP
from harness.relay import FETCH

NAME = "failover"
TIME_LIMIT_SECONDS = 900

RUNS = 3
RATE = 200
SECONDS = 9
FAIL_AFTER_SECONDS = 2
SETTLE_SECONDS = 20
REPLICATION_DELAY_MS = 50
MIN_ISR = 2

SETTINGS = {
    "acks-0": {"acks": "0", "enable.idempotence": "false"},
    "acks-1": {"acks": "1", "enable.idempotence": "false"},
    "acks-all": {"acks": "all", "enable.idempotence": "false"},
    "acks-all-idempotent": {"acks": "all"},
}
FAILURES = {
    "crash": lambda cluster, broker: cluster.kill(broker),
    "shutdown": lambda cluster, broker: cluster.stop(broker),
}


def run(lab):
    cases = {}
    with lab.cluster(relayed_replication=True) as cluster:
        config = cluster.config
        for failure in FAILURES:
            cases.update(leader_fails(cluster, failure, failure))
        cases.update(leader_fails(cluster, "crash", "crash-of-controller"))
        ring = Ring(cluster)
        for kind in FOLLOWER_FAILURES:
            print(f"  isr-{kind}", flush=True)
            cases[f"isr-{kind}"] = follower_fails(ring, kind)
        cases["isr-silent-without-load"] = silent_without_load(ring, fetched=True)
        cases["isr-silent-from-the-start"] = silent_without_load(ring, fetched=False)
        cases.update(unclean(ring, lab))
    with lab.cluster(defaults=True, relayed_replication=True) as cluster:
        ring = Ring(cluster)
        cases["crash-at-defaults"] = crash_at_defaults(ring)
        cases["isr-slow-at-defaults"] = follower_fails(ring, "slow", runs=1, seconds=50)
    lab.golden(inputs(config), cases)


def inputs(config):
    return {
        "brokers": 3,
        "broker_config": config,
        "topic": {"partitions": 1, "replication_factor": 3, "min.insync.replicas": MIN_ISR},
        "load": {
            "records_per_second": RATE,
            "value": "the record's number in decimal",
            "seconds": SECONDS,
            "fails_after_seconds": FAIL_AFTER_SECONDS,
        },
        "producers": SETTINGS,
        "producers_of_leader_cases": "four at once, a topic each, all led by the failing broker",
        "replication_delay_ms": {"each way": REPLICATION_DELAY_MS, "isr-* and unclean-*": 0},
        "new_leader_ms": "from the failure to the metadata of another broker",
        "silence_ms": "longest time between two acknowledgements",
        "isr": "slow: fetches of one follower are held, its heartbeats go on; dead: killed; "
        "paused: stopped by a signal; shutdown: controlled. Load with acks=all.",
        "isr_whole_again_ms": "from the repair; for dead and shutdown it includes the start of a "
        "process, which depends on the machine",
        "unclean": "both followers' fetches held until the ISR is the leader alone, 50 records "
        "with acks=all and min.insync.replicas=1, the leader killed",
    }


class Ring:
    """The brokers in an order that puts the active controller last."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.controller = cluster.active_controller()
        self.others = [broker for broker in (1, 2, 3) if broker != self.controller]

    def victim(self):
        return self.others[0]

    def replicas(self, leader):
        return [leader] + [b for b in [*self.others, self.controller] if b != leader]

    def survivor(self, dead):
        return next(b for b in [self.controller, *self.others] if b != dead)


# === The leader fails


def leader_fails(cluster, failure, name):
    runs = []
    for number in range(RUNS):
        print(f"  {name} {number + 1}", flush=True)
        ring = Ring(cluster)
        victim = ring.controller if name == "crash-of-controller" else ring.victim()
        runs.append(leader_fails_once(ring, failure, victim, f"{name}-{number}"))
    cases = {}
    for setting in SETTINGS:
        each = [run["producers"][setting] for run in runs]
        case = {figure: [one[figure] for one in each] for figure in each[0]}
        case["silence_ms"] = timed(case["silence_ms"])
        cases[f"{name}/{setting}"] = case
    cases[f"{name}/leader"] = {"new_leader_ms": timed([run["new_leader_ms"] for run in runs])}
    return cases


def leader_fails_once(ring, failure, victim, name):
    cluster = ring.cluster
    cluster.relay.delay(f"internal-{victim}", REPLICATION_DELAY_MS, REPLICATION_DELAY_MS)
    plan = {"rate": RATE, "seconds": SECONDS, "settle_seconds": SETTLE_SECONDS}
    loads = {}
    for setting, config in SETTINGS.items():
        topic = f"{name}-{setting}"
        cluster.create_topic(
            topic, [ring.replicas(victim)], {"min.insync.replicas": str(MIN_ISR)}
        )
        loads[setting] = Load(cluster, topic, config, plan)
    for load in loads.values():
        load.wait_until_started()
    with Watch(cluster, f"{name}-acks-all", ring.survivor(victim)) as watch:
        time.sleep(FAIL_AFTER_SECONDS)
        failed = time.monotonic()
        FAILURES[failure](cluster, victim)
        results = {setting: load.finish() for setting, load in loads.items()}
    new_leader_ms = watch.first_after(failed, lambda leader, _: leader not in (victim, -1))
    producers = {}
    for setting, result in results.items():
        values = contents.read(cluster, f"{name}-{setting}")
        producers[setting] = {
            **audit(result, values),
            "silence_ms": longest_silence_ms(result),
        }
    cluster.relay.delay(f"internal-{victim}", 0, 0)
    cluster.start(victim)
    time.sleep(2)
    return {"new_leader_ms": new_leader_ms, "producers": producers}


def crash_at_defaults(ring):
    """Once, with a session of 9 s."""
    victim, cluster = ring.victim(), ring.cluster
    cluster.create_topic("defaults", [ring.replicas(victim)])
    with Watch(cluster, "defaults", ring.survivor(victim)) as watch:
        failed = time.monotonic()
        cluster.kill(victim)
        time.sleep(12)
    cluster.start(victim)
    time.sleep(2)
    ms = watch.first_after(failed, lambda leader, _: leader not in (victim, -1))
    return {"new_leader_ms": ms}


# === A follower fails

FOLLOWER_FAILURES = {
    "slow": lambda cluster, leader, follower: cluster.relay.hold(
        f"internal-{leader}", FETCH, client=f"broker-{follower}-fetcher"
    ),
    "dead": lambda cluster, _, follower: cluster.kill(follower),
    "paused": lambda cluster, _, follower: cluster.pause(follower),
    "shutdown": lambda cluster, _, follower: cluster.stop(follower),
}
REPAIRS = {
    "slow": lambda cluster, leader, _: cluster.relay.release(f"internal-{leader}"),
    "dead": lambda cluster, _, follower: cluster.start(follower),
    "paused": lambda cluster, _, follower: cluster.resume(follower),
    "shutdown": lambda cluster, _, follower: cluster.start(follower),
}


def follower_fails(ring, kind, runs=RUNS, seconds=SECONDS):
    """Under load with acks=all: how long acknowledgements stop, when the ISR shrinks and when,
    after the repair, it is whole again."""
    shrink_ms, silence_ms, return_ms = [], [], []
    for number in range(runs):
        leader, follower = ring.others
        cluster, topic = ring.cluster, f"isr-{kind}-{number}"
        cluster.create_topic(topic, [ring.replicas(leader)])
        plan = {"rate": RATE, "seconds": seconds, "settle_seconds": SETTLE_SECONDS}
        load = Load(cluster, topic, SETTINGS["acks-all-idempotent"], plan)
        load.wait_until_started()
        with Watch(cluster, topic, leader) as watch:
            time.sleep(FAIL_AFTER_SECONDS)
            failed = time.monotonic()
            FOLLOWER_FAILURES[kind](cluster, leader, follower)
            result = load.finish()
            assert result["failed"] == 0, result["exceptions"]
            repaired = time.monotonic()
            REPAIRS[kind](cluster, leader, follower)
            time.sleep(6)
        shrink_ms.append(watch.first_after(failed, lambda _, isr: follower not in isr))
        return_ms.append(watch.first_after(repaired, lambda _, isr: follower in isr))
        silence_ms.append(longest_silence_ms(result))
    return {
        "isr_shrinks_ms": timed(shrink_ms),
        "silence_ms": timed(silence_ms),
        "isr_whole_again_ms": timed(return_ms),
    }


def silent_without_load(ring, fetched):
    """A follower of an empty partition stops to fetch, after or before its first fetch."""
    leader, follower = ring.others
    cluster, topic = ring.cluster, f"isr-silent-{fetched}"
    if not fetched:
        FOLLOWER_FAILURES["slow"](cluster, leader, follower)
    cluster.create_topic(topic, [ring.replicas(leader)])
    time.sleep(2 if fetched else 0)
    with Watch(cluster, topic, leader) as watch:
        if fetched:
            FOLLOWER_FAILURES["slow"](cluster, leader, follower)
        time.sleep(12)
        REPAIRS["slow"](cluster, leader, follower)
    return {"seconds": 12, "isr_sizes": [len(isr) for _, (_, isr) in watch.changes]}


# === Unclean election


def unclean(ring, lab):
    """The last member of the ISR dies, with unclean election off and on."""
    cluster, leader = ring.cluster, ring.others[0]
    topics = {"unclean-off": "false", "unclean-on": "true"}
    for topic, allowed in topics.items():
        config = {"unclean.leader.election.enable": allowed, "min.insync.replicas": "1"}
        cluster.create_topic(topic, [ring.replicas(leader)], config)
    with lab.java.Program(CALLS_APP) as app:
        app.ask({"do": "new", "producer": "p", "config": {
            "bootstrap.servers": cluster.bootstrap,
            "delivery.timeout.ms": 15_000,
            "request.timeout.ms": 2_000,
        }})
        stories = {topic: Unclean(app, topic) for topic in topics}
        for story in stories.values():
            story.produce(range(50))
        cluster.relay.hold(f"internal-{leader}", FETCH)
        for story in stories.values():
            story.produce(range(50, 51))
        for story in stories.values():
            story.produce(range(51, 100))
        watches = {topic: Watch(cluster, topic, ring.survivor(leader)) for topic in topics}
        killed = time.monotonic()
        cluster.kill(leader)
        cluster.relay.reset(f"internal-{leader}")
        cluster.relay.release(f"internal-{leader}")
        time.sleep(6)
        for story in stories.values():
            story.produce(range(100, 101))
        restarted = time.monotonic()
        cluster.start(leader)
        time.sleep(5)
        for story in stories.values():
            story.produce(range(101, 102))
    cases = {}
    for topic, story in stories.items():
        watches[topic].close()
        values = contents.read(cluster, topic)
        numbers = [int(value) for value in values]
        changed = watches[topic].changes
        cases[topic] = {
            "states": [
                {"leader": role(ring, leader, now), "isr_size": len(isr)}
                for _, (now, isr) in changed
            ],
            "leader_again_ms": watches[topic].first_after(
                killed, lambda now, _: now not in (leader, -1)
            ),
            "old_leader_again_ms": watches[topic].first_after(
                restarted, lambda now, _: now == leader
            ),
            "calls": story.calls,
            "lost": len(set(story.acknowledged) - set(numbers)),
            "stored": len(numbers),
            "last_batches": last_batches(cluster, topic),
        }
    return cases


def last_batches(cluster, topic):
    """With the sequences and epochs that the producer went on with."""
    relative = logs.Relative()
    leader = cluster.leader(topic, 0)
    batches = [relative.batch(b) for b in logs.batches(cluster, f"{topic}-0", leader)[-4:]]
    names = ["offset", "sequence", "producer_id", "epoch", "leader_epoch", "values"]
    return [{name: batch[name] for name in names} for batch in batches]


class Unclean:
    """Records one after another, each acknowledged or failed before the next."""

    def __init__(self, app, topic):
        self.app, self.topic = app, topic
        self.acknowledged = []
        self.calls = []

    def produce(self, numbers):
        """Notes the answer to the last record, and that of any record that fails."""
        for number in numbers:
            answer = self.app.ask({
                "do": "produce", "producer": "p", "id": f"{self.topic}-{number}",
                "topic": self.topic, "partition": 0, "value": str(number), "wait": True,
            })
            answer.pop("id")
            if answer["ok"]:
                self.acknowledged.append(number)
            if number == numbers[-1] or not answer["ok"]:
                self.calls.append({"number": number, **answer})


def role(ring, leader, now):
    if now == -1:
        return "none"
    return "first" if now == leader else "another"
