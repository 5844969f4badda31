"""Goldens: what the real programs did, written whole or not at all."""

import json
import os
import statistics
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "golden" / "real"
BYTES_MAX = 2 * 1024 * 1024


def write(probe, versions, inputs, cases):
    """Writes one probe's golden. Each case stands on lines of its own, so that a change shows."""
    head = {"probe": probe, "versions": versions, "inputs": inputs}
    lines = ["{"]
    lines += [f"{json.dumps(key)}: {compact(value)}," for key, value in sorted(head.items())]
    lines.append('"cases": {')
    rows = [f"{json.dumps(name)}: {compact(case)}" for name, case in sorted(cases.items())]
    lines.append(",\n".join(rows))
    lines.append("}}")
    text = "\n".join(lines) + "\n"
    if len(text.encode()) > BYTES_MAX:
        raise ValueError(f"golden {probe} has {len(text.encode())} bytes, more than {BYTES_MAX}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{probe}.json"
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)
    return path


def compact(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def timed(runs):
    """A timed figure: every repetition, with the spread at a glance."""
    return {
        "runs": list(runs),
        "min": min(runs),
        "median": statistics.median(runs),
        "max": max(runs),
    }
