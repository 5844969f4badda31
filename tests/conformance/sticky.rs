//! Where records go beside a far and a busy broker: sticky with and without weights, keyed, round
//! robin.
//!
//! The partitioner's draws differ from here, so a case is held against the median of the recorded
//! runs, as far as those are apart among themselves plus a share.

use kdrill::kafka::partition_load::{Leadership, LoadTable, PartitionLoad, pick_evenly};
use kdrill::sim::time::SimSpan;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "partition choice under load";
const START_MS: u64 = 200;
const LOAD_MS: u64 = 10_000;

/// Every case that a scenario can say.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("sticky");
    let cases = golden.cases.iter().filter_map(|(case, real)| {
        let path = golden.path(case);
        match case.as_str() {
            "exact-run-lengths" => return Some(compare_stays(&path, real)),
            "exact-weights" => return Some(compare_weights(&path, real)),
            _ => {}
        }
        compare_case(&path, case, real)
    });
    cases.collect()
}

/// How often each of all draws that matter chooses each partition, by the batches in their queues.
fn compare_weights(path: &str, real: &Value) -> Comparison {
    let mut comparison = Comparison::new(path, "weights of the adaptive choice");
    for row in real["rows"].as_array().into_iter().flatten() {
        let numbers = |name: &str| -> Vec<u32> {
            let list = row[name].as_array().into_iter().flatten();
            list.filter_map(Value::as_u64)
                .map(|number| number as u32)
                .collect()
        };
        let queues = numbers("queues");
        let available = row["available"].as_u64().unwrap_or_default() as usize;
        let chosen = chosen_of_all_draws(&queues, available);
        let name = format!("queues of {queues:?}, {available} of them available");
        comparison = comparison.list(&name, &numbers("chosen"), &chosen);
    }
    comparison
}

/// The table knows the first `available` partitions; all have leaders when it comes to an even draw.
fn chosen_of_all_draws(queues: &[u32], available: usize) -> Vec<u32> {
    let loads: Vec<_> = (0..)
        .zip(queues)
        .map(|(number, &queue_size)| PartitionLoad {
            number,
            queue_size,
            leadership: if (number as usize) < available {
                Leadership::Elsewhere
            } else {
                Leadership::Leaderless
            },
            is_late: false,
        })
        .collect();
    let table = LoadTable::new(&loads);
    let range = table.as_ref().map_or(queues.len() as u64, LoadTable::range);
    let mut chosen = vec![0; queues.len()];
    for draw in 0..range as u32 {
        let even = || pick_evenly(draw, queues.iter().map(|_| Leadership::Elsewhere));
        let partition = table.as_ref().map_or_else(even, |table| table.pick(draw));
        chosen[partition as usize] += 1;
    }
    chosen
}

/// How many records stay at one partition, by the size of their values, when nothing is sent.
fn compare_stays(path: &str, real: &Value) -> Comparison {
    let mut comparison = Comparison::new(path, "stays of the sticky choice");
    for row in real["rows"].as_array().into_iter().flatten() {
        let bytes = row[0].as_u64().unwrap_or_default();
        let stays = row[1].as_array().into_iter().flatten();
        let stays: Vec<u64> = stays.filter_map(Value::as_u64).collect();
        let simulated = stays_of(bytes, stays.len());
        comparison = comparison.list(&format!("values of {bytes} bytes"), &stays, &simulated);
    }
    comparison
}

/// The first stays. Two in a row may draw the same partition, which is longer than one: with a
/// thousand partitions that does not happen here.
fn stays_of(value_bytes: u64, count: usize) -> Vec<u64> {
    const PARTITIONS: usize = 1_000;
    let mut trace = Trace::new(
        "60s",
        &format!(
            r#"
            [cluster]
            brokers = 1
            [[topic]]
            name = "events"
            partitions = {PARTITIONS}
            replication-factor = 1
            [[producer]]
            name = "trips"
            config.linger.ms = 60000
            [[producer.load]]
            topic = "events"
            rate = [{{ rate = 0 }}, {{ from = "1s", rate = 1000000 }}]
            value = {{ bytes = {value_bytes} }}
            [[producer.script]]
            do = 'produce events partition=0'
            [[timeline]]
            at = "500ms"
            do = "link cut trips *"
            "#
        ),
    );
    trace.advance_to(millis(1_000));
    let queued = |trace: &Trace| -> Vec<u64> {
        let views = trace.simulation().partition_views();
        views.iter().map(|view| view.queued_bytes).collect()
    };
    let mut before = queued(&trace);
    let mut stays: Vec<(usize, u64)> = Vec::new();
    for record in 1.. {
        trace.advance_to(millis(1_000) + SimSpan::from_micros(record));
        let now = queued(&trace);
        let grown = (0..PARTITIONS)
            .find(|&at| before[at] < now[at])
            .unwrap_or(PARTITIONS);
        match stays.last_mut() {
            Some((partition, records)) if *partition == grown => *records += 1,
            _ => stays.push((grown, 1)),
        }
        if count < stays.len() {
            break;
        }
        before = now;
    }
    stays
        .iter()
        .take(count)
        .map(|(_, records)| *records)
        .collect()
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
            .filter(|b| b.partition.index() as u32 % 3 == broker);
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
    let batch_size = if choice == "round-robin" {
        Tolerance::Share(0.05, "the real one goes round in the order of a hash map")
    } else {
        Tolerance::Share(spread + 0.03, "the runs' own spread plus 3 %")
    };
    Some(comparison.number("batch-size-avg", median, bytes as f64 / batches, batch_size))
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
            r#"
        [cluster]
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
