//! A partition without a leader pins the pool: when the healthy ones stop, and what fails when.

use kdrill::kafka::metric_name::ProducerMetric as M;
use kdrill::sim::fact::Fact;
use kdrill::sim::time::{SimSpan, SimTime};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::exceptions::without_counts;
use crate::golden;
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "a partition without a leader";
/// When the load begins.
pub const START_MS: u64 = 50;
/// When the broker dies, after that.
pub const DEATH_MS: u64 = 10_000;
const DRAWS: &str = "keys are drawn by another generator";

/// Every case of the probe.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("dead-leader");
    let cases = golden.cases.iter();
    cases
        .map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Comparison {
    let seconds = real["samples"]["sent"].as_array().map_or(0, Vec::len) as u64;
    let mut trace = Trace::new("200s", &scenario(case, "closed"));
    let first_blocked = first_wait(&mut trace);
    trace.advance_to(millis(START_MS + seconds * 1_000));
    let failures: Vec<_> = trace
        .facts
        .iter()
        .filter_map(|stamped| match &stamped.fact {
            Fact::BatchFailed {
                records, exception, ..
            } => Some((stamped.at, *records, exception)),
            _ => None,
        })
        .collect();
    let since_start = |at: SimTime| at.since(millis(START_MS)).as_nanos() as f64 / 1e9;
    let first = failures.first();
    let records: u64 = failures
        .iter()
        .map(|(_, records, _)| u64::from(*records))
        .sum();
    let real_failure = &real["failures"][0];
    let figure = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let stable = Tolerance::Share(0.02, DRAWS);
    Comparison::new(path, MECHANISM)
        .number(
            "first blocked send(), s",
            figure(&real["first_blocked_seconds"]),
            first_blocked,
            stable,
        )
        .number(
            "first expiry, s",
            figure(&real_failure["first_seconds"]),
            first.map_or(f64::NAN, |(at, ..)| since_start(*at)),
            Tolerance::Absolute(0.05, "when the first batch after the death began"),
        )
        .number(
            "expired records",
            figure(&real_failure["records"]),
            records as f64,
            stable,
        )
        .text(
            "the exception's text but for its counts",
            real_failure["text"]
                .as_str()
                .map(without_counts)
                .unwrap_or_default(),
            first
                .map(|(.., exception)| without_counts(&exception.text))
                .unwrap_or_default(),
        )
        .number(
            "acknowledged by healthy partitions in the last second before the first wait",
            acked_in_second(real, first_blocked as usize - 1),
            acked_between(&trace, first_blocked as u64 - 1),
            Tolerance::Share(0.02, DRAWS),
        )
}

/// Records acknowledged in a second of the recording, over all partitions.
fn acked_in_second(real: &Value, second: usize) -> f64 {
    let partitions = real["samples"]["acked_by_partition"][second].as_array();
    partitions
        .into_iter()
        .flatten()
        .filter_map(Value::as_f64)
        .sum()
}

fn acked_between(trace: &Trace, second: u64) -> f64 {
    let from = millis(START_MS + second * 1_000);
    let to = millis(START_MS + second * 1_000 + 1_000);
    let batches = trace
        .acknowledged
        .iter()
        .filter(|batch| from < batch.at && batch.at <= to);
    batches.map(|batch| f64::from(batch.records)).sum()
}

/// When a thread first waits for memory, looked for every millisecond, in seconds of the load.
fn first_wait(trace: &mut Trace) -> f64 {
    for ms in DEATH_MS..200_000 {
        trace.advance_to(millis(START_MS) + SimSpan::from_millis(ms));
        if trace.metric(M::WaitingThreads) > 0.0 {
            return ms as f64 / 1_000.0;
        }
    }
    f64::NAN
}

/// The incident of this probe and of its live twin.
pub fn scenario(case: &str, pacing: &str) -> String {
    let config = if case == "exact-small" {
        "config.buffer.memory = 4194304\nconfig.delivery.timeout.ms = 20000\n\
         config.request.timeout.ms = 10000"
    } else {
        ""
    };
    let warm_up = warm_up(0..3);
    let death_ms = START_MS + DEATH_MS;
    format!(
        r#"
        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "1Gbit/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        partitions = 12
        replication-factor = 1
        leaders = [2, 3, 1, 2, 3, 2, 3, 2, 3, 2, 3, 2]
        [[producer]]
        name = "trips"
        {config}
        [[producer.load]]
        topic = "events"
        pacing = "{pacing}"
        rate = [{{ rate = 0 }}, {{ from = "{START_MS}ms", rate = 6000 }}]
        key = {{ uniform = 5000, format = "rider-{{n}}" }}
        value = {{ bytes = 1024 }}
        {warm_up}
        [[timeline]]
        at = "{death_ms}ms"
        do = "broker kill 1"
        "#
    )
}
