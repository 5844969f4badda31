"""Reads what `kafka-dump-log.sh` prints about partition logs and the transaction log."""

import json
import re

BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) baseSequence: (-?\d+) .*"
    r"producerId: (-?\d+) producerEpoch: (-?\d+) partitionLeaderEpoch: (\d+) "
    r"isTransactional: (\w+) isControl: (\w+) .*CreateTime: (-?\d+) size: (\d+)"
)
MARKER = re.compile(r"endTxnMarker: (\w+) coordinatorEpoch: (\d+)")
PAYLOAD = re.compile(r"payload: (.*)$")
STATE = re.compile(r"key: (\{.*\}) payload: (\{.*\})$")
STATUS = ["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
          "Dead", "PrepareEpochFence"]


def batches(cluster, partition, broker):
    """The batches of a partition as a broker stores them; `time_ms` is wall-clock time."""
    found = []
    for line in cluster.dump_log(broker, partition, "--print-data-log").splitlines():
        batch, marker, payload = BATCH.match(line), MARKER.search(line), PAYLOAD.search(line)
        if batch:
            figures = [int(batch[i]) for i in (1, 2, 3, 4, 5, 6, 7, 10, 11)]
            names = ["offset", "last_offset", "count", "sequence", "producer_id", "epoch",
                     "leader_epoch", "time_ms", "bytes"]
            found.append(dict(zip(names, figures)))
            found[-1]["transactional"] = batch[8] == "true"
            if batch[9] == "false":
                found[-1]["values"] = []
        elif marker:
            found[-1]["marker"] = marker[1]
            found[-1]["coordinator_epoch"] = int(marker[2])
        elif payload:
            found[-1]["values"].append(payload[1])
    return found


def transaction_states(cluster, transactional_id, broker):
    """The records of `__transaction_state` about one id, in order."""
    partition = state_partition(transactional_id, int(cluster.setting(STATE_PARTITIONS)))
    text = cluster.dump_log(
        broker, f"__transaction_state-{partition}", "--transaction-log-decoder"
    )
    found = []
    for line in text.splitlines():
        state = STATE.search(line)
        if state and json.loads(state[1])["data"]["transactionalId"] == transactional_id:
            value = json.loads(state[2])["data"]
            value["transactionStatus"] = STATUS[value["transactionStatus"]]
            found.append(value)
    return found


STATE_PARTITIONS = "transaction.state.log.num.partitions"


def state_partition(transactional_id, partitions):
    """Where the coordinator keeps an id: by Java's string hash."""
    hashed = 0
    for unit in transactional_id:
        hashed = (31 * hashed + ord(unit)) & 0xFFFFFFFF
    signed = hashed - (1 << 32) if hashed >= 1 << 31 else hashed
    return (0 if signed == -(1 << 31) else abs(signed)) % partitions


class Relative:
    """Replaces producer ids and times by what they are relative to the first ones, so that runs
    compare."""

    def __init__(self):
        self.ids = {}
        self.start_ms = None

    def producer_id(self, value):
        if value < 0:
            return value
        return self.ids.setdefault(value, len(self.ids))

    def time_ms(self, value):
        if value < 0:
            return value
        if self.start_ms is None:
            self.start_ms = value
        return value - self.start_ms

    def state(self, value):
        changed = dict(value)
        for name in changed:
            if name.endswith("roducerId"):
                changed[name] = self.producer_id(value[name])
            if name.endswith("TimestampMs"):
                changed[name] = self.time_ms(value[name])
        return changed

    def batch(self, value):
        id, time_ms = self.producer_id(value["producer_id"]), self.time_ms(value["time_ms"])
        return {**value, "producer_id": id, "time_ms": time_ms}
