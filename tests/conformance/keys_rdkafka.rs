//! Where librdkafka's seven partitioners put the 10,000 keys, NULL and empty ones.

use std::collections::BTreeSet;
use std::fmt::Write;

use kdrill::kafka::rdkafka_metric::RdkafkaPartitionMetric;
use kdrill::kafka::rdkafka_partitioner::{Choice, RdkafkaPartitioner};
use kdrill::sim::time::{SimSpan, SimTime};
use kdrill::sim::view::RdkafkaFigure;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::keys::{KEYS_DIGEST, digest_of_keys, digest_of_partitions, keys, numbers};
use crate::trace;
use crate::trace::{PRODUCER, Trace, warm_up};

const MECHANISM: &str = "librdkafka's partitioners, by key";
/// Partitions where a case does not say.
const PARTITIONS: u32 = 12;

/// Every case in which a key decides.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("keys-rdkafka");
    let keys = keys();
    let cases = golden.cases.iter().filter_map(|(case, real)| {
        let comparison = Comparison::new(golden.path(case), MECHANISM);
        let parts: Vec<&str> = case.split('/').collect();
        match parts.as_slice() {
            [name] => Some(by_count(comparison, named(name)?, real, &keys)),
            ["end-to-end", name] => end_to_end(comparison, named(name)?, real, &keys),
            ["choices", name, kind] => choices(comparison, named(name)?, kind, real),
            ["sticky", name, kind] => stays(comparison, named(name)?, kind, real),
            _ => None,
        }
    });
    cases.collect()
}

fn named(name: &str) -> Option<RdkafkaPartitioner> {
    let mut all = RdkafkaPartitioner::ALL.into_iter();
    all.find(|partitioner| partitioner.name() == name)
}

/// A key that the recording names by its kind.
fn key_of(kind: &str) -> Option<&'static [u8]> {
    (kind == "empty").then_some(b"")
}

fn place(partitioner: RdkafkaPartitioner, key: Option<&[u8]>, count: u32) -> u32 {
    match partitioner.choice(key, count) {
        Choice::Partition(number) => number,
        Choice::Free => u32::MAX,
    }
}

/// All keys over many counts of partitions, in full or as digests.
fn by_count(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    real: &Value,
    keys: &[Vec<u8>],
) -> Comparison {
    let placed = |count: u32| -> Vec<u32> {
        keys.iter()
            .map(|key| place(partitioner, Some(key), count))
            .collect()
    };
    let counts = |figure: &str| -> Vec<(u32, Value)> {
        let counts = real[figure].as_object().into_iter().flatten();
        counts
            .filter_map(|(count, value)| Some((count.parse().ok()?, value.clone())))
            .collect()
    };
    let mut comparison = comparison
        .text("keys", KEYS_DIGEST, digest_of_keys(keys))
        .list("huge", &numbers(&real["huge"]), &placed(i32::MAX as u32));
    for (count, partitions) in counts("partitions") {
        comparison = comparison.list(
            &format!("{count} partitions"),
            &numbers(&partitions),
            &placed(count),
        );
    }
    for (count, digest) in counts("digests") {
        comparison = comparison.text(
            format!("digest of {count} partitions"),
            digest.as_str().unwrap_or_default(),
            digest_of_partitions(&placed(count)),
        );
    }
    for kind in ["null", "empty"] {
        for (count, number) in counts(kind) {
            comparison = comparison.text(
                format!("{kind} key, {count} partitions"),
                number.to_string(),
                place(partitioner, key_of(kind), count).to_string(),
            );
        }
    }
    comparison
}

/// The same through a producer and a broker; what is drawn there has no digest.
fn end_to_end(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    real: &Value,
    keys: &[Vec<u8>],
) -> Option<Comparison> {
    let Some(digest) = real["digest"].as_str() else {
        return choices(comparison, partitioner, "a key", real);
    };
    let keys = keys.iter().filter(|key| !key.is_empty());
    let placed: Vec<u32> = keys
        .map(|key| place(partitioner, Some(key), PARTITIONS))
        .collect();
    Some(comparison.text("digest", digest, digest_of_partitions(&placed)))
}

