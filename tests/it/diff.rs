//! Two runs side by side: the moment at which they part, and what differs in the end.

use std::process::{Command, Output};

use kdrill::session::pair::Pair;
use kdrill::session::{Memory, Session};
use kdrill::sim::Progress;
use kdrill::sim::time::SimTime;
use serde_json::Value;

use crate::support::{embedded, run_to_end, seconds, written};

fn diff(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kdrill"))
        .arg("diff")
        .args(arguments)
        .output()
        .expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn finish(pair: &mut Pair) {
    while pair.advance_to(SimTime::NEVER, 100_000) != Progress::Ended {}
    pair.finish();
}

fn pair(a: &str, b: &str) -> Pair {
    let session = |text| Session::new(written(text));
    Pair::new(session(a), session(b))
}

const CALM: &str = r#"
[scenario]
format = 1
title = "Calm"
duration = "5s"
[cluster]
brokers = 3
[[topic]]
name = "events"
partitions = 3
replication-factor = 3
[[producer]]
name = "trips"
[[producer.load]]
topic = "events"
rate = 200
value = { bytes = 100 }
"#;

#[test]
fn two_runs_part_at_the_command_that_only_one_of_them_has() {
    let cut = "[[timeline]]\nat = \"3.210987654s\"\ndo = \"link cut trips 1\"\n";
    let mut pair = pair(CALM, &format!("{CALM}{cut}"));
    finish(&mut pair);
    let parting = pair.parting().expect("they part").clone();
    assert_eq!(parting.at, SimTime::from_nanos(3_210_987_654));
    assert!(parting.a.is_empty(), "{parting:?}");
    assert!(parting.b[0].contains("cut"), "{parting:?}");
}

#[test]
fn side_by_side_each_is_the_run_that_it_is_alone() {
    let faster = CALM.replace("rate = 200", "rate = 201");
    let mut pair = pair(CALM, &faster);
    finish(&mut pair);
    assert_eq!(pair.a.digest(), run_to_end(written(CALM)).digest());
    assert_eq!(pair.b.digest(), run_to_end(written(&faster)).digest());
    // One says something then that the other does not, and nothing differs a nanosecond before.
    let at = pair.parting().expect("they part").at;
    let digest = |text: &str, nanos: u64| {
        let mut session = Session::with_memory(written(text), Memory::ForwardsOnly);
        let _ = session.advance_to(SimTime::from_nanos(nanos), u64::MAX);
        session.digest()
    };
    let both = |nanos| (digest(CALM, nanos), digest(&faster, nanos));
    let (one, other) = both(at.as_nanos());
    assert_ne!(one, other);
    let (one, other) = both(at.as_nanos() - 1);
    assert_eq!(one, other);
}

#[test]
fn a_run_is_no_other_than_itself() {
    let mut pair = Pair::new(
        Session::new(embedded("dead-leader")),
        Session::new(embedded("dead-leader")),
    );
    finish(&mut pair);
    assert_eq!(pair.parting(), None);
}

#[test]
fn runs_with_another_cast_differ_from_the_start_and_a_longer_one_goes_on() {
    let more = CALM.replace("brokers = 3", "brokers = 4");
    let pair_of_casts = pair(CALM, &more);
    assert_eq!(
        pair_of_casts.parting().expect("they differ").at,
        SimTime::ZERO
    );
    let mut pair = pair(CALM, &CALM.replace("\"5s\"", "\"7s\""));
    finish(&mut pair);
    assert_eq!(pair.parting().expect("one ends").at, seconds(5.0));
    assert_eq!((pair.a.now(), pair.b.now()), (seconds(5.0), seconds(7.0)));
}

#[test]
fn the_report_says_where_they_part_and_what_differs() {
    let change = "producer.trips.config.linger.ms=20";
    let output = diff(&["full-buffer", "--b", change, "--until", "9s"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(said(&output));
}

#[test]
fn the_same_run_is_said_to_be_the_same() {
    let output = diff(&["full-buffer", "full-buffer", "--until", "3s"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(said(&output).ends_with("\nIt is the same run.\n"));
}

#[test]
fn programs_get_every_figure_that_differs_and_no_other() {
    let output = diff(&["zombie", "zombie-tv1", "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["same"], Value::Bool(false));
    assert!(value["parted"]["seconds"].is_number());
    let expectations = value["differences"]["expectations"]
        .as_object()
        .expect("a table");
    assert!(expectations.values().all(|both| both["a"] != both["b"]));
    assert!(!expectations.is_empty());
}

#[test]
fn one_scenario_without_a_change_is_nothing_to_compare() {
    assert_eq!(diff(&["full-buffer"]).status.code(), Some(2));
    assert_eq!(diff(&["full-buffer", "ful-buffer"]).status.code(), Some(2));
    let unwritten = diff(&["zombie", "zombie", "-o", "/no/such/folder/x"]);
    assert_eq!(unwritten.status.code(), Some(4));
}
