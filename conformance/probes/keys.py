"""Hash and partition of 10,000 keys by the Java client."""

NAME = "keys"
TIME_LIMIT_SECONDS = 60


def run(lab):
    result = lab.java.run("kdrill.conformance.exact.Keys")
    lab.golden(result["inputs"], result["cases"])
