"""Where records without a key go, alone and beside a slow broker, on virtual time."""

from harness.golden import timed

NAME = "sticky"
TIME_LIMIT_SECONDS = 300

# Long runs of one program: worth the optimising compiler.
OPTIMISED = ["-XX:TieredStopAtLevel=4"]


def run(lab):
    result = lab.java.run("kdrill.conformance.exact.Sticky", options=OPTIMISED)
    cases = {name: summarised(case) for name, case in result["cases"].items()}
    lab.golden({"exact": result["inputs"]}, cases)


def summarised(case):
    """Figures of several seeds with their spread; lists stay as they are, one for each seed."""
    if "runs" not in case:
        return case
    return {
        figure: timed(runs) if not isinstance(runs[0], list) else {"runs": runs}
        for figure, runs in case["runs"].items()
    }
