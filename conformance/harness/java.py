"""Runs Java programs: JSON on standard input, JSON on standard output."""

import json
import os
import subprocess
from pathlib import Path

from harness.process import end, spawn

CACHE = Path(__file__).resolve().parents[2] / "target" / "conformance"
JVM_OPTIONS = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
]


class JavaFailed(Exception):
    """A Java program ended with an error; the text is its standard error."""


def class_path(clients="4.3.1"):
    """The probe programs and Kafka's jars; `clients` 4.4.0 has the rack-aware client."""
    libraries = "lib" if clients == "4.3.1" else "lib-4.4"
    return os.pathsep.join([str(CACHE / "classes"), str(CACHE / libraries / "*")])


def command(main_class, arguments=(), clients="4.3.1", options=()):
    java = ["java", *JVM_OPTIONS, *options, "-cp", class_path(clients)]
    return [*java, main_class, *map(str, arguments)]


def run(main_class, request=None, timeout_seconds=300, clients="4.3.1", options=()):
    """Runs a program to its end and returns the JSON document that it printed."""
    output = run_text(main_class, (), json.dumps(request), timeout_seconds, clients, options)
    return json.loads(output)


def run_text(
    main_class, arguments=(), text="", timeout_seconds=120, clients="4.3.1", options=(), check=True
):
    """Runs a program to its end and returns what it printed. With `check` off, an exit code other
    than 0 is fine and the standard error is appended, as it would stand in a terminal."""
    process = spawn(
        command(main_class, arguments, clients, options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if check else subprocess.STDOUT,
        text=True,
    )
    try:
        output, errors = process.communicate(text, timeout_seconds)
    finally:
        end(process)
    if check and process.returncode != 0:
        raise JavaFailed(f"{main_class} ended with {process.returncode}:\n{errors}{output[-4000:]}")
    return output


class Program:
    """A running program that answers one line of JSON at a time."""

    def __init__(self, main_class, request=None, clients="4.3.1", options=()):
        self.main_class = main_class
        self.process = spawn(
            command(main_class, (), clients, options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        if request is not None:
            self.send(request)

    def send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise JavaFailed(f"{self.main_class} ended early with {self.process.wait()}")
        return json.loads(line)

    def ask(self, request):
        self.send(request)
        return self.receive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)
