//! Kafka's own tools: the recorded commands in their order, and what each printed.
//!
//! A plan for `kafka-reassign-partitions.sh` stands in the line itself, where the recording names a
//! file. Of a refusal only the tool's own words are compared, without stack trace and usage.

use std::fmt::Write;

use kdrill::scenario::{self, Overrides, Paint, Source};
use kdrill::session::{Memory, Session};
use kdrill::sim::time::SimTime;
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden::{self, Golden};

const MECHANISM: &str = "tools: what they print";
const PLAN: &str =
    r#"'{"version":1,"partitions":[{"topic":"events","partition":0,"replicas":[2,3,1]}]}'"#;
/// Columns that say when something was: every run has its own moments.
const MOMENTS: [&str; 3] = [
    "LastTimestamp",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
];

/// What happens: faults of the recording's cluster, and the tools between them.
pub enum Step {
    /// To this second.
    Until(u64),
    /// A command that is no tool's.
    Do(&'static str),
    /// A recorded case.
    Tool(&'static str),
}

const STEPS: &[Step] = {
    use Step::{Do, Tool, Until};
    &[
        Until(6),
        Tool("010-topics-list"),
        Tool("011-topics-describe"),
        Tool("012-topics-describe-all"),
        Tool("013-topics-describe-missing"),
        Tool("014-topics-describe-overrides"),
        Tool("015-topics-alter-fewer"),
        Tool("016-topics-alter-equal"),
        Tool("017-topics-alter-zero"),
        Tool("018-topics-alter-missing"),
        Tool("023-topics-no-action"),
        Tool("024-configs-describe"),
        Tool("025-configs-alter"),
        Until(7),
        Tool("026-configs-describe-altered"),
        Tool("027-configs-alter-short"),
        Until(8),
        Tool("028-configs-delete-config"),
        Until(9),
        Tool("029-configs-delete-absent"),
        Tool("030-configs-unknown-config"),
        Tool("031-configs-bad-value"),
        Tool("032-configs-below-minimum"),
        Tool("033-configs-missing-topic"),
        Tool("037-configs-client-quota"),
        Until(10),
        Tool("038-configs-client-quota-describe"),
        Tool("039-configs-client-quota-delete"),
        Until(11),
        Tool("063-reassign-verify-before"),
        Tool("064-reassign-execute"),
        Until(13),
        Tool("065-reassign-verify"),
        Tool("066-reassign-execute-throttled"),
        Tool("067-reassign-verify-throttled"),
        Tool("068-reassign-list"),
        Tool("069-reassign-cancel-nothing"),
        Tool("070-reassign-unknown-broker"),
        Tool("071-topics-moved"),
        Tool("072-election-moved"),
        Tool("073-election-again"),
        Until(14),
        Tool("074-transactions-list-none"),
        Tool("075-transactions-describe-missing"),
        Until(18),
        Tool("076-transactions-list-open"),
        Tool("077-transactions-list-filtered"),
        Tool("078-transactions-describe-open"),
        Tool("079-transactions-producers-open"),
        Tool("080-transactions-find-hanging"),
        Until(20),
        Tool("081-transactions-describe-committed"),
        Tool("082-transactions-producers-committed"),
        Tool("083-transactions-abort-nothing"),
        Do("broker kill 3"),
        Until(30),
        Tool("087-dead-describe"),
        Tool("088-dead-describe-single"),
        Tool("089-dead-under-replicated"),
        Tool("090-dead-unavailable"),
        Tool("091-dead-under-min-isr"),
        Tool("092-dead-at-min-isr"),
        Tool("093-election-preferred-dead"),
        Tool("094-election-unclean-healthy"),
        Tool("095-election-unclean-none-alive"),
        Tool("096-election-unclean-missing"),
        Do("broker kill 2"),
        Do("broker start 2"),
        Until(43),
        Tool("097-dead-describe-after-second"),
        Do("broker start 3"),
        Until(58),
        Tool("098-dead-describe-back"),
        Do("kafka-leader-election.sh --election-type preferred --all-topic-partitions"),
        Until(60),
        Tool("100-dead-describe-elected"),
    ]
};

/// Every recorded tool that is built.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("tools");
    walk(&golden, &mut cluster(), STEPS)
}

/// Goes through steps; what each tool among them prints beside what was recorded.
pub fn walk(golden: &Golden, session: &mut Session, steps: &[Step]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for step in steps {
        match step {
            Step::Until(second) => {
                let _ = session.advance_to(SimTime::from_seconds(*second), u64::MAX);
            }
            Step::Do(line) => {
                session.command(line).expect("the cluster can do that");
            }
            Step::Tool(case) => comparisons.push(beside(golden, case, session)),
        }
    }
    comparisons
}

fn cluster() -> Session {
    let mut text = r#"# What do the tools say?
[scenario]
format = 1
title = "tools"
duration = "70s"
[cluster]
brokers = 3
next-producer-id = 0
[cluster.config]
broker.session.timeout.ms = 3000
broker.heartbeat.interval.ms = 500
replica.lag.time.max.ms = 4000
transaction.state.log.num.partitions = 3
[[topic]]
name = "single"
replication-factor = 1
leaders = [3]
[[topic]]
name = "events"
partitions = 3
replication-factor = 3
leaders = [1, 2, 3]
config.min.insync.replicas = 2
[[topic]]
name = "click.events"
replication-factor = 2
leaders = [1]
[[producer]]
name = "filler"
"#
    .to_owned();
    for number in 0..30 {
        let _written = write!(
            text,
            "[[producer.script]]\nat = \"{}ms\"\n\
             do = 'produce events partition=0 value=record-{number} await=true'\n",
            1_000 + 100 * number
        );
    }
    text += "[[producer]]\nname = \"payments\"\nstart = \"15s\"\n\
             config.transactional.id = \"payments-0\"\n";
    let calls = [
        (15_000, "init_transactions"),
        (16_000, "begin_transaction"),
        (16_000, "produce events partition=0 value=v await=true"),
        (17_000, "produce events partition=1 value=v await=true"),
        (19_000, "commit_transaction"),
    ];
    for (at, call) in calls {
        let _written = write!(
            text,
            "[[producer.script]]\nat = \"{at}ms\"\ndo = '{call}'\n"
        );
    }
    let name = "tools".to_string();
    let scenario = scenario::load(Source::Text { name, text }, &Overrides::default())
        .unwrap_or_else(|problems| panic!("{}", problems.render(Paint::Plain)));
    Session::with_memory(scenario.into(), Memory::ForwardsOnly)
}

fn beside(golden: &Golden, case: &str, session: &mut Session) -> Comparison {
    let recorded = &golden.cases[case];
    let command = recorded["command"].as_str().unwrap_or_default();
    let line = command
        .replace("/tmp/plan.json", PLAN)
        .replace("/tmp/wrong.json", &PLAN.replace("1]", "9]"));
    let comparison = Comparison::new(golden.path(case), MECHANISM);
    let (real, said) = (printed(recorded), answer(session, &line));
    comparison.list("what it prints", &real, &said)
}

/// The lines that a tool of the simulation prints.
fn answer(session: &mut Session, line: &str) -> Vec<String> {
    let text = match session.command(line) {
        Ok(text) => text,
        Err(problem) => problem.message,
    };
    lines(text.trim_end_matches('\n'))
}

/// The lines that the real tool printed: of a refusal its own words.
pub fn printed(recorded: &Value) -> Vec<String> {
    let output = recorded["output"].as_str().unwrap_or_default();
    let first = output.lines().find(|line| !line.is_empty());
    if let Some(words) = first.filter(|line| line.starts_with("Error: ")) {
        return vec![words.to_owned()];
    }
    let innermost = output
        .lines()
        .find_map(|line| line.strip_prefix("Caused by: org.apache.kafka.common.errors."));
    if let Some(words) = innermost {
        let prefix = "Error while executing config command: ";
        return vec![format!("{prefix}{words}")];
    }
    let is_rest = |line: &&str| {
        line.ends_with("could not be elected")
            || line.starts_with("org.apache.kafka.tools.")
            || line.starts_with("Option  ")
    };
    let words: Vec<&str> = output.lines().take_while(|line| !is_rest(line)).collect();
    lines(&words.join("\n"))
}

/// The recording's members have no number in their ids.
fn without_member(cell: &str) -> String {
    const UUID: &str = "00000000-0000-0000-0000-0000000000";
    match cell.split_once(UUID) {
        Some((before, after)) if after.len() >= 2 => {
            format!("{before}{UUID}00{}", &after[2..])
        }
        _ => cell.to_owned(),
    }
}

/// Lines without what every cluster has for itself: the ids of topics, and moments.
pub fn lines(text: &str) -> Vec<String> {
    let text = text.trim_end_matches('\n');
    let headers: Vec<&str> = text.lines().next().unwrap_or("").split('\t').collect();
    let has_header = headers
        .iter()
        .any(|header| MOMENTS.contains(&header.trim()));
    let scrubbed = text.lines().map(|line| {
        let cells = line.split('\t').zip(0..).map(|(cell, place)| {
            let header = headers.get(place).map_or("", |header| header.trim());
            let is_moment = MOMENTS.contains(&header) && has_header;
            let digits = cell.trim_end();
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if cell.starts_with("TopicId: ") {
                "TopicId: ".to_owned()
            } else if is_moment && is_number {
                format!("{:width$}", "#", width = cell.len())
            } else {
                without_member(cell)
            }
        });
        cells.collect::<Vec<_>>().join("\t")
    });
    scrubbed.collect()
}
