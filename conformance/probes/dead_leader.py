"""One partition without a leader and all others, on virtual time."""

NAME = "dead-leader"
TIME_LIMIT_SECONDS = 300

# Long runs of one program: worth the optimising compiler.
OPTIMISED = ["-XX:TieredStopAtLevel=4"]


def run(lab):
    result = lab.java.run("kdrill.conformance.exact.DeadLeader", options=OPTIMISED)
    lab.golden({"exact": result["inputs"]}, result["cases"])
