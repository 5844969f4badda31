"""Runs Java programs: JSON on standard input, JSON on standard output."""

import json
import os
import subprocess
from pathlib import Path

from harness.process import LineProgram, end, spawn

CACHE = Path(__file__).resolve().parents[2] / "target" / "conformance"
JVM_OPTIONS = [
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
]

NO_LOG = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"


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
    main_class, arguments=(), text="", timeout_seconds=120, clients="4.3.1", options=()
):
    """Runs a program to its end and returns what it printed."""
    java = command(main_class, arguments, clients, options)
    code, output, errors = finish(java, text, timeout_seconds, subprocess.PIPE)
    if code != 0:
        raise JavaFailed(f"{main_class} ended with {code}:\n{errors}{output[-4000:]}")
    return output


def run_tool(main_class, arguments, timeout_seconds=120):
    """The exit code of one of Kafka's tools and all it printed, as it stands in a terminal; only
    its log is left out, whose form depends on how logging is set up."""
    java = command(main_class, arguments, options=[NO_LOG])
    code, output, _ = finish(java, "", timeout_seconds, subprocess.STDOUT)
    return code, output


def finish(arguments, text, timeout_seconds, errors_to):
    process = spawn(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors_to,
        text=True,
    )
    try:
        output, errors = process.communicate(text, timeout_seconds)
        return process.returncode, output, errors
    finally:
        end(process)


class Program(LineProgram):
    """A running Java program that answers one line of JSON at a time."""

    def __init__(self, main_class, request=None, clients="4.3.1", options=()):
        super().__init__(main_class, command(main_class, (), clients, options))
        if request is not None:
            self.send(request)
