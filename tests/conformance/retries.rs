//! Swallowed answers, resets and refusals: what is retried when, in which order it lands, and what
//! becomes of every record.
//!
//! The recording drives the real client against a scripted broker; here the same happens by the
//! commands that a person types.

use std::fmt::Write;

use kdrill::kafka::metric_name::ProducerMetric as M;
use kdrill::sim::fact::Fact;
use kdrill::sim::ids::{PartitionIndex, TopicIndex, TopicPartition};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::{Trace, warm_up};

const MECHANISM: &str = "retries, order, expiry, epoch bumps";
/// The first record is sent when metadata, producer id and connection are there.
pub const START_MS: u64 = 500;
/// Records go to this partition; another one of the same broker serves for warming up.
const PARTITION: PartitionIndex = PartitionIndex::new(
    0,
    TopicPartition {
        topic: TopicIndex(0),
        number: 0,
    },
);

/// Every case of the probe that a scenario can say.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("retries");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| {
            let path = golden.path(case);
            if case == "exact-backoff" {
                return Some(compare_backoff(&path, real));
            }
            if case == "exact-split" {
                return Some(compare_split(&path, real));
            }
            Case::named(case).map(|case| case.compare(&path, real))
        })
        .collect()
}

/// From a refusal to the next attempt, over many runs: retry by retry.
fn compare_backoff(path: &str, real: &Value) -> Comparison {
    const RUNS: usize = 1_000;
    let spread = Tolerance::Share(0.03, "draws of 1,000 runs");
    let mut waits: Vec<Vec<f64>> = vec![Vec::new(); 6];
    for seed in 0..RUNS as u64 {
        for (waits, wait) in waits.iter_mut().zip(backoffs(seed)) {
            waits.push(wait);
        }
    }
    let mut comparison = Comparison::new(path, "retry backoff");
    for (number, waits) in waits.iter_mut().enumerate() {
        waits.sort_by(f64::total_cmp);
        let real = &real[format!("retry-{}", number + 1)];
        // The smallest of many draws says more about luck than the first tenth does.
        let figures = [
            ("p10", waits[waits.len() / 10]),
            ("median", waits[waits.len() / 2]),
            ("mean", waits.iter().sum::<f64>() / waits.len() as f64),
            ("max", waits[waits.len() - 1]),
        ];
        for (name, simulated) in figures {
            let real = real[name].as_f64().unwrap_or(f64::NAN);
            let name = format!("retry {}, {name} ms", number + 1);
            comparison = comparison.number(name, real, simulated, spread);
        }
    }
    comparison
}

