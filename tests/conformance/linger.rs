//! What lingers: batches, requests and queue times by `linger.ms`, rate and partitions.
//!
//! The recording drives the real `RecordAccumulator` and `Sender` on virtual time, with answers
//! after exactly one round trip. Keys are drawn by another generator than here, so figures over
//! several partitions agree as averages do.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "linger, drain, batches a request";
/// The load starts when metadata and connections are there.
const START_MS: u64 = 400;
/// Where keys are spread over partitions, the draws differ.
const OTHER_DRAWS: Tolerance = Tolerance::Share(0.02, "keys are drawn by another generator");
const KEY_LENGTHS: Tolerance = Tolerance::Share(0.001, "how long the drawn keys are");
const ONE_MOMENT: Tolerance = Tolerance::Share(
    0.03,
    "draws; and records and answers that meet at one moment count a millisecond apart",
);
const A_CLOCK_TICK: Tolerance = Tolerance::Absolute(1.0, "which millisecond a batch meets");

/// Every case of the probe.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("linger");
    let cases = golden.cases.iter();
    cases
        .map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Comparison {
    let trace = simulated(case);
    let batches = trace.acknowledged.len() as f64;
    let records: u64 = trace
        .acknowledged
        .iter()
        .map(|b| u64::from(b.records))
        .sum();
    let bytes: u64 = trace.acknowledged.iter().map(|b| u64::from(b.bytes)).sum();
    let requests: BTreeSet<_> = trace
        .acknowledged
        .iter()
        .map(|batch| (batch.drained, batch.partition.index() % 3))
        .collect();
    let requests = requests.len() as f64;
    let queue_ms = trace
        .acknowledged
        .iter()
        .map(|batch| batch.drained.as_millis() - batch.created.as_millis());
    let queue_max = queue_ms.clone().max().unwrap_or(0) as f64;
    let queue_avg = queue_ms.sum::<u64>() as f64 / batches;
    let figure = |name: &str| real[name].as_f64().unwrap_or(f64::NAN);
    let is_exact = case.contains("partitions-1-") || case.starts_with("slow");
    let (counts, batch_size, queue_time) = match (is_exact, case.ends_with("-linger-0")) {
        (true, _) => (Tolerance::Exact, KEY_LENGTHS, Tolerance::Exact),
        (false, true) => (OTHER_DRAWS, OTHER_DRAWS, ONE_MOMENT),
        (false, false) => (OTHER_DRAWS, OTHER_DRAWS, OTHER_DRAWS),
    };
    Comparison::new(path, MECHANISM)
        .number(
            "records",
            figure("records"),
            records as f64,
            Tolerance::Exact,
        )
        .number("batches", figure("batches"), batches, counts)
        .number("requests", figure("requests"), requests, counts)
        .number(
            "batch-size-avg",
            figure("batch-size-avg"),
            bytes as f64 / batches,
            batch_size,
        )
        .number(
            "record-queue-time-avg",
            figure("record-queue-time-avg"),
            queue_avg,
            queue_time,
        )
        .number(
            "record-queue-time-max",
            figure("record-queue-time-max"),
            queue_max,
            A_CLOCK_TICK,
        )
}

/// The case's run, without its warming up.
fn simulated(case: &str) -> Trace {
    let number_after = |word: &str| {
        let rest = case.split_once(word).map_or("", |(_, rest)| rest);
        let digits = rest.split('-').next().unwrap_or_default();
        digits.parse::<u32>().unwrap_or(1)
    };
    let (brokers, records, rate) = if case.starts_with("slow") {
        (1, 1_000, 1_000)
    } else {
        (3, 50_000, 10_000)
    };
    let partitions = number_after("partitions-");
    let linger = number_after("linger-");
    let rtt = if case.starts_with("far") {
        "20ms"
    } else {
        "2ms"
    };
    let warm_up = warm_up(0..brokers.min(partitions));
    let leaders: Vec<u32> = (0..partitions)
        .map(|partition| 1 + partition % brokers)
        .collect();
    let mut trace = Trace::new(
        "20s",
        &format!(
            r#"
        [cluster]
        brokers = {brokers}
        link = {{ rtt = "{rtt}", bandwidth = "1000Gbit/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        partitions = {partitions}
        replication-factor = 1
        leaders = {leaders:?}
        [[producer]]
        name = "trips"
        config.linger.ms = {linger}
        [[producer.load]]
        topic = "events"
        rate = [{{ rate = 0 }}, {{ from = "{START_MS}ms", rate = {rate} }}]
        records = {records}
        key = {{ uniform = 5000, format = "k-{{n}}" }}
        value = {{ bytes = 100 }}
        {warm_up}"#
        ),
    );
    trace.advance_to(millis(START_MS));
    trace.forget();
    trace.advance_to(millis(20_000));
    trace
}
