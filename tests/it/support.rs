//! What integration tests share: a scenario run to its end, and its report as text.

use std::sync::Arc;

use kdrill::insight::judge::Outcome;
use kdrill::report::{self, Format, Report};
use kdrill::scenario::{self, Overrides, Paint, Scenario, Source};
use kdrill::session::{Memory, Session};
use kdrill::sim::Progress;
use kdrill::sim::time::{SimSpan, SimTime};

/// A scenario of the library.
pub fn embedded(name: &str) -> Arc<Scenario> {
    loaded(Source::Embedded(name.to_string()))
}

/// A scenario given as text.
pub fn written(text: &str) -> Arc<Scenario> {
    loaded(Source::Text {
        name: "test".to_string(),
        text: text.to_string(),
    })
}

fn loaded(source: Source) -> Arc<Scenario> {
    match scenario::load(source, &Overrides::default()) {
        Ok(scenario) => Arc::new(scenario),
        Err(problems) => panic!("{}", problems.render(Paint::Plain)),
    }
}

/// Runs a scenario to its end, as a headless run does.
pub fn run_to_end(scenario: Arc<Scenario>) -> Session {
    let mut session = Session::with_memory(scenario, Memory::ForwardsOnly);
    while session.advance_to(session.end(), 1_000_000).progress == Progress::BudgetSpent {}
    session.finish();
    session
}

/// Runs a scenario up to a moment.
pub fn run_to(scenario: Arc<Scenario>, moment: SimTime) -> Session {
    let mut session = Session::new(scenario);
    let _ = session.advance_to(moment, u64::MAX);
    session
}

/// A moment.
pub fn seconds(seconds: f64) -> SimTime {
    SimTime::ZERO + SimSpan::from_nanos((seconds * 1e9) as u64)
}

/// Every expectation holds, and every record is accounted for; a failure says how to see it.
pub fn assert_kept(session: &Session) {
    let name = &session.scenario().name;
    let replay = format!("replay: cargo run --release -- run {name} --headless");
    let broken: Vec<_> = session
        .insight()
        .judgements()
        .iter()
        .filter(|judgement| judgement.outcome != Outcome::Held)
        .map(|judgement| format!("{}: {}", judgement.name, judgement.observed))
        .collect();
    assert!(broken.is_empty(), "{name}: {broken:#?}\n{replay}");
    let account = session.insight().account(session.simulation());
    assert_eq!(account.imbalance(), None, "{name}\n{replay}");
}

/// The report for people.
pub fn report_of(session: &Session) -> String {
    report::render(
        &[report::Outcome::Ran(Box::new(Report::of(session)))],
        Format::Text,
    )
}
