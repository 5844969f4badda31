//! What became of every record, why some stand twice, and the story of a single one.

use kdrill::insight::ledger::{Audit, DuplicateCause};
use kdrill::report::{Format, Outcome, Report, render};
use kdrill::session::Session;
use kdrill::sim::ids::ProducerIndex;

/// Five keys in turn, ten records a second for five seconds, to one partition on one broker.
fn written(client: &str, more: &str) -> Session {
    let text = format!(
        r#"# What became of every record?
[scenario]
format = 1
title = "One partition"
duration = "30s"

[cluster]
brokers = 1

[[topic]]
name = "events"
history = "records"

[[producer]]
name = "trips"
trace = ["key-2"]
{client}

[[producer.load]]
topic = "events"
rate = 10
records = 50
key = {{ cycle = 5, format = "key-{{n}}" }}
value = {{ bytes = 100 }}
{more}
"#
    );
    crate::support::run_to_end(crate::support::written(&text))
}

const PLAIN: &str = "config.enable.idempotence = false
config.acks = 1
config.request.timeout.ms = 1000
config.delivery.timeout.ms = 10000";

const IDEMPOTENT: &str = "config.request.timeout.ms = 1000
config.delivery.timeout.ms = 10000";

/// An answer is lost: its client cannot know that the record was written.
const SWALLOWED: &str = "[[timeline]]\nat = \"2s\"\ndo = \"responses swallow 1\"";

fn by(session: &Session, cause: DuplicateCause) -> u64 {
    session.insight().ledger().total().duplicated_by(cause)
}

#[test]
fn a_lost_answer_doubles_a_record_and_the_ledger_says_why() {
    let session = written(PLAIN, SWALLOWED);
    let total = session.insight().ledger().total();
    assert!(total.duplicated > 0);
    assert_eq!(by(&session, DuplicateCause::Timeout), total.duplicated);
    assert_eq!(total.acknowledged_present, 50);
    assert_eq!(session.insight().audit(), &Audit::Agrees(1));
}

#[test]
fn an_idempotent_producers_leader_recognises_what_comes_again() {
    let mut session = written(IDEMPOTENT, SWALLOWED);
    assert_eq!(session.insight().ledger().total().duplicated, 0);
    let keys = (1..=5).map(|n| format!("follow key-{n}"));
    let stories: Vec<String> = keys
        .map(|line| session.command(&line).unwrap_or_default())
        .collect();
    let retold = stories.iter().find(|story| story.contains("attempt 2"));
    let story = retold.expect("one record was sent twice");
    assert!(
        story.contains("back at the client, to be sent again: REQUEST_TIMED_OUT"),
        "{story}"
    );
    assert!(story.contains("broker 1 has it already"), "{story}");
    assert!(story.contains("stands at offset"), "{story}");
}

#[test]
fn a_record_that_failed_and_is_sent_again_by_its_application_stands_twice() {
    let client = "config.request.timeout.ms = 1500\nconfig.delivery.timeout.ms = 2000";
    let hangs = "on-failed = \"resend\"
[[timeline]]
at = \"2s\"
do = \"broker pause 1\"
[[timeline]]
at = \"5s\"
do = \"broker resume 1\"
[[expect]]
name = \"some are ambiguous\"
metric = \"ledger.trips.records-failed-present\"
above = 0
[[expect]]
metric = \"ledger.records-duplicated-by-application\"
above = 0
[[expect]]
metric = \"ledger.records-under-way\"
equals = 0";
    let session = written(client, hangs);
    crate::support::assert_kept(&session);
    let total = session.insight().ledger().of(ProducerIndex(0));
    assert!(by(&session, DuplicateCause::Application) <= total.failed_present);
}

#[test]
fn every_record_is_in_exactly_one_class() {
    let cut = "[[timeline]]\nat = \"2s\"\ndo = \"link cut trips *\"";
    let session = written(PLAIN, cut);
    let account = session.insight().account(session.simulation());
    let tally = &account.tally;
    let classes = [
        tally.acknowledged_present,
        tally.acknowledged_lost,
        tally.failed_absent,
        tally.failed_present,
        account.under_way,
    ];
    assert_eq!(classes.iter().sum::<u64>(), account.sent, "{classes:?}");
    assert!(tally.failed_absent > 0);
}

#[test]
fn the_report_tells_what_happened_to_traced_records() {
    let session = written(PLAIN, SWALLOWED);
    let report = Report::of(&session);
    let fates = &report.ledger.producers["trips"];
    assert_eq!(fates.duplicated["by-timeout"], fates.records_duplicated);
    let stories = &report.keys["events"].stories["key-2"];
    assert_eq!(stories.len(), 10);
    assert!(
        stories
            .iter()
            .all(|story| story.fate.starts_with("acknowledged"))
    );
    assert_eq!(stories[0].steps[0].text, "taken by send()");
    let text = render(&[Outcome::Ran(Box::new(report))], Format::Text);
    assert!(text.contains("  sent again after a timeout"), "{text}");
}

#[test]
fn who_follows_a_key_that_nobody_sent_is_told_so() {
    let mut session = written(PLAIN, "");
    let missing = session
        .command("follow rider-9")
        .expect_err("nobody sent it");
    assert_eq!(
        missing.message,
        "no record with key rider-9 was sent so far"
    );
    assert!(session.journal().is_empty());
    let story = session
        .command("follow key-3 --record 2")
        .expect("it was sent");
    assert!(
        story.starts_with("key-3: 10 records\nrecord 2  "),
        "{story}"
    );
    let beyond = session
        .command("follow key-3 --record 11")
        .expect_err("there are ten");
    assert_eq!(beyond.message, "key-3 has 10 records so far");
}

#[test]
fn what_fails_during_the_last_flush_is_sent_again_after_it() {
    let client = "config.request.timeout.ms = 1500\nconfig.delivery.timeout.ms = 2000";
    let hangs = "on-failed = \"resend\"
at-end = \"flush\"
[[timeline]]
at = \"4.8s\"
do = \"broker pause 1\"
[[timeline]]
at = \"9s\"
do = \"broker resume 1\"
[[expect]]
metric = \"producer.trips.kdrill-spilled-records\"
equals = 0
[[expect]]
metric = \"ledger.records-sent\"
above = 50";
    crate::support::assert_kept(&written(client, hangs));
}
