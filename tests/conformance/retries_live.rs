//! A swallowed response between a real client and a real broker: what the log holds in the end.

use serde_json::Value;

use crate::comparison::Comparison;
use crate::golden;
use crate::retries::{log_of, scenario};
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
    let in_flight: u32 = in_flight.parse().ok()?;
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

fn simulate(acks: &str, idempotent: bool, in_flight: u32) -> Trace {
    let calls: Vec<String> = (0..RECORDS)
        .map(|number| {
            let at = START_MS + number * 10;
            let call = format!("produce events value=r{number} partition=0");
            format!("[[producer.script]]\nat = \"{at}ms\"\ndo = '{call}'\n")
        })
        .collect();
    // After the second response has left the broker, and before the third.
    let swallowed_at = START_MS + if in_flight == 1 { 60 } else { 30 };
    let rest = format!(
        "{}{}[[timeline]]\nat = \"{swallowed_at}ms\"\ndo = 'responses swallow 1 --count 1'",
        warm_up(1..2),
        calls.concat(),
    );
    let cluster = "link = { rtt = \"30ms\", bandwidth = \"1Gbit/s\" }";
    let setting = (acks, idempotent, in_flight);
    Trace::to_end("12s", &scenario(cluster, setting, &rest))
}
