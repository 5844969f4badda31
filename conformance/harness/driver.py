"""Runs probes, one after the other, each within its time limit."""

import argparse
import importlib
import signal
import sys
import time
import traceback

from harness import golden, java
from harness.cluster import Cluster

# In this order: what needs no brokers comes first and fails early.
PROBES = [
    "keys",
    "keys_rdkafka",
    "java_config",
    "rdkafka_config",
    "sizes",
    "linger",
    "sticky",
    "retries",
    "full_buffer",
    "dead_leader",
    "sticky_live",
    "retries_live",
    "full_buffer_live",
    "dead_leader_live",
    "rdkafka_queue",
    "tools",
    "partitions_added",
    "transactions",
    "failover",
]
KAFKA_VERSION = "4.3.1"


class TimeLimitExceeded(Exception):
    """A probe took longer than it may."""


class Lab:
    """What a probe works with: brokers, Java programs, and the place for its results."""

    def __init__(self, probe):
        self.probe = probe
        self.java = java

    def cluster(self, **options):
        """Three fresh brokers for a `with` block; see `Cluster` for the options."""
        return Cluster(**options)

    def golden(self, inputs, cases, versions=None):
        """Writes the probe's golden; `versions` adds to Kafka's."""
        import confluent_kafka

        known = {"kafka": KAFKA_VERSION, "librdkafka": confluent_kafka.libversion()[0]}
        path = golden.write(self.probe.NAME, {**known, **(versions or {})}, inputs, cases)
        print(f"  wrote {path.relative_to(golden.FOLDER.parents[2])}", flush=True)


def main():
    arguments = parse_arguments()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    signal.signal(signal.SIGALRM, exceed)
    wanted = [name.replace("-", "_") for name in arguments.probes] or PROBES
    unknown = [name for name in wanted if name not in PROBES]
    if unknown:
        sys.exit(f"no such probe: {', '.join(unknown)}; see --list")
    if arguments.list:
        for name in wanted:
            print(describe(name))
        return
    failed = [name for name in wanted if not run(name)]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="conformance/run", description=__doc__)
    parser.add_argument("probes", nargs="*", metavar="PROBE", help="default: all of them")
    parser.add_argument("--list", action="store_true", help="name the probes and end")
    parser.add_argument(
        "--keep-going", action="store_true", help="go on after a failed probe (always on)"
    )
    return parser.parse_args()


def interrupt(*_):
    """Ctrl+C and a kill unwind through the `with` blocks, which end brokers and remove files. A
    second one must not interrupt that."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    signal.alarm(0)
    raise KeyboardInterrupt


def exceed(*_):
    raise TimeLimitExceeded


def describe(name):
    try:
        probe = importlib.import_module(f"probes.{name}")
    except ModuleNotFoundError:
        return f"{name.replace('_', '-'):18} not written yet"
    summary = probe.__doc__.strip().splitlines()[0]
    return f"{probe.NAME:18} {probe.TIME_LIMIT_SECONDS:4} s  {summary}"


def run(name):
    """Whether the probe wrote its golden in time."""
    started = time.monotonic()
    outcome = "ok"
    print(f"{name.replace('_', '-')} …", flush=True)
    try:
        probe = importlib.import_module(f"probes.{name}")
        signal.alarm(probe.TIME_LIMIT_SECONDS)
        probe.run(Lab(probe))
    except TimeLimitExceeded:
        outcome = f"exceeded its {probe.TIME_LIMIT_SECONDS} s"
    except Exception:
        traceback.print_exc()
        outcome = "failed"
    finally:
        signal.alarm(0)
    seconds = time.monotonic() - started
    print(f"{name.replace('_', '-')} {outcome} after {seconds:.1f} s", flush=True)
    return outcome == "ok"


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
