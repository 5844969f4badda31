"""How the buffer fills behind a slow link, and what the application and its metrics see."""

NAME = "full-buffer"
TIME_LIMIT_SECONDS = 900

# Long runs of one program: worth the optimising compiler.
OPTIMISED = ["-XX:TieredStopAtLevel=4"]


def run(lab):
    exact = lab.java.run("kdrill.conformance.exact.FullBuffer", options=OPTIMISED)
    lab.golden({"exact": exact["inputs"]}, exact["cases"])
