//! A record that comes behind the marker of its transaction, and the tool that finds and ends what
//! hangs.
//!
//! The probe's records have a time of twenty minutes before; here the tools come twenty minutes
//! later. What the recording holds back in a relay takes three seconds longer here.

use std::fmt::Write;

use kdrill::kafka::hash::coordinator_partition;
use kdrill::sim::command::Command;
use kdrill::sim::fact::Fact;
use kdrill::sim::ids::ConsumerIndex;
use kdrill::sim::time::SimTime;
use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;
use crate::tools;
use crate::trace::Trace;
use crate::transactions::{Tale, Told};

const CASE: &str = "java-1/hanging";
/// The recording's broker: one that leads neither topic.
const COORDINATOR: u32 = 3;
/// When readers begin; the tools come when these have read, and once more when that has changed.
const READERS_SECONDS: u64 = 1_212;
const TOOLS_SECONDS: u64 = 1_216;
const END_SECONDS: u64 = 1_222;
const SCENARIO: &str = r#"
[cluster]
brokers = 3
transaction-version = 1
next-producer-id = 0
[cluster.config]
transaction.state.log.num.partitions = 3
transaction.partition.verification.enable = false
group.initial.rebalance.delay.ms = 0
[[topic]]
name = "java-1-hanging-a"
replication-factor = 3
leaders = [1]
[[topic]]
name = "java-1-hanging-b"
replication-factor = 3
leaders = [2]
[[topic]]
name = "java-1-first-a"
replication-factor = 3
leaders = [1]
[[producer]]
name = "A"
start = "5s"
config.transactional.id = "java-1-hanging"
config.request.timeout.ms = 1000
config.delivery.timeout.ms = 2000
config.linger.ms = 0
[[producer.script]]
at = "5s"
do = 'init_transactions'
[[producer.script]]
at = "7s"
do = 'begin_transaction'
[[producer.script]]
at = "7s"
do = 'produce java-1-hanging-a value=early partition=0 await=true'
[[producer.script]]
at = "9s"
do = 'produce java-1-hanging-a value=late partition=0 await=true'
[[producer.script]]
at = "9s"
do = 'abort_transaction'
[[producer]]
name = "first"
config.transactional.id = "java-1-first"
[[producer.script]]
do = 'init_transactions'
[[producer.script]]
do = 'begin_transaction'
[[producer.script]]
do = 'produce java-1-first-a value=first partition=0 await=true'
[[producer.script]]
do = 'commit_transaction'
[[timeline]]
at = "8.9s"
do = 'link delay A 1 3s'
[[timeline]]
at = "11.5s"
do = 'link heal A 1'
"#;

/// The one recorded case.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("transactions");
    let recorded = &golden.cases[CASE];
    let tale = tell(recorded);
    let comparison = tale.beside(&golden.path(CASE), recorded);
    let comparison = beside_tools(comparison, recorded, &tale.trace);
    let comparison = ["read_uncommitted", "read_committed"]
        .into_iter()
        .zip(0..)
        .fold(comparison, |comparison, (isolation, group)| {
            beside_readers(comparison, recorded, &tale.trace, (isolation, group))
        });
    vec![comparison]
}

fn tell(recorded: &Value) -> Tale {
    let mut rest = SCENARIO.to_owned();
    for isolation in ["read_uncommitted", "read_committed"] {
        let _written = write!(
            rest,
            "[[consumer]]\ngroup = \"{isolation}\"\ntopic = \"java-1-hanging-a\"\n\
             isolation = \"{isolation}\"\nstart = \"{READERS_SECONDS}s\"\n\
             config.auto.offset.reset = \"earliest\"\n"
        );
    }
    for (command, place) in tools_of(recorded).zip(0..) {
        let line = command["command"].as_str().unwrap_or_default();
        let _written = write!(
            rest,
            "[[timeline]]\nat = \"{TOOLS_SECONDS}.{place}s\"\ndo = '{line}'\n"
        );
    }
    let told = [
        ("init_transactions", None, 5_000),
        ("begin_transaction", None, 7_000),
        ("produce", Some('a'), 7_000),
        ("produce", Some('a'), 9_500),
        ("abort_transaction", None, 11_500),
    ];
    let told = told.into_iter().zip(0..);
    let told = told.map(|((call, record, at), place)| Told {
        owner: 'A',
        call,
        place: Some(place),
        record,
        at: SimTime::from_millis(at),
    });
    Tale {
        told: told.collect(),
        owners: vec!['A'],
        trace: Trace::to_end(&format!("{END_SECONDS}s"), &rest),
        interval_ms: 10_000,
        first_producer_id: 1,
    }
}

fn tools_of(recorded: &Value) -> impl Iterator<Item = &Value> {
    recorded["tool"].as_array().into_iter().flatten()
}

/// What each of the tools printed. A list has no order of its own.
fn beside_tools(comparison: Comparison, recorded: &Value, trace: &Trace) -> Comparison {
    assert_eq!(coordinator_partition("java-1-hanging", 3) + 1, COORDINATOR);
    let facts = trace.facts.iter();
    let shown = facts.filter_map(|stamped| match &stamped.fact {
        Fact::TransactionsShown { answer, .. } => Some(answer.table()),
        Fact::CommandRefused { reason, .. } => Some(reason.to_string()),
        Fact::CommandApplied(command) => {
            matches!(**command, Command::AbortTransaction(_)).then(String::new)
        }
        _ => None,
    });
    let shown: Vec<String> = shown.collect();
    let mut comparison = comparison;
    for (tool, place) in tools_of(recorded).zip(0..) {
        let line = tool["command"].as_str().unwrap_or_default();
        let (mut real, mut said) = (
            tools::printed(tool),
            tools::lines(shown.get(place).map_or("nothing", String::as_str)),
        );
        if line.ends_with(" list") {
            real.sort();
            said.sort();
        }
        comparison = comparison.list(line, &real, &said);
    }
    comparison
}

/// What readers were given, and where they stood, before and after the tools.
fn beside_readers(
    comparison: Comparison,
    recorded: &Value,
    trace: &Trace,
    (isolation, place): (&str, u16),
) -> Comparison {
    let values = |until: u64| {
        let until = SimTime::from_seconds(until);
        let read = trace.consumed.iter();
        let read = read.filter(|read| read.consumer == ConsumerIndex(place) && read.at < until);
        let offsets = read.flat_map(|read| read.from_offset..read.to_offset);
        let named = offsets.map(|offset| if offset == 0 { "early" } else { "late" });
        named.map(str::to_owned).collect::<Vec<_>>()
    };
    let real = |when: &str| {
        let values = recorded[when][isolation]["values"].as_array();
        let values = values.into_iter().flatten().filter_map(Value::as_str);
        values.map(str::to_owned).collect::<Vec<_>>()
    };
    let consumer = trace.simulation().consumer(ConsumerIndex(place));
    let position = consumer.assigned.first().and_then(|it| it.position);
    comparison
        .list(
            &format!("{isolation}: values before"),
            &real("readers_before"),
            &values(TOOLS_SECONDS),
        )
        .list(
            &format!("{isolation}: values after"),
            &real("readers_after"),
            &values(END_SECONDS),
        )
        .text(
            format!("{isolation}: position after"),
            recorded["readers_after"][isolation]["position"].to_string(),
            position.map_or_else(|| "none".to_owned(), |position| position.to_string()),
        )
}
