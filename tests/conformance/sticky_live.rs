//! Where records go between a real client and real brokers, one of them far away or all of them in
//! racks: the shares of the brokers, how much longer the far one takes, and where keys and turns
//! decide, every partition's records.
//!
//! Latencies themselves are not compared: they are those of a process that still warms up.

use kdrill::sim::fact::Acknowledged;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "partition choice between a real client and real brokers";
const START_MS: u64 = 500;
const RECORDS: u64 = 30_000;
const PARTITIONS: usize = 12;

/// Every case.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("sticky-live");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    let acknowledged = simulated(&scenario(case)?);
    let simulated = records_by_partition(&acknowledged);
    let all: u64 = simulated.iter().sum();
    let mut comparison = Comparison::new(path, MECHANISM).number(
        "records that failed",
        real["failed"].as_f64()?,
        RECORDS as f64 - all as f64,
        Tolerance::Exact,
    );
    for (broker, share) in real["share_by_broker"].as_array()?.iter().enumerate() {
        let runs = share["runs"].as_array()?;
        let (median, spread) = median_and_spread(runs.iter().filter_map(Value::as_f64).collect());
        let of_broker: u64 = simulated.iter().skip(broker).step_by(3).sum();
        // A broker that got nothing, or everything, in every run.
        let tolerance = if median == 0.0 || spread == 0.0 {
            Tolerance::Absolute(5e-5, "shares are recorded with four digits")
        } else {
            Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %")
        };
        comparison = comparison.number(
            format!("share of broker {}", broker + 1),
            median,
            of_broker as f64 / all as f64,
            tolerance,
        );
    }
    if case.starts_with("far-") {
        let runs = real_differences(real)?;
        let (median, spread) = median_and_spread(runs);
        let gap_ms = if case == "far-keyed" { 1.2 } else { 0.1 };
        comparison = comparison.number(
            "longer to the far broker, ms",
            median,
            difference_ms(&acknowledged, gap_ms),
            Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
        );
    }
    let runs = real["records_by_partition"]["runs"].as_array()?;
    if runs.iter().all(|run| *run == runs[0]) {
        let real: Vec<u64> = runs[0]
            .as_array()?
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        comparison = comparison.list("records of each partition", &real, &simulated);
    }
    Some(comparison)
}

/// In each run: the mean latency of the far broker's records less that of the other two's.
fn real_differences(real: &Value) -> Option<Vec<f64>> {
    let brokers = real["latency_ms_by_broker"].as_array()?;
    let of_run = |broker: usize, run: usize| brokers[broker]["runs"][run].as_f64();
    let runs = brokers.first()?["runs"].as_array()?.len();
    (0..runs)
        .map(|run| Some(of_run(2, run)? - f64::midpoint(of_run(0, run)?, of_run(1, run)?)))
        .collect()
}

/// The same here: records come into a batch one every `gap_ms`.
fn difference_ms(acknowledged: &[Acknowledged], gap_ms: f64) -> f64 {
    let mean = |brokers: &[u32]| {
        let (mut sum, mut records) = (0.0, 0.0);
        for batch in acknowledged {
            if brokers.contains(&(batch.partition.index() as u32 % 3)) {
                let count = f64::from(batch.records);
                let whole = batch.at.since(batch.created).as_nanos() as f64 / 1e6;
                sum += count * (whole - (count - 1.0) * gap_ms / 2.0);
                records += count;
            }
        }
        sum / records
    };
    mean(&[2]) - mean(&[0, 1])
}

/// Batches that arrived.
fn simulated(rest: &str) -> Vec<Acknowledged> {
    let mut trace = Trace::new("20s", rest);
    trace.advance_to(millis(START_MS));
    trace.forget();
    trace.advance_to(millis(20_000));
    trace.acknowledged
}

fn records_by_partition(acknowledged: &[Acknowledged]) -> Vec<u64> {
    let mut records = vec![0; PARTITIONS];
    for batch in acknowledged {
        records[batch.partition.index()] += u64::from(batch.records);
    }
    records
}

fn scenario(case: &str) -> Option<String> {
    let (config, key) = match case {
        "uniform-adaptive" | "far-adaptive" => ("", ""),
        "far-not-adaptive" => (
            "config.partitioner.adaptive.partitioning.enable = false",
            "",
        ),
        "far-availability-5-ms" => ("config.partitioner.availability.timeout.ms = 5", ""),
        "far-keyed" => ("", KEYS),
        "far-keyed-ignoring-keys" => ("config.partitioner.ignore.keys = true", KEYS),
        "uniform-round-robin" => (
            "config.partitioner.class = \
             \"org.apache.kafka.clients.producer.RoundRobinPartitioner\"",
            "",
        ),
        "rack-aware" => (RACK_AWARE, ""),
        "rack-aware-keyed" => (RACK_AWARE, KEYS),
        "rack-off" => ("rack = \"rack-1\"\nversion = \"4.4\"", ""),
        _ => return None,
    };
    let far = if case.starts_with("far-") {
        "[[link]]\nbetween = [\"trips\", 3]\nrtt = \"21ms\""
    } else {
        ""
    };
    let racks = [1, 2, 3]
        .map(|id| format!("[[broker]]\nid = {id}\nrack = \"rack-{id}\"\n"))
        .concat();
    let leaders: Vec<usize> = (0..PARTITIONS).map(|partition| 1 + partition % 3).collect();
    let warm_up = warm_up(0..3);
    Some(format!(
        r#"
        [cluster]
        link = {{ rtt = "1ms", bandwidth = "10Gbit/s" }}
        {racks}
        {far}
        [[topic]]
        name = "events"
        partitions = {PARTITIONS}
        replication-factor = 1
        leaders = {leaders:?}
        [[producer]]
        name = "trips"
        {config}
        [[producer.load]]
        topic = "events"
        rate = [{{ rate = 0 }}, {{ from = "{START_MS}ms", rate = 10000 }}]
        records = {RECORDS}
        value = {{ bytes = 1024 }}
        {key}
        {warm_up}"#
    ))
}

const KEYS: &str = "key = { cycle = 5000, format = \"k-{n}\" }";
const RACK_AWARE: &str =
    "rack = \"rack-1\"\nversion = \"4.4\"\nconfig.partitioner.rack.aware = true";
