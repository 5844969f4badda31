"""Child processes that never outlive the harness."""

import ctypes
import json
import signal
import subprocess

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def spawn(arguments, **options):
    """Starts a child in its own session, so that Ctrl+C reaches only the harness, which then ends
    its children in order. Should the harness itself be killed, the kernel kills the child."""
    return subprocess.Popen(
        arguments,
        start_new_session=True,
        preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        **options,
    )


def end(process, grace_seconds=0):
    """Asks politely when there is grace, then kills, and reaps in any case."""
    if process.poll() is None and grace_seconds > 0:
        process.terminate()
        try:
            process.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            pass
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            try:
                stream.close()
            except BrokenPipeError:
                pass


class EndedEarly(Exception):
    """A program ended before it answered."""


class LineProgram:
    """A running program that takes and gives one JSON document a line."""

    def __init__(self, name, arguments):
        self.name = name
        self.process = spawn(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def send(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise EndedEarly(f"{self.name} ended with {self.process.wait()}")
        return json.loads(line)

    def receive_event(self, name):
        """The next document whose `event` has this name; others are passed over."""
        while True:
            document = self.receive()
            if document["event"] == name:
                return document

    def ask(self, request):
        self.send(request)
        return self.receive()

    def kill(self):
        end(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end(self.process)
