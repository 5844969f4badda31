//! The last member of the ISR dies, with unclean election off and on.

use kdrill::sim::fact::Fact;
use kdrill::sim::ids::BrokerIndex;
use serde_json::Value;

use super::{MECHANISM, SHORT_SESSION};
use crate::comparison::{Comparison, Tolerance};
use crate::trace::{PRODUCER, Trace, millis, partition};

const KILLED_AT_MS: u64 = 20_000;
const RESTARTED_AT_MS: u64 = 42_000;
const FIRST: BrokerIndex = BrokerIndex(0);

pub fn compare(path: &str, case: &str, real: &Value) -> Comparison {
    let trace = simulate(case);
    let index = trace.simulation().find_partition(partition(0));
    let stored = index.map_or(0, |index| trace.simulation().log_lines(index).len());
    let real_calls = real["calls"].as_array().cloned().unwrap_or_default();
    let recorded: Vec<String> = real_calls.iter().map(call).collect();
    let epoch = trace.simulation().producer(PRODUCER).producer_id;
    let real_epoch = real["last_batches"][3]["epoch"].to_string();
    let leader_epoch = index.map(|index| trace.simulation().partition(index).leader_epoch);
    let comparison = Comparison::new(path, MECHANISM)
        .text("leaders and ISR sizes", states_of(real), states(&trace))
        .number(
            "records stored in the end",
            real["stored"].as_f64().unwrap_or(f64::NAN),
            stored as f64,
            Tolerance::Exact,
        )
        .list("what calls brought", &recorded, &calls(&trace, &real_calls))
        .text(
            "the leader's epoch in the end",
            real["last_batches"][3]["leader_epoch"].to_string(),
            leader_epoch.map_or_else(String::new, |epoch| epoch.to_string()),
        );
    // The recording's relay takes connections for the dead broker, so the record that expires has
    // been sent there; here they are refused, and it keeps no sequence.
    let comparison = if case == "unclean-on" {
        comparison.text(
            "the producer's epoch in the end",
            real_epoch,
            epoch.map_or_else(String::new, |(_, epoch)| epoch.to_string()),
        )
    } else {
        comparison
    };
    match real["leader_again_ms"].as_f64() {
        Some(ms) => comparison.number(
            "another leader after, ms",
            ms,
            leader_again_ms(&trace),
            Tolerance::Absolute(440.0, "one run: a heartbeat's interval less a check's"),
        ),
        None => comparison,
    }
}

fn states_of(real: &Value) -> String {
    let states = real["states"].as_array().into_iter().flatten();
    let state = |state: &Value| {
        let leader = state["leader"].as_str().unwrap_or_default();
        format!("{leader} {}", state["isr_size"])
    };
    states.map(state).collect::<Vec<_>>().join(", ")
}

/// From the kill on: who leads, and how many are in sync; each that lasts for a moment.
fn states(trace: &Trace) -> String {
    let mut now = ("first", 1);
    let mut at = millis(KILLED_AT_MS);
    let mut states = vec![now];
    let is_later = trace.facts.iter().filter(|s| millis(KILLED_AT_MS) < s.at);
    for stamped in is_later {
        match &stamped.fact {
            Fact::LeaderChanged { leader, .. } => {
                now.0 = match leader {
                    None => "none",
                    Some(leader) if *leader == FIRST => "first",
                    Some(_) => "another",
                };
            }
            Fact::IsrChanged { isr, .. } => now.1 = isr.len(),
            _ => continue,
        }
        // What one record of metadata says is one state.
        if stamped.at == at && states.len() > 1 {
            states.pop();
        }
        if states.last() != Some(&now) {
            states.push(now);
        }
        at = stamped.at;
    }
    let shown = states
        .iter()
        .map(|(leader, size)| format!("{leader} {size}"));
    shown.collect::<Vec<_>>().join(", ")
}

