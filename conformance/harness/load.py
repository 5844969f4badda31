"""One Java producer under load while things happen to it."""

import time

from harness.golden import timed

MAIN_CLASS = "kdrill.conformance.live.ProducerApp"


def run(java, plan, deeds=(), clients="4.3.1"):
    """Runs a plan of ProducerApp to its end and returns its result.

    `deeds` are (seconds since the first send, name, function): each begins at its time and leaves
    a mark of its name in the result when it is done.
    """
    with java.Program(MAIN_CLASS, plan, clients=clients) as app:
        await_event(app, "started")
        started = time.monotonic()
        for at_seconds, name, deed in sorted(deeds, key=lambda entry: entry[0]):
            time.sleep(max(0, started + at_seconds - time.monotonic()))
            deed()
            app.send(f"mark {name}")
        return await_event(app, "result")


def await_event(app, wanted):
    while True:
        event = app.receive()
        if event["event"] == wanted:
            return event


def series(result, name):
    """A figure of each full second: a member of the sample or a metric."""
    seconds = result["seconds"]
    return [second[name] if name in second else second["metrics"][name] for second in seconds]


def summary(results, metrics):
    """What repetitions of one plan have in common and where they differ."""
    return {
        "first_waited_seconds": first_waited(results),
        "seconds": [
            {name: rounded(series(result, name)) for name in ("sent", "acked", "failed", *metrics)}
            for result in results
        ],
        "exceptions": [result["exceptions"] for result in results],
        "blocked_sends": [result["blocked_sends"][:12] for result in results],
        "marks": [result["marks"] for result in results],
        "totals": {
            name: timed([result[name] for result in results])
            for name in ("sent", "acked", "failed", "outstanding")
        },
    }


def first_waited(results):
    """When a send() first waited for memory; None where none ever did."""
    firsts = [result["first_waited_seconds"] for result in results]
    return timed(firsts) if None not in firsts else None


def rounded(values):
    return [round(value, 4) if isinstance(value, float) else value for value in values]
