"""Single calls on one librdkafka producer: the same lines of JSON as `CallsApp.java` takes and
gives, in a process of its own, so that a probe can crash it."""

import json
import logging
import sys
import time

from confluent_kafka import KafkaException, Producer

SILENT = logging.getLogger("librdkafka")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


class Calls:
    def __init__(self):
        self.producer = None
        self.outcomes = {}

    def perform(self, call):
        do = call["do"]
        if do == "new":
            self.producer = Producer(call["config"], logger=SILENT)
        elif do == "produce":
            return self.produce(call)
        elif do == "await":
            return self.outcome(call["of"])
        elif do == "flush":
            return {"left": self.producer.flush(call.get("ms", 60_000) / 1000)}
        else:
            getattr(self.producer, do)()
        return {}

    def produce(self, call):
        optional = {name: call[name] for name in ("key", "partition", "timestamp") if name in call}
        identity = call.get("id")

        def delivered(error, message):
            self.outcomes[identity] = (error, message.partition(), message.offset())

        self.outcomes.pop(identity, None)
        self.producer.produce(call["topic"], call["value"], on_delivery=delivered, **optional)
        return self.outcome(identity) if call.get("wait") else {}

    def outcome(self, identity):
        while identity not in self.outcomes:
            self.producer.poll(0.01)
        error, partition, offset = self.outcomes[identity]
        if error:
            raise KafkaException(error)
        return {"partition": partition, "offset": offset}

    def answer(self, call):
        began = time.monotonic()
        try:
            answer = {"ok": True, **self.perform(call)}
        except KafkaException as exception:
            error = exception.args[0]
            answer = {"ok": False, "error": {
                "code": error.name(),
                "text": error.str(),
                "fatal": error.fatal(),
                "retriable": error.retriable(),
                "abort_required": error.txn_requires_abort(),
            }}
        answer["took_ms"] = (time.monotonic() - began) * 1000
        return {"id": call.get("id"), **answer}


def main():
    calls = Calls()
    for line in sys.stdin:
        print(json.dumps(calls.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
