//! One of two replicas dies and returns, with min.insync.replicas=2: what producers feel of it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::{Trace, partition};

const MECHANISM: &str = "a follower that dies and returns";
const LOAD_STARTS_MS: u64 = 1_000;
const RECORDS: u64 = 800;

/// The cases of a dead follower.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("retries-live");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| {
            let setting = case.strip_prefix("follower-")?;
            let setting = setting.strip_suffix("-in-flight-5")?;
            Some(compare_case(&golden.path(case), setting, real))
        })
        .collect()
}

fn compare_case(path: &str, setting: &str, real: &Value) -> Comparison {
    let back_at = real["marks"][1]["at_seconds"].as_f64().unwrap_or(f64::NAN);
    let trace = simulate(setting, (back_at * 1_000.0) as u64);
    let index = trace.simulation().find_partition(partition(0));
    let lines = index.map(|index| trace.simulation().log_lines(index));
    let numbers: Vec<u64> = lines
        .into_iter()
        .flatten()
        .filter_map(|line| line.rsplit_once('#')?.1.parse().ok())
        .collect();
    let stored: BTreeSet<u64> = numbers.iter().copied().collect();
    let acknowledged = trace
        .acknowledged
        .iter()
        .flat_map(|batch| batch.first_ordinal..batch.first_ordinal + u64::from(batch.records));
    let lost = acknowledged
        .filter(|number| !stored.contains(number))
        .count();
    let backwards = numbers.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let figure = |name: &str| real[name].as_f64().unwrap_or(f64::NAN);
    let away = real["acked_each_second"].as_array();
    let away = away.into_iter().flatten().skip(4).take(7);
    let away: f64 = away.filter_map(Value::as_f64).sum();
    let latency = trace
        .acknowledged
        .iter()
        .map(|batch| batch.at.since(batch.created).as_nanos() as f64 / 1e6)
        .fold(0.0, f64::max);
    let exact = Tolerance::Exact;
    let comparison = Comparison::new(path, MECHANISM)
        .number("lost", figure("lost").max(0.0), lost as f64, exact)
        .number(
            "duplicates",
            figure("duplicates"),
            (numbers.len() - stored.len()) as f64,
            exact,
        )
        .number(
            "out of order",
            figure("out_of_order"),
            backwards as f64,
            exact,
        )
        .number("failed", 0.0, trace.failed.len() as f64, exact)
        .number(
            "acknowledged from the 5th to the 11th second",
            away,
            acknowledged_while_away(&trace),
            Tolerance::Absolute(2.0, "a record at either end"),
        );
    if setting == "acks-1" {
        return comparison;
    }
    comparison.number(
        "longest latency, ms",
        figure("longest_latency_ms"),
        latency,
        Tolerance::Share(0.06, "the moment at which the process is back"),
    )
}

fn acknowledged_while_away(trace: &Trace) -> f64 {
    let (from, to) = (LOAD_STARTS_MS + 4_000, LOAD_STARTS_MS + 11_000);
    let batches = trace.acknowledged.iter().filter(|batch| {
        let at = batch.at.as_millis();
        from <= at && at < to
    });
    batches.map(|batch| f64::from(batch.records)).sum()
}

/// 50 records/s; broker 2 is killed after 2.1 s, and its new process is there `back_at_ms` after
/// the load began.
fn simulate(setting: &str, back_at_ms: u64) -> Trace {
    let config = match setting {
        "acks-1" => "config.acks = \"1\"\nconfig.enable.idempotence = false",
        "acks-all" => "config.enable.idempotence = false",
        _ => "",
    };
    let killed_at = LOAD_STARTS_MS + 2_120;
    // A process takes three seconds to start here.
    let started_at = LOAD_STARTS_MS + back_at_ms - 2_900;
    Trace::to_end(
        "40s",
        &format!(
            r#"
        [cluster]
        brokers = 2
        link = {{ rtt = "30ms", bandwidth = "1Gbit/s" }}
        config.broker.session.timeout.ms = 3000
        config.broker.heartbeat.interval.ms = 500
        config.replica.lag.time.max.ms = 4000
        [[topic]]
        name = "events"
        partitions = 1
        replication-factor = 2
        leaders = [1]
        history = "batches"
        config.min.insync.replicas = 2
        [[producer]]
        name = "trips"
        start = "{LOAD_STARTS_MS}ms"
        config.linger.ms = 0
        {config}
        config.request.timeout.ms = 30000
        config."retry.backoff.ms" = 100
        config."retry.backoff.max.ms" = 100
        config."reconnect.backoff.ms" = 50
        config."reconnect.backoff.max.ms" = 50
        [[producer.load]]
        topic = "events"
        rate = 50
        records = {RECORDS}
        value = {{ bytes = 4 }}
        [[timeline]]
        at = "{killed_at}ms"
        do = "broker kill 2"
        [[timeline]]
        at = "{started_at}ms"
        do = "broker start 2"
        "#
        ),
    )
}
