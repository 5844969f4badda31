//! A swallowed response, or a reset, between a real client and a real broker: what the log holds in
//! the end, and when a client that has nothing else to do notices.

use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::retries::{log_of, scenario};
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "retries between a real client and a real broker";
const START_MS: u64 = 500;
const RECORDS: u64 = 20;

/// Every case with swallowed responses, and those with resets whose moment does not matter.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("retries-live");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| compare_case(&golden.path(case), case, real))
        .collect()
}

fn compare_case(path: &str, case: &str, real: &Value) -> Option<Comparison> {
    if case == "idle-timeout" {
        return Some(compare_idle_timeout(path, real));
    }
    if let Some((_, in_flight)) = case
        .strip_prefix("reset-")
        .and_then(|case| case.split_once("-idempotent-in-flight-"))
    {
        let resets = in_flight.parse().ok().map(simulate_reset)?;
        let recorded = real["logs"][0].as_str().unwrap_or_default();
        // With idempotence the log is the same whatever was in flight.
        return Some(resets.iter().fold(
            Comparison::new(path, MECHANISM),
            |comparison, (at, simulated)| {
                let name = format!("the log, with a reset {at} ms after the first record");
                comparison.text(name, recorded, simulated)
            },
        ));
    }
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
    // After the second response has left the broker, and before the third.
    let swallowed_at = START_MS + if in_flight == 1 { 75 } else { 36 };
    let command = (swallowed_at, "responses swallow 1 --count 1");
    simulate_with((acks, idempotent, in_flight), &[command])
}

/// The logs after resets at several moments around the third request.
fn simulate_reset(in_flight: u32) -> Vec<(u64, String)> {
    let moments = if in_flight == 1 { 65..=95 } else { 25..=55 };
    let moments = moments.step_by(5);
    let logs = moments.map(|after| {
        let at = START_MS + after;
        let commands = [(at, "link refuse trips 1"), (at + 1, "link heal trips 1")];
        let trace = simulate_with(("all", true, in_flight), &commands);
        (after, log_of(&trace).join(" "))
    });
    logs.collect()
}

fn simulate_with(setting: (&str, bool, u32), commands: &[(u64, &str)]) -> Trace {
    let calls: Vec<String> = (0..RECORDS)
        .map(|number| {
            let at = START_MS + number * 10;
            let call = format!("produce events value=r{number} partition=0");
            format!("[[producer.script]]\nat = \"{at}ms\"\ndo = '{call}'\n")
        })
        .collect();
    let commands: Vec<String> = commands
        .iter()
        .map(|(at, command)| format!("[[timeline]]\nat = \"{at}ms\"\ndo = '{command}'\n"))
        .collect();
    let rest = format!("{}{}{}", warm_up(1..2), calls.concat(), commands.concat());
    // An append takes a real broker some milliseconds.
    let cluster = "link = { rtt = \"30ms\", bandwidth = \"1Gbit/s\" }\nrequest-time = \"6ms\"";
    Trace::to_end("12s", &scenario(cluster, setting, &rest))
}

/// From a request that nobody answers to the next one: the end of the sleep that `poll` began then.
fn compare_idle_timeout(path: &str, real: &Value) -> Comparison {
    let runs = real["request_to_retry_ms"]["runs"].as_array();
    let runs = runs.into_iter().flatten().filter_map(Value::as_f64);
    let (median, spread) = median_and_spread(runs.collect());
    Comparison::new(path, MECHANISM).number(
        "from the request to its retry, ms",
        median,
        idle_timeout_ms(),
        Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
    )
}

fn idle_timeout_ms() -> f64 {
    const RTT_MS: f64 = 1.0;
    let rest = format!(
        "{}[[producer.script]]\nat = \"{START_MS}ms\"\ndo = 'produce events partition=0'\n\
         [[timeline]]\nat = \"{}ms\"\ndo = 'responses swallow 1 --count 1'",
        warm_up(1..2),
        START_MS - 1,
    );
    let cluster = format!("link = {{ rtt = \"{RTT_MS}ms\", bandwidth = \"1Gbit/s\" }}");
    let trace = Trace::to_end("12s", &scenario(&cluster, ("all", true, 5), &rest));
    // The record is called and requested at once; its retry is answered a round trip later.
    let answered = trace.acknowledged.last().map(|batch| batch.at);
    answered.map_or(f64::NAN, |at| {
        at.since(millis(START_MS)).as_nanos() as f64 / 1e6 - RTT_MS
    })
}
