"""What is sent again, when, in which order and under which sequences, on virtual time."""

NAME = "retries"
TIME_LIMIT_SECONDS = 120


def run(lab):
    result = lab.java.run("kdrill.conformance.exact.Retries")
    lab.golden({"exact": result["inputs"]}, result["cases"])