/// One record that is refused again and again: what the client waited before each retry, in
/// milliseconds.
fn backoffs(seed: u64) -> Vec<f64> {
    // The way there, the broker's time and the way back.
    const ROUND_MS: u64 = 2;
    let trace = Trace::to_end(
        "8s",
        &format!(
            r#"
        seed = {seed}
        [cluster]
        brokers = 1
        link = {{ rtt = "{ROUND_MS}ms", bandwidth = "1000Gbit/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        partitions = 1
        replication-factor = 1
        [[producer]]
        name = "trips"
        [[producer.script]]
        do = 'produce events'
        [[timeline]]
        at = "0s"
        do = 'inject NOT_ENOUGH_REPLICAS --partition events-0 --count 100'
        "#
        ),
    );
    let retried: Vec<u64> = trace
        .facts
        .iter()
        .filter(|stamped| matches!(stamped.fact, Fact::BatchRetried { .. }))
        .map(|stamped| stamped.at.as_millis())
        .collect();
    let waits = retried
        .windows(2)
        .map(|pair| (pair[1] - pair[0] - ROUND_MS) as f64);
    waits.collect()
}

/// A batch that is too large, and too large again, until its parts are small enough.
fn compare_split(path: &str, real: &Value) -> Comparison {
    let call = format!("produce events value={} partition=0", "v".repeat(1_024));
    let calls: Vec<String> = (0..12)
        .map(|_| format!("[[producer.script]]\nat = \"{START_MS}ms\"\ndo = '{call}'\n"))
        .collect();
    let cluster = "link = { rtt = \"2ms\", bandwidth = \"1000Gbit/s\" }\nrequest-time = \"30ms\"";
    let rest = format!("{}{}", warm_up(1..2), calls.concat());
    let scenario = scenario(cluster, ("all", true, 5), &rest)
        .replace("config.linger.ms = 0", "config.linger.ms = 5")
        .replace(
            "partitions = 2",
            "partitions = 2\nconfig.max.message.bytes = 5000",
        );
    let trace = Trace::to_end("12s", &scenario);
    let list = |name: &str| real[name].as_array().cloned().unwrap_or_default();
    let log: Vec<_> = list("log").iter().map(text).collect();
    let outcomes: Vec<_> = list("outcomes").iter().map(outcome).collect();
    let metric = |name: &str| number(real["metrics"][name].as_f64().unwrap_or(f64::NAN));
    let totals = [
        // The record that warmed up was sent, too.
        (M::RecordSendTotal, trace.metric(M::RecordSendTotal) - 1.0),
        (M::BatchSplitTotal, trace.metric(M::BatchSplitTotal)),
        (M::RecordRetryTotal, trace.metric(M::RecordRetryTotal)),
        (M::RecordErrorTotal, trace.metric(M::RecordErrorTotal)),
        (
            M::BufferAvailableBytes,
            trace.metric(M::BufferAvailableBytes),
        ),
    ];
    let comparison = Comparison::new(path, "splitting of batches that are too large")
        .list("log", &log, &log_of(&trace))
        .list("outcomes", &outcomes, &outcomes_of(&trace, false));
    totals
        .into_iter()
        .fold(comparison, |comparison, (name, simulated)| {
            comparison.text(name.name(), metric(name.name()), number(simulated))
        })
}

struct Case {
    fault: String,
    acks: String,
    idempotent: bool,
    in_flight: u32,
}

impl Case {
    /// `exact-FAULT-ACKS-in-flight-N`.
    fn named(name: &str) -> Option<Self> {
        let (start, in_flight) = name.strip_prefix("exact-")?.split_once("-in-flight-")?;
        let settings = ["idempotent", "acks-all", "acks-1", "acks-0"];
        let setting = settings
            .into_iter()
            .find(|setting| start.ends_with(setting))?;
        let fault = start.strip_suffix(setting)?.trim_end_matches('-');
        Some(Self {
            fault: fault.to_string(),
            acks: setting.strip_prefix("acks-").unwrap_or("all").to_string(),
            idempotent: setting == "idempotent",
            in_flight: in_flight.parse().ok()?,
        })
    }

    fn compare(&self, path: &str, real: &Value) -> Comparison {
        let trace = self.simulate();
        let list = |name: &str| real[name].as_array().cloned().unwrap_or_default();
        let log: Vec<_> = list("log").iter().map(text).collect();
        let outcomes: Vec<_> = list("outcomes").iter().map(outcome).collect();
        let simulated = outcomes_of(&trace, self.acks == "0");
        let simulated = forgive_a_millisecond(&outcomes, simulated);
        let metric = |name: &str| real["metrics"][name].as_f64().unwrap_or(f64::NAN);
        // The record that warmed up was sent, too.
        let sent = trace.metric(M::RecordSendTotal) - 1.0;
        Comparison::new(path, MECHANISM)
            .list("log", &log, &log_of(&trace))
            .list("outcomes", &outcomes, &simulated)
            .text(
                "record-send-total",
                number(metric("record-send-total")),
                number(sent),
            )
            .text(
                "record-retry-total",
                number(metric("record-retry-total")),
                number(trace.metric(M::RecordRetryTotal)),
            )
            .text(
                "record-error-total",
                number(metric("record-error-total")),
                number(trace.metric(M::RecordErrorTotal)),
            )
            .text(
                "buffer-available-bytes",
                number(metric("buffer-available-bytes")),
                number(trace.metric(M::BufferAvailableBytes)),
            )
    }

    fn simulate(&self) -> Trace {
        let mut script = warm_up(1..2);
        let late = if self.fault == "expiry" { 5 } else { 0 };
        let times = (0..20)
            .map(|n| n * 10)
            .chain((0..late).map(|n| 6_000 + n * 10));
        for (number, at) in times.enumerate() {
            let at = START_MS + at;
            script += "[[producer.script]]\n";
            let call = format!("produce events value=r{number} partition=0");
            let _written = writeln!(script, "at = \"{at}ms\"\ndo = '{call}'");
        }
        let extra = match self.fault.as_str() {
            "expiry" => "config.delivery.timeout.ms = 3000",
            "retries-1" => "config.retries = 1",
            _ => "",
        };
        let cluster =
            "link = { rtt = \"2ms\", bandwidth = \"1000Gbit/s\" }\nrequest-time = \"30ms\"";
        let setting = (self.acks.as_str(), self.idempotent, self.in_flight);
        let timeline = self.timeline();
        Trace::to_end(
            "12s",
            &scenario(cluster, setting, &format!("{extra}\n{script}\n{timeline}")),
        )
    }

    /// The fault as commands. Request 3 is handled from 61 to 91 ms with several requests in
    /// flight, and from 65 to 95 ms with one, which without acknowledgement is in flight no longer
    /// than it takes to write it.
    fn timeline(&self) -> String {
        let (taken, done) = if self.in_flight == 1 && self.acks != "0" {
            (65, 95)
        } else {
            (61, 91)
        };
        let error = if self.acks == "1" {
            "NOT_LEADER_OR_FOLLOWER"
        } else {
            "NOT_ENOUGH_REPLICAS"
        };
        let commands: Vec<(f64, String)> = match self.fault.as_str() {
            "swallow" => vec![(80.0, "responses swallow 1 --count 1".to_string())],
            // One connection after the other, as long as there is anything to send.
            "expiry" => vec![(80.0, "responses swallow 1 --count 3".to_string())],
            "error" => vec![(
                80.0,
                format!("inject {error} --partition events-0 --count 2"),
            )],
            "retries-1" => vec![(
                0.0,
                format!("inject {error} --partition events-0 --count 1000"),
            )],
            "invalid" => vec![(
                80.0,
                "inject INVALID_RECORD --partition events-0".to_string(),
            )],
            "reset-before" => reset(f64::from(taken)),
            "reset-after" => reset(f64::from(done)),
            _ => Vec::new(),
        };
        let table = |(at, command): &(f64, String)| {
            let at = START_MS as f64 + at;
            format!("[[timeline]]\nat = \"{at}ms\"\ndo = '{command}'\n")
        };
        commands.iter().map(table).collect()
    }
}

/// One producer with the recordings' timeouts and backoffs; `rest` begins with more of its
/// configuration.
pub fn scenario(
    cluster: &str,
    (acks, idempotent, in_flight): (&str, bool, u32),
    rest: &str,
) -> String {
    format!(
        r#"
        [cluster]
        brokers = 1
        {cluster}
        [[topic]]
        name = "events"
        partitions = 2
        replication-factor = 1
        [[producer]]
        name = "trips"
        config.linger.ms = 0
        config.acks = "{acks}"
        config.enable.idempotence = {idempotent}
        config."max.in.flight.requests.per.connection" = {in_flight}
        config.request.timeout.ms = 1000
        config."retry.backoff.ms" = 100
        config."retry.backoff.max.ms" = 100
        config."reconnect.backoff.ms" = 50
        config."reconnect.backoff.max.ms" = 50
        {rest}"#
    )
}

/// The link resets what stands and what is under way, and is whole again before anybody notices.
fn reset(at: f64) -> Vec<(f64, String)> {
    vec![
        (at, "link refuse trips 1".to_string()),
        (at + 1.5, "link heal trips 1".to_string()),
    ]
}

/// Values in the partition's log, in order of offsets.
pub fn log_of(trace: &Trace) -> Vec<String> {
    let mut batches: Vec<_> = trace
        .appended
        .iter()
        .filter(|b| b.partition == PARTITION)
        .collect();
    batches.sort_by_key(|batch| batch.base_offset);
    let ordinals = batches
        .into_iter()
        .flat_map(|batch| batch.first_ordinal..batch.first_ordinal + u64::from(batch.records));
    ordinals.map(|ordinal| format!("r{ordinal}")).collect()
}

/// By record: when its callback ran and with what.
pub fn outcomes_of(trace: &Trace, without_acks: bool) -> Vec<String> {
    let mut outcomes = Vec::new();
    for batch in trace
        .acknowledged
        .iter()
        .filter(|batch| batch.partition == PARTITION)
    {
        let appended = trace.appended.iter().rev().find(|appended| {
            let is_it = (appended.partition, appended.first_ordinal)
                == (batch.partition, batch.first_ordinal);
            is_it && appended.at <= batch.at
        });
        for record in 0..u64::from(batch.records) {
            let offset = match appended {
                Some(appended) if !without_acks => (appended.base_offset + record).to_string(),
                _ => "-1".to_string(),
            };
            let at = batch.at.as_millis() - START_MS;
            outcomes.push((batch.first_ordinal + record, format!("{at} {offset}")));
        }
    }
    let failures = trace
        .facts
        .iter()
        .filter_map(|stamped| match &stamped.fact {
            Fact::BatchFailed { exception, .. } => Some((stamped.at, exception)),
            _ => None,
        });
    for (failed, (at, exception)) in trace.failed.iter().zip(failures) {
        for record in 0..u64::from(failed.records) {
            let at = at.as_millis() - START_MS;
            let words = format!("{at} {} {}", exception.class.name(), exception.text);
            outcomes.push((failed.first_ordinal + record, words));
        }
    }
    outcomes.sort_by_key(|(ordinal, _)| *ordinal);
    outcomes.into_iter().map(|(_, words)| words).collect()
}

/// A long sleep of the recorded client ends up to a millisecond late, as real timers do: callbacks
/// a millisecond apart count as the same, and so do the ages of expired batches in their texts.
pub fn forgive_a_millisecond(real: &[String], simulated: Vec<String>) -> Vec<String> {
    let pairs = simulated.into_iter().enumerate();
    pairs
        .map(|(number, simulated)| match real.get(number) {
            Some(recorded) if are_a_millisecond_apart(recorded, &simulated) => recorded.clone(),
            _ => simulated,
        })
        .collect()
}

fn are_a_millisecond_apart(a: &str, b: &str) -> bool {
    let ((a_at, a_age, a_rest), (b_at, b_age, b_rest)) = (times_of(a), times_of(b));
    let close = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) <= 1,
        (None, None) => true,
        _ => false,
    };
    close(a_at, b_at) && close(a_age, b_age) && a_rest == b_rest
}

