//! `kafka-configs.sh` says what the recorded tool said.

use crate::support::{run_to, seconds, written};
use kdrill::session::Session;
use serde_json::Value;

/// A topic as the recording began with it.
fn session() -> Session {
    let text = r#"# What does the tool print?
        [scenario]
        format = 1
        title = "tools"
        duration = "60s"
        [cluster]
        brokers = 3
        [[topic]]
        name = "events"
        partitions = 3
        replication-factor = 3
        config.min.insync.replicas = 2
        [[producer]]
        name = "shop"
        [[producer.load]]
        topic = "events"
        rate = 1
        "#;
    run_to(written(text), seconds(1.0))
}

/// The command and the output of a recorded case.
fn recorded(case: &str) -> (String, String) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/real/tools.json");
    let text = std::fs::read_to_string(path).expect("the recording is there");
    let golden: Value = serde_json::from_str(&text).expect("the recording is JSON");
    let case = &golden["cases"][case];
    let word = |name: &str| case[name].as_str().unwrap_or_default().to_string();
    (word("command"), word("output"))
}

/// Types recorded commands one after the other, a second apart, and compares the answers.
fn type_in(session: &mut Session, cases: &[&str]) {
    for case in cases {
        let (line, output) = recorded(case);
        let reply = session.command(&line);
        let reply = reply.unwrap_or_else(|problem| panic!("{line}: {problem}"));
        assert_eq!(reply.trim_end(), output.trim_end(), "{case}: {line}");
        let next = session.now().as_seconds() + 1.0;
        let _ = session.advance_to(seconds(next), u64::MAX);
    }
}

#[test]
fn topics_are_described_altered_and_reset() {
    let cases = [
        "024-configs-describe",
        "025-configs-alter",
        "026-configs-describe-altered",
        "027-configs-alter-short",
        "028-configs-delete-config",
        "029-configs-delete-absent",
        "024-configs-describe",
    ];
    type_in(&mut session(), &cases);
}

#[test]
fn quotas_are_set_shown_and_lifted() {
    let cases = [
        "037-configs-client-quota",
        "038-configs-client-quota-describe",
        "039-configs-client-quota-delete",
    ];
    let mut session = session();
    type_in(&mut session, &cases);
    let (line, _) = recorded("038-configs-client-quota-describe");
    assert_eq!(session.command(&line).ok().as_deref(), Some(""));
}

#[test]
fn refusals_have_the_brokers_words() {
    let mut session = session();
    for case in [
        "030-configs-unknown-config",
        "031-configs-bad-value",
        "032-configs-below-minimum",
        "033-configs-missing-topic",
    ] {
        let (line, output) = recorded(case);
        let problem = session.command(&line).expect_err(&line).to_string();
        // The last words of the innermost exception, without its package and its stack.
        let words = output.lines().rev().find(|line| !line.starts_with('\t'));
        let words = words.unwrap_or_default();
        let words = words
            .rsplit_once("errors.")
            .map_or(words, |(_, words)| words);
        assert!(
            problem.contains(words),
            "{case}: {problem}, recorded {words}"
        );
    }
}
