"""Child processes that never outlive the harness."""

import ctypes
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
