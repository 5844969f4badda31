//! Chains of causes in scenarios of the library: the last line is where it came from.

use std::fmt::Write as _;
use std::sync::Arc;

use crossterm::event::KeyCode;
use kdrill::insight::why::{Question, why};
use kdrill::scenario::{Overrides, Source, load};
use kdrill::session::Session;
use kdrill::sim::ids::ProducerIndex;
use kdrill::sim::time::{SimSpan, SimTime};

use crate::seek::Stage;
use crate::support::embedded;

const FIRST: Question = Question::Producer(ProducerIndex(0));

/// What is answered at a moment of a scenario, a line a link.
fn asked(scenario: &str, second: u64, question: Question) -> String {
    let loaded = load(Source::Embedded(scenario.to_owned()), &Overrides::default());
    let mut session = Session::new(Arc::new(loaded.expect("the library loads")));
    let _reached = session.advance_to(SimTime::from_seconds(second), u64::MAX);
    let mut text = String::new();
    for chain in why(question, session.simulation(), session.insight()) {
        for link in chain {
            let at = link
                .at
                .map_or(String::new(), |at| format!("{:.1}s", at.as_seconds()));
            let _written = writeln!(text, "{at:>7} {}", link.text);
        }
    }
    text
}

#[test]
fn a_thread_that_waits_for_memory_is_led_back_to_the_cut_link() {
    insta::assert_snapshot!(asked("full-buffer", 100, FIRST));
}

#[test]
fn a_full_pool_in_front_of_slow_disks_is_simply_too_much_load() {
    insta::assert_snapshot!(asked("full-buffer", 30, FIRST));
}

#[test]
fn one_dead_leader_is_found_behind_the_pool_that_it_pins() {
    insta::assert_snapshot!(asked("dead-leader", 75, Question::Warnings));
}

#[test]
fn topics_that_a_client_forgot_are_led_back_to_refused_connections() {
    insta::assert_snapshot!(asked("five-minutes-refused", 100, FIRST));
}

#[test]
fn a_quota_is_not_mistaken_for_an_outage() {
    insta::assert_snapshot!(asked("quota", 30, FIRST));
}

#[test]
fn acks_of_all_replicas_wait_for_the_follower_that_died() {
    insta::assert_snapshot!(asked("dead-follower", 12, Question::Partitions));
}

#[test]
fn too_few_replicas_in_sync_are_led_back_to_the_brokers_that_were_killed() {
    insta::assert_snapshot!(asked("min-isr", 60, Question::Partitions));
}

#[test]
fn readers_that_stand_still_are_led_to_the_transaction_that_hangs() {
    insta::assert_snapshot!(asked("hanging-transaction", 30, Question::Transactions));
}

#[test]
fn a_run_in_which_nothing_is_wrong_has_nothing_to_explain() {
    let questions = [
        FIRST,
        Question::Partitions,
        Question::Transactions,
        Question::Cluster,
        Question::Warnings,
        Question::Events,
    ];
    for question in questions {
        assert_eq!(asked("ten-quiet-producers", 20, question), "");
    }
}

#[test]
fn a_moment_of_an_answer_is_one_key_away() {
    let mut stage = Stage::of(embedded("full-buffer"));
    stage.type_in("goto 100s");
    stage.press(['w', '2'].map(KeyCode::Char));
    let filled = SimTime::from_nanos(7_598_500_000);
    let apart = stage.now().since(filled).max(filled.since(stage.now()));
    assert!(apart < SimSpan::from_millis(2), "{}", stage.now());
}
