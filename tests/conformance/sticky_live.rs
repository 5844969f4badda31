//! Where records go between a real client and real brokers, one of them far away or all of them in
//! racks: the shares of the brokers, and where keys and turns decide, every partition's records.
//!
//! Latencies are not compared: they are those of a process and of a disk beside which little else
//! ran.

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
    let simulated = simulated(&scenario(case)?);
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

/// Records by partition.
fn simulated(rest: &str) -> Vec<u64> {
    let mut trace = Trace::new("20s", rest);
    trace.advance_to(millis(START_MS));
    trace.forget();
    trace.advance_to(millis(20_000));
    let mut records = vec![0; PARTITIONS];
    for batch in &trace.acknowledged {
        records[batch.partition.0 as usize] += u64::from(batch.records);
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