/// When a callback ran, how old its batch was if its text says so, and the rest.
fn times_of(outcome: &str) -> (Option<u64>, Option<u64>, String) {
    let (at, what) = outcome.split_once(' ').unwrap_or((outcome, ""));
    let age = what
        .split_once(" ms has passed")
        .and_then(|(before, after)| {
            let (words, age) = before.rsplit_once(':')?;
            Some((age.parse().ok()?, format!("{words} {after}")))
        });
    let (age, rest) = match age {
        Some((age, rest)) => (Some(age), rest),
        None => (None, what.to_string()),
    };
    (at.parse().ok(), age, rest)
}

pub fn outcome(real: &Value) -> String {
    let parts: Vec<_> = real.as_array().into_iter().flatten().map(text).collect();
    parts.join(" ")
}

/// Numbers without fraction, classes by their simple names.
pub fn text(value: &Value) -> String {
    match (value.as_f64(), value.as_str()) {
        (Some(figure), _) => number(figure),
        (_, Some(word)) => word
            .strip_prefix("org.apache.kafka.common.errors.")
            .or_else(|| word.strip_prefix("org.apache.kafka.common."))
            .unwrap_or(word)
            .to_string(),
        _ => value.to_string(),
    }
}

pub fn number(figure: f64) -> String {
    format!("{figure}")
}
