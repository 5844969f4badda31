//! The report as `JUnit` XML: a suite a scenario, a case an expectation.
//!
//! A failed expectation is a failure, an inconclusive one an error, and so is a scenario that
//! could not be loaded. Times are left out: they would be those of a real clock.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{Expected, Outcome, Report};

/// All outcomes as XML.
pub(super) fn render(outcomes: &[Outcome]) -> String {
    let mut all = quick_junit::Report::new("kdrill");
    all.add_test_suites(outcomes.iter().map(|outcome| match outcome {
        Outcome::Ran(report) => of_run(report),
        Outcome::Unloadable { scenario, problem } => of_problem(scenario, problem),
    }));
    // The writer fails on input and output only, and there is none.
    all.to_string()
        .map(|text| {
            if text.ends_with('\n') {
                text
            } else {
                text + "\n"
            }
        })
        .unwrap_or_default()
}

fn of_run(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new(report.scenario.as_str());
    if report.expectations.is_empty() {
        let mut case = TestCase::new("the run", TestCaseStatus::success());
        case.set_classname(report.scenario.as_str());
        suite.add_test_case(case);
    }
    suite.add_test_cases(report.expectations.iter().map(|expected| {
        let mut case = TestCase::new(expected.name.as_str(), status(expected));
        case.set_classname(report.scenario.as_str());
        case
    }));
    suite
}

fn status(expected: &Expected) -> TestCaseStatus {
    let kind = match expected.held {
        Some(true) => return TestCaseStatus::success(),
        Some(false) => NonSuccessKind::Failure,
        None => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_message(expected.observed.as_str())
        .set_type(expected.word());
    status
}

fn of_problem(scenario: &str, problem: &str) -> TestSuite {
    let mut suite = TestSuite::new(scenario);
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status
        .set_message("the scenario could not be loaded")
        .set_description(problem);
    let mut case = TestCase::new("loads", status);
    case.set_classname(scenario);
    suite.add_test_case(case);
    suite
}