/// A call's number, and its offset or exception.
fn call(real: &Value) -> String {
    let number = &real["number"];
    if let Some(offset) = real["offset"].as_i64() {
        return format!("{number}: {offset}");
    }
    let error = &real["error"];
    let class = error["class"].as_str().unwrap_or_default();
    let class = class.rsplit_once('.').map_or(class, |(_, name)| name);
    let text = error["text"].as_str().unwrap_or_default();
    format!("{number}: {class} {}", without_age(text))
}

/// The age in the text of an expired batch is of one run.
fn without_age(text: &str) -> String {
    match text.split_once(" ms has passed") {
        Some((before, after)) => {
            let words = before.trim_end_matches(|c: char| c.is_ascii_digit());
            format!("{words}N ms has passed{after}")
        }
        None => text.to_owned(),
    }
}

fn calls(trace: &Trace, real: &[Value]) -> Vec<String> {
    let numbers = real.iter().filter_map(|call| call["number"].as_u64());
    let outcome = |number: u64| {
        let has = |first: u64, records: u32| (first..first + u64::from(records)).contains(&number);
        if let Some(batch) = trace
            .acknowledged
            .iter()
            .find(|batch| has(batch.first_ordinal, batch.records))
        {
            let appended = trace.appended.iter().rev().find(|appended| {
                has(appended.first_ordinal, appended.records) && appended.at <= batch.at
            });
            let offset = appended.map_or(-1, |appended| {
                (appended.base_offset + number - appended.first_ordinal) as i64
            });
            return format!("{number}: {offset}");
        }
        let failed = trace.facts.iter().find_map(|stamped| match &stamped.fact {
            Fact::BatchFailed { exception, .. } => Some(exception),
            _ => None,
        });
        failed.map_or_else(
            || format!("{number}: nothing"),
            |exception| {
                let text = without_age(&exception.text);
                format!("{number}: {} {text}", exception.class.name())
            },
        )
    };
    numbers.map(outcome).collect()
}

fn leader_again_ms(trace: &Trace) -> f64 {
    let killed = millis(KILLED_AT_MS);
    let elected = trace.facts.iter().find(|stamped| {
        let is_new = matches!(
            stamped.fact,
            Fact::LeaderChanged {
                leader: Some(_),
                ..
            }
        );
        is_new && killed < stamped.at
    });
    elected.map_or(f64::NAN, |stamped| {
        stamped.at.since(killed).as_nanos() as f64 / 1e6
    })
}

/// 50 records, followers cut off, 50 more, the leader killed, one record, the leader started again,
/// and one more; each awaited.
fn simulate(case: &str) -> Trace {
    let allowed = case == "unclean-on";
    let sends = (0..50).map(|number| (number, 500));
    let sends = sends.chain((50..100).map(|number| (number, 10_500)));
    let sends = sends.chain([(100, KILLED_AT_MS + 6_000), (101, RESTARTED_AT_MS + 8_000)]);
    let lines = sends.map(|(number, at_ms)| {
        format!(
            "[[producer.script]]\nat = \"{at_ms}ms\"\n\
             do = 'produce {case} value={number} partition=0 await=true'\n"
        )
    });
    let script: String = lines.collect();
    Trace::to_end(
        "62s",
        &format!(
            r#"
        [cluster]
        brokers = 3
        {SHORT_SESSION}
        [[topic]]
        name = "{case}"
        partitions = 1
        replication-factor = 3
        leaders = [1]
        history = "records"
        config.min.insync.replicas = 1
        config.unclean.leader.election.enable = {allowed}
        [[producer]]
        name = "p"
        config.delivery.timeout.ms = 15000
        config.request.timeout.ms = 2000
        {script}
        [[timeline]]
        at = "10.4s"
        do = "link cut 1 2"
        [[timeline]]
        at = "10.4s"
        do = "link cut 1 3"
        [[timeline]]
        at = "{KILLED_AT_MS}ms"
        do = "broker kill 1"
        [[timeline]]
        at = "{KILLED_AT_MS}ms"
        do = "link heal 1 2"
        [[timeline]]
        at = "{KILLED_AT_MS}ms"
        do = "link heal 1 3"
        [[timeline]]
        at = "{RESTARTED_AT_MS}ms"
        do = "broker start 1"
        "#
        ),
    )
}
