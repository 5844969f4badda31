//! What `kafka-leader-election.sh`, `kafka-reassign-partitions.sh` and `kafka-topics.sh` print about
//! replicas, beside what the real tools printed: the same commands in the same order.

use std::sync::LazyLock;

use crate::support::{seconds, written};
use kdrill::session::Session;
use serde_json::Value;

static RECORDED: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../golden/real/tools.json");
    serde_json::from_str(text).expect("the recording is JSON")
});

const PLAN: &str =
    r#"'{"version":1,"partitions":[{"topic":"events","partition":0,"replicas":[2,3,1]}]}'"#;
const REASSIGN: &str = "kafka-reassign-partitions.sh";
const DESCRIBE: &str = "kafka-topics.sh --describe --topic events";

fn cluster() -> Session {
    let text = r#"# What do the tools say?
        [scenario]
        format = 1
        title = "tools"
        duration = "200s"
        [cluster]
        brokers = 3
        config.broker.session.timeout.ms = 3000
        config.broker.heartbeat.interval.ms = 500
        config.replica.lag.time.max.ms = 4000
        [[topic]]
        name = "events"
        partitions = 3
        replication-factor = 3
        leaders = [1, 2, 3]
        config.min.insync.replicas = 2
        [[topic]]
        name = "single"
        replication-factor = 1
        leaders = [3]
        [[producer]]
        name = "idle"
        "#;
    Session::new(written(text))
}

/// What the real tool printed, without a stack trace.
fn recorded(case: &str) -> String {
    let output = RECORDED["cases"][case]["output"].as_str();
    let output = output.unwrap_or_else(|| panic!("{case} was recorded"));
    let is_trace = |line: &&str| {
        let is_count = line.ends_with("could not be elected");
        is_count || line.starts_with("org.apache.kafka.tools.")
    };
    let lines: Vec<&str> = output.lines().take_while(|line| !is_trace(line)).collect();
    lines.join("\n").trim_end().to_owned()
}

/// What the tool prints here; a topic's id is of one cluster.
fn printed(session: &mut Session, line: &str) -> String {
    let text = match session.command(line) {
        Ok(text) => text,
        Err(problem) => problem.message,
    };
    let lines = text.lines().map(|line| match line.split_once("TopicId: ") {
        Some((before, after)) => {
            let rest = after.split_once('\t').map_or("", |(_, rest)| rest);
            format!("{before}TopicId: {}\t{rest}", "A".repeat(22))
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn go_on(session: &mut Session, moment: f64) {
    let _ = session.advance_to(seconds(moment), u64::MAX);
}

fn compare(session: &mut Session, cases: &[(&str, &str)]) {
    for (case, line) in cases {
        assert_eq!(printed(session, line), recorded(case), "{case}: {line}");
    }
}

fn plan(action: &str) -> String {
    format!("{REASSIGN} {action} --reassignment-json-file {PLAN}")
}

fn one(tool: &str, topic: &str, number: u32) -> String {
    format!("{tool} --topic {topic} --partition {number}")
}

#[test]
fn moving_and_electing_prints_what_the_real_tools_print() {
    let preferred = "kafka-leader-election.sh --election-type preferred";
    let unclean = "kafka-leader-election.sh --election-type unclean";
    let mut session = cluster();
    go_on(&mut session, 2.0);
    compare(
        &mut session,
        &[
            ("063-reassign-verify-before", &plan("--verify")),
            ("064-reassign-execute", &plan("--execute")),
        ],
    );
    go_on(&mut session, 4.0);
    let throttled = plan("--execute --throttle 1000000");
    let wrong = format!(
        "{REASSIGN} --execute --reassignment-json-file {}",
        PLAN.replace("1]", "9]")
    );
    compare(
        &mut session,
        &[
            ("065-reassign-verify", &plan("--verify")),
            ("066-reassign-execute-throttled", &throttled),
            ("067-reassign-verify-throttled", &plan("--verify")),
            ("068-reassign-list", &format!("{REASSIGN} --list")),
            ("069-reassign-cancel-nothing", &plan("--cancel")),
            ("070-reassign-unknown-broker", &wrong),
            ("071-topics-moved", DESCRIBE),
            ("072-election-moved", &one(preferred, "events", 0)),
            ("073-election-again", &one(preferred, "events", 0)),
        ],
    );
    session.command("broker kill 3").expect("it runs");
    go_on(&mut session, 12.0);
    compare(
        &mut session,
        &[
            ("087-dead-describe", DESCRIBE),
            (
                "088-dead-describe-single",
                "kafka-topics.sh --describe --topic single",
            ),
            ("093-election-preferred-dead", &one(preferred, "events", 2)),
            ("094-election-unclean-healthy", &one(unclean, "events", 1)),
            (
                "095-election-unclean-none-alive",
                &one(unclean, "single", 0),
            ),
            ("096-election-unclean-missing", &one(unclean, "missing", 0)),
        ],
    );
    session.command("broker kill 2").expect("it runs");
    session.command("broker start 2").expect("it is dead");
    go_on(&mut session, 25.0);
    compare(
        &mut session,
        &[("097-dead-describe-after-second", DESCRIBE)],
    );
    session.command("broker start 3").expect("it is dead");
    go_on(&mut session, 40.0);
    compare(&mut session, &[("098-dead-describe-back", DESCRIBE)]);
    let all = printed(&mut session, &format!("{preferred} --all-topic-partitions"));
    assert_eq!(
        all,
        "Successfully completed leader election (PREFERRED) for partitions events-0, events-1, \
         events-2"
    );
    go_on(&mut session, 42.0);
    compare(&mut session, &[("100-dead-describe-elected", DESCRIBE)]);
}
