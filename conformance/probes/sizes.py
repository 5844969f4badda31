"""Bytes of batches and requests: a grid of record sizes, and a sample through every codec."""

from pathlib import Path

NAME = "sizes"
TIME_LIMIT_SECONDS = 300
SAMPLE = "scenarios/samples/clicks.ndjson"


def run(lab):
    sample = Path(__file__).resolve().parents[2] / SAMPLE
    result = lab.java.run("kdrill.conformance.exact.Sizes", {"sample": str(sample)})
    lab.golden({"sample": SAMPLE, **result["inputs"]}, result["cases"])
