"""Batches and requests at different `linger.ms`, rates and partition counts."""

NAME = "linger"
TIME_LIMIT_SECONDS = 300

# Long runs of one program: worth the optimising compiler.
OPTIMISED = ["-XX:TieredStopAtLevel=4"]


def run(lab):
    result = lab.java.run("kdrill.conformance.exact.Linger", options=OPTIMISED)
    lab.golden(result["inputs"], result["cases"])
