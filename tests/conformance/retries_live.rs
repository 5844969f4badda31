//! A swallowed response between a real client and a real broker: what the log holds in the end.

use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;
use crate::retries::log_of;
use crate::trace::{Trace, warm_up};

const MECHANISM: &str = "retries between a real client and a real broker";
const START_MS: u64 = 500;
const RECORDS: u64 = 20;

/// Every case with a swallowed response.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("retries-live");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    let (setting, in_flight) = case.strip_prefix("swallow-")?.split_once("-in-flight-")?;
    let acks = setting.strip_prefix("acks-").unwrap_or("all");
    let in_flight: u64 = in_flight.parse().ok()?;
    let simulated = log_of(&simulate(acks, setting == "idempotent", in_flight)).join(" ");
    let recorded: Vec<&str> = real["logs"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // How many records share a request differs by a millisecond here and there.
    let nearest = recorded.iter().find(|log| **log == simulated);
    let nearest = nearest.or(recorded.first()).copied().unwrap_or_default();
    Some(Comparison::new(path, MECHANISM).text(
        "the log, as in one of the runs",
        nearest,
        simulated,
    ))
}

fn simulate(acks: &str, idempotent: bool, in_flight: u64) -> Trace {
    let calls: Vec<String> = (0..RECORDS)
        .map(|number| {
            let at = START_MS + number * 10;
            let call = format!("produce events value=r{number} partition=0");
            format!("[[producer.script]]\nat = \"{at}ms\"\ndo = '{call}'\n")
        })
        .collect();
    // After the second response has left the broker, and before the third.
    let swallowed_at = START_MS + if in_flight == 1 { 60 } else { 30 };
    Trace::to_end(
        "12s",
        &format!(
            r#"
            [cluster]
            brokers = 1
            link = {{ rtt = "30ms", bandwidth = "1Gbit/s" }}
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
            {warm_up}
            {calls}
            [[timeline]]
            at = "{swallowed_at}ms"
            do = "responses swallow 1 --count 1"
            "#,
            warm_up = warm_up(1..2),
            calls = calls.concat(),
        ),
    )
}