/// One key again and again: always the same partition, or any.
fn choices(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    kind: &str,
    real: &Value,
) -> Option<Comparison> {
    let counts: Vec<u64> = real["counts"]
        .as_array()?
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let used: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] > 0).collect();
    let real = match used.as_slice() {
        [only] => format!("always {only}"),
        used if used.len() == PARTITIONS as usize => "any".to_string(),
        used => format!("{used:?}"),
    };
    let key = if kind == "null" {
        None
    } else {
        key_of(kind).or(Some(b"k"))
    };
    let simulated = match partitioner.choice(key, PARTITIONS) {
        Choice::Partition(number) => format!("always {number}"),
        Choice::Free => "any".to_string(),
    };
    Some(comparison.text("partition", real, simulated))
}

/// Stays at one partition of records at a steady rate: one for good where the key decides.
fn stays(
    comparison: Comparison,
    partitioner: RdkafkaPartitioner,
    kind: &str,
    real: &Value,
) -> Option<Comparison> {
    const OTHER_DRAWS: Tolerance =
        Tolerance::Share(0.05, "which partitions are drawn, and some twice in a row");
    let (used, stays_ms) = simulated_stays(partitioner, kind);
    let comparison = comparison
        .text(
            "partitions used",
            real["partitions_used"].as_u64()?.to_string(),
            used.to_string(),
        )
        .number(
            "runs",
            real["runs"].as_f64()?,
            stays_ms.len() as f64,
            OTHER_DRAWS,
        );
    // The recorded minimum is what its application's clock made of it, which was late by turns.
    let Some(median) = real["run_ms"]["median"].as_f64() else {
        return Some(comparison);
    };
    let (simulated, _) = median_and_spread(stays_ms);
    let tolerance = Tolerance::Share(0.05, "the application's own pace");
    Some(comparison.number("median stay in ms", median, simulated, tolerance))
}

/// Partitions used, and how long each stay lasts; the last one to the end.
fn simulated_stays(partitioner: RdkafkaPartitioner, kind: &str) -> (usize, Vec<f64>) {
    const RECORDS: u64 = 6_000;
    const START_US: u64 = 2_000_000;
    const APART_US: u64 = 500;
    let key = if kind == "empty" { " key=" } else { "" };
    let mut calls = warm_up(0..PARTITIONS);
    for number in 0..RECORDS {
        let at = START_US + number * APART_US;
        let _written = writeln!(
            calls,
            "[[producer.script]]\nat = \"{at}us\"\ndo = 'produce events value=v{key}'"
        );
    }
    let name = partitioner.name();
    let mut trace = Trace::new(
        "10s",
        &format!(
            r#"
            [cluster]
            brokers = 3
            link = {{ rtt = "1ms", bandwidth = "1000Gbit/s" }}
            [[topic]]
            name = "events"
            partitions = {PARTITIONS}
            replication-factor = 1
            [[producer]]
            name = "clicks"
            client = "librdkafka"
            delivery-report = "none"
            config.partitioner = "{name}"
            {calls}
            "#
        ),
    );
    let placed = |trace: &Trace| -> Vec<f64> {
        let read = |number| {
            let metric = RdkafkaPartitionMetric::Msgs;
            let figure = RdkafkaFigure::Partition(trace::partition(number), metric);
            trace.simulation().rdkafka_figure(PRODUCER, figure)
        };
        (0..PARTITIONS).filter_map(read).collect()
    };
    trace.advance_to(SimTime::ZERO + SimSpan::from_micros(START_US - 1));
    let mut before = placed(&trace);
    let mut stays: Vec<(Option<usize>, u64)> = Vec::new();
    for number in 0..RECORDS {
        trace.advance_to(SimTime::ZERO + SimSpan::from_micros(START_US + number * APART_US));
        let now = placed(&trace);
        let grown = (0..now.len()).find(|&at| before[at] < now[at]);
        match stays.last_mut() {
            Some((partition, records)) if *partition == grown => *records += 1,
            _ => stays.push((grown, 1)),
        }
        before = now;
    }
    let used: BTreeSet<_> = stays.iter().map(|(partition, _)| *partition).collect();
    let millis = |(_, records): &(_, u64)| (records * APART_US) as f64 / 1_000.0;
    (used.len(), stays.iter().map(millis).collect())
}
