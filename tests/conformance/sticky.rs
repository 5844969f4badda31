//! Where records go beside a far and a busy broker: sticky with and without weights, keyed, round
//! robin.
//!
//! The partitioner's draws differ from here, so a case is held against the median of the recorded
//! runs, as far as those are apart among themselves plus a share.

use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "partition choice under load";
const START_MS: u64 = 200;
const LOAD_MS: u64 = 10_000;

/// Every case that a scenario can say.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("sticky");
    let cases = golden.cases.iter().filter_map(|(case, real)| {
        let comparison = compare_case(&golden.path(case), case, real)?;
        Some(comparison)
    });
    cases.collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    let (network, choice) = case.strip_prefix("exact-")?.split_once('-')?;
    let config = config_of(choice)?;
    if !matches!(network, "uniform" | "far" | "busy") {
        return None;
    }
    let trace = simulated(network, config, choice.starts_with("keyed"));
    let batches = trace.acknowledged.len() as f64;
    let bytes: u64 = trace.acknowledged.iter().map(|b| u64::from(b.bytes)).sum();
    let of_broker = |broker: u32| -> u64 {
        let led = trace
            .acknowledged
            .iter()
            .filter(|b| b.partition.0 % 3 == broker);
        led.map(|batch| u64::from(batch.records)).sum()
    };
    let records: u64 = (0..3).map(of_broker).sum();
    let mut comparison = Comparison::new(path, MECHANISM);
    let shares = real["share_by_broker"]["runs"].as_array()?;
    for broker in 0..3 {
        let runs = shares
            .iter()
            .filter_map(|run| run[broker as usize].as_f64());
        let (median, spread) = median_and_spread(runs.collect());
        comparison = comparison.number(
            format!("share of broker {}", broker + 1),
            median,
            of_broker(broker) as f64 / records as f64,
            Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
        );
    }
    let runs = real["batch-size-avg"]["runs"].as_array()?;
    let (median, spread) = median_and_spread(runs.iter().filter_map(Value::as_f64).collect());
    Some(comparison.number(
        "batch-size-avg",
        median,
        bytes as f64 / batches,
        Tolerance::Share(spread + 0.03, "the runs' own spread plus 3 %"),
    ))
}

/// The median, and how far the runs are apart as a share of it.
fn median_and_spread(mut runs: Vec<f64>) -> (f64, f64) {
    runs.sort_by(f64::total_cmp);
    let median = runs[runs.len() / 2];
    (median, (runs[runs.len() - 1] - runs[0]) / median)
}

/// The client configuration of a case.
fn config_of(choice: &str) -> Option<&'static str> {
    Some(match choice {
        "adaptive" | "keyed" => "",
        "not-adaptive" => "config.partitioner.adaptive.partitioning.enable = false",
        "availability-5-ms" => "config.partitioner.availability.timeout.ms = 5",
        "keyed-ignoring-keys" => "config.partitioner.ignore.keys = true",
        "round-robin" => {
            "config.partitioner.class = \
             \"org.apache.kafka.clients.producer.RoundRobinPartitioner\""
        }
        _ => return None,
    })
}

fn simulated(network: &str, config: &str, is_keyed: bool) -> Trace {
    let broker = match network {
        "busy" => "[[broker]]\nid = 3\nrequest-time = \"20ms\"",
        "far" => "[[link]]\nbetween = [\"trips\", 3]\nrtt = \"21ms\"",
        _ => "",
    };
    let key = if is_keyed {
        "key = { uniform = 5000, format = \"k-{n}\" }"
    } else {
        ""
    };
    let stop_ms = START_MS + LOAD_MS;
    let leaders: Vec<u32> = (0..12).map(|partition| 1 + partition % 3).collect();
    let warm_up = warm_up(0..3);
    let mut trace = Trace::new(
        "30s",
        &format!(
            r#"        [cluster]
        brokers = 3
        link = {{ rtt = "1ms", bandwidth = "1000Gbit/s" }}
        request-time = "0s"
        {broker}
        [[topic]]
        name = "events"
        partitions = 12
        replication-factor = 1
        leaders = {leaders:?}
        [[producer]]
        name = "trips"
        {config}
        [[producer.load]]
        topic = "events"
        rate = [
            {{ rate = 0 }},
            {{ from = "{START_MS}ms", rate = 10000 }},
            {{ from = "{stop_ms}ms", rate = 0 }},
        ]
        value = {{ bytes = 1024 }}
        {key}
        {warm_up}"#
        ),
    );
    trace.advance_to(millis(START_MS));
    trace.forget();
    trace.advance_to(millis(30_000));
    trace
}
