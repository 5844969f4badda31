//! The same scenario, seed and commands are the same run, whoever drives it and however.

use crate::support::{embedded, run_to_end};
use kdrill::session::{Memory, Session};
use kdrill::sim::time::{SimSpan, SimTime};

const NAMES: [&str; 4] = ["full-buffer", "dead-leader", "no-metadata", "slow-intake"];

#[test]
fn the_same_seed_twice_is_the_same_run() {
    for name in NAMES {
        let (first, second) = (run_to_end(embedded(name)), run_to_end(embedded(name)));
        assert_eq!(first.digest(), second.digest(), "{name}");
    }
}

#[test]
fn small_budgets_and_snapshots_change_nothing() {
    for name in NAMES {
        let whole = run_to_end(embedded(name));
        let mut sliced = Session::with_memory(embedded(name), Memory::Snapshots);
        let mut target = SimTime::ZERO;
        while target < sliced.end() {
            target += SimSpan::from_nanos(1_234_567_891);
            let _ = sliced.advance_to(target, 777);
        }
        while !sliced.is_over() {
            let _ = sliced.advance_to(sliced.end(), u64::MAX);
        }
        assert_eq!(whole.digest(), sliced.digest(), "{name}");
    }
}

#[test]
fn a_command_typed_at_a_moment_is_the_command_of_the_timeline_at_that_moment() {
    let whole = run_to_end(embedded("full-buffer"));
    let mut typed = Session::new(crate::support::written(&without_timeline()));
    let _ = typed.advance_to(SimTime::from_seconds(60), u64::MAX);
    typed
        .command("link cut trips *")
        .expect("a command that the engine has");
    while !typed.is_over() {
        let _ = typed.advance_to(typed.end(), u64::MAX);
    }
    assert_eq!(whole.digest(), typed.digest());
}

fn without_timeline() -> String {
    let text = embedded("full-buffer").text.clone();
    text.replace(
        "[[timeline]]\nat = \"60s\"\ndo = \"link cut trips *\"\n",
        "",
    )
}

#[test]
fn going_back_and_forth_again_ends_in_the_same_run() {
    let whole = run_to_end(embedded("dead-leader"));
    let mut session = Session::new(embedded("dead-leader"));
    let _ = session.advance_to(SimTime::from_seconds(100), u64::MAX);
    session.rewind_to(SimTime::from_seconds(33));
    while !session.is_over() {
        let _ = session.advance_to(session.end(), u64::MAX);
    }
    assert_eq!(whole.digest(), session.digest());
}
