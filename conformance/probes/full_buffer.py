"""How the buffer fills behind a slow link, on virtual time."""

NAME = "full-buffer"
TIME_LIMIT_SECONDS = 300

# Long runs of one program: worth the optimising compiler.
OPTIMISED = ["-XX:TieredStopAtLevel=4"]


def run(lab):
    result = lab.java.run("kdrill.conformance.exact.FullBuffer", options=OPTIMISED)
    lab.golden({"exact": result["inputs"]}, result["cases"])
