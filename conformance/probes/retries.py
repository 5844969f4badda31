"""What is sent again, when, in which order and under which sequences."""

NAME = "retries"
TIME_LIMIT_SECONDS = 300


def run(lab):
    exact = lab.java.run("kdrill.conformance.exact.Retries")
    lab.golden({"exact": exact["inputs"]}, exact["cases"])
