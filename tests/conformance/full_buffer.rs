//! A pool that fills behind a narrow link: when `send()` first blocks, how fast the loop goes then,
//! and what the metrics say second by second.

use kdrill::kafka::metric_name::ProducerMetric as M;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::{PRODUCER, Trace, millis, warm_up};

const MECHANISM: &str = "buffer pool, blocked send(), wait ratio";
const START_MS: u64 = 20;

/// Every case of the probe that runs on virtual time.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("full-buffer");
    let cases = golden
        .cases
        .iter()
        .filter(|(case, _)| case.starts_with("exact-"));
    cases
        .map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Comparison {
    let samples = &real["samples"];
    let real_of = |name: &str| -> Vec<f64> {
        let list = samples[name].as_array().expect("a list of samples");
        list.iter()
            .map(|value| value.as_f64().unwrap_or(f64::NAN))
            .collect()
    };
    let seconds = real_of("sent").len() as u64;
    let simulated = simulate(case, seconds);
    let sent = real_of("sent");
    let after: usize = simulated.first_blocked_seconds.ceil() as usize + 1;
    let rate = |sent: &[f64]| sent[after..].iter().sum::<f64>() / (sent.len() - after) as f64;
    let draws = "keys are drawn by another generator";
    let mut comparison = Comparison::new(path, MECHANISM)
        .number(
            "first blocked send(), s",
            real["first_blocked_seconds"].as_f64().unwrap_or(f64::NAN),
            simulated.first_blocked_seconds,
            Tolerance::Share(0.01, draws),
        )
        .number(
            "loop rate once full, records/s",
            rate(&sent),
            rate(&simulated.sent),
            Tolerance::Share(0.01, draws),
        );
    let marks = [seconds / 4, seconds / 2, seconds - 1].map(|second| second as usize);
    for (name, simulated) in &simulated.samples {
        let real = real_of(name);
        for mark in marks {
            // The ratio is not read before the first wait.
            if real[mark].is_nan() {
                continue;
            }
            comparison = comparison.number(
                format!("{name} at {} s", mark + 1),
                real[mark],
                simulated[mark],
                Tolerance::Share(0.015, draws),
            );
        }
    }
    comparison
}

/// What the simulation says of a case.
struct Simulated {
    first_blocked_seconds: f64,
    sent: Vec<f64>,
    samples: Vec<(&'static str, Vec<f64>)>,
}

const SAMPLED: [(&str, M); 6] = [
    ("batch-size-avg", M::BatchSizeAvg),
    ("bufferpool-wait-ratio", M::BufferpoolWaitRatio),
    (
        "bufferpool-wait-time-ns-total",
        M::BufferpoolWaitTimeNsTotal,
    ),
    ("record-queue-time-avg", M::RecordQueueTimeAvg),
    ("record-send-rate", M::RecordSendRate),
    ("records-per-request-avg", M::RecordsPerRequestAvg),
];

/// Who reads from the start; otherwise the ratio is not read before the first wait.
fn monitor(case: &str) -> String {
    let first = START_MS + 1000;
    if case.ends_with("-read-from-start") {
        format!("monitor = {{ every = \"1s\", from = \"{first}ms\" }}")
    } else {
        String::new()
    }
}

fn simulate(case: &str, seconds: u64) -> Simulated {
    let brokers = if case.contains("one-broker") { 1 } else { 3 };
    let bandwidth = 6_000_000 / brokers;
    let mebibytes = if case.contains("-8-mib") {
        8
    } else if case.contains("-64-mib") {
        64
    } else {
        32
    };
    let monitor = monitor(case);
    let leaders: Vec<u32> = (0..12).map(|partition| 1 + partition % brokers).collect();
    let warm_up = warm_up(0..brokers);
    let mut trace = Trace::new(
        "120s",
        &format!(
            r#"
        [cluster]
        brokers = {brokers}
        link = {{ rtt = "1ms", bandwidth = "{bandwidth}B/s" }}
        request-time = "0s"
        [[topic]]
        name = "events"
        partitions = 12
        replication-factor = 1
        leaders = {leaders:?}
        [[producer]]
        name = "trips"
        config.buffer.memory = {}
        {monitor}
        [[producer.load]]
        topic = "events"
        rate = [{{ rate = 0 }}, {{ from = "{START_MS}ms", rate = 10000 }}]
        key = {{ uniform = 5000, format = "rider-{{n}}" }}
        value = {{ bytes = 1024 }}
        {warm_up}"#,
            mebibytes << 20
        ),
    );
    trace.advance_to(millis(START_MS));
    let mut sent_before = trace.simulation().producer_totals(PRODUCER).records_sent;
    let mut first_blocked_seconds = f64::NAN;
    let mut sent = Vec::new();
    let mut samples: Vec<(&str, Vec<f64>)> = SAMPLED.map(|(name, _)| (name, Vec::new())).into();
    for tenth_ms in 1..=seconds * 10_000 {
        // Until the first wait every tenth of a millisecond is looked at, then seconds.
        let is_second = tenth_ms % 10_000 == 0;
        if !first_blocked_seconds.is_nan() && !is_second {
            continue;
        }
        let moment = millis(START_MS) + kdrill::sim::time::SimSpan::from_micros(tenth_ms * 100);
        trace.advance_to(moment);
        if first_blocked_seconds.is_nan() && trace.metric(M::WaitingThreads) > 0.0 {
            first_blocked_seconds = tenth_ms as f64 / 10_000.0;
        }
        if is_second {
            let total = trace.simulation().producer_totals(PRODUCER).records_sent;
            sent.push((total - sent_before) as f64);
            sent_before = total;
            for ((_, values), (_, metric)) in samples.iter_mut().zip(SAMPLED) {
                values.push(trace.metric(metric));
            }
        }
    }
    Simulated {
        first_blocked_seconds,
        sent,
        samples,
    }
}
